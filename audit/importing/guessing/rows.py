"""What a row is of (condition, task, method, run, iteration), what was kept, and what the critic wrote and saw."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from audit.importing.fields import LABEL, SELECTION_RULES, FieldError
from audit.importing.guessing import names
from audit.importing.guessing.columns import Column
from audit.importing.guessing.draft import ROLES, Guess
from audit.importing.mapping import FILE, ROW
from audit.importing.mapping_file import ORDER
from audit.output.errors import count
from audit.vocabulary.methods import METHODS

NAMED: Final = {"condition": "imported", "env": "", "variant": "custom"}
"""Fields that are names, and what they are if nothing states them; a task is called as the file."""
EPOCH: Final = 10**8
"""Whole numbers from here on are times, not numbers of iterations."""
FEWEST: Final = 3
"""Rows from which on a rule is no accident."""


def identify(draft: Guess, log: Path) -> None:
    """Find what identifies rows; the task is called after the file `log` if nothing else names it."""
    labels = {name: found[0] for name in NAMED if (found := _usual(draft, name))}
    rows = len(draft.log.files)
    single = [
        column for column in _usual(draft, "run") if len(column.distinct()) == rows > 1 and "run" not in draft.given
    ]
    runs = [column for column in _usual(draft, "run") if column not in single]
    iterations = _usual(draft, "iteration")
    either: list[Column | None] = [*runs, *([] if runs and draft.log.several else [None])]
    ways = [(run, iteration) for iteration in iterations for run in either if run is not iteration]
    unique = [way for way in ways if _different(draft, [*labels.values(), *way]) == rows]
    run, iteration = unique[0] if unique else (next(iter(runs), None), next(iter(iterations), None))
    run = run or next(iter(runs), None)
    for name, default in NAMED.items():
        column = labels.get(name)
        changes = column and _different(draft, [run, column]) > _different(draft, [run])
        if column and changes and _different(draft, [run, iteration]) == rows:
            draft.remarks.append(f"{column.path!r} changes within runs: not the {name}")
            column = labels.pop(name) and None
        if column:
            draft.take(name, column, f"{len(column.distinct())} different, under a usual name")
        else:
            value = default or re.sub(r"[^\w.+-]+", "-", log.name.split(".")[0]).strip("-") or "task"
            draft.fix(name, value, "no column names one; change it as you like")
    known = {re.sub("[^a-z0-9]", "", name): name for name in METHODS}
    for value in labels["variant"].distinct() if "variant" in labels else ():
        method = known.get(re.sub("[^a-z0-9]", "", value.lower()), value)
        if method != value:
            draft.values.setdefault("variant", {})[value] = method
    _run(draft, run, single)
    _iteration(draft, [*labels.values(), run, iteration], iteration)


def _usual(draft: Guess, name: str) -> list[Column]:
    """The columns that a field may be: as a tool calls it, then by the words of names, best first."""
    if name in draft.given:
        return [column] if (column := draft.column(name)) else []
    by_tool, ranking = draft.by_tool(name), names.RANKED[name]
    found = []
    for column in draft.free():
        place = next((place for place, word in enumerate(ranking) if word in column.words), None)
        if column.path in by_tool:
            place = by_tool.index(column.path) - len(by_tool)
        elif place is None or (column.words - {ranking[place]}) & names.ABOUT_CANDIDATES:
            continue
        is_time = place < 0 or ranking[place] in names.TIMES
        is_number = column.shape == "whole" or (column.shape == "number" and is_time)
        is_label = column.shape == "text" and all(map(_is_label, column.present))
        if name in NAMED:
            is_number, is_label = False, is_label and 2 * len(column.distinct()) <= max(2, len(column.values))
        if None not in column.values and (is_label or (is_number and not (name == "run" and "time" in column.words))):
            found.append((place, len(column.words), column.path, column))
    return [column for *_, column in sorted(found, key=lambda each: each[:3])]


def _is_label(value: str) -> bool:
    try:
        return bool(LABEL.read(value))
    except FieldError:
        return False


def _different(draft: Guess, columns: Sequence[Column | None]) -> int:
    """How many combinations of some columns there are; of each file, where there is no column for the run."""
    files = draft.log.files if None in columns else [0] * len(draft.log.files)
    return len(set(zip(files, *(map(repr, column.values) for column in columns if column), strict=True)))


def _run(draft: Guess, run: Column | None, single: Sequence[Column]) -> None:
    if run:
        draft.take("run", run, f"{len(run.distinct())} different, under a usual name")
        if run.shape == "whole" and min(run.present) < 1:
            draft.setting("count_from", "run", int(min(run.present)))
    elif draft.log.several:
        draft.take("run", FILE, "no column names runs; one per file")
    elif single:
        text = f"Is every row a run of its own, as in {single[0].path!r}, or are all rows one run?"
        draft.ask("run", text, [{"run": single[0].path}, {"run": 1}])
    else:
        draft.fix("run", 1, "no column names runs; one for all rows")


def _iteration(draft: Guess, keys: Sequence[Column | None], iteration: Column | None) -> None:
    repeated = len(draft.log.files) - _different(draft, keys)
    if iteration is None:
        draft.take("iteration", ROW, "no column counts iterations; rows in order")
        if draft.column("run"):
            draft.setting("count_from", "iteration", ORDER)
    elif repeated and "iteration" not in draft.given:
        text = (
            f"{iteration.path!r} seems to count iterations, but {repeated} rows repeat an earlier one of the same run."
        )
        text += " Which column names the runs, or are the rows one run in order?"
        draft.ask("iteration", text, [{"iteration": ROW}, {"iteration": iteration.path}])
    else:
        draft.take("iteration", iteration, "no two rows of a run have the same, under a usual name")
        first = min(iteration.present) if iteration.shape in ("whole", "number") else 0
        if iteration.shape == "number" or first >= EPOCH or first < 0:
            draft.setting("count_from", "iteration", ORDER)
        elif first == 1:
            draft.setting("count_from", "iteration", 1)


def find_kept(draft: Guess) -> None:
    """Find what states which candidate was kept."""
    if "selected" in draft.given:
        if (stated := draft.column("selected")) is not None:
            draft.values["selected"] = _meaning(stated) or {}
        return
    flags = [column for column in draft.free() if _is_flag(column)]
    text = "No column states for certain which candidate was kept. Which is it?"
    if len({repr(_kept(column)) for column in flags}) == 1:
        kept = _kept(flags[0])
        text = _contradiction(draft, flags[0].path, kept)
        if not text:
            draft.values.setdefault("selected", _meaning(flags[0]) or {})
            reason = f"the revised candidate is kept in {sum(kept.values())} of {len(kept)} rows"
            draft.take("selected", flags[0], reason)
            return
    possible = flags or [column for column in draft.free() if column.words & names.CHOICES]
    options = [{"selected": column.path} for column in possible if len(column.distinct()) <= FEWEST]
    draft.ask("selected", text, [*options, *({"selected": rule} for rule in SELECTION_RULES)])


def _is_flag(column: Column) -> bool:
    """Whether a column is a flag under a usual name, or has no values but such as `accepted` and `rejected`."""
    if column.shape not in ("flag", "whole", "text") or _meaning(column) is None:
        return False
    flags = names.KEPT | names.REFUSED
    return bool(column.words & flags) or all(str(value).lower() in flags for value in column.present)


def _meaning(column: Column) -> dict[str, str] | None:
    """Which candidate each value of a column means; None where one of them does not tell."""
    is_reverse = column.words & names.REFUSED and not column.words & names.KEPT
    yes, no = ("initial", "revised") if is_reverse else ("revised", "initial")
    spellings = {*column.spelt} - {""}
    if column.shape == "flag" and spellings <= {"true", "false"}:
        spellings = {"true", "false"}
    known = {name: no if name.lower() in names.NO else yes for name in sorted(spellings)}
    return known if all(name.lower() in names.YES | names.NO for name in known) else None


def _kept(column: Column) -> dict[int, bool]:
    meaning = _meaning(column) or {}
    return {row: meaning[name] == "revised" for row, name in enumerate(column.spelt) if name}


def _contradiction(draft: Guess, path: str, kept: Mapping[int, bool]) -> str:
    """What speaks against a flag: all scores."""
    sides = [draft.column(f"{role}.returns") or draft.column(f"{role}.mean_return") for role in ROLES]
    scores = [(is_cached, *(side.mean(row) if side else None for side in sides)) for row, is_cached in kept.items()]
    unequal = [
        (is_cached, one, two) for is_cached, one, two in scores if one is not None and two is not None and one != two
    ]
    if len(unequal) >= FEWEST and all(is_cached == (two < one) for is_cached, one, two in unequal):
        return f"By {path!r} always the candidate with the lower score was kept, but the higher is better. What holds?"
    return ""


def check_order(draft: Guess) -> None:
    """Ask where a text comes from nowhere: it was not in an earlier row of its run, or was not kept there."""
    before, after = (draft.column(f"{role}.text") for role in ROLES)
    run, iteration, flag = (draft.column(name) for name in ("run", "iteration", "selected"))
    if before is None or after is None:
        return
    runs = list(zip(draft.log.files, run.values if run else draft.log.files, strict=True))
    order = sorted(range(len(runs)), key=lambda row: (runs[row], iteration.values[row] if iteration else row))
    new = _new(before, after, [(row, runs[row]) for row in order], _kept(flag) if flag else {})
    turned = _new(after, before, [(row, runs[row]) for row in order], {})
    if 0 < new < len(runs) - len(set(runs)) or (new and not turned):
        text = f"In {count(new, 'row')} {before.path!r} has a text that no earlier row of the run has, or that was not "
        text += "kept. Are the runs right, the order of the rows, and which text is before?"
        draft.ask("run", text, [{"run": run.path if run else FILE if draft.log.several else 1}])


def _new(before: Column, after: Column, rows: Sequence[tuple[int, Any]], kept: Mapping[int, bool]) -> int:
    """How many rows begin with a text that is none of those kept earlier in their run."""
    seen: dict[Any, set[str]] = {}
    new = 0
    for row, run in rows:
        texts = seen.setdefault(run, set())
        new += bool(texts) and repr(before.values[row]) not in texts
        texts |= {repr(text.values[row]) for text in ((before, after) if kept.get(row, True) else (before,))}
    return new


def find_answers(draft: Guess) -> None:
    """Find what the critic wrote, and how long an iteration took."""
    written = [column for column in draft.free() if column.shape == "text" and not column.words & names.INITIAL]
    for name, words in (("thinking", names.THINKING), ("answer", names.ANSWERS)):
        found = [column for column in written if column.words & words and any(" " in text for text in column.present)]
        written = [column for column in written if column not in found]
        if len(found) == 1:
            draft.take(f"revised.{name}", found[0], "the only text under a usual name")
        elif found:
            options = [{f"revised.{name}": column.path} for column in found]
            draft.ask(f"revised.{name}", f"Which is the critic's {name}?", options)
    for column in draft.free():
        is_named = column.words & names.SECONDS and not column.words & (names.OTHER_UNITS | names.SCORES)
        if (is_named or column.path in draft.by_tool("seconds")) and column.shape in ("whole", "number"):
            is_clock = len(column.present) > FEWEST and all(one < other for one, other in pairwise(column.present))
            if min(column.present) >= 0 and not is_clock and "seconds" not in draft.findings:
                draft.take("seconds", column, "numbers that do not only grow, under a usual name")


def find_evidence(draft: Guess) -> None:
    """Find which scored items the critic saw, where the log shows that; else ask."""
    scores, ids = draft.column("initial.returns"), draft.column("initial.example_ids")
    if any(name.startswith("evidence.") for name in draft.given):
        return
    for column in (ids, scores):
        if column and column.words & names.BATCHES:
            draft.fix("evidence.kind", "batch", f"{column.path!r} is of a minibatch, all of which the critic is shown")
            draft.fix("evidence.items", "all", "as above, in the order of the scores")
            return
    pair = {
        f"evidence.{label}_{'return' if column.is_scalar else 'text'}": column.path
        for column in draft.free()
        for label, word in (("worst", "worse"), ("best", "better"))
        if word in column.words and (column.is_scalar or column.shape == "text")
    }
    shown = [column for column in draft.free() if column.words & names.SHOWN and column.shape in ("names", "numbers")]
    options = [{"evidence.kind": "batch", "evidence.items": path} for path in ("all", *(each.path for each in shown))]
    if {"evidence.worst_return", "evidence.best_return"} <= pair.keys():
        options = [{"evidence.kind": "pair", **pair}]
    if scores or pair:
        draft.ask("evidence.kind", "No column states for certain what the critic was shown.", options, needed=False)
