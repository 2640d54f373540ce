"""Packs: whole data sets in one Parquet file, made by `audit pack`.

A row is a record in columns, as in the relation `records`. The row at place 0 holds what the pack is of, in JSON; each
record file has a place of its own from 1. A file in which something is wrong, or which columns cannot hold to the last
bit, has its lines as they are, in the column `line`. Further columns have what was found in the record of the same row
(`audit/engine/carried.py`); whether it is believed is decided where it is used (`audit/ingest/carriers.py`).
"""

from __future__ import annotations

import functools
import hashlib
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from audit.engine.catalog import functions, models
from audit.engine.memory import memory_limit
from audit.engine.paths import exactly
from audit.engine.quiet import without_progress_bar
from audit.output.errors import AuditError, Problem
from audit.remote.ranges import attach, check, failure, interrupted, is_elsewhere
from audit.sources.archives import RATIO, UNPACKED
from audit.sources.files import Found
from audit.sources.formats import CAPABILITIES, is_translated
from audit.sources.grammar import form_of, line_form
from audit.sources.intake import CarriedFindings, Intake, RecordFile, RunFacts
from audit.sources.native import NATIVE, facts_of
from audit.vocabulary.endings import PACK
from collector.records import Acceptance, Answers, Count, Run
from collector.system.regular_files import open_regular

if TYPE_CHECKING:
    import duckdb

FORMAT: Final = 1
"""Version of the format; a higher one is not read."""

_CONTENTS: Final = "select line::blob from read_parquet(?) where place = 0 and octet_length(line::blob) <= 268435456"
_RAW: Final = "select line::blob from read_parquet(?) where place = ? order by number"
_RECORDS: Final = """
    -- A record without a threshold, a remedy or an error has no such keys. In a text quotes are escaped.
    select replace(replace(replace(replace(to_json({{
        condition: condition, env: env, variant: variant, run: run, iteration: iteration,
        initial: initial, revised: revised, revision_status: revision_status, selected: selected,
        evidence: evidence, seconds: seconds, error: error,
        tau_c: tau_c, restrained: restrained, answers: answers, acceptance: acceptance{origin}
    }})::varchar, ',"error":null,', ','), ',"tau_c":null,"restrained":null', ''),
        ',"answers":null', ''), ',"acceptance":null', '')
    from (
        -- Packs of earlier versions have no such columns.
        from read_parquet(?) union all by name
        select
            null::varchar as error, null::double as tau_c, null::boolean as restrained,
            null::{answers} as answers, null::{acceptance} as acceptance
        where false
    )
    where place = ?
    order by number
"""


_COLUMNS: Final = (
    *("place", "number", "condition", "env", "variant", "run", "iteration", "initial", "revised", "revision_status"),
    *("selected", "evidence", "seconds", "tau_c", "restrained", "answers", "acceptance"),
    "origin",
)
"""Columns of records in a pack."""
_LATER: Final = {"tau_c", "restrained", "answers", "acceptance", "origin"}
"""Those that packs of earlier versions need not have."""


class PackedFile(msgspec.Struct, frozen=True, kw_only=True):
    """A record file in a pack: what people knew it by, its run (an index), and whether its lines are as they were.

    `size` is how many bytes it had; packs of earlier versions do not state it.
    """

    label: str
    run: int
    place: int
    is_raw: bool
    size: int = 0


class PackedRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run in a pack: its `run.json`, or for a foreign log what is known of it."""

    described: Run | None = None
    facts: RunFacts | None = None


class PackedSkips(msgspec.Struct, frozen=True, kw_only=True):
    """Iterations of a run (an index) that proposed nothing."""

    run: int
    iterations: list[Count]


class Contents(msgspec.Struct, frozen=True, kw_only=True):
    """What a pack holds.

    `made_by` is the program's version, `rules` a digest of those by which lines were judged. Packs of earlier versions
    have no checksums (`audit/remote/checksums.py`).
    """

    format: int = FORMAT
    made_by: str
    rules: str
    runs: list[PackedRun]
    files: list[PackedFile]
    problems: list[Problem]
    logged_returns: list[dict[str, Any]]
    skipped: list[PackedSkips] = []
    findings: CarriedFindings | None = None
    has_checksums: bool = False


class PackSource:
    """Hands over what packs hold; sound records stay where they are."""

    looked_for = f"*{PACK} (made by audit pack)"

    def claims(self, found: Found) -> bool:
        """Whether the file has the ending of a pack."""
        return found.name.endswith(PACK)

    def take(self, found: Found, intake: Intake) -> None:
        """Read what the pack holds; from an archive it is copied out first."""
        import duckdb

        contents = path = None
        try:
            if found.path is not None:
                found.open().close()  # DuckDB would wait for a pipe
            path = intake.readable(found.path or _copied(found, intake))
            contents = contents_of(path)
            _hand_over(contents, path, found.label, intake)
        except (OSError, AuditError, msgspec.MsgspecError, RecursionError, duckdb.Error) as error:
            if interrupted(error):
                raise KeyboardInterrupt from None
            failed = failure()
            if failed is not None and (contents is not None or is_elsewhere(str(path))):
                raise AuditError(failed) from None
            reason = failed or str(getattr(error, "strerror", None) or error).strip().splitlines()[0]
            intake.problem(found.label, None, f"cannot be read as a pack ({reason}); left out")

    def finish(self, intake: Intake) -> None:
        """Do nothing: everything has been handed over."""


@functools.cache
def _types() -> dict[str, str]:
    """The types of columns that hold objects, by name."""
    kinds: dict[str, type[msgspec.Struct]] = {"answers": Answers, "acceptance": Acceptance}
    return {
        name: f"struct({', '.join(f'{field} {type_}' for field, type_ in form_of(kind).column.items())})"
        for name, kind in kinds.items()
    }


def rules() -> str:
    """A digest of what decides which lines are sound."""
    texts = [models()["lines"], models()["records"], functions()["fault"], *line_form().values()]
    return hashlib.blake2b("\n".join(map(str, texts)).encode(), digest_size=16).hexdigest()


def lines_of(file: RecordFile) -> Iterator[bytes]:
    """The lines of a record file, from its first to its last, whether it is in a pack or not."""
    if file.place is None:
        with open_regular(Path(file.file)) as stream:
            yield from stream
    else:
        origin = ", origin: origin" if is_translated(file.source) else ""
        for text in _select(_RECORDS.format(origin=origin, **_types()), file.file, file.place):
            # Where `collect` shows a rollout without a name, there is no such key; of an item of a text it is null.
            line = text.replace(',"name":null', "") if file.source == NATIVE else text
            yield line.encode() + b"\n"


class _Room:
    """Bounds what the lines of a pack may take in the temporary folder, as for an archive."""

    def __init__(self, pack: Path) -> None:
        self._left = max(UNPACKED, RATIO * pack.stat().st_size)

    def write(self, lines: Iterable[bytes], path: Path) -> None:
        with path.open("wb") as stream:
            for line in lines:
                self._left -= len(line)
                if self._left < 0:
                    raise AuditError("it unpacks to far more than its size")
                stream.write(line)


def unpack(file: RecordFile, intake: Intake, room: _Room | None = None) -> RecordFile:
    """A record file as lines of JSON: itself, or for one in a pack a temporary file.

    Raises:
        AuditError: the pack unpacks to far more than its size.
    """
    if file.place is None:
        return file
    path = intake.new_file("unpacked")
    (room or _Room(Path(file.file))).write(lines_of(file), path)
    return msgspec.structs.replace(file, file=str(path), place=None)


def _hand_over(contents: Contents, path: Path, label: str, intake: Intake) -> None:
    is_trusted = contents.rules == rules()
    if not all(file.is_raw for file in contents.files):
        _check_columns(str(path), is_trusted=is_trusted)
    runs = [_add(run, label, intake) for run in contents.runs]
    intake.problems.extend(contents.problems)
    intake.append(intake.logged_returns, *contents.logged_returns)
    for skips in contents.skipped:
        if facts := runs[skips.run]:
            intake.skipped.setdefault(facts.identity, set()).update(skips.iterations)
    room = _Room(path)
    for file in contents.files:
        facts = runs[file.run]
        if facts is None:
            continue
        if file.is_raw:
            lines = intake.new_file("unpacked")
            room.write(_select(_RAW, path, file.place), lines)
            intake.add_file(lines, file.label, facts)
        else:
            intake.add_file(path, file.label, facts, place=file.place)
            if not is_trusted:
                intake.files.append(unpack(intake.files.pop(), intake, room))
    if is_trusted and contents.findings is not None and None not in runs:
        intake.carriers[str(path)] = contents.findings
    if not contents.has_checksums:
        intake.notes.append(f"{label} has no checksums, so that damage may pass unnoticed; pack it again to have them")
    if not is_trusted:
        intake.notes.append(f"{label} was packed by another version, so it is checked anew; pack it again to be fast")


def _check_columns(path: str, *, is_trusted: bool) -> None:
    """Refuse a pack without the columns of records; those of earlier versions, whose lines are judged anew, have fewer.

    Raises:
        AuditError: a column is missing.
    """
    types = types_of(path)
    for name in _COLUMNS:
        if name not in types and (is_trusted or name not in _LATER):
            raise AuditError(f"it lacks the column {name}")


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


def contents_of(path: Path) -> Contents:
    """What a pack holds.

    Raises:
        AuditError: it does not state it, or in a format of a later version, or is damaged.
        OSError: it cannot be read.
        duckdb.Error: it cannot be read.
        msgspec.MsgspecError: it states something else.
    """
    has_checksums = check(path)
    text = next(_select(_CONTENTS, path), None)
    if text is None:
        raise AuditError("no row states what it holds")
    newer = msgspec.json.decode(text, type=_Format).format
    if newer > FORMAT:
        raise AuditError(f"its format {newer} is newer than this version reads ({FORMAT}); update salience-audit")
    contents = msgspec.json.decode(text, type=Contents)
    if contents.has_checksums and not has_checksums:
        raise AuditError("its checksums are gone: it is damaged, or was written anew by another program")
    return contents


def types_of(path: str) -> dict[str, Any]:
    """The columns of a pack with their types.

    Raises:
        duckdb.Error: it cannot be read.
    """
    attach(_connection())
    found = _connection().cursor().execute("from read_parquet(?) limit 0", [exactly(Path(path))])
    return {name: kind for name, kind, *_ in found.description or ()}


def _select(query: str, pack: Path | str, *values: object) -> Iterator[Any]:
    """The values of a query's one column."""
    attach(_connection())
    cursor = _connection().cursor()
    without_progress_bar(cursor)
    cursor.execute(query, [exactly(Path(pack)), *values])
    while rows := cursor.fetchmany(1000):
        yield from (value for (value,) in rows)


def _copied(found: Found, intake: Intake) -> Path:
    path = intake.new_file("copied", PACK)
    with found.open() as stream, path.open("wb") as copy:
        shutil.copyfileobj(stream, copy)
    return path


@functools.cache
def _connection() -> duckdb.DuckDBPyConnection:
    import duckdb

    return duckdb.connect(config={"memory_limit": memory_limit()})


class _Format(msgspec.Struct):
    format: int
