"""Tables in notebooks whose rows lead to the pages of a viewer, as long as one of the same records is open."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from urllib.parse import quote

from audit.output.formats import Row, is_number_column, rounded

Link = Callable[[Row], str | None]

_KEY = ("condition", "env", "variant", "run", "iteration")
_open: dict[str, frozenset[Path]] = {}


def viewer_opened(address: str, paths: Iterable[Path]) -> None:
    """Have tables of these records link to a viewer.

    Args:
        address: of its first page.
        paths: of its records.
    """
    _open[address] = _resolved(paths)


def viewer_closed(address: str) -> None:
    """Have no table link to it any longer."""
    _open.pop(address, None)


def link_to_revision(paths: Iterable[Path]) -> Link:
    """What finds the address of a revision's page in the viewer of some records that was opened last, if any is open.

    Args:
        paths: of the records.
    """
    wanted = _resolved(paths)

    def link(row: Row) -> str | None:
        address = next((address for address, shown in reversed(_open.items()) if shown == wanted), None)
        if address is None:
            return None
        return f"{address}#/revision/{'/'.join(quote(str(row[name]), safe='') for name in _KEY)}"

    return link


def linked_table(columns: Sequence[str], rows: Sequence[Row], link: Link) -> str | None:
    """Rows as HTML, each with a link in its last column of the key; None where nothing can be linked to.

    Args:
        columns: those shown.
        rows: with all columns of the key of a revision.
        link: as `link_to_revision` makes it.
    """
    if not rows or link(rows[0]) is None:
        return None
    ends = {name: ' style="text-align: right"' if is_number_column(rows, name) else "" for name in columns}
    linked = next((name for name in reversed(_KEY) if name in columns), columns[0])

    def cell(row: Row, name: str) -> str:
        text = html.escape(rounded(row[name]))
        if name == linked:
            text = f'<a href="{html.escape(link(row) or "")}" target="_blank">{text}</a>'
        return f"<td{ends[name]}>{text}</td>"

    head = "".join(f"<th{ends[name]}>{html.escape(name)}</th>" for name in columns)
    body = "\n".join(f"<tr>{''.join(cell(row, name) for name in columns)}</tr>" for row in rows)
    return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>"


def _resolved(paths: Iterable[Path]) -> frozenset[Path]:
    return frozenset(path.resolve() for path in paths)
