"""What commands print, kept from one call to the next: the one door through which their tables and texts go.

While neither records nor options nor the program change, what was printed is printed again, and nothing is opened.
It is kept beside what is kept of analyses, under digests as these are (`audit/ingest/analyses.py`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from importlib import import_module
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Final

import msgspec

from audit.output.formats import Columnar, Row
from audit.output.rows import LONGEST_TABLE, Table
from audit.output.spelled import Spelled, Spelling
from audit.remote.urls import RemotePath, path_of
from audit.request import Request, note
from audit.vocabulary.detectors import DETECTORS

if TYPE_CHECKING:
    from audit.ingest.analyses import Analysis

COMMANDS: Final = frozenset(
    {
        *(
            "agreement",
            "check",
            "controls",
            "lineage",
            "noise",
            "obedience",
            "patterns",
            "positions",
            "rates",
        ),
        *("revisions", "runs", "salience", "sensitivity", "severity", "summary"),
    }
)
"""Commands whose tables are functions of records and options: they read nothing else, and run nothing."""
LAYOUTS: Final = {
    "check": "audit.reports.check.layout",
    "controls": "audit.reports.tables",
    "sensitivity": "audit.reports.sensitivity",
}
"""The modules in which `print_for_people` prints the table of a command in a layout of its own."""
DETECTING: Final = frozenset({None, *DETECTORS}) - {"judge"}
"""Detectors that read nothing but answers."""
MOST: Final = 5000
"""Rows of a table that is kept, at most."""

_UNKEYED: Final = frozenset({"paths", "cache", "store", "said", "ids"})
"""What of a request is known otherwise, or decides nothing."""
_ATTRIBUTES: Final = (
    "title",
    "essential",
    "headings",
    "caption",
    "notes",
    "plain",
    "whole",
    "decides",
    "longest_text",
    "parts",
)
"""What is kept of a table beside its columns and rows."""


class _Printed(msgspec.Struct, frozen=True):
    """A table as it was printed; a text is the value of its one row.

    Attributes:
        said: lines on standard error, from opening the records.
        columns: of the table.
        names: of the values of each row.
        rows: those that are printed, each its values.
        number: how many there are.
        has_layout: whether they are printed in the layout of `LAYOUTS`.
        attributes: those of `_ATTRIBUTES`.
        are_texts: of rows in pieces (`Spelled`), whether each is a text; None for rows of values.
        answers: above a table for people.
    """

    said: list[str]
    columns: list[str]
    names: list[str]
    rows: list[list[Any]]
    number: int
    has_layout: bool
    attributes: dict[str, Any]
    are_texts: list[bool] | None = None
    answers: list[str] = []


class _Rows:
    """Rows from their values, or from pieces of their lines.

    Args:
        columns: of each row.
        values: of the rows.
        number: how many there are, of which `values` may be the first.
        are_texts: as `_Printed` has them.
    """

    def __init__(
        self, columns: Sequence[str], values: Iterable[Sequence[Any]], number: int, are_texts: Sequence[bool] | None
    ) -> None:
        self.columns = columns
        self._values = values
        self._number = number
        self._are_texts = are_texts

    def spelled(self, columns: Sequence[str]) -> Spelled | None:
        """The rows in pieces; None where they are values. The columns are those that they were taken for."""
        del columns
        return None if self._are_texts is None else Spelled(self._are_texts, self.values())

    def values(self) -> Iterator[Sequence[Any]]:
        """Iterate over the rows, each the values of all columns."""
        return iter(self._values)

    def __iter__(self) -> Iterator[Row]:
        return (dict(zip(self.columns, row, strict=True)) for row in self._values)

    def __len__(self) -> int:
        return self._number


def deliver(table: Table, asked: Request) -> None:
    """Print the columns and rows of a table that are asked for, and its notes on standard error."""
    with table, arranged(table, asked) as shown:
        _show(shown, asked.output)


def arranged(table: Table, asked: Request) -> Table:
    """The columns and rows that are asked for; without any such option the table as it is."""
    if asked.columns is None and not asked.sort and asked.limit is None:
        return table
    return table.select(asked.columns, sort=asked.sort, limit=asked.limit)


def _show(table: Table, output: str) -> None:
    for line in table.notes:
        note(line)
    table.print(output)


def deliver_kept(command: str, request: Request, own: Mapping[str, Any], make: Callable[[], Table | None]) -> None:
    """Print the table of a command, from what is kept if the same has been printed before.

    Args:
        command: its name.
        request: the options that it shares with others.
        own: its other options.
        make: makes the table; None where nothing is left to print.
    """
    analysis = _analysis(request, own) if command in COMMANDS else None
    name = _name(command, request, own)
    if (printed := _recalled(analysis, name)) is not None:
        _show(_table(command, printed), request.output)
        return
    if (table := make()) is not None and analysis is None:
        deliver(table, request)
    elif table is not None and analysis is not None:
        with table, arranged(table, request) as shown:
            taken, printed = _taken(command, shown, request)
            _show(taken, request.output)
            _keep(analysis, name, printed)


def kept_text(command: str, request: Request, own: Mapping[str, Any], make: Callable[[], str]) -> str:
    """The text that a command prints, what is kept of it if the same has been printed before.

    Args:
        command: its name.
        request: the options that it shares with others.
        own: its other options, and all else that the text depends on.
        make: makes the text.
    """
    analysis = _analysis(request, own)
    name = _name(command, request, own)
    if (printed := _recalled(analysis, name)) is not None:
        return str(printed.rows[0][0])
    text = make()
    if analysis is not None:
        _keep(analysis, name, _Printed(request.said, [], [], [[text]], 1, False, {"parts": {}}))
    return text


def _recalled(analysis: Analysis | None, name: str) -> _Printed | None:
    """What is kept, of which the lines on standard error are printed."""
    printed = None if analysis is None else _decoded(analysis.content(name))
    for line in printed.said if printed is not None else ():
        note(line)
    return printed


def _keep(analysis: Analysis, name: str, printed: _Printed | None) -> None:
    if printed is not None and (content := _encoded(printed)) is not None:
        analysis.keep(name, content)


def _table(command: str, printed: _Printed) -> Table:
    layout = import_module(LAYOUTS[command]).print_for_people if printed.has_layout else None
    rows = _Rows(printed.names, printed.rows, printed.number, printed.are_texts)
    return Table(
        columns=printed.columns,
        rows=rows,
        print_for_people=layout,
        answering=lambda: printed.answers,
        **printed.attributes,
    )


def _taken(command: str, table: Table, request: Request) -> tuple[Table, _Printed | None]:
    """A table with the rows in memory that will be printed, and what is kept of it; None where they are too many."""
    layout = table.print_for_people if request.output == "table" else None
    if layout is not None and layout is not getattr(import_module(LAYOUTS[command]), "print_for_people", None):
        return table, None
    names, are_texts, values = _values(table, request.output)
    is_cut = request.output == "table" and layout is None
    rows = [list(row) for row in islice(values, LONGEST_TABLE if is_cut else MOST + 1)]
    if len(rows) > MOST:
        return replace(table, rows=_Rows(names, chain(rows, values), 0, are_texts)), None
    number = len(table) if is_cut and len(rows) == LONGEST_TABLE else len(rows)
    attributes = {name: getattr(table, name) for name in _ATTRIBUTES}
    answers = table.answers if request.output == "table" else []
    printed = _Printed(
        request.said, list(table.columns), names, rows, number, layout is not None, attributes, are_texts, answers
    )
    return replace(table, rows=_Rows(names, rows, number, are_texts), answering=lambda: answers), printed


def _values(table: Table, output: str) -> tuple[list[str], list[bool] | None, Iterator[Sequence[Any]]]:
    """The columns that the rows of a table have, which pieces are texts, and the values or pieces."""
    if output == "csv" and isinstance(table.rows, Spelling) and (spelled := table.rows.spelled(table.columns)):
        return list(table.columns), list(spelled.are_texts), spelled.rows
    if isinstance(table.rows, Columnar):
        return list(table.rows.columns), None, table.rows.values()
    rows = list(table.rows)
    names = list(dict.fromkeys([*table.columns, *(name for row in rows for name in row)]))
    return names, None, ([row.get(name) for name in names] for row in rows)


def _encoded(printed: _Printed) -> bytes | None:
    """What is kept of a table; None where reading it would not give the same values, each of its type."""
    try:
        content = msgspec.msgpack.encode(printed)
    except (TypeError, ValueError, OverflowError, msgspec.MsgspecError):
        return None
    again = _decoded(content)
    is_same = again is not None and repr([again.rows, again.attributes["parts"]]) == repr(
        [printed.rows, printed.attributes["parts"]]
    )
    return content if is_same else None


def _decoded(content: bytes | None) -> _Printed | None:
    if content is None:
        return None
    try:
        return msgspec.msgpack.decode(content, type=_Printed)
    except msgspec.MsgspecError:
        return None


def _analysis(request: Request, own: Mapping[str, Any]) -> Analysis | None:
    """Where what is printed of these records is kept; None where it has to be made anew."""
    if not (request.cache and request.paths) or request.detector not in DETECTING:
        return None
    if request.judgements or request.judge or own.get("findings"):
        return None
    if any(own.get(name) for name in ("tag", "starred", "with_marks")):  # marks change while records stay as they are
        return None
    paths = [path_of(path) for path in request.paths]
    if any(isinstance(path, RemotePath) for path in paths):  # what is elsewhere is looked at where it is opened
        return None
    from audit.ingest.analyses import Analysis

    return Analysis.of(paths, {"printed": True})


def _name(command: str, request: Request, own: Mapping[str, Any]) -> str:
    options = [(each.name, getattr(request, each.name)) for each in fields(request) if each.name not in _UNKEYED]
    asked = repr((command, options, sorted(own.items())))
    return f"printed-{hashlib.blake2b(asked.encode(errors='surrogatepass'), digest_size=16).hexdigest()}"
