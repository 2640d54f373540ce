"""Computes `text_edits` and `imitations`: how far each revision moved a text, and towards which program shown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from audit.measures.text_edits import text_edit, token_change
from audit.python_models.batches import batches, identity, write_lines

if TYPE_CHECKING:
    import duckdb

AT_ONCE: Final = 20
"""Revisions that are read at once: their texts may be long."""

_BLOCK: Final = re.compile(r"^```[^\n]*\n(.*?)(?:^```|\Z)", re.MULTILINE | re.DOTALL)


def write_text_edits(texts: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Compare the two texts of every revision, and write a line of JSON for each.

    Args:
        texts: a query for all of the relation `revised_texts`, which was executed and not yet fetched.
        path: the file to write.
    """
    write_lines(path, (_edit(row) for batch in batches(texts, AT_ONCE) for row in batch))


def write_imitations(texts: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Compare both texts of every revision with each program shown, and write a line of JSON for each program.

    Args:
        texts: a query for all of the relation `imitable_texts`, which was executed and not yet fetched.
        path: the file to write.
    """
    write_lines(path, (line for batch in batches(texts, AT_ONCE) for row in batch for line in _similarities(row)))


def _edit(revision: Mapping[str, Any]) -> dict[str, Any]:
    found = text_edit(revision["before"], revision["after"])
    return identity(revision) | {
        "components": found.components,
        "changed_components": len(found.changed),
        "edit_ratio": found.edit_ratio,
        "token_change": found.token_change,
        "length_ratio": found.length_ratio,
    }


def _similarities(revision: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    before, after = (_whole(revision[name]) for name in ("before", "after"))
    for place, program in enumerate(programs(revision["texts"]), start=1):
        if program is not None:
            yield identity(revision) | {
                "place": place,
                "similarity_before": 1 - token_change(before, program),
                "similarity_after": 1 - token_change(after, program),
            }


def programs(texts: Sequence[str | None]) -> list[str | None]:
    """The programs among the items of one prompt; None for an item that has none.

    Where items have fenced blocks, these are the programs, and an item without one only describes a program.

    Args:
        texts: the items as shown.
    """
    blocks = [_BLOCK.findall(text or "") for text in texts]
    return ["\n".join(each) if each else None for each in blocks] if any(blocks) else list(texts)


def _whole(text: Mapping[str, str]) -> str:
    return "\n".join(text[name] for name in sorted(text))
