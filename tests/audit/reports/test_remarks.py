"""What `audit check` says of records whose candidates are texts."""

from __future__ import annotations

import pytest

import audit
from tests.audit.samples import write_run
from tests.audit.texts import text_revision, text_run

GERMAN = "Das zweite Beispiel war falsch, weil die Einheit fehlt."
ENGLISH = "Example 2 was wrong because its unit is missing."


@pytest.mark.parametrize(("answers", "found"), [((GERMAN, GERMAN, ENGLISH), True), ((ENGLISH, ENGLISH, GERMAN), False)])
def test_answers_that_detectors_cannot_read_are_counted(tmp_path, answers, found):
    rows = [text_revision([1, 0], [1, 1], answer=answer, iteration=i) for i, answer in enumerate(answers)]
    write_run(tmp_path, rows, **text_run())
    remarks = "\n".join(audit.check(tmp_path, cache=False).notes)
    assert ("2 of 3 rationales hold no common English word" in remarks) is found
