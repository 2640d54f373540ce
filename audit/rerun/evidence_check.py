"""Compares what a record states about its own returns, mean returns and evidence, with the returns."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import fmean
from typing import TYPE_CHECKING, Final, NamedTuple

from audit.sources.iterations import Candidate, Iteration, ShownEvidence

if TYPE_CHECKING:
    from collector.tasks import Task

PRECISION: Final = 1e-9
"""Relative difference above which mean returns disagree."""
PRECISION_ROUNDED: Final = 5.1e-5
"""The same where logs write four decimals."""


class Disagreement(NamedTuple):
    """A statement that does not agree with the returns; `rollout` is None where it is about all of them."""

    candidate: str
    rollout: int | None
    check: str
    text: str


def disagreements(iteration: Iteration, task: Task | None, *, rounds: bool) -> Iterator[Disagreement]:
    """The statements of an iteration that do not agree with its returns.

    Args:
        iteration: the record.
        task: what success means for the statistics; None leaves those unchecked.
        rounds: whether the log writes mean returns with four decimals.
    """
    for role, candidate in iteration.candidates():
        if not candidate.returns:
            continue
        mean, stated = fmean(candidate.returns), candidate.mean_return
        precision = PRECISION_ROUNDED if rounds else PRECISION
        if not abs(stated - mean) <= precision * max(1.0, abs(stated)):
            yield Disagreement(role, None, "mean", f"mean_return {stated} recorded, {mean} is the mean of its returns")
    if iteration.evidence is not None and iteration.initial.returns:
        for rollout, text in _evidence(iteration.initial, iteration.evidence, task):
            yield Disagreement("initial", rollout, "evidence", text)


def _evidence(candidate: Candidate, evidence: ShownEvidence, task: Task | None) -> Iterator[tuple[int | None, str]]:
    from collector.evidence import select, statistics

    for shown in evidence.shown:
        if shown.rollout is None:
            continue
        if not 0 <= shown.rollout < len(candidate.returns):
            yield shown.rollout, f"{shown.label} is rollout {shown.rollout}, of {len(candidate.returns)} from 0"
            continue
        # A representative one under another heading is one of several that a remedy has chosen.
        is_one_of_several = shown.label == "representative" and bool(shown.name)
        if shown.label != "item" and not is_one_of_several:
            expected = select(candidate.returns, shown.label)
            if shown.rollout != expected:
                yield (
                    shown.rollout,
                    f"{shown.label} is shown as rollout {shown.rollout}, its returns give rollout {expected}",
                )
        length = candidate.lengths[shown.rollout] if candidate.lengths else None
        recorded = candidate.returns[shown.rollout], length
        for name, stated, value in zip(("return", "length"), (shown.return_, shown.length), recorded, strict=True):
            if None not in {stated, value} and stated != value:
                yield shown.rollout, f"{shown.label} is shown with {name} {stated}, its rollout has {value}"
    if task is not None and evidence.statistics is not None and candidate.lengths:
        counted = statistics(task.success_return, candidate.returns, candidate.lengths)
        if counted != evidence.statistics:
            yield None, "the statistics shown are not those of its returns and lengths"
