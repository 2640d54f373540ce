"""Which learning curves stand together: the paper's comparison with baselines, and its variants of R2PO."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

import pandas as pd

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

BASELINE: Final = "sb3-"


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
    beside = companion(condition, set(iterations["condition"]))
    here = iterations[iterations["condition"] == condition]
    learners = iterations[iterations["condition"] == beside] if beside else here.iloc[:0]
    alone = here["variant"].astype(str).str.startswith(BASELINE).all()
    pool = here if alone else pd.concat([here, learners], ignore_index=True)
    pool, remark = (pool, "") if alone else _best_learners(pool)
    remarks = [remark, origin(facts, beside) if beside and remark and beside != condition else ""]
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
                remarks=remarks if any(method.startswith(BASELINE) for method in each.methods) and not alone else (),
            )
            if drawing is not None:
                yield drawing


def companion(condition: str, conditions: Iterable[str]) -> str | None:
    """The condition with the runs of reinforcement learning that belong beside a condition's, if there is one.

    That is `sb3` with the same settings, or else with the default ones.
    """
    settings = [part for part in condition.split("+")[1:] if not part.startswith("tau-")]
    candidates = ("+".join(["sb3", *settings]), "sb3")
    return next((other for other in candidates if other in set(conditions) and other != condition), None)


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
