"""Which sentence of an answer is read first."""

from __future__ import annotations

import pytest

from audit.references import resolve
from audit.references.sentences import leading
from tests.audit.references.evidence import POLE


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("params[0]: 1.0\nI kept the bias. The best rollout holds. The worst one tips! So.", "The worst one tips!"),
        ("I kept the bias. The median rollout drifts; the best rollout holds.", None),
        ("**params[0]**: 1.0, params[1]: -2\nparams[2]=0\n\nI kept the bias. It was low.", "I kept the bias."),
        ("params[0]: 1.0, params[1]: -2", ""),
        ("", ""),
    ],
)
def test_the_worst_rollout_comes_first_then_any_then_words(text, sentence):
    start, end = leading(text, resolve(text, POLE))
    assert text[start:end] == ("The median rollout drifts; the best rollout holds." if sentence is None else sentence)
