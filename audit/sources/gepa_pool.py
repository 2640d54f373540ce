"""The pool of a GEPA run: which candidates joined it, from which parents, and their scores on the validation set.

Parents are in `run_log.json`; scores on validation are in `run_log.txt` alone, and in the pickled state, which is never
opened.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from audit.sources.gepa_entries import Entry, Task, winners
from audit.sources.gepa_statements import Validation
from audit.sources.gepa_text_log import Candidates
from collector.records import PoolMember


def members(
    entries: Iterable[Entry], candidates: Candidates, validation: Mapping[int, Validation], most: int
) -> Iterator[PoolMember]:
    """The pool in the order in which it grew.

    Args:
        entries: in the order of `run_log.json`.
        candidates: those of `candidates.json`; the first one is the seed.
        validation: of each candidate, by its index.
        most: the largest number of proposals in an iteration, by which records are numbered.
    """

    def member(index: int, parents: Sequence[int], iteration: int | None) -> PoolMember:
        mean, scores = validation.get(index, Validation())
        return PoolMember(
            candidate=str(index),
            parents=[str(parent) for parent in parents],
            role="merge" if len(parents) > 1 else "revision" if parents else "seed",
            iteration=iteration,
            text=candidates[index] if index < len(candidates) else None,
            validation=mean,
            validation_scores=scores,
        )

    if candidates:
        yield member(0, [], None)
    for entry in entries:
        if entry.merged:
            for index in entry.accepted:
                yield member(index, entry.merged, None)
            continue
        for index, task in _made(entry):
            yield member(index, [task.parent], entry.iteration * most + entry.tasks.index(task))


def _made(entry: Entry) -> Iterator[tuple[int, Task]]:
    """The candidates that an iteration added, with what each is made from; none where that is not known."""
    scored = [task for task in entry.tasks if task.is_scored]
    won = winners(scored, len(entry.accepted)) if scored else None
    # In the order of the log, as GEPA adds them.
    yield from zip(entry.accepted, won or [], strict=False)
