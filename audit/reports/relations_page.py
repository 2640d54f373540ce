"""The page of relations in the documentation, made from the analysis itself when `make docs` builds the site.

A relation's SQL file describes its rows and columns and states what it reads; DuckDB reports the types of columns, over
records of the project.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from audit.models.catalog import SHARED, invariants, models, named_in, public, schema
from audit.store import Store, open_store

HEAD: Final = """# Relations

What `audit sql` and `audit.open` offer ([sql.md](sql.md)). Each relation is one SELECT in `audit/models/` and
reads those named under it. These columns mean the same everywhere:

| column | type | meaning |
|---|---|---|
"""
TYPES: Final = {"condition": "VARCHAR", "env": "VARCHAR", "variant": "VARCHAR", "run": "BIGINT", "iteration": "BIGINT"}
"""The columns that mean the same everywhere, with their types."""

INTERNAL: Final = """## Internal relations

They are used to read and pack records; `audit sql` does not offer them.

| relation | a row is |
|---|---|
"""
SAMPLE: Final = Path(__file__).resolve().parents[2] / "data" / "gepa-planted"


def page() -> str:
    """The whole page."""
    identity = "".join(f"| `{name}` | {kind} | {SHARED[name]} |\n" for name, kind in TYPES.items())
    with open_store([SAMPLE], cache=False) as store:
        sections = [_section(name, store) for name in public()]
    internal = "".join(f"| `{name}` | {schema()[name]['row']} |\n" for name in schema() if name not in public())
    return HEAD + identity + "\n" + "\n".join([*sections, INTERNAL + internal])


def sources(name: str) -> list[str]:
    """The relations that one reads."""
    return sorted(named_in(models()[name]) - {name})


def _section(name: str, store: Store) -> str:
    described = schema()[name]
    relation = store.relation(name)
    own = [column for column in described["columns"] if column not in TYPES]
    kinds = dict(zip(relation.columns, map(str, relation.types), strict=True))
    shared = [f"`{column}`" for column in described["columns"] if column in TYPES]
    lines = [f"## {name}", "", f"One row is {described['row']}.", "", *_facts(name), ""]
    if shared:
        lines += [f"Columns: {', '.join(shared)}, and", ""]
    lines += ["| column | type | meaning |", "|---|---|---|"]
    lines += [f"| `{column}` | {kinds[column]} | {_cell(described['columns'][column])} |" for column in own]
    return "\n".join(lines) + "\n"


def _facts(name: str) -> Iterator[str]:
    described = schema()[name]
    if "unique" in described:
        yield f"- identified by {', '.join(f'`{column}`' for column in described['unique'])}"
    read = [f"[{source}](#{source})" if source in public() else f"`{source}`" for source in sources(name)]
    if read:
        yield f"- reads {', '.join(read)}"
    held = [test.replace("_", " ") for test, text in invariants().items() if name in named_in(text)]
    if held:
        yield f"- tested: {'; '.join(held)}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
