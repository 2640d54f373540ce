"""Packs: whole data sets in one Parquet file.

A row is a record in columns, as in the relation `records`, with the file that it was in. One row has, in the column
`about`, what is known of the runs and what was left out. Where a pack is read, its records become lines of JSON again,
which are checked like those of any log.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import duckdb
import msgspec

from audit.models.connection import connect
from audit.models.sql_text import exactly
from audit.output.errors import AuditError, Problem
from audit.records.locating import Found
from audit.records.unpacking import RATIO, UNPACKED
from audit.sources.formats import CAPABILITIES
from audit.sources.intake import Intake, RunFacts
from audit.sources.native import NATIVE, facts_of
from audit.vocabulary.endings import PACK
from audit.vocabulary.keys import RunKey
from collector.records import Count, Run
from collector.system.regular_files import open_regular

FORMAT: Final = 2
"""Version of the format; no other is read."""
LARGEST: Final = 2**28
"""Bytes of the largest `about` that is read."""

_RECORDS: Final = """
    -- A record without a threshold, a remedy, an error or an origin has no such keys. In a text quotes are escaped.
    select
        condition, env, variant, run, coalesce(file::varchar, '') as label,
        replace(replace(replace(replace(replace(to_json({
            condition: condition, env: env, variant: variant, run: run, iteration: iteration,
            initial: initial, revised: revised, revision_status: revision_status, selected: selected,
            evidence: evidence, seconds: seconds, error: error,
            tau_c: tau_c, restrained: restrained, answers: answers, acceptance: acceptance, origin: origin
        })::varchar, ',"error":null,', ','), ',"tau_c":null,"restrained":null', ''),
            ',"answers":null', ''), ',"acceptance":null', ''), ',"origin":null}', '}')
    from read_parquet(?)
    where about is null
"""


class PackedRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run in a pack: its `run.json`, or for a foreign log what is known of it; iterations that proposed nothing."""

    described: Run | None = None
    facts: RunFacts | None = None
    skipped: list[Count] = []


class About(msgspec.Struct, frozen=True, kw_only=True):
    """What a pack holds beside its records."""

    format: int = FORMAT
    runs: list[PackedRun]
    problems: list[Problem]
    logged_returns: list[dict[str, Any]]


class PackSource:
    """Hands over what packs hold."""

    looked_for = f"*{PACK} (made by audit pack)"

    def claims(self, found: Found) -> bool:
        """Whether the file has the ending of a pack."""
        return found.name.endswith(PACK)

    def take(self, found: Found, intake: Intake) -> None:
        """Read what the pack holds."""
        try:
            open_regular(found.path).close()  # DuckDB would wait for a pipe
            path = intake.readable(found.path)
            with contextlib.closing(connect(intake.directory)) as connection:
                runs = _add_runs(_about(path, connection), found.label, intake)
                _add_records(path, connection, runs, found.label, intake)
        except (OSError, AuditError, msgspec.MsgspecError, RecursionError, duckdb.Error) as error:
            reason = str(getattr(error, "strerror", None) or error).strip().splitlines()[0]
            intake.problem(found.label, None, f"cannot be read as a pack ({reason}); left out")

    def finish(self, intake: Intake) -> None:
        """Do nothing: everything has been handed over."""


def _about(path: Path, connection: duckdb.DuckDBPyConnection) -> About:
    name = exactly(path)
    columns = [column for column, *_ in connection.execute("from read_parquet(?) limit 0", [name]).description or ()]
    query = "select about from read_parquet(?) where about is not null and strlen(about) <= ?"
    found = connection.execute(query, [name, LARGEST]).fetchone() if "about" in columns else None
    if found is None or msgspec.json.decode(found[0], type=_Format).format != FORMAT:
        raise AuditError("it was packed by another version; pack its records again")
    return msgspec.json.decode(found[0], type=About)


def _add_runs(about: About, label: str, intake: Intake) -> dict[RunKey, RunFacts]:
    """Hand over all but the records; gives the runs that are not left out."""
    runs: dict[RunKey, RunFacts] = {}
    for run in about.runs:
        facts = _add(run, label, intake)
        if facts is not None:
            runs[facts.identity] = facts
            if run.skipped:
                intake.skipped.setdefault(facts.identity, set()).update(run.skipped)
    intake.problems.extend(about.problems)
    intake.append(intake.logged_returns, *about.logged_returns)
    return runs


def _add(run: PackedRun, label: str, intake: Intake) -> RunFacts | None:
    """Add a run to the intake; None if it is left out."""
    try:
        facts = facts_of(run.described) if run.facts is None and run.described is not None else run.facts
    except AuditError as error:
        intake.problem(label, None, f"{error}; the run is left out")
        return None
    if facts is not None and facts.source not in CAPABILITIES:
        intake.problem(label, None, f"source {facts.source!r} is not known; the run is left out; update salience-audit")
        return None
    if facts is None or not intake.add_run(facts, run.described):
        intake.problem(label, None, "describes a run that other records describe differently; left out")
        return None
    return facts


def _add_records(
    path: Path, connection: duckdb.DuckDBPyConnection, runs: Mapping[RunKey, RunFacts], pack: str, intake: Intake
) -> None:
    """Write the records of each file as lines of JSON, and hand these files over.

    Raises:
        AuditError: the pack unpacks to far more than its size.
    """
    room = max(UNPACKED, RATIO * path.stat().st_size)
    files: dict[tuple[RunKey, str], Path] = {}
    strays: set[RunKey] = set()
    with contextlib.ExitStack() as opened:
        current = stream = None
        for identity, label, line in _lines(path, connection):
            if identity not in runs:
                strays.add(identity)
                continue
            if current != (identity, label):
                opened.close()
                current = identity, label
                stream = opened.enter_context(files.setdefault(current, intake.new_file("unpacked")).open("ab"))
            # Where `collect` shows a rollout without a name, there is no such key; of an item of a text it is null.
            text = line.replace(',"name":null', "") if runs[identity].source == NATIVE else line
            room -= len(text)
            if room < 0:
                raise AuditError("it unpacks to far more than its size")
            assert stream is not None
            stream.write(text.encode() + b"\n")
    for stray in strays:
        intake.problem(pack, None, f"holds records of {stray}, a run that it does not describe soundly; left out")
    for (identity, label), file in files.items():
        intake.add_file(file, label, runs[identity])


def _lines(path: Path, connection: duckdb.DuckDBPyConnection) -> Iterator[tuple[RunKey, str, str]]:
    found = connection.execute(_RECORDS, [exactly(path)])
    while rows := found.fetchmany(1000):
        yield from ((RunKey(*identity), label, line) for *identity, label, line in rows)


class _Format(msgspec.Struct):
    format: int
