"""The page of relations in the documentation, made from the analysis itself when `make docs` builds the site.

Rows and columns are described in the `schema.toml` files below `audit/models`, what a relation reads in its SQL; DuckDB
reports the types of columns, over records of the project.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from audit.engine.catalog import invariants, models, named_in, public, schema
from audit.engine.makers import MAKERS
from audit.store import Store, open_store

HEAD: Final = """# Relations

What `audit sql` and `audit.open` offer ([sql.md](sql.md)). Each relation is one SELECT in `audit/models/` and reads
those named under it. These columns mean the same everywhere:

| column | type | meaning |
|---|---|---|
"""
IDENTITY: Final = {
    "condition": "what else was chosen: backend or model, settings, switches, in one label",
    "env": "task",
    "variant": "method",
    "run": "number of the run, from 1",
    "iteration": "number of the iteration, from 0",
}
TYPES: Final = {"condition": "VARCHAR", "env": "VARCHAR", "variant": "VARCHAR", "run": "BIGINT", "iteration": "BIGINT"}

INTERNAL: Final = """## Internal relations

They are used to read and pack records; `audit sql` does not offer them.

| relation | a row is |
|---|---|
"""
SAMPLE: Final = Path(__file__).resolve().parents[2] / "data" / "gepa-planted"


def page() -> str:
    """The whole page."""
    identity = "".join(f"| `{name}` | {TYPES[name]} | {meaning} |\n" for name, meaning in IDENTITY.items())
    with open_store([SAMPLE], cache=False) as store:
        sections = [_section(name, store) for name in public()]
    internal = "".join(f"| `{name}` | {schema()[name]['row']} |\n" for name in schema() if name not in public())
    return HEAD + identity + "\n" + "\n".join([*sections, INTERNAL + internal])


def meaning(name: str, column: str) -> str:
    """What a column of a relation is: by its own description, else by that of the relation that it comes from.

    Raises:
        LookupError: nothing describes it.
    """
    waiting = [name]
    seen = set()
    while waiting:
        relation = waiting.pop(0)
        seen.add(relation)
        if description := schema()[relation]["columns"].get(column):
            return str(description)
        waiting += [source for source in sources(relation) if source not in seen]
    if column in IDENTITY:
        return IDENTITY[column]
    raise LookupError(f"{name}.{column} has no description in schema.toml")


def sources(name: str) -> list[str]:
    """The relations that one reads."""
    made_from = [MAKERS[name].reads] if name in MAKERS else []
    return [*made_from, *sorted(named_in(models()[name]) - {name})]


def _section(name: str, store: Store) -> str:
    described = schema()[name]
    relation = store.relation(name)
    own = [column for column in described["columns"] if column not in IDENTITY]
    kinds = dict(zip(relation.columns, map(str, relation.types), strict=True))
    shared = [f"`{column}`" for column in described["columns"] if column in IDENTITY]
    lines = [f"## {name}", "", f"One row is {described['row']}.", "", *_facts(name), ""]
    if shared:
        lines += [f"Columns: {', '.join(shared)}, and", ""]
    lines += ["| column | type | meaning |", "|---|---|---|"]
    lines += [f"| `{column}` | {kinds[column]} | {_cell(meaning(name, column))} |" for column in own]
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
