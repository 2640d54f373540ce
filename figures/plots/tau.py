"""Sensitivity of R2PO to τ_c, from conditions that differ in nothing else."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, Final

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from audit.store import Store
from figures.conditions import AUTOMATIC, DEFAULT, HALF, OFF, families
from figures.data import Records
from figures.names import TASKS, label, name, narrow, ordered
from figures.plots.drawing import Drawing, in_style, joined
from figures.plots.marks import handle, number
from figures.plots.plotting import Panels, axes_of
from figures.provenance import origin
from figures.style import MUTED, TAU, annotate, facets, legend, stroke, typeset

METHOD: Final = "r2po"
SHIFT: Final = {"mean_return": -0.12, "best_return": 0.12}
CAPTION: Final = (
    "Mean and best return of R2PO by the setting of τ_c, above which its critic is asked for restraint: mean over "
    "runs and one sample standard deviation to each side; dots are single runs. A setting whose τ_c no policy ever "
    "reached cannot matter, and with few runs a difference smaller than the bars shows nothing."
)


NEEDS: Final = {"tau": "Sensitivity to τ_c (needs R2PO under two settings of τ_c)"}


@in_style
def draw(records: Records, condition: str) -> list[Drawing]:
    """Draw the conditions that have a name in common; nothing where R2PO has no runs under several settings."""
    mine = [row for row in records.metrics if row["variant"] == METHOD]
    settings = families({str(row["condition"]) for row in mine}).get(condition, {})
    rows = {(str(row["env"]), str(row["condition"])): row for row in mine}
    order = sorted(settings, key=_place)
    tasks = {str(row["env"]) for row in mine if row["condition"] in settings.values()}
    several = {env for env in tasks if sum((env, condition) in rows for condition in settings.values()) > 1}
    envs = ordered(several, TASKS)
    if not envs:
        return []
    figure, panels = facets([narrow(env) for env in envs], height=2.0)
    for (ax, is_first, is_lowest), env in zip(panels, envs, strict=True):
        ticks = []
        for x, tau in enumerate(order):
            row = rows.get((env, settings[tau]))
            ticks.append(_tick(tau, records.facts, settings[tau], env, row))
            runs = records.runs
            here = runs[(runs["condition"] == settings[tau]) & (runs["env"] == env) & (runs["variant"] == METHOD)]
            _draw_setting(ax, x, row, here)
        ax.set_xticks(range(len(order)), ticks)
        ax.set_xlim(-0.5, len(order) - 0.5)
        typeset(ax.set_xlabel(f"setting, {TAU}, runs" if is_lowest else ""))
        ax.set_ylabel("return" if is_first else "")
        ax.grid(visible=True, axis="y")
    legend(figure, _handles(), across=3)
    left_out = ordered(tasks - several, TASKS)
    made_with = dict.fromkeys(origin(records.facts, settings[tau]) for tau in order)
    note = joined(
        [
            f"Mean ± sample standard deviation, conditions {', '.join(label(settings[tau]) for tau in order)}.",
            f"One setting only, not drawn: {', '.join(map(name, left_out))}." if left_out else "",
            *made_with,
        ]
    )
    annotate(figure, note)
    described = "Mean and best return of R2PO for every setting of its threshold, one panel per task."
    return [Drawing("tau", "Sensitivity to τ_c", CAPTION, note, described, figure)]


def _place(tau: str) -> tuple[int, float, str]:
    """The order of settings: as the paper has them, with values from high to low before no rule at all."""
    named = {DEFAULT: 0, HALF: 1, OFF: 3}
    value = float(tau) if re.fullmatch(r"-?\d+(\.\d+)?", tau) else 0.0
    return (named.get(tau, 2), -value, tau)


def _tick(tau: str, facts: pd.DataFrame, condition: str, env: str, row: Mapping[str, Any] | None) -> str:
    here = facts[(facts["condition"] == condition) & (facts["env"] == env) & (facts["variant"] == METHOD)]
    values = sorted({f"{value:g}" for value in here["tau_c"].dropna()}) if "tau_c" in here else []
    missing = "no rule" if tau == OFF else "by a rule" if tau.startswith(AUTOMATIC) else "not recorded"
    value = ", ".join(values).replace("-", "−") if values else missing
    return "\n".join(["set to" if values == [tau] else narrow(tau), value, f"n = {int(row['runs']) if row else 0}"])


def _draw_setting(ax: Axes, x: int, row: Mapping[str, Any] | None, runs: pd.DataFrame) -> None:
    if row is None or not math.isfinite(number(row["mean_return"])):
        ax.text(x, 0.5, "–", transform=ax.get_xaxis_transform(), ha="center", fontsize=8, color=MUTED)
        return
    colour = stroke(METHOD).colour
    for key, shift in SHIFT.items():
        value, deviation = number(row[key]), number(row[f"{key}_std"])
        if math.isfinite(deviation):
            ax.plot([x + shift] * 2, [value - deviation, value + deviation], color=colour, lw=1.2)
        ax.plot(
            x + shift, value, "o", ms=5, mfc=colour if key == "mean_return" else "white", mec=colour, mew=1.1, zorder=3
        )
        ax.plot([x + 2.1 * shift] * len(runs), runs[key], ".", ms=3, color=MUTED, mew=0)


def _handles() -> list[Line2D]:
    colour = stroke(METHOD).colour
    return [
        handle("mean return", colour, "o", size=5),
        handle("best return", colour, "o", size=5, inside="white"),
        handle("one run", MUTED, ".", size=3),
    ]


def plot_tau(store: Store, condition: str | None = None) -> Panels:
    """Plot mean and best returns of R2PO by the setting of τ_c, one panel per task.

    The condition is what the settings have in common: `m` for `m+tau-half` and `m+tau-off`.

    Arguments, result and errors are those of `plot_patterns`.
    """
    return axes_of(draw, NEEDS, store, condition)
