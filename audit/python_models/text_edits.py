"""Computes the relation `text_edits`: how far each revision moved a text."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from audit.measures.text_edits import text_edit
from audit.python_models.batches import batches, write_lines
from audit.vocabulary.keys import RevisionKey

if TYPE_CHECKING:
    import duckdb

AT_ONCE: Final = 20
"""Revisions that are read at once: their texts may be long."""


def write_text_edits(texts: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Compare the two texts of every revision, and write a line of JSON for each.

    Args:
        texts: a query for all of the relation `revised_texts`, which was executed and not yet fetched.
        path: the file to write.
    """
    write_lines(path, (_compared(row) for batch in batches(texts, AT_ONCE) for row in batch))


def _compared(revision: dict[str, Any]) -> dict[str, Any]:
    found = text_edit(revision["before"], revision["after"])
    return {name: revision[name] for name in RevisionKey._fields} | {
        "components": found.components,
        "changed_components": len(found.changed),
        "edit_ratio": found.edit_ratio,
        "token_change": found.token_change,
        "length_ratio": found.length_ratio,
    }
