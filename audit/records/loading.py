"""Writes the sound lines of all records, and what is known of their runs, to Parquet files."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import duckdb
import msgspec
from msgspec import inspect

from audit.models.connection import write_parquet
from audit.models.sql_text import exactly
from audit.output.progress import PrintedProgress
from audit.records.checking import Checker
from audit.sources.intake import Intake, RecordFile
from audit.sources.iterations import Translated
from collector.records import LONGEST_LINE

_RUN: Final = {"condition": "VARCHAR", "env": "VARCHAR", "variant": "VARCHAR", "run": "BIGINT"}
_RUNS: Final = {
    **_RUN,
    "source": "VARCHAR",
    "seed": "HUGEINT",
    **dict.fromkeys(("iterations", "rollouts"), "BIGINT"),
    **dict.fromkeys(("tau_c", "optimum", "step_size"), "DOUBLE"),
    **dict.fromkeys(("backend", "model"), "VARCHAR"),
    "thresholds": {
        **dict.fromkeys(("partial", "high", "near_zero", "meaningful"), "DOUBLE"),
        **dict.fromkeys(("surgical_max", "redesign_min", "multi_state_min"), "BIGINT"),
        "floor": "DOUBLE",
        "origin": "VARCHAR",
    },
    "method": {
        **dict.fromkeys(("first", "second", "evidence"), "VARCHAR"),
        "revision_rule": "BOOLEAN",
        "commits": "VARCHAR",
        "training_rollouts": "BIGINT",
    },
    **dict.fromkeys(("candidates", "selection_rule"), "VARCHAR"),
    "score_range": ["DOUBLE"],
    "warmup": "BIGINT",
}
_SKIPPED: Final = {**_RUN, "iteration": "BIGINT"}
_LOGGED: Final = {**_SKIPPED, "origin": "VARCHAR", "logged_return": "DOUBLE"}
_COLUMNS: Final[Mapping[type[inspect.Type], str]] = {
    inspect.StrType: "VARCHAR",
    inspect.LiteralType: "VARCHAR",
    inspect.FloatType: "DOUBLE",
    inspect.BoolType: "BOOLEAN",
    inspect.DictType: "JSON",
}

_encoder = msgspec.json.Encoder()


def load(intake: Intake, connection: duckdb.DuckDBPyConnection, directory: Path) -> dict[str, Path]:
    """Check all lines of what was found, and write what is sound.

    Args:
        intake: what was found; takes the problems.
        connection: writes the files.
        directory: where they are written.

    Returns:
        The file of each of `TABLES`.
    """
    skipped = ({**key._asdict(), "iteration": each} for key, found in intake.skipped.items() for each in sorted(found))
    sources = {
        "records": (directory / "records.jsonl", columns_of(Translated) | {"file": "VARCHAR", "line": "BIGINT"}),
        "run_records": (intake.write("runs.jsonl", intake.runs.values()), _RUNS),
        "skipped": (intake.write("skipped.jsonl", skipped), _SKIPPED),
        "logged_returns": (intake.logged_returns, _LOGGED),
    }
    intake.append(intake.logged_returns)
    _write_lines(intake, sources["records"][0])
    written = {}
    for name, (lines, columns) in sources.items():
        written[name] = directory / f"{name}.parquet"
        _copy(connection, lines, columns, written[name])
    sources["records"][0].unlink()
    return written


@functools.cache
def columns_of(kind: type[msgspec.Struct]) -> dict[str, Any]:
    """The columns of a record type by name: each a type of SQL, a list of one type, or the fields of an object."""
    columns: dict[str, Any] = _column(inspect.type_info(kind))
    return columns


def _column(kind: inspect.Type) -> Any:
    match kind:
        case inspect.IntType(ge=least, le=most):
            return "BIGINT" if most or least is None else "UBIGINT"
        case inspect.UnionType(types=types):
            return _column(next(each for each in types if not isinstance(each, inspect.NoneType)))
        case inspect.ListType(item_type=item):
            return [_column(item)]
        case inspect.StructType(fields=fields):
            return {field.encode_name: _column(field.type) for field in fields}
        case _:
            return _COLUMNS[type(kind)]


def _write_lines(intake: Intake, path: Path) -> None:
    """Write the sound lines of all files, each with the file that it is from and its number there."""
    checker = Checker(intake.runs, intake.problem)
    with PrintedProgress() as progress, path.open("wb") as stream:
        progress.begin(sum(map(size_of, intake.files)), "reading records", counted=False)
        for file in intake.files:
            label = _encoder.encode(file.label)
            for number, _, json in checker.lines(file):
                stream.write(b'{"file":%b,"line":%d,%b' % (label, number, json[1:]))
            progress.advance(size_of(file))


def size_of(file: RecordFile) -> int:
    """Bytes of a file, 0 where it is gone."""
    try:
        return Path(file.file).stat().st_size
    except OSError:
        return 0


def _copy(connection: duckdb.DuckDBPyConnection, lines: Path, columns: dict[str, Any], path: Path) -> None:
    """Write lines of JSON with these columns to a Parquet file."""
    # Parquet has no whole numbers of 128 bits.
    seed = " replace (seed::decimal(38, 0) as seed)" if columns.get("seed") == "HUGEINT" else ""
    limit = LONGEST_LINE + 2**16
    read = f"read_json(?, format = 'newline_delimited', columns = ?, maximum_object_size = {limit})"
    types = {name: _sql_type(kind) for name, kind in columns.items()}
    write_parquet(connection, f"select *{seed} from {read}", path, [exactly(lines), types])


def _sql_type(kind: Any) -> str:
    """The type of a column in SQL."""
    match kind:
        case [item]:
            return f"{_sql_type(item)}[]"
        case dict():
            fields = ", ".join(f'"{name}" {_sql_type(each)}' for name, each in kind.items())
            return f"STRUCT({fields})"
        case _:
            return str(kind)
