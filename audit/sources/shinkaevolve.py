"""Results folders of ShinkaEvolve: `programs.sqlite`, with every program and the call that wrote it.

An iteration revises one program after a model has seen others with their scores. All that were evaluated are in the
database, those that do not run correctly with a score of 0.
"""

from __future__ import annotations

import functools
import json
import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Final

from audit.output.errors import count
from audit.output.escaping import excerpt
from audit.sources.files import Found
from audit.sources.intake import Intake, RunFacts
from audit.sources.iterations import Capabilities, ShownEvidence, Translated
from audit.sources.run_names import Folder, run_names
from audit.sources.sqlite_copies import JOURNALS, copy_database, opened
from audit.sources.tool_runs import (
    LogError,
    T,
    ToolRun,
    candidate,
    cut,
    index,
    joined,
    kept,
    left_out,
    number,
    optional,
    required,
    revision,
    text_of,
    unread,
)
from audit.vocabulary.evidence import ShownRollout
from collector.records import PoolMember

SOURCE: Final = "shinkaevolve"
_DATABASE: Final = "programs.sqlite"
_COLUMNS: Final = (
    "id",
    "code",
    "parent_id",
    "archive_inspiration_ids",
    "top_k_inspiration_ids",
    "generation",
    "timestamp",
    "combined_score",
    "correct",
    "metadata",
)
_NEVER_RAN: Final = ("failure_stage", "failure_persisted", "results_missing", "error_attempt")
"""In a program's metadata, what says that none could be made, that it was not run, or that its results were lost."""


@dataclass
class _Folder:
    """What has been found of one run: the database, and from an archive its journals by their endings."""

    label: str = ""
    path: Path | None = None
    is_copy: bool = False
    journals: dict[str, Path] = field(default_factory=dict)


class ShinkaEvolveSource:
    """Reads the database of each results folder."""

    capabilities: ClassVar = {SOURCE: Capabilities(Translated)}
    remarks: ClassVar = {
        SOURCE: (
            "ShinkaEvolve stores generations that never ran from 0.0.4 on; before that they are not in its database.",
            "Programs that do not run correctly are revisions with the score that the database has for them, mostly 0.",
            "What its prompts show are other programs with one score each, by default in ascending order of score.",
            "Every program is stored, so that none is refused.",
        )
    }
    looked_for = "programs.sqlite (a results folder of ShinkaEvolve)"

    def __init__(self) -> None:
        self._folders: dict[Folder, _Folder] = {}

    def claims(self, found: Found) -> bool:
        """Whether it is the database, or in an archive its journal."""
        return found.name == _DATABASE or (found.path is None and _journal(found) is not None)

    def take(self, found: Found, intake: Intake) -> None:
        """Remember where a file is."""
        folder = self._folders.setdefault(found.folder, _Folder())
        ending = _journal(found)
        try:
            path = kept(found, intake)
        except OSError as error:
            left_out(found, error, intake)
            return
        if ending is not None:
            folder.journals[ending] = path
        else:
            folder.label, folder.path, folder.is_copy = found.label, path, found.path is None

    def finish(self, intake: Intake) -> None:
        """Write the iterations of each run."""
        folders = {key: folder for key, folder in self._folders.items() if folder.path is not None}
        copies: dict[str, str] = {}
        for key, name in run_names(folders, intake).items():
            _hand_over(folders[key], name, copies, intake)


def _journal(found: Found) -> str | None:
    return next((ending for ending in JOURNALS if found.name == _DATABASE + ending), None)


def _hand_over(folder: _Folder, name: tuple[str, int], copies: dict[str, str], intake: Intake) -> None:
    assert folder.path is not None
    run = ToolRun(folder.label, intake)
    path = folder.path
    try:
        if folder.is_copy:
            for ending, journal in folder.journals.items():
                journal.rename(path.with_name(path.name + ending))
        else:
            path = intake.new_file("programs", ".sqlite")
            copy_database(folder.path, path)
        with opened(path) as database:
            _Writer(database, run, name, intake).write()
    except OSError as error:
        intake.problem(folder.label, None, f"cannot be read ({error.strerror or error}); left out")
    except (sqlite3.Error, LogError) as error:
        intake.problem(folder.label, None, f"cannot be read ({error})")
    env, number_of_run = name
    run.close(
        RunFacts(
            condition=SOURCE,
            env=env,
            variant=SOURCE,
            run=number_of_run,
            source=SOURCE,
            backend=SOURCE,
            candidates="text",
            selection_rule="pool",
        ),
        copies,
    )


@dataclass(frozen=True, slots=True)
class _Program:
    """What is known of a program without its texts.

    Attributes:
        original: the program that ShinkaEvolve copied to make it.
        never_ran: whether nothing was run, so that its score is ShinkaEvolve's own.
    """

    parent: str | None
    generation: int
    original: str | None
    never_ran: bool


class _Writer:
    """Writes one run."""

    def __init__(self, database: sqlite3.Connection, run: ToolRun, name: tuple[str, int], intake: Intake) -> None:
        tables = database.execute("select 1 from sqlite_master where type = 'table' and name = 'programs'").fetchall()
        columns = {row[1] for row in database.execute("pragma table_info(programs)")}
        missing = [column for column in _COLUMNS if column not in columns]
        if not tables or missing:
            raise LogError(f"no table programs with {', '.join(missing or _COLUMNS)}")
        self._database = database
        self._run = run
        self._name = name
        self._intake = intake
        self._known: dict[str, _Program] = {}
        self._program = functools.lru_cache(256)(self._read)

    def write(self) -> None:
        order = self._order()
        sizes = Counter(self._known[program].generation for program in order)
        most = max(sizes.values(), default=1)
        places: Counter[int] = Counter()
        incorrect = 0
        for program in order:
            known = self._known[program]
            iteration = known.generation * most + places[known.generation]
            places[known.generation] += 1
            try:
                row = self._program(program)
                self._run.write(self._name, SOURCE, iteration, **self._fields(row, never_ran=known.never_ran))
            except LogError as error:
                self._run.fault(str(error), iteration)
                continue
            if not known.never_ran:
                parents = [self._original(known.parent)]
                self._run.joined(PoolMember(candidate=program, parents=parents, role="revision", iteration=iteration))
                incorrect += not row["correct"]
        self._note(len(order), most, incorrect)

    def _note(self, programs: int, most: int, incorrect: int) -> None:
        """Say what is counted in a way that is not plain from the database."""
        copies = sum(program.original is not None for program in self._known.values())
        never_ran = sum(program.never_ran for program in self._known.values())
        for number_of, note in (
            (copies, f"left out: {_copies(copies)} that ShinkaEvolve made for other islands"),
            (never_ran, f"{count(never_ran, 'generation')} never ran, and count as unreadable answers"),
            (
                incorrect,
                f"{incorrect} of {count(programs, 'program')} did not run correctly, and count with the score that they "
                "have",
            ),
            (most - 1, f"up to {most} programs have the same generation; iterations are numbered by both"),
        ):
            if number_of:
                self._intake.notes.append(f"{self._run.label}: {note}")

    def _order(self) -> list[str]:
        """The programs that revise another one, in the order in which they were made."""
        query = "select id, parent_id, generation, timestamp, metadata from programs order by generation, timestamp, id"
        rows = 0
        for rows, (program, parent, generation, timestamp, metadata) in enumerate(self._database.execute(query), 1):
            try:
                row = {"id": program, "parent_id": parent, "metadata": metadata}
                if text_of(row, "id") in self._known:
                    raise LogError(f"another program has the same id: {excerpt(program)}")
                if isinstance(timestamp, str | bytes | None):
                    raise LogError(f"timestamp is not a number: {excerpt(timestamp)}")
                self._known[program] = _facts(row, index(generation, "generation"))
            except LogError as error:
                self._run.fault(str(error), generation if isinstance(generation, int) else None)
        if not rows:
            raise LogError("it holds no program")
        return [name for name, program in self._known.items() if self._is_revision(program)]

    def _is_revision(self, program: _Program) -> bool:
        """Whether it was made of another program; one that should have been, and was not, is a fault."""
        if program.original is not None or (program.parent is None and program.generation == 0):
            return False
        parent = self._known.get(self._original(program.parent))
        if program.parent is None:
            reason = "it never ran, and has no parent" if program.never_ran else "it has no parent"
        elif parent is None:
            reason = f"its parent is not in the database, or cannot be used: {excerpt(program.parent)}"
        elif parent.generation >= program.generation:
            reason = f"its parent is of a later generation: {parent.generation}"
        elif parent.never_ran:
            reason = "its parent never ran, so that there is no score to compare with"
        else:
            return True
        self._run.fault(reason, program.generation)
        return False

    def _original(self, program: str | None) -> str:
        """The program that another one is a copy of, as far as the database has it; itself where it is none."""
        seen: set[str] = set()
        name = program or ""
        while name not in seen and name in self._known and self._known[name].original in self._known:
            seen.add(name)
            name = self._known[name].original or name
        return name

    def _fields(self, row: Mapping[str, Any], *, never_ran: bool) -> dict[str, Any]:
        parent = self._program(self._original(row["parent_id"]))
        call = optional(_decoded(row, "metadata", dict), "llm_result", dict) or {}
        answer, thought, prompt, system = (
            optional(call, key, str) for key in ("content", "thought", "msg", "system_msg")
        )
        initial = candidate("parent", {"program": text_of(parent, "code")}, None, mean=number(parent["combined_score"]))
        evidence, whole = self._evidence(row, prompt), joined(system, prompt)
        if never_ran:
            return {**unread(initial, evidence), "prompt": whole, "answer": answer}
        text, score = {"program": text_of(row, "code")}, number(row["combined_score"])
        revised = candidate("critic", text, None, mean=score, answer=answer, thinking=thought or None)
        return {**revision(initial, revised, evidence, accepted=True), "prompt": whole}

    def _evidence(self, row: Mapping[str, Any], prompt: str | None) -> ShownEvidence | None:
        """The programs shown, in the order of their code in the prompt; None where one of them is not in it."""
        ids = [
            each
            for column in ("archive_inspiration_ids", "top_k_inspiration_ids")
            for each in _decoded(row, column, list)
        ]
        if unknown := [each for each in ids if not isinstance(each, str) or not self._program(each)]:
            raise LogError(f"a program that its prompt shows is not in the database: {excerpt(unknown[0])}")
        shown = [self._program(each) for each in dict.fromkeys(ids)]
        if prompt is None or not shown:
            return None
        codes = [str(each["code"]).strip() for each in shown]
        at = [prompt.find(code) for code in codes]
        if min(at) < 0:
            return None
        order = sorted(range(len(shown)), key=lambda place: at[place])
        return ShownEvidence(kind="programs", shown=_items([shown[place] for place in order]))

    def _read(self, program: str) -> Mapping[str, Any]:
        """A program's row; an empty one where there is none."""
        query = f"select {', '.join(_COLUMNS)} from programs where id = ?"  # noqa: S608 - names of ours
        row = self._database.execute(query, [program]).fetchone()
        return {} if row is None else dict(zip(_COLUMNS, row, strict=True))


def _items(programs: Sequence[Mapping[str, Any]]) -> list[ShownRollout]:
    return [
        ShownRollout(
            label="item",
            return_=number(each["combined_score"]),
            text=cut(str(each["code"])),
        )
        for each in programs
    ]


def _copies(number_of: int) -> str:
    return "1 copy" if number_of == 1 else f"{number_of} copies"


def _facts(row: Mapping[str, Any], generation: int) -> _Program:
    metadata = _decoded(row, "metadata", dict)
    is_copy = metadata.get("_spawned_island") or metadata.get("_is_island_copy")
    original = metadata.get("_spawned_from_program_id", metadata.get("_original_program_id"))
    return _Program(
        parent=None if row["parent_id"] is None else text_of(row, "parent_id"),
        generation=generation,
        original=str(original) if is_copy else None,
        never_ran=any(metadata.get(name) not in (None, False) for name in _NEVER_RAN),
    )


def _decoded(row: Mapping[str, Any], column: str, kind: type[T]) -> T:
    """What a column holds in JSON.

    Raises:
        LogError: it does not hold that.
    """
    text = row[column]
    try:
        return required({column: json.loads(text) if isinstance(text, str) else None}, column, kind)
    except (ValueError, RecursionError):
        raise LogError(f"{column} is not JSON of the kind that ShinkaEvolve writes: {excerpt(text)}") from None
