"""Texts of proposals in GEPA's `run_log.txt`, the only place where releases leave those that were rejected.

A text ends where the next message begins, without a mark, and whatever a program prints meanwhile is in between. So
a text is taken only where proposals are followed at once by the verdict on the scores of one, and none at all unless
every accepted text that is found this way is in `candidates.json`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import Final, NamedTuple

from audit.sources.gepa_entries import Entry, Task, winners
from audit.sources.numbers import number_of
from collector.system.regular_files import open_regular

_MESSAGE: Final = re.compile(r"Iteration (\d{1,15}): (.*)", re.DOTALL)
_NOT_UTF8: Final = re.compile("[\udc80-\udcff]")
_PROPOSED: Final = "Proposed new text for "
_REJECTED: Final = re.compile(
    r"New subsample score (?P<after>.+?) is not better than old score (?P<before>.+?), skipping"
)
_ACCEPTED: Final = re.compile(
    r"Accepted candidate \(subsample score (?P<before>.+?) -> (?P<after>.+?)\); running full eval\."
    r"|New subsample score (?P<higher>.+?) is better than old score (?P<lower>.+?)\. Continue to full eval .*"
)
Candidates = Sequence[dict[str, str] | None]
Texts = Sequence[dict[str, str]] | None

LONGEST: Final = 16 * 2**20
"""Characters of the longest message that is read."""
PRECISION: Final = 1e-5
"""Difference of sums of scores, relative to them beyond 1: scores may be of 32 bits."""


class Sums(NamedTuple):
    """Sums of scores in a verdict, before and after."""

    before: float
    after: float

    def are_of(self, task: Task) -> bool:
        """Whether they are those of a proposal, but for the order and the precision in which a program adds."""
        sums = (sum(task.before), sum(task.after))
        return all(math.isclose(*each, rel_tol=PRECISION, abs_tol=PRECISION) for each in zip(self, sums, strict=True))


class Proposal(NamedTuple):
    """What the log has on one iteration: messages that propose, and the sums of scores in the verdict behind them."""

    iteration: int
    messages: list[str]
    sums: Sums


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


def is_trustworthy(path: Path, entries: Iterable[Entry], candidates: Candidates) -> bool | None:
    """Whether all texts of accepted proposals that the log has are those of the candidates; None where it has none.

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
    return True if checked else None


def _texts(proposal: Proposal, entry: Entry, candidates: Candidates) -> Texts:
    scored = [task for task in entry.tasks if task.is_scored]
    if not any(proposal.sums.are_of(task) for task in scored) or max(task.parent for task in scored) >= len(candidates):
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
    if any(not text.isascii() and _NOT_UTF8.search(text) for text in changes.values()):
        return None
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
            if sums := verdict(message.partition("\n")[0]):
                yield Proposal(iteration, messages, sums)
            messages = []


def verdict(line: str) -> Sums | None:
    """The sums of scores by which a proposal was accepted or rejected; None for any other line."""
    match = _REJECTED.fullmatch(line) or _ACCEPTED.fullmatch(line)
    if match is None:
        return None
    named = match.groupdict()
    before, after = (
        number_of(named[one] or named.get(other) or "") for one, other in (("before", "lower"), ("after", "higher"))
    )
    return None if before is None or after is None else Sums(before, after)


def logged_messages(path: Path) -> Iterator[tuple[int, str]]:
    """Numbers of iterations and what is logged of them, with the lines up to the next message."""
    number, lines, length = -1, [""], 0
    with open_regular(path) as data, TextIOWrapper(data, "utf-8", "surrogateescape", "\n") as stream:
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
