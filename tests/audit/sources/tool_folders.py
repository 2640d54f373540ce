"""Folders that tools wrote, and reading them as a user does."""

from __future__ import annotations

import json
from pathlib import Path

from audit.store import open_store, rows_of

TOOLS = Path(__file__).resolve().parents[2] / "data" / "tools"


def read(*paths):
    """Iterations in their order, problems and notes; texts as dicts."""
    with open_store(list(paths), cache=False) as store:
        rows = rows_of(store.relation("episodes").order("condition, env, run, iteration"))
        problems = [str(problem) for problem in store.problems]
        notes = store.notes
    for row in rows:
        for role in ("initial", "revised") if row["revised"] else ("initial",):
            row[role]["text"] = texts(row[role]["text"])
    return rows, problems, notes


def check_named(folders, messages, sound=1):
    """In each folder one entry is named with its message, and the others are read."""
    rows, problems, _ = read(*folders)
    for folder, message in zip(folders, messages, strict=True):
        found = [row for row in rows if f"{folder}/" in row["file"]]
        told = [message in each for each in problems if f"{folder}/" in each]
        assert (len(found), told) == (sound, [True]), (message, problems)
    assert len(problems) == len(messages)
    assert not any("\n" in each for each in problems)


def texts(value):
    return json.loads(value) if isinstance(value, str) else None if value is None else dict(value)


def listing(folder):
    """Everything that changes when a folder is touched."""
    return {path: (path.stat().st_mtime_ns, path.stat().st_size) for path in [folder, *folder.rglob("*")]}


def write_gepa(folder, entries, candidates=None):
    """A folder with two files as GEPA writes them; the second candidate is there where an entry adds it."""
    if candidates is None:
        candidates = [{"p": "seed"}, {"p": "seed and more"}][: 1 + ("new_program_idx" in str(entries))]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "run_log.json").write_text(entries if isinstance(entries, str) else json.dumps(entries))
    (folder / "candidates.json").write_text(json.dumps(list(candidates)))
    return folder


def entry(iteration, before=(0, 1, 0), after=(0, 0, 0), ids=(3, 1, 2), parent=0, **more):
    """An entry of a release that knows no tasks."""
    scores = {} if before is None else {"subsample_scores": list(before), "new_subsample_scores": list(after)}
    return {"i": iteration, "selected_program_candidate": parent, "subsample_ids": list(ids), **scores, **more}
