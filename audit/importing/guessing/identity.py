"""Which condition, task, method, run and iteration a row is of."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from audit.importing.fields import LABEL, FieldError
from audit.importing.guessing.columns import Column
from audit.importing.guessing.draft import Draft
from audit.importing.guessing.words import (
    ANSWERS,
    CONDITIONS,
    INITIAL,
    ITERATIONS,
    METHODS,
    RUNS,
    SCORES,
    TASKS,
    TEXTS,
    THINKING,
    TIMES,
    first_of,
)
from audit.importing.mapping import FILE, ROW
from audit.importing.mapping_file import ORDER
from audit.importing.names import in_sequence
from audit.vocabulary.methods import METHODS as KNOWN

NAMES: Final = (("condition", CONDITIONS), ("env", TASKS), ("variant", METHODS))
UNKNOWN: Final = {"condition": "imported", "variant": "custom"}
NOT_NAMES: Final = INITIAL | SCORES | (TEXTS - {"system", "program"}) | {*ANSWERS, *THINKING}
"""Words of columns that are about one candidate, and of no run or iteration."""
EPOCH: Final = 10**8
"""Whole numbers from here on are times, not numbers of iterations."""


def identify(draft: Draft, log: Path) -> list[list[int]]:
    """Find what identifies rows.

    Args:
        draft: to which it is added.
        log: the first file, after which the task is called if nothing else names it.

    Returns:
        The rows of each run, in the order of its iterations.
    """
    _named(draft, log)
    runs, iterations = _runs(draft), _iterations(draft)
    groups = [column for name, _ in NAMES if (column := draft.column(name)) is not None]
    run, iteration = _unique(draft, groups, runs, iterations)
    _run(draft, run, runs)
    _iteration(draft, iteration)
    return _sequences(draft, groups, draft.column("run"), draft.column("iteration"))


def _is_label(column: Column) -> bool:
    """Whether values are short enough for names, or whole numbers."""
    if column.shape == "whole":
        return True
    try:
        return column.shape == "text" and all(LABEL.read(value) for value in column.present)
    except FieldError:
        return False


def _ranked(draft: Draft, ranking: tuple[str, ...], shapes: Iterable[str]) -> list[Column]:
    """The columns whose names have a word of a ranking, best first; without those that are about one candidate."""
    found = []
    for column in draft.free():
        place = first_of(column.words, ranking)
        about = set(column.words) - {ranking[place]} if place is not None else set()
        if place is None or column.shape not in shapes or about & NOT_NAMES:
            continue
        if len(column.present) == len(column.values) and _is_plain(column):
            found.append((place, len(column.words), column))
    return [column for *_, column in sorted(found, key=lambda each: each[:2])]


def _is_plain(column: Column) -> bool:
    return column.shape == "number" or _is_label(column)


def _named(draft: Draft, log: Path) -> None:
    """Condition, task and method: any names will do, so nothing is asked."""
    for name, ranking in NAMES:
        short = [column for column in _ranked(draft, ranking, ("text",)) if len(column.distinct()) <= _few(column)]
        found = [column for column in short if not _changes_within_runs(draft, column)]
        draft.remarks += [
            f"{column.path!r} changes within runs: not the {name}" for column in short if column not in found
        ]
        if found:
            draft.take(name, found[0], f"short texts, {len(found[0].distinct())} different, under a usual name")
        else:
            value = UNKNOWN.get(name) or re.sub(r"[^\w.+-]+", "-", log.name.split(".")[0]).strip("-") or "task"
            origin = "the name of the file" if name == "env" else "a name of no meaning"
            draft.fix(name, value, f"no column names one; {origin}, change it as you like")
    method = draft.column("variant")
    known = {re.sub("[^a-z0-9]", "", name): name for name in KNOWN}
    for value in () if method is None else method.distinct():
        plain = re.sub("[^a-z0-9]", "", str(value).lower())
        if plain in known and value != known[plain]:
            draft.values.setdefault("variant", {})[str(value)] = known[plain]


def _changes_within_runs(draft: Draft, column: Column) -> bool:
    """Whether a column changes within what run and iteration identify without it."""
    iterations = _iterations(draft)
    for run in (*_runs(draft), None):
        beside = [] if run is None else [run]
        if iterations and not any(_distinguish(draft, [*beside, each], by_file=run is None) for each in iterations):
            continue
        keys = draft.sample.files if run is None else [repr(value) for value in run.values]
        if run is None:
            changes = sum(one != other for one, other in pairwise(zip(keys, column.values, strict=True)))
            return changes >= len(set(zip(keys, column.values, strict=True)))
        return len(set(zip(keys, column.values, strict=True))) > len(set(keys))
    return False


def _few(column: Column) -> int:
    return max(1, len(column.present) // 2)


def _runs(draft: Draft) -> list[Column]:
    return [column for column in _ranked(draft, RUNS, ("whole", "text")) if "time" not in column.words]


def _iterations(draft: Draft) -> list[Column]:
    counted = _ranked(draft, ITERATIONS, ("whole", "text"))
    times = _ranked(draft, TIMES, ("whole", "number", "text"))
    return [*counted, *(column for column in times if column not in counted)]


def _unique(
    draft: Draft, groups: Sequence[Column], runs: Sequence[Column], iterations: Sequence[Column]
) -> tuple[Column | None, Column | None]:
    """The first run and iteration that no two rows share."""
    by_user = {name: draft.columns.get(draft.given[name]) for name in ("run", "iteration") if name in draft.given}
    runs = [column for column in (by_user["run"],) if column] if "run" in by_user else runs
    iterations = [column for column in (by_user["iteration"],) if column] if "iteration" in by_user else iterations
    for iteration in iterations:
        for run in runs:
            if _distinguish(draft, [*groups, run, iteration], by_file=False) and len(run.distinct()) < max(
                2, len(run.present)
            ):
                return run, iteration
        if not (runs and draft.sample.several) and _distinguish(draft, [*groups, iteration]):
            return (runs[0] if runs else None), iteration
    return (runs[0] if runs else None), (iterations[0] if iterations else None)


def _distinguish(draft: Draft, columns: Sequence[Column], *, by_file: bool = True) -> bool:
    """Whether no two rows have the same in some columns, and are of the same file."""
    rows = [
        (file if by_file else 0, *(repr(column.values[row]) for column in columns))
        for row, file in enumerate(draft.sample.files)
    ]
    return len(set(rows)) == len(rows)


def _run(draft: Draft, run: Column | None, runs: Sequence[Column]) -> None:
    if run is None:
        if draft.sample.several:
            draft.take("run", FILE, "no column names runs; one per file")
        else:
            draft.fix("run", 1, "no column names runs; one for all rows")
        return
    if len(run.distinct()) == len(run.values) > 2:
        options = {f"yes, {run.path}": {"run": run.path}, "no, all rows are one run": {"run": "1"}}
        draft.ask("run", f"Is every row a run of its own, as in {run.path!r}?", options)
        return
    others = [column.path for column in runs if column is not run]
    beside = f"; not {', '.join(map(repr, others))}" if others else ""
    draft.take("run", run, f"{len(run.distinct())} different, under a usual name{beside}")
    if run.shape == "whole" and min(run.present) < 1:
        draft.count("run", int(min(run.present)))


def _iteration(draft: Draft, iteration: Column | None) -> None:
    if iteration is None:
        draft.take("iteration", ROW, "no column counts iterations; rows in order")
        if draft.column("run") is not None:
            draft.count("iteration", ORDER)
        return
    groups = [column for name in ("condition", "env", "variant", "run") if (column := draft.column(name)) is not None]
    by_file = draft.column("run") is None
    if "iteration" not in draft.given and not _distinguish(draft, [*groups, iteration], by_file=by_file):
        repeated = Counter(
            (file if by_file else 0, *(repr(column.values[row]) for column in (*groups, iteration)))
            for row, file in enumerate(draft.sample.files)
        )
        options = {f"run: {each.path}": {"run": each.path} for each in _runs(draft)[:4]}
        draft.ask(
            "iteration",
            f"{iteration.path!r} seems to count iterations, but {sum(n - 1 for n in repeated.values())} rows repeat an "
            "earlier one of the same run. Which column names the runs, or are the rows one run in order?",
            {**options, "rows in order": {"iteration": ROW}},
        )
        return
    draft.take("iteration", iteration, "no two rows of a run have the same, under a usual name")
    first = min(iteration.present) if iteration.shape in ("whole", "number") else None
    if first is not None and (iteration.shape == "number" or first >= EPOCH or first < 0):
        draft.count("iteration", ORDER)
        draft.remarks.append(f"iterations are numbered from 0 in the order of {iteration.path!r}")
    elif first == 1:
        draft.count("iteration", 1)


def _sequences(draft: Draft, groups: Sequence[Column], run: Column | None, iteration: Column | None) -> list[list[int]]:
    found: dict[Any, list[int]] = {}
    for row, file in enumerate(draft.sample.files):
        key = tuple(repr(column.values[row]) for column in (*groups, *([run] if run else [])))
        found.setdefault((*key, file if draft.sample.several and run is None else 0), []).append(row)
    if iteration is not None:
        for rows in found.values():
            names = [str(iteration.values[row]) for row in rows]
            place = in_sequence(names)
            rows.sort(key=lambda row: place[str(iteration.values[row])])
    return list(found.values())
