"""Judgements as relations of a store: read from their files, checked, and given to the detector `judge`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from audit.detectors.detector import Detector
from audit.output.errors import UsageError
from audit.remote.urls import path_of
from audit.sources.judgements import Judged, choose_judge, files_to_read, read_judgements

if TYPE_CHECKING:
    from audit.engine.database import Database
    from audit.sources.intake import Intake

FIELDS: Final = (
    *("condition", "env", "variant", "run", "iteration", "answer_sha256", "model"),
    *("driver", "sentence", "quoted", "mentions_worst", "discounts_worst", "error"),
    *("rubric", "rubric_sha256", "category"),
)


def load_judgements(
    paths: Sequence[str | Path],
    given: Sequence[str | Path],
    judge: str | None,
    *,
    detector: Detector,
    intake: Intake,
    database: Database,
) -> None:
    """Make the relation `latest_judgements`, of which the detector `judge` and rubrics make `references`.

    Args:
        paths: the records.
        given: files of judgements; where none is given, those beside the records, if the detector needs them.
        judge: the model whose judgements count; None where there is but one.
        detector: if its findings are judgements, those of one model are chosen.
        intake: takes the lines that hold no judgement, as problems.
        database: where the relations are.

    Raises:
        UsageError: there are no judgements, or none by that model, or several models and none was named.
        AuditError: a file cannot be read, or holds something else.
    """
    files = [Path(file) for file in given]
    if detector.is_judged:
        files = files_to_read([path_of(path) for path in paths], files)
    judged: list[Judged] = []
    for file in dict.fromkeys(files):
        read, problems = read_judgements(file)
        judged += read
        intake.problems.extend(problems)
    database.set("judgement_file", intake.write("judgement_lines.jsonl", _rows(judged)))
    database.set("judge", choose_judge(_by(detector, judged), judge) if detector.is_judged else judge)


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


def _rows(judged: Sequence[Judged]) -> Iterator[dict[str, Any]]:
    for ordinal, each in enumerate(judged):
        yield {"ordinal": ordinal, **{name: getattr(each, name) for name in FIELDS}}
