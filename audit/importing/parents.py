"""Logs with a row per candidate: a row revises its parent, whose own row gives the initial candidate."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from audit.importing.fields import CANDIDATE, IDENTITY
from audit.importing.mapping import LogMapping
from audit.importing.names import in_sequence

PREVIOUS: Final = "previous"
"""The value of `[run] parent` by which a row revises the last one before it, in its run, that was kept."""
_OWN: Final = frozenset({"answer", "thinking", "source", "out_of_range"})
"""Fields of a candidate that are not its parent's when it is revised."""

Given = dict[str, Any]


@dataclass(frozen=True)
class Candidate:
    """A row that was read.

    Attributes:
        given: its fields.
        faults: what is wrong with them.
        file: where it is from.
        line: where it begins there.
        finish: makes a record of its fields.
    """

    given: Given
    faults: list[str]
    file: str
    line: int
    finish: Callable[[Given, list[str]], dict[str, Any]]

    @property
    def run(self) -> tuple[object, ...]:
        """The run that it belongs to."""
        return tuple(self.given[name] for name in IDENTITY if name != "iteration")

    @property
    def name(self) -> str | None:
        """What the log calls it."""
        return self.given.get("candidate")

    @property
    def parent(self) -> str | None:
        """What the log calls the candidate that it revises."""
        return self.given.get("parent")

    @property
    def content(self) -> Hashable:
        """What is revised: its text, or its parameters; None where the row has neither."""
        text, params = self.given.get("revised.text"), self.given.get("revised.params")
        return tuple(sorted(text.items())) if text else tuple(params) if params else None

    @property
    def scores(self) -> tuple[object, object]:
        """What the log states of its scores."""
        return self.given.get("revised.returns"), self.given.get("revised.mean_return")

    def revising(self, parent: Candidate) -> Given:
        """Its fields, with those of its parent as the initial candidate."""
        names = [name for name in CANDIDATE if name not in _OWN]
        return self.given | {f"initial.{name}": parent.given.get(f"revised.{name}") for name in names}


def parents_by_name(rows: list[Candidate]) -> Iterator[tuple[Candidate, Candidate | str | None]]:
    """Each row with its parent, why it has none, or None where a run begins with it.

    Names are those of a run; the first row of a name has it. A candidate that is its own ancestor has no parent.
    """
    named: dict[tuple[object, ...], Candidate] = {}
    for row in rows:
        named.setdefault((row.run, row.name), row)

    def above(row: Candidate) -> Candidate | None:
        return None if row.parent is None else named.get((row.run, row.parent))

    rooted: set[int] = set()
    for row in rows:
        path: dict[int, Candidate] = {}
        at: Candidate | None = row
        while at is not None and id(at) not in path and id(at) not in rooted:
            path[id(at)] = at
            at = above(at)
        if at is None or id(at) in rooted:
            rooted.update(path)
        if row.parent is None:
            yield row, None
        elif id(row) not in rooted:
            yield row, f"its parent {row.parent!r} is its own descendant, or comes of one"
        else:
            yield row, above(row) or f"its parent {row.parent!r} is in no row of the run"


def in_order(rows: list[Candidate], mapping: LogMapping) -> tuple[list[Candidate], str | None]:
    """The rows of a run in the order of their steps or iterations, and what these are where they state no order."""
    unsorted = None
    if mapping.has("step"):
        places = [row.given["step"] for row in rows]
    elif mapping.columns["iteration"].startswith("@"):
        return rows, None
    else:
        places = [row.given["iteration"] for row in rows]
        named, unsorted = in_sequence(dict.fromkeys(place for place in places if isinstance(place, str)))
        places = [named.get(place, place) for place in places]
    # A row without a place is faulty, and stays behind the one before it.
    last = 0.0
    keys = [last := last if place is None else place for place in places]
    return [row for _, row in sorted(zip(keys, rows, strict=True), key=lambda each: each[0])], unsorted


def by_run(rows: list[Candidate]) -> Mapping[tuple[object, ...], list[Candidate]]:
    """The rows of each run, in the order of the log."""
    runs: dict[tuple[object, ...], list[Candidate]] = {}
    for row in rows:
        runs.setdefault(row.run, []).append(row)
    return runs
