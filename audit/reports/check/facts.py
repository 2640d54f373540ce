"""What the records of each condition, task and method hold: the relation `holdings`, and which files lie beside."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Set
from typing import Any, Final

from audit.options import Options
from audit.reports.check.beside import folder_of, look_beside
from audit.store import Store, rows_of

GROUP: Final = ("condition", "env", "variant")


def facts_of(options: Options, store: Store) -> list[dict[str, Any]]:
    """A row per condition, task and method, ordered by them: `holdings`, `calls`, `truth` and `controls`."""
    held = rows_of(options.select(store.relation("holdings")))
    counted = _counted(look_beside(options.paths), store)
    repeats = store.relation("run_records").filter("method.second = 'repeat'").select(*GROUP).distinct().fetchall()
    controls = {
        (row["condition"], row["env"])
        for row in rows_of(store.relation("holdings"))
        if tuple(row[column] for column in GROUP) in repeats and row["revisions"]
    }
    return [
        {
            **row,
            **{name: counted[name][tuple(row[column] for column in GROUP)] for name in counted},
            "controls": (row["condition"], row["env"]) in controls,
        }
        for row in held
    ]


def _counted(folders: Mapping[str, Set[str]], store: Store) -> dict[str, Counter[tuple[str, ...]]]:
    """In how many run folders of each group a file of each name is."""
    counted: dict[str, Counter[tuple[str, ...]]] = {name: Counter() for name in folders}
    for row in rows_of(store.relation("records").select("file as label, condition, env, variant").distinct()):
        for name, with_one in folders.items():
            counted[name][tuple(row[column] for column in GROUP)] += folder_of(row["label"]) in with_one
    return counted
