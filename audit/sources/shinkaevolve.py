"""Results folders of ShinkaEvolve: `programs.sqlite`, with every program and the call that wrote it.

An iteration revises one program after a model has seen others with their scores. All that were evaluated are in the
database, those that do not run correctly with a score of 0.
"""

from __future__ import annotations

import functools
import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Final

from audit.output.errors import count
from audit.output.escaping import excerpt
from audit.records.locating import Found
from audit.sources.intake import Intake, RunFacts
from audit.sources.iterations import Capabilities, ShownEvidence, Translated
from audit.sources.run_names import Folder, run_names
from audit.sources.shinkaevolve_programs import Programs, decoded
from audit.sources.sqlite_copies import copy_database, opened
from audit.sources.tool_runs import (
    LogError,
    ToolRun,
    candidate,
    cut,
    joined,
    number,
    optional,
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
_CALL: Final = ("content", "msg", "system_msg")
"""Parts of a program's call that all have: the answer and the prompt."""


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
        self._databases: dict[Folder, Found] = {}

    def claims(self, found: Found) -> bool:
        """Whether it is the database."""
        return found.name == _DATABASE

    def take(self, found: Found, intake: Intake) -> None:  # noqa: ARG002 - as every source
        """Remember where the database is."""
        self._databases[found.folder] = found

    def finish(self, intake: Intake) -> None:
        """Write the iterations of each run."""
        copies: dict[str, str] = {}
        for key, name in run_names(self._databases, intake).items():
            _hand_over(self._databases[key], name, copies, intake)


def _hand_over(found: Found, name: tuple[str, int], copies: dict[str, str], intake: Intake) -> None:
    run = ToolRun(found.label, intake)
    path = intake.new_file("programs", ".sqlite")
    try:
        copy_database(found.path, path)
        with opened(path) as database:
            if (damage := database.execute("pragma quick_check(1)").fetchone()[0]) != "ok":
                intake.problem(found.label, None, f"is damaged, so that programs may be missing ({damage})")
            _Writer(database, run, name, intake).write()
    except OSError as error:
        intake.problem(found.label, None, f"cannot be read ({error.strerror or error}); left out")
    except (sqlite3.Error, LogError) as error:
        intake.problem(found.label, None, f"cannot be read ({error})")
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
        self._notes = intake.notes
        self._programs = Programs(database, run)
        self._lacking: Counter[str] = Counter()
        self._program = functools.lru_cache(256)(self._read)

    def write(self) -> None:
        known = self._programs.known
        order = self._programs.revisions()
        most = max(Counter(known[program].generation for program in order).values(), default=1)
        places: Counter[int] = Counter()
        incorrect = 0
        for program in order:
            found = known[program]
            iteration = found.generation * most + places[found.generation]
            places[found.generation] += 1
            try:
                row = self._program(program)
                self._run.write(self._name, SOURCE, iteration, **self._fields(row, never_ran=found.never_ran))
            except LogError as error:
                self._run.fault(str(error), iteration)
                continue
            if not found.never_ran:
                parents = [self._programs.original(found.parent)]
                self._run.joined(PoolMember(candidate=program, parents=parents, role="revision", iteration=iteration))
                incorrect += not row["correct"]
        self._note(self._programs.notes())
        if incorrect:
            of = f"{incorrect} of {count(len(order), 'program')} did not run correctly"
            self._note([f"{of}, and count with the score that they have"])
        ran = self._lacking.pop("", 0)
        missing = {name: each for name, each in self._lacking.items() if each < ran}
        self._note(f"{each} of {count(ran, 'program')} without {name}" for name, each in missing.items())
        if most > 1:
            self._note([f"up to {most} programs have the same generation; iterations are numbered by both"])

    def _note(self, notes: Iterable[str]) -> None:
        self._notes.extend(f"{self._run.label}: {note}" for note in notes)

    def _fields(self, row: Mapping[str, Any], *, never_ran: bool) -> dict[str, Any]:
        parent = self._program(self._programs.original(row["parent_id"]))
        call = optional(decoded(row, "metadata", dict), "llm_result", dict) or {}
        answer, thought, prompt, system = (
            optional(call, key, str) for key in ("content", "thought", "msg", "system_msg")
        )
        initial = candidate("parent", {"program": text_of(parent, "code")}, None, mean=number(parent["combined_score"]))
        evidence, whole = self._evidence(row, prompt), joined(system, prompt)
        if never_ran:
            return {**unread(initial, evidence), "prompt": whole, "answer": answer}
        self._lacking.update(name for name in ("", *_CALL) if not call.get(name))
        text, score = {"program": text_of(row, "code")}, number(row["combined_score"])
        revised = candidate("critic", text, None, mean=score, answer=answer, thinking=thought or None)
        return {**revision(initial, revised, evidence, accepted=True), "prompt": whole}

    def _evidence(self, row: Mapping[str, Any], prompt: str | None) -> ShownEvidence | None:
        """The programs shown, in the order of their code in the prompt; None where one of them is not in it."""
        ids = [
            each
            for column in ("archive_inspiration_ids", "top_k_inspiration_ids")
            for each in decoded(row, column, list)
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
