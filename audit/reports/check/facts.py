"""What the records of each condition, task and method hold: the relation `holdings`, and which files lie beside."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from audit.request import Request
from audit.sources.files import find_files
from audit.sources.intake import Intake
from audit.store import Store, rows_of

BESIDE: Final = {"calls": "calls.jsonl", "truth": "truth.jsonl"}
"""Files of a run folder that no audit opens; only whether they exist is of interest here."""
GROUP: Final = ("condition", "env", "variant")


def facts_of(request: Request, store: Store) -> list[dict[str, Any]]:
    """A row per condition, task and method, ordered by them: `holdings`, `calls`, `truth` and `controls`."""
    held = rows_of(request.select(store.relation("holdings")))
    beside = _beside(request.paths, store)
    repeats = store.relation("run_records").filter("method.second = 'repeat'").select(*GROUP).distinct().fetchall()
    controls = {
        (row["condition"], row["env"])
        for row in rows_of(store.relation("holdings"))
        if tuple(row[column] for column in GROUP) in repeats and row["revisions"]
    }
    return [
        {
            **row,
            **{name: beside[name][tuple(row[column] for column in GROUP)] for name in BESIDE},
            "controls": (row["condition"], row["env"]) in controls,
        }
        for row in held
    ]


def _beside(paths: Sequence[Path], store: Store) -> dict[str, Counter[tuple[str, ...]]]:
    """In how many run folders of each group a file of each name is."""
    names = {file: name for name, file in BESIDE.items()}
    found: dict[str, set[str]] = {name: set() for name in BESIDE}
    with tempfile.TemporaryDirectory(prefix="audit-") as directory:
        for path in paths:
            for file in find_files(path, Intake(Path(directory))):
                if file.name in names:
                    found[names[file.name]].add(_folder(file.label))
    counted: dict[str, Counter[tuple[str, ...]]] = {name: Counter() for name in BESIDE}
    for row in rows_of(store.relation("record_files").select("label, condition, env, variant").distinct()):
        for name, folders in found.items():
            counted[name][tuple(row[column] for column in GROUP)] += _folder(row["label"]) in folders
    return counted


def _folder(label: str) -> str:
    return label.rpartition("/")[0]
