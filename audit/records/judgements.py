"""Judgements of answers, given to the relations that are made of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from audit.detectors.detector import Detector
from audit.output.errors import Problem, UsageError
from audit.sources.judgements import Judged, choose_judge, files_to_read, read_judgements

if TYPE_CHECKING:
    from audit.models.database import Database

FIELDS: Final = (
    *("condition", "env", "variant", "run", "iteration", "answer_sha256", "model"),
    *("driver", "sentence", "quoted", "mentions_worst", "discounts_worst", "error"),
    *("rubric", "rubric_sha256", "category"),
)


def load_judgements(
    paths: Sequence[str | Path], given: Sequence[str | Path], judge: str | None, detector: Detector, database: Database
) -> list[Problem]:
    """Set the judgements of which `latest_judgements` is made, and the detector `judge` and rubrics are.

    Args:
        paths: the records.
        given: files of judgements; where none is given, those beside the records, if the detector needs them.
        judge: the model whose judgements count; None where there is but one.
        detector: if its findings are judgements, those of one model are chosen.
        database: where the relations are.

    Returns:
        The lines that hold no judgement.

    Raises:
        UsageError: there are no judgements, or none by that model, or several models and none was named.
        AuditError: a file cannot be read, or holds something else.
    """
    files = [Path(file) for file in given]
    if detector.is_judged:
        files = files_to_read(paths, files)
    judged: list[Judged] = []
    problems: list[Problem] = []
    for file in dict.fromkeys(files):
        found, unread = read_judgements(file)
        judged += found
        problems += unread
    rows = [{"ordinal": place, **{name: getattr(each, name) for name in FIELDS}} for place, each in enumerate(judged)]
    database.set("judgements", msgspec.json.encode(rows).decode())
    database.set("judge", choose_judge(_by(detector, judged), judge) if detector.is_judged else judge)
    return problems


def _by(detector: Detector, judged: Sequence[Judged]) -> list[Judged]:
    """The judgements of what the detector asks: of drivers, or by its rubric in its present wording."""
    rubric = detector.rubric
    found = [each for each in judged if each.rubric_sha256 == (rubric and rubric.sha256)]
    if rubric is not None and not found:
        raise UsageError(
            f"no judgements by the rubric {rubric.name} as it is now; make them with "
            f"`audit judge DIR --rubric FILE.toml --backend …`"
        )
    return found
