"""Causes: what changes of the evidence did to edits, to what answers are justified by, and to returns."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from audit.interventions.arms import ARMS, WORDING
from audit.interventions.effects.exchanges import METHOD as EXCHANGES
from audit.store import Store
from audit.vocabulary.colours import STRICT
from figures.data import Records, Rows
from figures.names import label, narrow
from figures.plots.drawing import Drawing, in_style, joined
from figures.plots.marks import absent, beside, handle, head, interval, number, rows_of
from figures.plots.plotting import Panels, axes_of
from figures.plots.shares import SHARE, draw_shares, handles, problem_of
from figures.provenance import origin
from figures.style import MUTED, WIDTH, annotate, legend

CAPTION: Final = (
    "Effects of changed evidence on answers to the same prompts, with 95% intervals over runs. Followed: the share of "
    "revisions that follow a rollout because of what is named, above the mean of the other two of its kind; of "
    "wording, length and the order of headings, the share that would have to go by another rollout for as large a "
    "difference. A disc: it moves the critic. A triangle to the left: it moves it away. A diamond: it goes with "
    "another of its kind. A cross: it does not move the critic, its share is within the grey band of those too small "
    "to be of interest. A triangle: that cannot be told. A bar: described only. Bold: the primary hypotheses of the "
    "plan. p is corrected for the number of tests "
    "where they were planned. Edits: energy distance between the answers under an arm and under its control, in units "
    "of the distance between two answers to one prompt. The dotted line is what rewording the prompt does; an effect "
    "counts only beyond it. Text: change in the share of answers that are justified by a rollout with this label, "
    "place or return (upper rows), or by the rollout that is the worst in truth (rows with an arm). Harm: answers "
    "that see the worst rollout compared with those that do not: percentage points of answers that lower the return "
    "by more than two standard errors, and gain in return as a percentage of the range from the task's floor to its "
    "optimum. A negative gain is harm."
)
NEEDS: Final = {"causes": ""}
WITHOUT: Final = "Causes (needs a finished experiment: audit.open(…, plan=…) or --plan)"

LAST: Final = ("N0", "N0h", "P2", "P1")
"""Arms whose rows come last; others come in the order of `ARMS`."""
FACTORS: Final[Mapping[str, str]] = {
    "label": "called worst",
    "position": "shown first",
    "last position": "shown last",
    "number": "lowest return",
}
HIDDEN: Final = "text, numbers hidden"
WORDS: Final = ("speaking of the worst", "the word worst")
"""Effects on what answers mention: the table has them, and the figure what answers go by."""
HARM_CONTROLS: Final = ("RW", "DW")
"""What the unchanged evidence is compared with: the worst rollout replaced, or left out."""


class Look(NamedTuple):
    """Colour and marker of a verdict."""

    colour: str
    marker: str


LOOKS: Final[Mapping[str, Look]] = {
    "found": Look(STRICT, "o"),
    "not beyond placebo": Look("#E69F00", "D"),
    "not found": Look(MUTED, "s"),
}


class Bar(NamedTuple):
    """A row of a panel: its name, its effect, and what a unit of that is multiplied by."""

    name: str
    effect: Mapping[str, Any]
    scale: float = 1.0


@in_style
def draw(records: Records, condition: str) -> list[Drawing]:
    """Draw the effects of all experiments on prompts of one condition; nothing where there is none.

    An experiment on prompts of several conditions is drawn with the first of them.
    """
    plans = [plan for plan in _experiments(records) if _home(records, plan) == condition]
    if not plans:
        return []
    panels = [_panels(records, plan) for plan in plans]
    shared = [_shares(records, plan) for plan in plans]
    heights = [
        max(len(shares) or len(edits), len(text) + (len(harm) + 3 if harm else 0))
        for shares, (edits, text, harm) in zip(shared, panels, strict=True)
    ]
    figure = Figure(figsize=(WIDTH, 0.17 * sum(heights) + 0.75 * len(plans)))
    widths = [3, 4] if any(shared) else [2, 3]
    grid = figure.add_gridspec(len(plans), 2, height_ratios=[height + 4 for height in heights], width_ratios=widths)
    for row, (plan, shares, (edits, text, harm)) in enumerate(zip(plans, shared, panels, strict=True)):
        model = f"{narrow(str(_units(records, plan)[0]['model']))}: " if len(plans) > 1 else ""
        left = figure.add_subplot(grid[row, 0])
        if shares:
            draw_shares(left, shares, f"{model}followed" if model else "Followed")
        else:
            _draw(left, edits, f"{model}edits" if model else "Edits", "energy distance")
            for bar in filter(_is_placebo, edits):
                left.axvline(number(bar.effect["estimate"]), color=MUTED, ls=":", lw=1.0, zorder=0)
        ratios = [len(text) + 2, *([len(harm) + 2] if harm else [])]
        below = heights[row] + 2 - sum(ratios) if shares else 0
        if below > 0:
            ratios.append(below)
        right = grid[row, 1].subgridspec(len(ratios), 1, height_ratios=ratios)
        _draw(figure.add_subplot(right[0]), text, "Text", "change in share of answers")
        if harm:
            _draw(figure.add_subplot(right[1]), harm, "Harm", "%")
    tests = [
        bar
        for shares, (edits, text, harm) in zip(shared, panels, strict=True)
        for bar in (*(() if shares else edits), *text, *harm)
    ]
    if marks := [*handles([each for shares in shared for each in shares]), *_handles(tests)]:
        legend(figure, marks, across=4)
    problems = [line for shares in shared if (line := problem_of(shares))]
    note = joined([*problems, *(_described(records, plan) for plan in plans)])
    annotate(figure, note)
    described = "Effects with intervals by arm and factor: on edits to the left, on text and on returns to the right."
    return [Drawing("causes", "Causes", CAPTION, note, described, figure)]


def _is_placebo(bar: Bar) -> bool:
    return bool(bar.effect["arm"] == WORDING and bar.effect["outcome"] == "edits")


def _shares(records: Records, plan: str) -> Rows:
    return [row for row in records.effects if row["plan_sha256"] == plan and row["outcome"] == SHARE]


def _experiments(records: Records) -> list[str]:
    """The plans that have effects, as they were given."""
    return list(dict.fromkeys(str(row["plan_sha256"]) for row in records.effects))


def _units(records: Records, plan: str) -> Rows:
    return [row for row in records.units if row["plan_sha256"] == plan]


def _home(records: Records, plan: str) -> str:
    """The condition that an experiment is drawn with."""
    asked = {str(row["condition"]) for row in _units(records, plan)}
    return min(asked.intersection(records.conditions) or records.conditions)


def _panels(records: Records, plan: str) -> tuple[list[Bar], list[Bar], list[Bar]]:
    """The rows on edits, on text, and on harm."""
    effects = [row for row in records.effects if row["plan_sha256"] == plan]
    edits = sorted((row for row in effects if row["outcome"] == "edits"), key=_arm_place)
    text = [row for row in effects if row["outcome"] in {"text", HIDDEN} and row["name"] not in WORDS]
    return (
        [Bar(_arm_name(row), row) for row in edits],
        [Bar(_text_name(row), row) for row in sorted(text, key=_text_place)],
        list(_harm(effects, records.facts)),
    )


def _harm(effects: Rows, facts: pd.DataFrame) -> list[Bar]:
    rows = [row for row in effects if row["outcome"] in {"gain", "harmful"} and row["arm"] == "N0"]
    against = next((arm for arm in HARM_CONTROLS if any(row["control"] == arm for row in rows)), None)
    bars: list[Bar] = []
    for row in rows:
        if row["control"] != against:
            continue
        if row["outcome"] == "harmful":
            bars.insert(0, Bar("harmful answers", row, 100.0))
        elif math.isfinite(span := _range(facts, row["env"])):
            bars.append(Bar(f"gain, {narrow(str(row['env']))}", row, 100.0 / span))
    return bars


def _range(facts: pd.DataFrame, env: Any) -> float:
    """From a task's floor to its optimum; NaN where they are not known."""
    here = facts[facts["env"] == env]
    spans = (here["optimum"] - here["floor"]).dropna() if {"optimum", "floor"} <= set(here) else []
    return next((float(span) for span in spans if span > 0), math.nan)


def _draw(ax: Axes, bars: Sequence[Bar], title: str, axis: str) -> None:
    rows_of(ax, [bar.name for bar in bars] or [""])
    ax.set_title(title)
    ax.set_xlabel(axis)
    ax.grid(visible=True, axis="x")
    if not bars:
        absent(ax, 0, "– none tested")
        return
    ends = [0.0, *(end for bar in bars for end in _ends(bar))]
    margin = 0.05 * (max(ends) - min(ends) or 1.0)
    ax.set_xlim(min(ends) - margin, max(ends) + margin)
    ax.axvline(0, color=MUTED, lw=0.8, zorder=0)
    head(ax, "p")
    for y, (bar, tick) in enumerate(zip(bars, ax.get_yticklabels(), strict=True)):
        tick.set_fontweight("bold" if bar.effect["primary"] else "normal")
        look = LOOKS.get(str(bar.effect["verdict"]))
        if look is None:
            absent(ax, y, "– not tested")
            continue
        value, low, high = (bar.scale * number(bar.effect[key]) for key in ("estimate", "low", "high"))
        interval(ax, y, value, low, high, look.colour, look.marker)
        beside(ax, y, _p(bar.effect))


def _ends(bar: Bar) -> list[float]:
    values = (bar.scale * number(bar.effect[key]) for key in ("estimate", "low", "high"))
    return [value for value in values if math.isfinite(value)]


def _p(effect: Mapping[str, Any]) -> str:
    """A p-value, the corrected one if there is one."""
    p = next((each for key in ("p_adjusted", "p") if math.isfinite(each := number(effect[key]))), math.nan)
    if math.isnan(p):
        return ""
    return "<0.001" if p < 0.001 else f"{p:.3f}" if p < 0.1 else f"{p:.2f}"


def _arm_place(effect: Mapping[str, Any]) -> tuple[bool, int]:
    known = _rows()
    place = known.index(effect["arm"]) if effect["arm"] in known else len(known) - 3
    return not effect["primary"], place


def _rows() -> list[str]:
    return [*(arm.id for arm in ARMS.values() if arm.caption and arm.id not in LAST), *LAST]


def _arm_name(effect: Mapping[str, Any]) -> str:
    arm = str(effect["arm"])
    if effect["method"] == EXCHANGES:
        return str(effect["name"])
    return f"{ARMS[arm].caption} ({arm})" if arm in _rows() else narrow(arm)


def _text_place(effect: Mapping[str, Any]) -> tuple[bool, int, bool]:
    of_arm = effect["control"] is not None
    known = _rows() if of_arm else list(FACTORS)
    key = effect["arm" if of_arm else "name"]
    return of_arm, known.index(key) if key in known else len(known), effect["outcome"] == HIDDEN


def _text_name(effect: Mapping[str, Any]) -> str:
    if effect["control"] is not None:
        return _arm_name(effect)
    called = FACTORS.get(str(effect["name"]), str(effect["name"]))
    return f"{called}, no returns" if effect["outcome"] == HIDDEN else called


def _described(records: Records, plan: str) -> str:
    """Who answered how many prompts."""
    units = _units(records, plan)
    runs = {(row["condition"], row["env"], row["variant"], row["run"]) for row in units}
    answers = sum(int(row["answered"]) for row in units)
    conditions = ", ".join(map(label, sorted({str(row["condition"]) for row in units})))
    by = origin(pd.DataFrame(units).assign(condition=plan), plan)
    return f"{len(units)} prompts of {len(runs)} runs, condition {conditions}: {answers:,} answers. {by}"


def _handles(marks: Sequence[Bar]) -> list[Line2D]:
    """Entries of the legend: the verdicts of some tests, and the placebo where it is one of them."""
    verdicts = {str(bar.effect["verdict"]) for bar in marks}
    found = [handle(verdict, look.colour, look.marker) for verdict, look in LOOKS.items() if verdict in verdicts]
    line = Line2D([], [], color=MUTED, ls=":", lw=1.0, label="rewording the prompt")
    return [*found, line] if any(_is_placebo(bar) for bar in marks) else found


def plot_causes(store: Store, condition: str | None = None) -> Panels:
    """Plot the effects of the experiments that a store was opened with, `audit.open(…, plan="plan.json")`.

    Per experiment a panel on edits, one on text and, where revised policies were run under arms without the worst
    rollout, one on harm.

    Args:
        store: records, opened with finished plans.
        condition: whose prompts were asked again; needed where the records have several.

    Returns:
        The axes, of a new figure that pyplot does not know of: `axes[0].figure.savefig(...)` writes it.

    Raises:
        FiguresError: there is no such condition, or no experiment on its prompts.
        AuditError: calls of a plan have no answer yet.
    """
    return axes_of(draw, {"causes": WITHOUT}, store, condition)
