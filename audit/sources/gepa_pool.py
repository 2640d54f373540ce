"""The pool of a GEPA run: which candidates joined it, from which parents, and their scores on the validation set.

Parents are in `run_log.json`; scores on validation are in `run_log.txt` alone, and in the pickled state, which is never
opened.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from audit.sources.gepa_entries import Entry, Task, winners
from audit.sources.gepa_text_log import Candidates, logged_messages
from collector.records import PoolMember

_BASE: Final = re.compile(r"Base program full valset score: (\S+)")
_MEAN: Final = re.compile(r"Valset score for new program: (\S+)")
_EACH: Final = re.compile(r"Individual valset scores for new program: (\{.*\})\n?")
_JOINED: Final = re.compile(r"New program candidate index: (\d+)\n?")


class Validation(NamedTuple):
    """A candidate's mean score on validation, and its score on each example where they are known."""

    mean: float | None = None
    scores: dict[str, float] | None = None


def validation_scores(path: Path | None) -> dict[int, Validation]:
    """What the text log has of each candidate's validation, by its index.

    Raises:
        OSError: the log cannot be read.
    """
    found: dict[int, Validation] = {}
    mean, scores = None, None
    for _, message in logged_messages(path) if path is not None else ():
        if base := _BASE.match(message):
            found[0] = Validation(_number(base[1]))
        elif stated := _MEAN.match(message):
            mean, scores = _number(stated[1]), None
        elif each := _EACH.fullmatch(message):
            scores = _scores(each[1])
        elif joined := _JOINED.fullmatch(message):
            found[int(joined[1])] = Validation(mean, scores)
            mean, scores = None, None
    return found


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


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _scores(text: str) -> dict[str, float] | None:
    """Scores by example from the form in which Python prints a dict; None where it is anything else."""
    try:
        value = ast.literal_eval(text)
        scores = {str(key): float(score) for key, score in value.items()}
    except (ValueError, SyntaxError, TypeError, AttributeError, MemoryError, RecursionError):
        return None
    return scores if all(map(math.isfinite, scores.values())) else None
