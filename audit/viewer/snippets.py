"""A line of each answer on a page of the table: where what was searched for is, or how it begins."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import duckdb

from audit.models.sql_text import one_of
from audit.output.escaping import in_line
from audit.viewer.query import Query
from audit.viewer.table import REVISED
from audit.vocabulary.keys import RevisionKey

if TYPE_CHECKING:
    from audit.viewer.session import Session

BEFORE: Final = 50
"""Characters before what was found."""
AFTER: Final = 110
"""Characters after it, and of an answer in which nothing was searched for."""

Snippet = dict[str, str]
NOTHING: Final[tuple[None, None]] = (None, None)


def snippets(session: Session, query: Query) -> dict[str, Any]:
    """A snippet for each row of a page, in the order of the page; null where no answer is recorded."""
    keys = [RevisionKey(*row) for row in session.table.page(query, RevisionKey._fields)]
    if not keys:
        return {"snippets": []}
    chosen = duckdb.SQLExpression(f"{REVISED} and {one_of(keys)}")
    columns = f"{', '.join(RevisionKey._fields)}, revised.answer, revised.thinking"
    with session.lock:
        rows = session.store.relation("episodes").filter(chosen).select(columns).fetchall()
    texts: dict[RevisionKey, tuple[str | None, str | None]] = {
        RevisionKey(*row[:-2]): (row[-2], row[-1]) for row in rows
    }
    wanted, _ = query.terms
    return {"snippets": [snippet(*texts.get(key, NOTHING), wanted) for key in keys]}


def snippet(answer: str | None, thinking: str | None, wanted: tuple[str, ...]) -> Snippet | None:
    """The surroundings of the first term in an answer, or else in its thinking, or else how the answer begins.

    Args:
        answer: None where none is recorded.
        thinking: likewise.
        wanted: the terms.
    """
    for where, text in (("", answer), ("thinking", thinking)):
        for term in wanted:
            if text and (found := re.search(re.escape(term), text, re.IGNORECASE)):
                start, end = found.span()
                before = text[max(0, start - BEFORE) : start]
                after = text[end : end + AFTER]
                return {
                    "where": where,
                    "before": ("…" if start > BEFORE else "") + _plain(before),
                    "match": _plain(found[0]),
                    "after": _plain(after) + ("…" if end + AFTER < len(text) else ""),
                }
    if answer is None:
        return None
    end = BEFORE + AFTER
    return {"where": "", "before": _plain(answer[:end]) + ("…" if len(answer) > end else ""), "match": "", "after": ""}


def _plain(text: str) -> str:
    """A part of a text in one line, with a blank for each stretch of white space."""
    return in_line(re.sub(r"\s+", " ", text))
