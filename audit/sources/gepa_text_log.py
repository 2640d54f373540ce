"""Texts of proposals in GEPA's `run_log.txt`, the only place where releases leave those that were rejected.

A text ends where the next message begins, without a mark, and whatever a program prints meanwhile is in between. So
a text is taken only where one proposal per component is followed at once by the verdict on its scores, and none at all
unless every accepted text that is found this way is the one in `candidates.json`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from audit.sources.gepa_entries import Entry

_MESSAGE: Final = re.compile(r"Iteration (\d{1,15}): (.*)", re.DOTALL)
_PROPOSED: Final = "Proposed new text for "
_SUM: Final = r"([-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?)"
_REJECTED: Final = re.compile(rf"New subsample score {_SUM} is not better than old score {_SUM}, skipping\n")
_ACCEPTED: Final = re.compile(rf"Accepted candidate \(subsample score {_SUM} -> {_SUM}\); running full eval\.\n")
LONGEST: Final = 16 * 2**20
"""Characters of the longest message that is read."""


class Proposal(NamedTuple):
    """What the log has on one iteration: messages that propose, and the sums of scores in the verdict behind them."""

    iteration: int
    messages: list[str]
    before: float
    after: float


def proposed_texts(
    path: Path, entries: Iterable[Entry], candidates: Sequence[dict[str, str] | None]
) -> Iterator[tuple[Entry, dict[str, str] | None]]:
    """Each entry with the text of its only proposal, None where that is unknown.

    Args:
        path: `run_log.txt`.
        entries: in the order of `run_log.json`.
        candidates: those of `candidates.json`.

    Raises:
        OSError: the log cannot be read.
    """
    proposals = _proposals(path)
    ahead = next(proposals, None)
    for entry in entries:
        found: list[Proposal] = []
        while ahead is not None and ahead.iteration <= entry.iteration + 1:
            if ahead.iteration == entry.iteration + 1:
                found.append(ahead)
            ahead = next(proposals, None)
        # An iteration that was interrupted and made again is in the log twice.
        yield entry, _text(found[0], entry, candidates) if len(found) == 1 else None


def is_trustworthy(path: Path, entries: Iterable[Entry], candidates: Sequence[dict[str, str] | None]) -> bool:
    """Whether the log has the text of an accepted proposal, and each that it has is the candidate's.

    Raises:
        OSError: the log cannot be read.
    """
    checked = [
        text == candidates[entry.accepted[0]]
        for entry, text in proposed_texts(path, entries, candidates)
        if text is not None and len(entry.accepted) == 1 and entry.accepted[0] < len(candidates)
    ]
    return bool(checked) and all(checked)


def _text(proposal: Proposal, entry: Entry, candidates: Sequence[dict[str, str] | None]) -> dict[str, str] | None:
    task = entry.tasks[0] if len(entry.tasks) == 1 else None
    if task is None or task.parent >= len(candidates):
        return None
    if (proposal.before, proposal.after) != (sum(task.before), sum(task.after)):
        return None
    parent = candidates[task.parent]
    changes = parent and _changes(proposal.messages, parent)
    return {**parent, **changes} if parent and changes else None


def _changes(messages: Sequence[str], parent: Mapping[str, str]) -> dict[str, str] | None:
    """The new text of each component that messages name; None where one is named twice, or it may be either of two."""
    changes: dict[str, str] = {}
    for message in messages:
        names = [name for name in parent if message.startswith(f"{name}: ")]
        if len(names) != 1 or names[0] in changes:
            return None
        changes[names[0]] = message.removeprefix(f"{names[0]}: ").removesuffix("\n")
    return changes


def _proposals(path: Path) -> Iterator[Proposal]:
    messages: list[str] = []
    iteration = -1
    for number, message in _messages(path):
        if number != iteration:
            iteration, messages = number, []
        if message.startswith(_PROPOSED) or not message:
            # One that is too long is empty, and belongs to no component.
            messages.append(message.removeprefix(_PROPOSED))
        elif messages:
            if rejected := _REJECTED.fullmatch(message):
                yield Proposal(iteration, messages, float(rejected[2]), float(rejected[1]))
            elif accepted := _ACCEPTED.fullmatch(message):
                yield Proposal(iteration, messages, float(accepted[1]), float(accepted[2]))
            messages = []


def _messages(path: Path) -> Iterator[tuple[int, str]]:
    """Numbers of iterations and what is logged of them, with the lines up to the next message."""
    number, lines, length = -1, [""], 0
    with path.open(encoding="utf-8", errors="replace", newline="\n") as stream:
        while line := stream.readline(LONGEST):
            if begins := _MESSAGE.fullmatch(line):
                if number >= 0:
                    yield number, "".join(lines)
                number, lines, length = int(begins[1]), [begins[2]], len(line)
            else:
                length += len(line)
                lines.append(line)
                if length > LONGEST:
                    lines = [""]
    if number >= 0:
        yield number, "".join(lines)
