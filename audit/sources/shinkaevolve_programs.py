"""Programs in a database of ShinkaEvolve: those that revise another one, copies that it made by itself, and faults.

It copies its first program to each island, and for a new island a program with its descendants; copies are marked. From
0.0.4 on it stores generations for which no program could be made, or none was run, with a score of 0.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from audit.output.errors import count
from audit.output.escaping import excerpt
from audit.sources.tool_runs import LogError, T, ToolRun, gaps, index, required, text_of

_COLUMNS: Final = ("id", "parent_id", "generation", "timestamp", "combined_score", "metadata", "code")
_COPIED: Final = ("_spawned_from_program_id", "_original_program_id", "_spawned_island", "_is_island_copy")
"""In a copy's metadata, what it is a copy of, and that it is one."""
_NEVER_RAN: Final = ("failure_stage", "failure_persisted", "results_missing", "error_attempt")
"""In a program's metadata, what says that none could be made, that it was not run, or that its results were lost."""


@dataclass(frozen=True, slots=True)
class _Program:
    """What is known of a program without its texts.

    Attributes:
        original: the program that ShinkaEvolve copied to make it.
        never_ran: whether nothing was run, so that its score is ShinkaEvolve's own.
        content: stands for its code and score.
    """

    parent: str | None
    generation: int
    original: str | None
    never_ran: bool
    content: int


class Programs:
    """The programs of a database; what is wrong with one is a fault of the run.

    Raises:
        LogError: there are none.
    """

    def __init__(self, database: sqlite3.Connection, run: ToolRun) -> None:
        self._run = run
        self.known: dict[str, _Program] = {}
        is_empty = True
        query = f"select {', '.join(_COLUMNS)} from programs order by generation, timestamp, id"  # noqa: S608 - ours
        for values in database.execute(query):
            is_empty = False
            self._take(dict(zip(_COLUMNS, values, strict=True)))
        if is_empty:
            raise LogError("it holds no program")
        self._contradictions = (
            (self._children_missing(database), "that others count as their children cannot be found"),
            (self._archived_missing(database), "that its archive names cannot be found"),
            (self._changed(database), "with other code than code_diff made"),
        )

    def original(self, program: str | None) -> str:
        """The program that another one is a copy of, as far as the database has it; itself where it is none."""
        seen: set[str] = set()
        name = program or ""
        while name not in seen and name in self.known and self.known[name].original in self.known:
            seen.add(name)
            name = self.known[name].original or name
        return name

    def revisions(self) -> list[str]:
        """The programs that revise another one, in the order in which they were made."""
        found = []
        seeds = [name for name, program in self.known.items() if program.generation == 0 and program.original is None]
        for name, program in self.known.items():
            if (reason := self._fault(program)) is not None:
                effect = "taken for the first program" if seeds == [name] else "left out"
                self._run.fault(reason, program.generation, effect)
            elif program.original is None and program.parent is not None:
                found.append(name)
        return found

    def notes(self) -> Iterator[str]:
        """What is left out, or counts as something else than it seems, and how often."""
        copies = sum(program.original is not None for program in self.known.values())
        if copies:
            many = "1 copy" if copies == 1 else f"{copies} copies"
            yield f"left out: {many} that ShinkaEvolve made for other islands"
        if never_ran := sum(program.never_ran for program in self.known.values()):
            yield f"{count(never_ran, 'generation')} never ran, without a score of their own: unreadable answers"
        yield from gaps((program.generation for program in self.known.values()), "generation")
        for number, what in self._contradictions:
            if number:
                yield f"{count(number, 'program')} {what}"

    def _take(self, row: Mapping[str, Any]) -> None:
        generation = row["generation"]
        try:
            name, program = text_of(row, "id"), _facts(row)
        except LogError as error:
            self._run.fault(str(error), generation if isinstance(generation, int) else None)
            return
        if name in self.known:
            self._run.fault(f"another program has the same id: {excerpt(name)}", generation)
        else:
            self.known[name] = program

    def _fault(self, program: _Program) -> str | None:
        """Why what a program says of where it is from cannot be."""
        if program.original is not None:
            original = self.known.get(program.original)
            if original is None:
                return f"it is marked as a copy of a program that is not in the database: {excerpt(program.original)}"
            is_same = original.content == program.content
            return None if is_same else "it is marked as a copy, and differs from its original"
        if program.parent is None:
            return None if program.generation == 0 else "it has no parent"
        parent = self.known.get(self.original(program.parent))
        if parent is None:
            return f"its parent is not in the database, or cannot be used: {excerpt(program.parent)}"
        if parent.generation >= program.generation:
            return f"its parent is not an earlier program: {excerpt(program.parent)}"
        return "its parent never ran, so that there is no score to compare with" if parent.never_ran else None

    def _children_missing(self, database: sqlite3.Connection) -> int:
        """How many children programs count that are not in the database."""
        counted = dict(_rows(database, "select id, children_count from programs where children_count > 0"))
        children = Counter(program.parent for program in self.known.values())
        missing = (each - children[name] for name, each in counted.items() if isinstance(each, int))
        return sum(each for each in missing if each > 0)

    def _archived_missing(self, database: sqlite3.Connection) -> int:
        """How many programs of the archive are not in the database."""
        return sum(name not in self.known for (name,) in _rows(database, "select program_id from archive"))

    def _changed(self, database: sqlite3.Connection) -> int:
        """How many programs lack lines that their answer added."""
        changed = 0
        for name, code, diff in _rows(database, "select id, code, code_diff from programs where code_diff is not null"):
            if name in self.known and not self.known[name].never_ran:
                lines = {line.rstrip() for line in str(code).splitlines()}
                added = (line for line in str(diff).splitlines() if line[:1] == "+" and line[:3] != "+++")
                changed += not all(line[1:].rstrip() in lines for line in added)
        return changed


def _rows(database: sqlite3.Connection, query: str) -> Iterable[tuple[Any, ...]]:
    """What a query finds; nothing where a release has no such table or column."""
    try:
        return database.execute(query)
    except sqlite3.OperationalError:
        return ()


def _facts(row: Mapping[str, Any]) -> _Program:
    metadata = decoded(row, "metadata", dict)
    is_copy = any(name in metadata for name in _COPIED)
    original = next((metadata[name] for name in _COPIED[:2] if name in metadata), None)
    if not isinstance(row["timestamp"], int | float):
        raise LogError(f"timestamp is not a number: {excerpt(row['timestamp'])}")
    return _Program(
        parent=None if row["parent_id"] is None else text_of(row, "parent_id"),
        generation=index(row["generation"], "generation"),
        original=json.dumps(original) if is_copy and not isinstance(original, str) else original,
        never_ran=not is_copy and any(metadata.get(name) for name in _NEVER_RAN),
        content=hash((row["code"], row["combined_score"])),
    )


def decoded(row: Mapping[str, Any], column: str, kind: type[T]) -> T:
    """What a column holds in JSON.

    Raises:
        LogError: it does not hold that.
    """
    text = row[column]
    try:
        value = json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        raise LogError(f"{column} is not JSON: {excerpt(text)}") from None
    return required({column: value}, column, kind)
