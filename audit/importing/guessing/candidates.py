"""Which pairs of columns are the texts, the parameters, the scores and the examples of candidates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from audit.importing.guessing.chains import beginnings
from audit.importing.guessing.columns import LISTS, NUMERIC, WRITTEN, Column
from audit.importing.guessing.draft import Draft
from audit.importing.guessing.pairs import ROLES, Pair, is_scalar, is_text, pairs_of, role_of
from audit.importing.guessing.words import (
    COSTS,
    IDS,
    MEASURES,
    PARAMETERS,
    SCORES,
)
from audit.output.errors import count

CLOSE: Final = 5.1e-5
"""Relative difference that a stated mean may have from the mean of its scores."""


def pair_up(draft: Draft, runs: Sequence[Sequence[int]]) -> None:
    """Find the candidates of a log; `runs` are the rows of each run, in the order of its iterations."""
    pairs = pairs_of(draft, runs)
    written = [pair for pair in pairs if pair.initial.shape in WRITTEN and is_text(pair.rest)]
    _texts(draft, written)
    lists = [pair for pair in pairs if pair.initial.shape in LISTS]
    _parameters(draft, [pair for pair in lists if pair.rest & PARAMETERS and not pair.rest & SCORES])
    _scores(draft, lists, [pair for pair in pairs if is_scalar(pair.initial) and not pair.rest & MEASURES])
    _examples(draft)
    _ask_for_runs(draft, runs)


def _ask_for_runs(draft: Draft, runs: Sequence[Sequence[int]]) -> None:
    """Ask where candidates begin anew among rows of a run that otherwise continue each other."""
    before, after, run = (draft.column(name) for name in ("initial.text", "revised.text", "run"))
    if before is None or after is None or (draft.sample.several and run is None):
        return
    for rows in runs:
        linked, new = beginnings(before, after, rows)
        if linked and new > 1:
            what = "No column names runs, but" if run is None else f"By {run.path!r} and the order of iterations"
            text = f"{what} {count(new, 'row')} of a run begin with a text that no earlier row has. Are the runs right?"
            draft.ask("run", text, {"yes": {"run": "1" if run is None else run.path}})
            return


def _take(draft: Draft, name: str, pair: Pair, reason: str = "") -> None:
    for role, column in zip(ROLES, (pair.initial, pair.revised), strict=True):
        draft.take(f"{role}.{name}", column, reason or pair.reason)


def _texts(draft: Draft, pairs: list[Pair]) -> None:
    if any(name.split(".")[1:2] == ["text"] for name in draft.given) or not pairs:
        return
    if len(pairs) == 1:
        _take(draft, "text", pairs[0])
        return
    rests = ["_".join(word for word in pair.initial.words if word in pair.rest) for pair in pairs]
    if len(set(rests)) == len(rests) and all(rests):
        for rest, pair in zip(rests, pairs, strict=True):
            _take(draft, f"text.{rest}", pair)
        return
    draft.ask("initial.text", "Which texts are revised?", {_arrow(pair): pair.fields("text") for pair in pairs})


def _parameters(draft: Draft, pairs: list[Pair]) -> None:
    if len(pairs) == 1:
        _take(draft, "params", pairs[0])
    elif pairs:
        draft.ask("initial.params", "Which lists are revised?", {_arrow(pair): pair.fields("params") for pair in pairs})


def _arrow(pair: Pair) -> str:
    return f"{pair.initial.path} → {pair.revised.path}"


def _scores(draft: Draft, lists: list[Pair], scalars: list[Pair]) -> None:
    """Scores of examples where there are any, else mean scores."""
    if any(f"initial.{name}" in draft.given for name in ("returns", "mean_return")):
        return
    scored = [pair for pair in lists if pair.rest & SCORES and not pair.rest & COSTS]
    unnamed = [pair for pair in lists if not pair.rest & (SCORES | COSTS | PARAMETERS | set(IDS))]
    named = [pair for pair in scalars if pair.rest & SCORES and not pair.rest & COSTS]
    if len(scored) == 1:
        _take(draft, "returns", scored[0])
        for pair in named:
            if _is_mean(pair, scored[0]):
                _take(draft, "mean_return", pair, "in every row the mean of the scores of the examples")
                break
        return
    if scored:
        draft.ask(
            "initial.returns", "Which scores are compared?", {_arrow(pair): pair.fields("returns") for pair in scored}
        )
    elif unnamed and not named:
        options = {}
        for pair in unnamed:
            options[f"scores: {_arrow(pair)}"] = pair.fields("returns")
            options[f"parameters: {_arrow(pair)}"] = pair.fields("params")
        draft.ask("initial.returns", "Are these lists scores of examples, or parameters?", options)
    elif len(named) == 1:
        _take(draft, "mean_return", named[0])
    elif named:
        options = {_arrow(pair): pair.fields("mean_return") for pair in named}
        draft.ask("initial.mean_return", "Which scores are compared?", options)
    else:
        _no_scores(draft, [pair for pair in (*lists, *scalars) if pair.rest & COSTS])


def _is_mean(pair: Pair, scored: Pair) -> bool:
    """Whether a number is the mean of a list in every row."""
    for number, of in ((pair.initial, scored.initial), (pair.revised, scored.revised)):
        for row in range(len(number.values)):
            stated, mean = number.mean(row), of.mean(row)
            if stated is not None and (mean is None or abs(stated - mean) > CLOSE * max(1.0, abs(stated))):
                return False
    return True


def _no_scores(draft: Draft, costs: list[Pair]) -> None:
    """There are no scores to be found; say what there is."""
    if costs:
        pair = costs[0]
        draft.ask(
            "initial.mean_return",
            f"By its name, of {pair.initial.path!r} the lower is better, where of scores the higher is; write a column "
            "with its negative into the log",
            {},
        )
        return
    numbers = [column for column in draft.free() if column.shape in NUMERIC | LISTS]
    options = {}
    for before in numbers[:6]:
        for after in numbers[:6]:
            if before is not after and before.shape == after.shape and before.words != after.words:
                name = "returns" if before.shape in LISTS else "mean_return"
                options[f"{before.path} → {after.path}"] = {
                    f"initial.{name}": before.path,
                    f"revised.{name}": after.path,
                }
    draft.ask("initial.mean_return", "Which columns have the scores before and after a revision?", options)


def _examples(draft: Draft) -> None:
    """The ids of the examples that the scores are of."""
    if "initial.example_ids" in draft.given:
        return
    scores = {role: draft.column(f"{role}.returns") for role in ROLES}
    found: dict[str, list[Column]] = {role: [] for role in ROLES}
    for column in draft.free():
        role, rest = role_of(column.words)
        if column.shape not in ("names", "numbers") or not rest & set(IDS):
            continue
        for each in ROLES:
            if role in (each, "plain") and _are_ids(column, scores[each]):
                found[each].append(column)
    for role, columns in found.items():
        columns.sort(key=lambda column: "id" not in column.words)
        ties = [column for column in columns if ("id" in column.words) == ("id" in columns[0].words)]
        if len({repr(column.values) for column in ties}) == 1:
            draft.take(f"{role}.example_ids", columns[0], "as many different entries as there are scores, in every row")
        elif ties:
            options = {column.path: {f"{role}.example_ids": column.path} for column in ties}
            draft.ask(
                f"{role}.example_ids",
                "Which are the ids of the examples?",
                {**options, "none": {f"{role}.example_ids": ""}},
            )


def _are_ids(column: Column, scores: Column | None) -> bool:
    if scores is None or scores.shape != "numbers":
        return False
    rows = [row for row in range(len(column.values)) if scores.values[row] is not None]
    ids = [column.values[row] for row in rows]
    return bool(rows) and all(
        each is not None
        and len(each) == len(scores.values[row]) == len(set(each))
        and all(isinstance(item, str) or (isinstance(item, int) and not isinstance(item, bool)) for item in each)
        for row, each in zip(rows, ids, strict=True)
    )
