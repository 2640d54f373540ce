"""Which learning curves share a figure: the paper's comparison with baselines, and its variants of R2PO."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Literal, NamedTuple

import pandas as pd

from audit.store import Store
from figures.data import Records
from figures.learners import BEST, with_best_learners
from figures.plots.curve_panels import learning_curves
from figures.plots.drawing import Drawing
from figures.plots.plotting import Panels, axes_of
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


def curve_figures(iterations: pd.DataFrame, facts: pd.DataFrame, condition: str) -> Iterator[Drawing]:
    """Draw the learning curves of one condition: methods in two sets, and four tasks apart where there are more.

    Args:
        iterations: rows of the audit's `iterations`, of all conditions: reinforcement learning has one of its own.
        facts: rows of its `run_facts`.
        condition: the condition to draw.
    """
    pool, best, other = with_best_learners(iterations, condition, "kept_return")
    remarks = [best, origin(facts, other)] if best and other else [best]
    made_with = origin(facts, condition)
    marks = references(facts, condition)
    for each in _sets(sorted(set(pool["variant"].astype(str)))):
        rows = pool[pool["variant"].isin(each.methods)].assign(condition=condition)
        for suffix, envs in _tasks(list(rows["env"])):
            drawing = learning_curves(
                rows[rows["env"].isin(envs)],
                condition,
                made_with,
                marks={env: _fitting(marks.get(env, {}), each.methods) for env in envs},
                stem=each.stem + suffix,
                title=each.title,
                remarks=remarks if BEST in each.methods else (),
            )
            if drawing is not None:
                yield drawing


def references(facts: pd.DataFrame, condition: str) -> dict[str, dict[str, float]]:
    """Returns worth a line, by task: `floor`, `optimum` and `tau_c`, where the condition's runs name exactly one."""
    here = facts[facts["condition"] == condition]
    found: dict[str, dict[str, float]] = {}
    for kind in ("floor", "optimum", "tau_c"):
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


NEEDS: Final = {
    "curves-main-four": "",
    "curves-main": "Learning curves, R2PO and baselines (needs runs of ProPS, ProPS+ or Stable-Baselines3)",
    "curves-variants-four": "",
    "curves-variants": "Learning curves, variants of R2PO (needs runs of them)",
}


def draw(records: Records, condition: str) -> Iterator[Drawing]:
    """Draw the figures of the page."""
    return curve_figures(records.iterations, records.facts, condition)


def plot_curves(
    store: Store,
    condition: str | None = None,
    *,
    methods: Literal["main", "variants"] | None = None,
) -> Panels:
    """Plot learning curves, returns against the rollouts spent, in a row of panels per task and a column per method.

    Args:
        store: records, as `audit.open` opens them.
        condition: which condition to plot; needed where there are several.
        methods: R2PO and the baselines, or the variants of R2PO; the first for which there are runs, if not given.

    Returns:
        As `plot_patterns`.

    Raises:
        FiguresError: as `plot_patterns` raises it.
    """
    return axes_of(draw, NEEDS, store, condition, kinds=[f"curves-{methods}"] if methods else ())
