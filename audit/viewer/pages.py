"""What the pages of lists show: the data at a glance, the table of revisions, its facets, and its rows to download."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from audit.models.catalog import schema
from audit.options import OF_TEXTS
from audit.output.errors import UsageError
from audit.output.formats import WRITERS, Row
from audit.output.names import METHODS, TASKS
from audit.records.locating import label_of
from audit.reports.answers import answers
from audit.reports.emptiness import are_texts
from audit.store import rows_of
from audit.viewer.counts import COUNTED, GROUP, Counted
from audit.viewer.marking import marks_of
from audit.viewer.query import PAGE, Query
from audit.vocabulary.colours import DIRECTION_COLOURS, PERMISSIVE, STRICT, method_colour
from audit.vocabulary.keys import RevisionKey
from audit.vocabulary.names import NO_CHANGE, PATTERNS, STRUCTURES

if TYPE_CHECKING:
    from audit.viewer.session import Session

FACETED: Final = (
    *("condition", "env", "variant", "direction", "pattern", "cites", "strict", "permissive", "structure"),
    *("start", "accepted", "restrained", "evidence_kind", "judged"),
)
"""Columns whose values are counted beside the table, unless others are asked for."""
SHOWN: Final = (
    *("condition", "env", "variant", "run", "iteration", "r0", "r1", "delta", "p_no_change", "pattern", "cites"),
    *("strict", "permissive", "edit_distance"),
)
"""Columns of the table, unless others are asked for."""
SHOWN_OF_TEXTS: Final = (*SHOWN[:-1], "changed_components", "edit_ratio")


def about(session: Session) -> dict[str, Any]:
    """What every page needs: the columns and their meaning, how the records were read, and what is known of them."""
    return session.once("about", lambda: _about(session))


def _about(session: Session) -> dict[str, Any]:
    described = schema()["viewed_revisions"]["columns"]
    texts = are_texts(session.options, session.store)
    sums = rows_of(session.options.select(session.store.relation("holdings")))
    caption = session.options.caption(session.store)
    empty = {name for name in session.table.kinds if session.table.is_empty(name)}
    same = {name for name in ("condition", "env", "variant") if len(session.table.facet(Query(), name)) < 2}
    return {
        "paths": list(map(label_of, session.options.paths)),
        "revisions": session.table.count(Query()),
        "columns": [
            {
                "name": name,
                "kind": kind,
                "meaning": described.get(name, ""),
                "empty": name in empty,
            }
            for name, kind in session.table.kinds.items()
        ],
        "facets": [name for name in FACETED if name not in empty],
        "shown": [name for name in (SHOWN_OF_TEXTS if texts else SHOWN) if name not in empty | same],
        "page": PAGE,
        "plans": len(session.options.plans),
        "texts": texts,
        "detector": session.store.detector,
        "about": session.store.about or "worst",
        "caption": caption,
        "notes": [note for note in session.store.notes if note != OF_TEXTS],
        "problems": [str(each) for each in session.store.problems[:100]],
        "problems_total": len(session.store.problems),
        "holdings": sums,
        "names": {
            "env": TASKS,
            "variant": METHODS,
            "pattern": PATTERNS,
            "direction": {NO_CHANGE: PATTERNS[NO_CHANGE]},
            "structure": STRUCTURES,
        },
        "colours": {
            "methods": {name: method_colour(name) for name in sorted({row["variant"] for row in sums})},
            "directions": DIRECTION_COLOURS,
            "strict": STRICT,
            "permissive": PERMISSIVE,
        },
    }


def overview(session: Session) -> dict[str, Any]:
    """The sentences of `audit salience`, and the tables of counts.

    A cell of `counts` counts the revisions of its row's filter and its column's, which `static/tables.js` joins; a
    column of `shares` leads to the count that it is the share of.
    """

    def compute() -> dict[str, Any]:
        tables = [table for name, counted in COUNTED.items() if (table := _table(session, name, counted))["rows"]]
        runs = session.options.select(session.store.relation("runs")).aggregate("count(*)").fetchall()
        rows = rows_of(session.options.select(session.store.relation("salience")))
        texts = answers(rows, session.store, of_texts=are_texts(session.options, session.store))
        said = [{name: row[name] for name in GROUP} | {"text": text} for row, text in zip(rows, texts, strict=True)]
        return {"answers": said, "tables": tables, "runs": runs[0][0]}

    return session.once("overview", compute)


def _table(session: Session, name: str, counted: Counted) -> dict[str, Any]:
    relation = session.options.select(session.store.relation(counted.relation))
    described = schema()[counted.relation]["columns"]
    rows = rows_of(relation)
    return {
        "name": name,
        "title": counted.title,
        "columns": [{"name": column, "meaning": _alone(described.get(column, ""))} for column in relation.columns],
        "counts": counted.cells,
        "shares": counted.shares,
        "rows": [{"cells": row, "filter": counted.filter_of_row(row)} for row in rows],
    }


def _alone(meaning: str) -> str:
    """What a column means, if it can be read without those before it."""
    return "" if meaning.startswith(("of these", "of them", "likewise", "the same", "their", "those")) else meaning


def revisions(session: Session, query: Query, columns: Sequence[str] = ()) -> dict[str, Any]:
    """A page of the table.

    Args:
        session: the records.
        query: which revisions, in which order, and the page.
        columns: beside those that identify a revision.
    """
    wanted = list(dict.fromkeys([*RevisionKey._fields, *_known(session, columns)]))
    rows = session.table.page(query, wanted)
    return {
        "total": session.table.count(query),
        "page": query.page,
        "columns": wanted,
        "rows": [list(row) for row in rows],
        **marks_of(session, [row[: len(RevisionKey._fields)] for row in rows]),
    }


def facets(session: Session, query: Query, columns: Sequence[str]) -> dict[str, Any]:
    """The values of columns among the revisions of a query, with counts; of numbers the smallest and the largest."""
    found: dict[str, Any] = {}
    for name in _known(session, columns):
        if session.table.kinds[name] == "number":
            found[name] = {"range": session.table.range(query, name)}
        else:
            found[name] = {"values": session.table.facet(query, name)}
    return found


def runs(session: Session) -> dict[str, Any]:
    """All runs, with how many revisions they have and how far they came."""
    with session.lock:
        relation = session.options.select(session.store.relation("runs"))
        rows = rows_of(relation)
    return {"columns": relation.columns, "rows": rows}


def csv(session: Session, query: Query, columns: Sequence[str] = ()) -> Iterator[bytes]:
    """All rows of a query as a file to download, a piece at a time.

    Args:
        session: the records.
        query: which revisions, in which order.
        columns: beside those that identify a revision; none for all.
    """
    wanted = list(dict.fromkeys([*RevisionKey._fields, *(_known(session, columns) or session.table.kinds)]))
    rows = (dict(zip(wanted, row, strict=True)) for row in session.table.all_rows(query, wanted))
    yield _lines(wanted, [])
    while batch := list(islice(rows, 5_000)):
        lines = _lines(wanted, batch)
        yield lines[lines.index(b"\n") + 1 :]


def _lines(wanted: Sequence[str], rows: Sequence[Row]) -> bytes:
    stream = io.StringIO()
    WRITERS["csv"](wanted, rows, stream)
    return stream.getvalue().encode()


def _known(session: Session, columns: Sequence[str]) -> list[str]:
    if unknown := [name for name in columns if name not in session.table.kinds]:
        raise UsageError(f"no column {', '.join(map(repr, unknown))}")
    return list(dict.fromkeys(columns))
