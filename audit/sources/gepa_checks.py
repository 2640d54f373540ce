"""Whether the files of a GEPA run agree: damage to one of them contradicts the rest, and is named rather than read."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator
from typing import Final, NamedTuple

from audit.output.errors import count
from audit.output.escaping import excerpt
from audit.sources.gepa_entries import Entry
from audit.sources.gepa_statements import Statements
from audit.sources.tool_runs import LogError

_FEW: Final = 5


class Order:
    """Checks that iterations and candidates follow each other as GEPA numbers them: both one by one, without a gap.

    Args:
        unread: iterations that are in the log, and could not be read.
        adds: indices of the candidates that the log's entries add.
        candidates: how many `candidates.json` has; None where that is not known.
    """

    def __init__(self, unread: Collection[int], adds: Collection[int], candidates: int | None) -> None:
        self._unread = set(unread)
        self._seen: set[int] = set()
        self._adds = set(adds)
        self._known = candidates
        self._added = {0}
        self.last = -1
        """The last iteration of the log."""

    def check(self, entry: Entry) -> None:
        """Take the next entry.

        Raises:
            LogError: it cannot be where it is.
        """
        is_new = self._added.isdisjoint(entry.accepted) and len(set(entry.accepted)) == len(entry.accepted)
        reason = self._fault(entry)
        if is_new:  # also where the entry cannot be, as later ones may revise what it added
            self._added.update(entry.accepted)
        if reason is None and not is_new:
            reason = f"the candidate was added before: {min(entry.accepted)}"
        if reason is not None:
            raise LogError(reason)

    def _fault(self, entry: Entry) -> str | None:
        """Why its iteration or a parent cannot be."""
        if entry.iteration in self._seen:
            return "the iteration is in the log twice"
        self._seen.add(entry.iteration)
        self.last, is_late = max(self.last, entry.iteration), entry.iteration < self.last
        if is_late:
            return "the iteration comes after a later one"
        for parent in (*(task.parent for task in entry.tasks), *entry.merged):
            # One that no entry adds was added by one that is missing or cannot be read.
            was_lost = parent not in self._adds and (self._known is None or parent < self._known)
            if parent not in self._added and not was_lost:
                return f"the parent is not an earlier candidate: {parent}"
        return None

    @property
    def is_whole(self) -> bool:
        """Whether every iteration so far was read."""
        return not self._unread and len(self._seen) == self.last + 1

    @property
    def candidates(self) -> int:
        """How many candidates there are by the largest index of the log."""
        return max(self._added) + 1

    def gaps(self) -> Iterator[str]:
        """What is missing between the first and the last entry."""
        if missing := _missing(self._seen | self._unread, self.last + 1):
            yield f"has no entry of {missing.of('iteration')}"
        if missing := _missing(self._added, self.candidates):
            yield f"has no entry that adds {missing.of('candidate')}"


class _Missing(NamedTuple):
    """Numbers that are missing: the first few, and how many there are."""

    first: list[int]
    total: int

    def of(self, noun: str) -> str:
        shown = ", ".join(map(str, self.first))
        more = f" and {self.total - len(self.first)} more" if self.total > len(self.first) else ""
        return f"{noun if self.total == 1 else noun + 's'} {shown}{more}"


def _missing(present: Collection[int], end: int) -> _Missing | None:
    """Which numbers below an end are missing; None where none is. The end may be any number."""
    total = end - sum(number < end for number in present)
    first = list(itertools.islice((number for number in range(end) if number not in present), min(total, _FEW)))
    return _Missing(first, total) if total else None


def disagreement(entry: Entry, said: Statements) -> str | None:
    """What of an entry `run_log.txt` states otherwise; None where there is nothing.

    An iteration that was interrupted and made again is in the text log twice, where the last one counts.
    """
    scored = [task for task in entry.tasks if task.is_scored]
    joined, sums = said.joined.get(entry.iteration), said.verdicts.get(entry.iteration, [])
    if entry.tasks and said.parents.get(entry.iteration, entry.tasks[0].parent) != entry.tasks[0].parent:
        return "its parent is another one in run_log.txt"
    if joined and joined[-max(len(entry.accepted), 1) :] != entry.accepted:
        return "the candidates that it adds are others in run_log.txt"
    found = [any(each.are_of(task) for each in sums) for task in scored]
    # A criterion of a user's own words its verdicts as it likes.
    if len(sums) >= max(len(scored), 1) and not (found and all(found)):
        return "its scores are others in run_log.txt"
    return None


def lacking(last: int, candidates: int, said: Statements) -> Iterator[str]:
    """What a text log does not have of a run.

    Args:
        last: the last iteration of `run_log.json`.
        candidates: how many there are.
        said: what the text log states.
    """
    ends = max([*said.parents, *said.verdicts, *said.joined], default=-1)
    if ends < last:
        yield f"ends before iteration {last} of run_log.json"
    if ends > last + 1 > 0:
        yield f"goes on to iteration {ends}, where run_log.json ends at iteration {last}"
    if said.unread:
        yield f"has {count(len(said.unread), 'score')} on validation that cannot be read: {excerpt(said.unread[0])}"
    means = {index for index, (mean, _) in said.validation.items() if mean is not None}
    if missing := _missing(means, candidates):
        yield f"has no mean score on validation of {missing.of('candidate')}"
    # Those of the seed are in no release's log.
    scores = {0, *(index for index, (_, each) in said.validation.items() if each is not None)}
    if missing := _missing(scores, candidates):
        yield f"has no scores on each example of validation of {missing.of('candidate')}"
