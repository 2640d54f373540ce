"""Texts of proposals in GEPA's `run_log.txt`, the only place where releases leave those that were rejected.

A text ends where the next message begins, without a mark, and whatever a program prints meanwhile is in between. So
a text is taken only where proposals are followed at once by the verdict on the scores of one, and none at all unless
every accepted text that is found this way is in `candidates.json`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import Final, NamedTuple

from audit.sources.gepa_entries import Entry, winners
from collector.system.regular_files import open_regular

_MESSAGE: Final = re.compile(r"Iteration (\d{1,15}): (.*)", re.DOTALL)
_PROPOSED: Final = "Proposed new text for "
_SUM: Final = r"([-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?)"
_REJECTED: Final = re.compile(rf"New subsample score {_SUM} is not better than old score {_SUM}, skipping\n")
_ACCEPTED: Final = re.compile(rf"Accepted candidate \(subsample score {_SUM} -> {_SUM}\); running full eval\.\n")
Candidates = Sequence[dict[str, str] | None]
Texts = Sequence[dict[str, str]] | None

LONGEST: Final = 16 * 2**20
"""Characters of the longest message that is read."""


class Proposal(NamedTuple):
    """What the log has on one iteration: messages that propose, and the sums of scores in the verdict behind them."""

    iteration: int
    messages: list[str]
    before: float
    after: float


def proposed_texts(path: Path, entries: Iterable[Entry], candidates: Candidates) -> Iterator[tuple[Entry, Texts]]:
    """Each entry with the texts of its proposals, in the order of its scored tasks; None where they are unknown.

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
        yield entry, _texts(found[0], entry, candidates) if len(found) == 1 else None


def is_trustworthy(path: Path, entries: Iterable[Entry], candidates: Candidates) -> bool:
    """Whether the log has texts of accepted proposals, and all that it has are those of the candidates.

    Raises:
        OSError: the log cannot be read.
    """
    checked = 0
    for entry, texts in proposed_texts(path, entries, candidates):
        scored = [task for task in entry.tasks if task.is_scored]
        accepted = winners(scored, len(entry.accepted))
        if not texts or not accepted or max(entry.accepted) >= len(candidates):
            continue
        won = [any(task is each for each in accepted) for task in scored]
        found = [text for text, is_accepted in zip(texts, won, strict=True) if is_accepted]
        if not all(found.count(candidates[each] or {}) == 1 for each in entry.accepted):
            return False
        checked += 1
    return checked > 0


def _texts(proposal: Proposal, entry: Entry, candidates: Candidates) -> Texts:
    scored = [task for task in entry.tasks if task.is_scored]
    sums = [(sum(task.before), sum(task.after)) for task in scored]
    if (proposal.before, proposal.after) not in sums or max(task.parent for task in scored) >= len(candidates):
        return None
    # Components of one proposal are logged one after the other, and so are several proposals.
    messages = [proposal.messages] if len(scored) == 1 else [[message] for message in proposal.messages]
    if len(messages) != len(scored):
        return None
    texts = [_text(each, candidates[task.parent]) for each, task in zip(messages, scored, strict=True)]
    known = [text for text in texts if text is not None]
    return known if len(known) == len(texts) else None


def _text(messages: Sequence[str], parent: Mapping[str, str] | None) -> dict[str, str] | None:
    """The parent with the components that messages name; None where one is named twice, or may be either of two."""
    changes: dict[str, str] = {}
    for message in messages:
        names = [name for name in parent or {} if message.startswith(f"{name}: ")]
        if len(names) != 1 or names[0] in changes:
            return None
        changes[names[0]] = message.removeprefix(f"{names[0]}: ").removesuffix("\n")
    return {**(parent or {}), **changes}


def _proposals(path: Path) -> Iterator[Proposal]:
    messages: list[str] = []
    iteration = -1
    for number, message in logged_messages(path):
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


def logged_messages(path: Path) -> Iterator[tuple[int, str]]:
    """Numbers of iterations and what is logged of them, with the lines up to the next message."""
    number, lines, length = -1, [""], 0
    with open_regular(path) as data, TextIOWrapper(data, "utf-8", "replace", "\n") as stream:
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
