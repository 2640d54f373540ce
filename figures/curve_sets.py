"""Which learning curves stand together: the paper's comparison with baselines, and its variants of R2PO."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import pandas as pd

from figures.conditions import BASELINE, learners_in, lender
from figures.curves import learning_curves
from figures.drawing import Drawing
from figures.names import name
from figures.options import Band
from figures.provenance import origin

REFERENCE: Final = "r2po"
VARIANTS: Final = (
    "threetraj",
    "reptraj",
    "alwayscritic",
    "actorsecondpass",
    "puresearch",
    "criticonly",
)
FOUR: Final = ("swimmer", "mountaincarcontinuous", "invertedpendulum", "cartpole")
"""Where there are more tasks, these have figures of their own besides: the paper's text discusses their curves."""


class _Set(NamedTuple):
    """Methods in one figure."""

    stem: str
    title: str
    methods: list[str]


def curve_figures(
    iterations: pd.DataFrame, facts: pd.DataFrame, condition: str, *, band: Band = Band.std
) -> Iterator[Drawing]:
    """Draw the learning curves of one condition: methods in two sets, and four tasks apart where there are more.

    Args:
        iterations: rows of the audit's `iterations`, of all conditions: reinforcement learning has one of its own.
        facts: rows of its `run_facts`.
        condition: the condition to draw.
        band: what the bands show.
    """
    here = iterations[iterations["condition"] == condition]
    learners = learners_in(iterations)
    if alone := condition in learners:
        pool, remarks = here, []
    else:
        beside = lender(condition, learners)
        pool, best = _best_learners(_lent(here, iterations[iterations["condition"] == beside]))
        remarks = [best, origin(facts, beside) if beside and best else ""]
    made_with = origin(facts, condition)
    marks = references(facts, condition)
    for each in _sets(sorted(set(pool["variant"].astype(str)))):
        rows = pool[pool["variant"].isin(each.methods)].assign(condition=condition)
        for suffix, envs in _tasks(list(rows["env"])):
            drawing = learning_curves(
                rows[rows["env"].isin(envs)],
                condition,
                made_with,
                band=band,
                marks={env: _fitting(marks.get(env, {}), each.methods) for env in envs},
                stem=each.stem + suffix,
                title=each.title,
                remarks=remarks if not alone and any(method.startswith(BASELINE) for method in each.methods) else (),
            )
            if drawing is not None:
                yield drawing


def references(facts: pd.DataFrame, condition: str) -> dict[str, dict[str, float]]:
    """Returns worth a line, by task: `optimum` and `tau_c`, where the condition's runs name exactly one."""
    here = facts[facts["condition"] == condition]
    found: dict[str, dict[str, float]] = {}
    for kind in ("optimum", "tau_c"):
        if kind not in here:
            continue
        for env, values in here.dropna(subset=[kind]).groupby("env")[kind]:
            if values.nunique() == 1:
                found.setdefault(str(env), {})[kind] = float(values.iloc[0])
    return found


def _fitting(marks: dict[str, float], methods: Sequence[str]) -> dict[str, float]:
    return {kind: value for kind, value in marks.items() if kind != "tau_c" or REFERENCE in methods}


def _sets(methods: list[str]) -> Iterator[_Set]:
    """The two sets that the paper draws; a method of neither is in the first. R2PO alone is no second figure."""
    main = [method for method in methods if method not in VARIANTS]
    variants = [method for method in methods if method in VARIANTS]
    if main and (main != [REFERENCE] or not variants):
        yield _Set("curves-main", "Learning curves, R2PO and baselines", main)
    if variants:
        yield _Set(
            "curves-variants", "Learning curves, variants of R2PO", [*(m for m in main if m == REFERENCE), *variants]
        )


def _tasks(envs: list[str]) -> Iterator[tuple[str, list[str]]]:
    """All tasks; before them the four, where all of them and more are there."""
    present = sorted(set(envs))
    if len(present) > len(FOUR) and set(FOUR) <= set(present):
        yield "-four", list(FOUR)
    yield "", present


def _lent(here: pd.DataFrame, learners: pd.DataFrame) -> pd.DataFrame:
    """A condition's iterations, and those of learners that it has no runs of on a task."""
    own = set(zip(here["env"], here["variant"], strict=True))
    lent = [cell not in own for cell in zip(learners["env"], learners["variant"], strict=True)]
    return pd.concat([here, learners[lent]], ignore_index=True)


def _best_learners(pool: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Of the algorithms of reinforcement learning only the best one of each task, by mean return, and which it is."""
    learner = pool["variant"].astype(str).str.startswith(BASELINE)
    if not learner.any():
        return pool, ""
    runs = pool[learner].groupby(["env", "variant", "run"])["kept_return"].mean()
    means = runs.groupby(["env", "variant"]).mean().dropna().reset_index()
    best = means.sort_values(["kept_return", "variant"], ascending=[False, True]).drop_duplicates("env")
    chosen = set(zip(best["env"], best["variant"], strict=True))
    kept = [
        not is_learner or cell in chosen
        for is_learner, cell in zip(learner, zip(pool["env"], pool["variant"], strict=True), strict=True)
    ]
    told = ", ".join(f"{name(variant)} on {name(env)}" for env, variant in sorted(chosen))
    return pool[kept].assign(variant=pool["variant"].where(~learner, "sb3-best")), (
        f"Best of the reinforcement learners by mean return: {told}."
    )
