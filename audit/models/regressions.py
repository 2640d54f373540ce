"""Rows of the relations that ask what goes with regressions.

Relations ask for citing the worst rollout (`associations`, `association_tests`), for having seen any evidence
(`controls`), and for chance (`noise`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from audit.measures.association import Ratio, associate, robust_odds
from audit.measures.bootstrap import UNKNOWN, percentile_interval, resampled_sums
from audit.measures.holm import holm
from audit.measures.permutation import no_change, no_change_paired
from audit.measures.rounding import SHARE
from audit.output.numbers import known
from audit.vocabulary.methods import CONTROL

if TYPE_CHECKING:  # SciPy takes long to import, and is needed for intervals alone
    from audit.measures.cluster_robust import Coefficient

COUNTS: Final = ("citing_regressions", "other_regressions", "citing_others", "other_others")
SHARES: Final = {
    "strict": ("strict", "regressions"),
    "permissive": ("permissive", "regressions"),
    "citing_regressions_pct": ("citing_regressions", "regressions"),
    "citing_improvements_pct": ("citing_improvements", "improvements"),
    "citing_no_change_pct": ("citing_no_change", "no_change"),
}
"""Shares that have an interval: of what is counted, and among what."""

STARTS: Final = ("floor", "low", "partial", "high")
"""Parts of a task's range, from its floor to its optimum."""
ALL: Final = "matched"
"""Names all parts together, each weighted with how often the method starts from it."""
REVISIONS: Final = ("revisions", "regressions")
CITING: Final = ("citing", "citing_regressions")
"""Those whose answer refers to what is asked about: a part of the revisions."""
ROUGH: Final = ["difference_pct", "citing_difference_pct"]

Floats = NDArray[np.float64]
Row = Mapping[str, Any]


def associations(runs: Sequence[Row]) -> list[dict[str, Any]]:
    """Ratios, the gap and shares with their intervals, which respect that the revisions of a run depend on each other.

    Args:
        runs: the rows of `citing_by_run` of one condition, task and method, by run.
    """
    from audit.measures.cluster_robust import are_few

    ratios = associate(_counts(runs))
    gap = _gap(runs)
    shares = {name: _share(runs, *counts) for name, counts in SHARES.items()}
    columns = {
        "runs": len(runs),
        **_columns("risk_ratio", ratios.risk_ratio),
        **_columns("odds_ratio", ratios.odds_ratio),
        "gap": None if gap is None else known(100 * gap.estimate),
        **_ends("gap", gap, -100.0),
        **{end: value for name, share in shares.items() for end, value in _ends(name, share, 0.0).items()},
    }
    is_rough = {name: found is not None and found.is_rough for name, found in {"gap": gap, **shares}.items()}
    is_rough |= dict.fromkeys(("risk_ratio", "odds_ratio"), is_rough["gap"] or are_few(len(runs)))
    return [{**columns, "rough": [name for name in is_rough if is_rough[name] and columns[f"{name}_low"] is not None]}]


def association_tests(tasks: Sequence[Row]) -> Iterator[dict[str, Any]]:
    """The second opinion, by logistic regression, with Holm's correction over the tasks of a method.

    Args:
        tasks: of one condition and method, each with its `env` and its `runs`: rows of `citing_by_run`, by run.
    """
    found = [robust_odds(_counts(task["runs"])) for task in tasks]
    adjusted = holm([opinion.p for opinion in found])
    family = int(np.isfinite(adjusted).sum())
    for task, opinion, p in zip(tasks, found, adjusted, strict=True):
        yield {
            "env": task["env"],
            "robust_odds_ratio_low": known(opinion.odds_ratio.low),
            "robust_odds_ratio_high": known(opinion.odds_ratio.high),
            "robust_p": known(opinion.p),
            "holm_p": known(p),
            "family": family,
        }


def _gap(runs: Sequence[Row]) -> Coefficient | None:
    """The share of regressions among revisions that cite, less that among the others; None where all or none cite."""
    from audit.measures.cluster_robust import cluster_robust

    observed = [
        (place, cites, run[regressions], run[regressions] + run[others])
        for place, run in enumerate(runs)
        for cites, regressions, others in ((1.0, COUNTS[0], COUNTS[2]), (0.0, COUNTS[1], COUNTS[3]))
        if run[regressions] + run[others]
    ]
    if len({cites for _, cites, *_ in observed}) < 2:
        return None
    found = cluster_robust(
        [part / whole for *_, part, whole in observed],
        [[1.0, cites] for _, cites, *_ in observed],
        [place for place, *_ in observed],
        weights=[whole for *_, whole in observed],
    )[-1]
    # Equal shares leave a rounding error, which has a sign.
    return found._replace(estimate=0.0) if abs(found.estimate) < SHARE else found


def _share(runs: Sequence[Row], part: str, whole: str) -> Coefficient | None:
    """A share, which is the mean of those of runs, weighted by their revisions; None where nothing is counted."""
    from audit.measures.cluster_robust import clustered_mean

    counted = [run for run in runs if run[whole] and run[part] is not None]
    if not counted:
        return None
    values = [run[part] / run[whole] for run in counted]
    return clustered_mean(values, range(len(counted)), weights=[run[whole] for run in counted])


def _ends(name: str, found: Coefficient | None, least: float) -> dict[str, float | None]:
    """The interval in percent, within what there can be; nulls where it is not known."""
    low, high = (None, None) if found is None else (known(100 * found.low), known(100 * found.high))
    return {
        f"{name}_low": None if low is None else max(least, low),
        f"{name}_high": None if high is None else min(100.0, high),
    }


def _counts(runs: Sequence[Row]) -> list[list[int]]:
    return [[run[name] for name in COUNTS] for run in runs]


def _columns(name: str, ratio: Ratio) -> dict[str, float | None]:
    return {name: known(ratio.value), f"{name}_low": known(ratio.low), f"{name}_high": known(ratio.high)}


def no_change_tests(
    before: Sequence[Sequence[float]], after: Sequence[Sequence[float]], paired: Sequence[bool]
) -> list[dict[str, float | None]]:
    """Tests of revisions for no change, as `audit.measures.permutation` has them.

    Args:
        before: the returns before each revision; may be None, or another number of them than after it, in a log that
            lost rollouts or knows means alone: there is nothing to exchange.
        after: the returns after it.
        paired: whether both are scores of the same examples.
    """
    groups: dict[tuple[int, bool], list[int]] = defaultdict(list)
    for number, (first, second, is_paired) in enumerate(zip(before, after, paired, strict=True)):
        if first and len(first) == len(second or ()):
            groups[len(first), is_paired].append(number)
    rows: list[dict[str, float | None]]
    rows = [dict.fromkeys(("p_no_change", "chance_pooled", "chance_initial")) for _ in before]
    for (_, is_paired), numbers in groups.items():
        test = no_change_paired if is_paired else no_change
        found = test([before[number] for number in numbers], [after[number] for number in numbers])
        for number, p, pooled, initial in zip(numbers, *found, strict=True):
            rows[number] = {"p_no_change": float(p), "chance_pooled": float(pooled), "chance_initial": known(initial)}
    return rows


def controls(counts: Sequence[Row]) -> Iterator[dict[str, Any]]:
    """Comparisons of every method with the control, by regression rates of revisions from equally good policies.

    The control is the usual method, or if that is absent another one that sends its prompt twice.

    A strong initial policy can hardly improve and easily regress, whatever the critic looks at. The control's second
    proposal saw no evidence, so what a method does worse than it, from the same start, is the critic's doing.

    Args:
        counts: the rows of `start_counts` of one condition and task.
    """
    tables, citing = (_tables(counts, names) for names in (REVISIONS, CITING))
    named = {row["variant"] for row in counts if row["is_control"]}
    control = CONTROL if not named or CONTROL in named else min(named)
    theirs = tables.get(control, np.zeros((0, len(STARTS), 2)))
    for variant, ours in tables.items():
        if variant != control:
            for row in _compared(ours, citing[variant], theirs):
                yield {"variant": variant, "control": control, **row}


def _tables(rows: Sequence[Row], names: tuple[str, str]) -> dict[str, Floats]:
    """Two counts of each method, revisions and regressions: shape (runs, parts, 2)."""
    runs: dict[str, dict[int, Floats]] = defaultdict(dict)
    for row in rows:
        counts = runs[row["variant"]].setdefault(row["run"], np.zeros((len(STARTS), 2)))
        counts[STARTS.index(row["start"])] = [row[name] for name in names]
    return {variant: np.stack([table for _, table in sorted(tables.items())]) for variant, tables in runs.items()}


def _compared(ours: Floats, citing: Floats, theirs: Floats) -> Iterator[dict[str, Any]]:
    from audit.measures.cluster_robust import are_few

    every, cited, controls = (_resampled(table, seed) for table, seed in ((ours, 0), (citing, 0), (theirs, 1)))
    for place, start in [*enumerate(STARTS), (None, ALL)]:
        if place is not None and not ours[:, place, 0].any():
            continue
        parts = slice(None) if place is None else slice(place, place + 1)
        mine, here, other = (table[:, parts].sum(axis=(0, 1)) for table in (ours, citing, theirs))
        difference = _difference(ours, theirs, (every, controls), place)
        apart = _difference(citing, theirs, (cited, controls), place)
        yield {
            "start": start,
            "runs": len(ours),
            "revisions": int(mine[0]),
            "regressions": int(mine[1]),
            "regressions_pct": difference[0],
            "control_runs": len(theirs),
            "control_revisions": int(other[0]),
            "control_regressions": int(other[1]),
            "control_regressions_pct": difference[1],
            "difference_pct": difference[2],
            "difference_pct_low": difference[3],
            "difference_pct_high": difference[4],
            "citing": int(here[0]),
            "citing_regressions": int(here[1]),
            "citing_regressions_pct": apart[0],
            "citing_difference_pct": apart[2],
            "citing_difference_pct_low": apart[3],
            "citing_difference_pct_high": apart[4],
            "rough": ROUGH if are_few(min(len(ours), len(theirs))) else [],
        }


def _difference(
    ours: Floats, theirs: Floats, draws: tuple[Floats, Floats], place: int | None
) -> tuple[float | None, ...]:
    """The rate of a method, of its control, their difference, and the ends of its interval; None where unknown."""
    rates = _rates(ours.sum(axis=0), theirs.sum(axis=0), place)
    low, high = UNKNOWN
    if draws[0].size and draws[1].size:
        low, high = percentile_interval(np.subtract(*_rates(*draws, place)))
    values = (rates[0], rates[1], rates[0] - rates[1], low, high)
    return tuple(known(float(value)) for value in values)


def _resampled(table: Floats, seed: int) -> Floats:
    """Sums over runs drawn with replacement, shape (resamples, parts, 2); nothing where there are too few runs."""
    if len(table) < 2:
        return np.zeros((0, *table.shape[1:]))
    return resampled_sums(table.reshape(len(table), -1), seed=seed).reshape(-1, *table.shape[1:])


def _rates(ours: Floats, theirs: Floats, place: int | None) -> tuple[Floats, Floats]:
    """Regressions per hundred revisions from one part of the range, of the method and of the control.

    For all parts the control's rates are weighted with how often the method starts from each (direct standardisation);
    NaN where the control never starts from a part that the method does.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        if place is not None:
            return tuple(100 * table[..., place, 1] / table[..., place, 0] for table in (ours, theirs))  # type: ignore[return-value]
        weights = ours[..., 0] / ours[..., 0].sum(axis=-1, keepdims=True)
        rates = theirs[..., 1] / theirs[..., 0]
        matched = np.where(weights > 0, weights * rates, 0).sum(axis=-1)
        return 100 * ours[..., 1].sum(axis=-1) / ours[..., 0].sum(axis=-1), 100 * matched
