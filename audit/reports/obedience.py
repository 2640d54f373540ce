"""Whether critics keep to the revision rule, and what its threshold causes: edits on either side of τ_c."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final, Unpack

from audit.arguments import Data, Selection, request_of
from audit.engine.interrupting import rows
from audit.measures.discontinuity import Jump, regression_discontinuity, rule_of_thumb
from audit.output.errors import UsageError
from audit.output.formats import Row
from audit.output.rows import Table

if TYPE_CHECKING:
    from audit.request import Request

OUTCOMES: Final[dict[str, Callable[[Row], float]]] = {
    "edit_distance": lambda row: row["edit_distance"],
    "l2_distance": lambda row: row["l2_distance"],
    "unchanged": lambda row: row["edit_distance"] == 0,
    "small": lambda row: row["edit_distance"] <= 1,
    "delta": lambda row: row["delta"],
}
"""What a jump can be estimated of, as numbers of a revision."""

EDGES: Final = (-0.5, -0.2, -0.1, -0.05, 0.0, 0.05, 0.1, 0.2, 0.5)
"""Between bins of the distance of r0 to τ_c, as shares of the task's range; a bin holds its lower edge."""

NO_RULE: Final = (
    "no revisions under a revision rule with a known threshold here: r2po has one, unless --tau-c is off, and texts "
    "have none"
)
_GROUP: Final = ("condition", "env", "variant")
_SIDES: Final = ("free", "restrained")
_SHARES: Final = ("revisions", "unchanged_pct", "small_pct", "edit_distance", "l2_distance")
_JUMP: Final = ("jump", "se", "df", "low", "high", "p")
COLUMNS: Final = (
    *(*_GROUP, "runs"),
    *(f"{side}_{name}" for side in _SIDES for name in _SHARES),
    *("outcome", "bandwidth", "below", "above", *_JUMP, "jump_half", "jump_double", "why"),
)
BIN_COLUMNS: Final = (*_GROUP, "from_share", "to_share", *_SHARES, "delta")
ESSENTIAL: Final = (
    *(*_GROUP, "free_revisions", "restrained_revisions", "free_unchanged_pct", "restrained_unchanged_pct"),
    *("free_small_pct", "restrained_small_pct", "jump", "low", "high", "p"),
)
HEADINGS: Final = {
    "free_revisions": "r0 < τ_c",
    "restrained_revisions": "r0 >= τ_c",
    "free_unchanged_pct": "unchanged %",
    "restrained_unchanged_pct": "unchanged if >= %",
    "free_small_pct": "small %",
    "restrained_small_pct": "small if >= %",
}
_QUERY: Final = """
    select
        c.condition, c.env, c.variant, c.run, c.iteration, c.r0, c.delta, c.tau_c, c.edit_distance, c.l2_distance,
        coalesce(r.optimum, c.tau_c) - t.floor as extent
    from changes as c
    join run_records as r using (condition, env, variant, run)
    join thresholds as t using (condition, env, variant, run)
    where c.tau_c is not null and c.edit_distance is not null
    order by c.condition, c.env, c.variant, c.run, c.iteration
"""


def obedience(
    data: Data,
    *,
    outcome: str = "edit_distance",
    bandwidth: float | None = None,
    bins: bool = False,
    **options: Unpack[Selection],
) -> Table:
    """Whether critics keep to the revision rule: edits at or above τ_c and below it, and their jump at τ_c.

    Since nothing else changes at τ_c, the jump is what the rule causes. It is estimated by lines on either side, with
    errors by run (`audit.measures.discontinuity`).

    Args:
        data: records.
        outcome: what the jump is of: edit_distance (parameters changed), l2_distance, unchanged (a share), small (the
            share that changes at most one parameter), or delta (of the return).
        bandwidth: distance of r0 to τ_c up to which revisions count, in units of the return; a rule of thumb if not
            given. `jump_half` and `jump_double` are of half and twice as much.
        bins: by distance of r0 to τ_c instead, as a share of the task's range, which is from its floor to its
            optimum, or to τ_c where the log states none.
        options: which groups, and how records are opened.

    Raises:
        UsageError: no such outcome, or the bandwidth is not a positive number.
    """
    if outcome not in OUTCOMES:
        raise UsageError(f"no outcome {outcome!r}; outcomes are {', '.join(OUTCOMES)}")
    if bandwidth is not None and not (math.isfinite(bandwidth) and bandwidth > 0):
        raise UsageError(f"--bandwidth {bandwidth}: give a positive number, in units of the return")
    request = request_of(data, Selection, options)
    groups, caption = _groups(request)
    found: list[Row]
    if bins:
        found = [row for group in groups for row in _binned(group)]
    else:
        found = [_compared(group, outcome, bandwidth) for group in groups]
    unknown = [f"{'/'.join(str(row[name]) for name in _GROUP)}: {row['why']}" for row in found if row.get("why")]
    return Table(
        columns=BIN_COLUMNS if bins else COLUMNS,
        rows=found,
        title="Edits by distance of r0 to τ_c, as a share of the task's range"
        if bins
        else f"Edits on either side of τ_c (small: at most one parameter), and the jump of {outcome} at τ_c",
        essential=None if bins else ESSENTIAL,
        headings=HEADINGS,
        caption=caption,
        notes=[
            line
            for line in (
                None if found else NO_RULE,
                f"no estimate of the jump, {'; '.join(unknown)}" if unknown else None,
                caption,
            )
            if line
        ],
    )


def _groups(request: Request) -> tuple[list[list[Row]], str | None]:
    """The revisions under a rule, by condition, task and method."""
    with request.open() as store:
        found = list(rows(request.select(store.sql(_QUERY)), store))
        caption = request.caption(store)
    return [list(group) for _, group in groupby(found, key=lambda row: [row[name] for name in _GROUP])], caption


def _compared(group: Sequence[Row], outcome: str, bandwidth: float | None) -> Row:
    sides: dict[str, Any] = {}
    for side in _SIDES:
        here = [each for each in group if (each["r0"] >= each["tau_c"]) is (side == "restrained")]
        sides |= {f"{side}_{name}": value for name, value in _shares(here).items()}
    distances = [each["r0"] - each["tau_c"] for each in group]
    values, runs = [OUTCOMES[outcome](each) for each in group], [each["run"] for each in group]
    reach = bandwidth or rule_of_thumb(distances)
    at, half, double = (_jump(values, distances, runs, reach * factor) for factor in (1.0, 0.5, 2.0))
    return {
        **_names(group),
        "runs": len(set(runs)),
        **sides,
        "outcome": outcome,
        "bandwidth": reach,
        "below": at.below,
        "above": at.above,
        **_coefficient(at),
        "jump_half": _coefficient(half)["jump"],
        "jump_double": _coefficient(double)["jump"],
        "why": at.why,
    }


def _jump(values: Sequence[float], distances: Sequence[float], runs: Sequence[int], reach: float) -> Jump:
    if reach > 0:
        return regression_discontinuity(values, distances, runs, bandwidth=reach)
    return Jump(None, 0.0, 0, 0, "all revisions start equally far from the threshold")


def _coefficient(found: Jump) -> dict[str, float | None]:
    """The columns of a jump; null where something is not known."""
    values = found.coefficient or [math.nan] * len(_JUMP)
    return {name: None if math.isnan(value) else value for name, value in zip(_JUMP, values, strict=True)}


def _binned(group: Sequence[Row]) -> Iterator[Row]:
    def place(row: Row) -> int:
        return bisect_right(EDGES, (row["r0"] - row["tau_c"]) / row["extent"])

    ends = (None, *EDGES, None)
    measurable = sorted((row for row in group if row["extent"] > 0), key=place)
    for number, here in groupby(measurable, key=place):
        mine = list(here)
        shares = {**_shares(mine), "delta": fmean(row["delta"] for row in mine)}
        yield {**_names(group), "from_share": ends[number], "to_share": ends[number + 1], **shares}


def _names(group: Sequence[Row]) -> dict[str, Any]:
    return {name: group[0][name] for name in _GROUP}


def _shares(here: Sequence[Row]) -> dict[str, float | None]:
    """How many revisions there are, and what they change; null where there is none."""

    def mean(name: str, factor: int = 1) -> float | None:
        return factor * fmean(OUTCOMES[name](row) for row in here) if here else None

    values = (mean("unchanged", 100), mean("small", 100), mean("edit_distance"), mean("l2_distance"))
    return dict(zip(_SHARES, (len(here), *values), strict=True))
