"""All tables of the paper, one definition each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from figures.names import name
from figures.paper.cells import Definition
from figures.paper.layout import LABELS
from figures.paper.reaching import COLUMNS, episodes_to_threshold
from figures.paper.returns import MAIN, STABLE, VARIANTS, averages, extended, gaps
from figures.paper.revisions import COMPARED, agreement, always_critic, outcomes, patterns, salience
from figures.paper.settings import sensitivity, thresholds
from figures.paper.significance import tests
from stats.tables.metrics import Metric

_TASK: Final = {"env": "Task"}
_BEST_CELL: Final = "The best of a row is emphasised, by unrounded values."
_RETURNS: Final[Mapping[Metric, tuple[str, str]]] = {
    "mean_return": ("mean return", "The mean return of a run is over all its iterations."),
    "best_return": (
        "best return",
        "The best return of a run is that of its best iteration: the largest of many noisy means, so biased upwards.",
    ),
}
_TESTED: Final = {
    "baseline_mean": "Baseline mean", "r2po_mean": "R2PO mean", "gap": "Gap", "welch_t": "Welch t", "raw_p": "Raw p",
    "holm_p": "Holm p", "significant": "Significant", "note": "Note",
}  # fmt: skip


def _returns(metric: Metric, *, variants: bool) -> Definition:
    called, explained = _RETURNS[metric]
    columns = VARIANTS if variants else MAIN
    chosen = "BestBaseline is the best of ProPS, ProPS+ and" if variants else "Best SB3 is the best algorithm of"
    table = f"{'variants_' if variants else ''}{called.split()[0]}_reward"
    return Definition(
        stem=f"paper-{table.replace('_', '-')}",
        title=f"{called.capitalize()}{', variants' if variants else ''}",
        caption=f"Mean ± sample standard deviation over runs. {explained} {chosen} Stable-Baselines3 on the task, by "
        f"{called}. {_BEST_CELL}",
        keys=_TASK,
        columns={column: column for column in columns},
        cells=averages(metric, table, columns),
        published=table,
        needs="runs of any method" if variants else "runs of R2PO, ProPS, ProPS+ or Stable-Baselines3",
    )


def _tests(metric: Metric) -> Definition:
    called, _ = _RETURNS[metric]
    table = f"significance_{called.split()[0]}_reward"
    return Definition(
        stem=f"paper-{table.replace('_', '-')}",
        title=f"R2PO against baselines, {called}",
        caption="Two-sided Welch's t-tests over runs, with Holm's correction over the tasks, for each baseline. "
        f"Significant: the corrected p is at most 0.05. Best SB3 is the algorithm with the highest {called} on a task. "
        "The higher mean is emphasised. The verdict on the gap takes the spread of all four samples into account; t "
        "and p print the same or have no verdict.",
        keys={**_TASK, "baseline": "Baseline"},
        columns=_TESTED,
        cells=tests(metric),
        published=table,
        needs="runs of R2PO and of ProPS, ProPS+ or Stable-Baselines3 on one task",
        optional=("note",),
    )


def _methods(methods: Sequence[str]) -> dict[str, str]:
    return {method: LABELS.get(method, name(method)) for method in methods}


DEFINITIONS: Final[Sequence[Definition]] = (
    _returns("mean_return", variants=False),
    _returns("best_return", variants=False),
    _returns("mean_return", variants=True),
    _returns("best_return", variants=True),
    _tests("mean_return"),
    _tests("best_return"),
    Definition(
        stem="paper-tau-sensitivity",
        title="Threshold sensitivity",
        caption="R2PO under settings of τ_c, the return from which its critic is asked for restraint: mean ± sample "
        "standard deviation over runs.",
        keys={**_TASK, "setting": "Setting"},
        columns={"tau_c": "τ_c", "mean_reward": "Mean return", "best_reward": "Best return"},
        cells=sensitivity,
        published="tau_sensitivity",
        needs="runs of R2PO under another setting of τ_c, as from collect --tau-c half",
    ),
    Definition(
        stem="paper-stability-gap",
        title="Stability gap",
        caption="Best minus mean return, averaged over runs. The smallest of a row is emphasised; a gap is small too "
        "where a method never finds a good policy.",
        keys=_TASK,
        columns=_methods(STABLE),
        cells=gaps,
        published="stability_gap",
        needs="runs of R2PO, ProPS or ProPS+",
    ),
    Definition(
        stem="paper-extended-budget",
        title="Best return at an extended budget",
        caption="Mean ± standard error over runs of a run's best return. The paper's baselines are others' numbers at "
        f"8000 rollouts, its R2PO had 4000; a verdict needs runs of the same budget. {_BEST_CELL}",
        keys=_TASK,
        columns={
            "best_baseline": "Best SB3",
            "second_best_baseline": "Second best SB3",
            **_methods(STABLE),
        },
        cells=extended,
        published="props_extended_budget",
        needs="runs of R2PO, ProPS, ProPS+ or Stable-Baselines3",
    ),
    Definition(
        stem="paper-revision-summary",
        title="Revision summary",
        caption="Δ is the change that a revision made to the mean return, the edit distance counts changed parameters; "
        f"accepted revisions and regressions are in percent of all revisions. {_BEST_CELL}",
        keys={**_TASK, "metric": "Metric"},
        columns=_methods(COMPARED),
        cells=outcomes,
        published="revision_summary",
        needs="revisions of RepTraj, ThreeTraj or R2PO",
    ),
    Definition(
        stem="paper-salience",
        title="Salience-problem regressions of ThreeTraj",
        caption="Strict: a regression where the worst rollout returned less than the median and the critic's answer "
        "refers to the worst. Permissive: the worst returned no more than the median and less than the best, and the "
        "same reference. Both in percent of regressions, these in percent of revisions.",
        keys=_TASK,
        columns={
            "revisions": "Revisions",
            "regressions": "Regressions",
            "strict": "Strict",
            "permissive": "Permissive",
        },
        cells=salience,
        published="salience",
        needs="revisions of ThreeTraj",
        details=("count",),
    ),
    Definition(
        stem="paper-agreement",
        title="Agreement of the rollouts shown by ThreeTraj",
        caption="Revisions by how the three rollouts agreed that the critic compared, with the mean change in return. "
        "The paper has no row for identical rollouts.",
        keys={**_TASK, "structure": "Structure"},
        columns={"revisions": "Revisions", "mean_delta": "Mean Δ"},
        cells=agreement,
        published="",
        needs="revisions of ThreeTraj",
        details=("count",),
    ),
    Definition(
        stem="paper-edit-patterns",
        title="Edit patterns",
        caption="In percent of revisions; of the first two, regressions, fewer are better, of the other two more. "
        f"{_BEST_CELL}",
        keys={**_TASK, "pattern": "Pattern"},
        columns=_methods(COMPARED),
        cells=patterns,
        published="edit_patterns",
        needs="revisions of RepTraj, ThreeTraj or R2PO with known parameters",
    ),
    Definition(
        stem="paper-thresholds",
        title="Thresholds",
        caption="R2PO's τ_c and the optimum that prompts name, as the runs were set up.",
        keys=_TASK,
        columns={"tau_c": "τ_c", "optimum": "Optimum"},
        cells=thresholds,
        published="thresholds",
        needs="records that state how runs were set up",
    ),
    Definition(
        stem="paper-always-critic",
        title="Regressions of AlwaysCritic",
        caption="In percent of revisions. The paper gives these numbers in its text, near-optimal breaks as compulsive "
        "revision.",
        keys=_TASK,
        columns={
            "regressions_pct": "Regressions",
            "near_optimal_break_pct": "Near-optimal break",
            "pure_stochasticity_pct": "Pure stochasticity",
        },
        cells=always_critic,
        published="always_critic",
        needs="revisions of AlwaysCritic",
    ),
    Definition(
        stem="paper-episodes-to-threshold",
        title="Episodes to threshold",
        caption="Rollouts that a run spends until it first keeps a policy whose mean return reaches the threshold "
        "(R2PO's τ_c): the median over runs, those counted too that never get there (Kaplan and Meier's), and how "
        "many get there; > where fewer than half do. Best SB3 is the algorithm with the lowest median. The paper's "
        "numbers are from its text, which reads them off mean curves. The lowest median is emphasised.",
        keys=_TASK,
        columns={"threshold": "Threshold", **_methods(COLUMNS)},
        cells=episodes_to_threshold,
        published="",
        needs="runs on a task with a threshold",
        optional=COLUMNS,
        details=("reached",),
    ),
)
