"""Tests, intervals and per-run metrics over returns.

For example::

    import stats

    stats.welch([480, 500, 455], [410, 390, 402])
    stats.holm([0.01, 0.04, 0.03])

Names are imported when they are first used. `dir(stats)` lists them; the modules where they are defined are private.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stats.measures.aggregates import interquartile_mean, mean_score, median_score, optimality_gap, shares_above
    from audit.measures.agreement import (
        accuracy,
        confusion,
        f1,
        f1_interval,
        kappa,
        kappa_interval,
        precision,
        recall,
        wilson,
    )
    from audit.measures.association import Association, Ratio, associate, odds_ratio, risk_ratio
    from audit.measures.bootstrap import Interval, cluster_bootstrap, percentile_interval, ratio_interval
    from audit.measures.cluster_robust import Coefficient, cluster_robust, clustered_mean
    from audit.measures.conditional_randomisation import ConditionalRandomisation, conditional_randomisation_test
    from audit.measures.discontinuity import Jump, regression_discontinuity
    from stats.measures.effects import Effect, hedges_g, hedges_g_from_summaries
    from audit.measures.energy import (
        EnergyTest,
        bounded,
        energy_distance,
        energy_test,
        pairwise_distances,
        presence_effect,
        presence_test,
    )
    from audit.measures.experiment_power import (
        best_replicates,
        calls_for_effect,
        design_effect,
        detectable_difference,
        detectable_effect,
        power_of_calls,
        unit_difference_sd,
        units_for_difference,
    )
    from audit.measures.holm import holm, holm_within
    from audit.measures.improvement import area_under_roc, probability_of_improvement
    from audit.measures.logistic import RobustOdds, robust_odds
    from audit.measures.mixture import MixtureTerms, mixture_terms, mixture_weights
    from audit.measures.permutation import NoChange, no_change, no_change_paired
    from stats.measures.ranks import kendall_w, mean_ranks, rank_shares, task_ranks
    from stats.measures.scores import Comparison, Scale, comparisons, find_scales, known_scales
    from audit.measures.sign_flip import SignFlip, sign_flip_test
    from audit.measures.split_half import SplitHalf, split_half_correlation
    from audit.measures.stratified import Estimate, stratified_bootstrap
    from audit.measures.stratified_permutation import StratifiedDifference, stratified_difference
    from audit.measures.summary import Summary, ratio_of_sums, summarise
    from stats.measures.survival import Survival, kaplan_meier
    from audit.measures.text_edits import TextEdit, edit_distance, text_edit, token_change
    from audit.measures.welch import Welch, welch, welch_from_summaries
    from audit.measures.within_strata import WithinEffect, within_effect
    from stats.published.checks import check_paper
    from stats.published.own_table import check_table
    from stats.published.report import report
    from stats.published.source import PublishedError
    from stats.tables.aggregates import aggregate, profile, ranks
    from stats.tables.curves import mean_curve
    from stats.tables.efficiency import efficiency, so_far
    from stats.tables.metrics import MissingReferenceError, compare, metrics

_HOMES = {
    "measures.aggregates": ("interquartile_mean", "mean_score", "median_score", "optimality_gap", "shares_above"),
    "measures.agreement": (
        "accuracy",
        "confusion",
        "f1",
        "f1_interval",
        "kappa",
        "kappa_interval",
        "precision",
        "recall",
        "wilson",
    ),
    "measures.association": ("Association", "Ratio", "associate", "odds_ratio", "risk_ratio"),
    "measures.bootstrap": ("Interval", "cluster_bootstrap", "percentile_interval", "ratio_interval"),
    "measures.cluster_robust": ("Coefficient", "cluster_robust", "clustered_mean"),
    "measures.conditional_randomisation": ("ConditionalRandomisation", "conditional_randomisation_test"),
    "measures.discontinuity": ("Jump", "regression_discontinuity"),
    "measures.effects": ("Effect", "hedges_g", "hedges_g_from_summaries"),
    "measures.energy": (
        "EnergyTest",
        "bounded",
        "energy_distance",
        "energy_test",
        "pairwise_distances",
        "presence_effect",
        "presence_test",
    ),
    "measures.experiment_power": (
        "best_replicates",
        "calls_for_effect",
        "design_effect",
        "detectable_difference",
        "detectable_effect",
        "power_of_calls",
        "unit_difference_sd",
        "units_for_difference",
    ),
    "measures.holm": ("holm", "holm_within"),
    "measures.improvement": ("area_under_roc", "probability_of_improvement"),
    "measures.logistic": ("RobustOdds", "robust_odds"),
    "measures.mixture": ("MixtureTerms", "mixture_terms", "mixture_weights"),
    "measures.permutation": ("NoChange", "no_change", "no_change_paired"),
    "measures.ranks": ("kendall_w", "mean_ranks", "rank_shares", "task_ranks"),
    "measures.scores": ("Comparison", "Scale", "comparisons", "find_scales", "known_scales"),
    "measures.sign_flip": ("SignFlip", "sign_flip_test"),
    "measures.split_half": ("SplitHalf", "split_half_correlation"),
    "measures.stratified": ("Estimate", "stratified_bootstrap"),
    "measures.stratified_permutation": ("StratifiedDifference", "stratified_difference"),
    "measures.summary": ("Summary", "ratio_of_sums", "summarise"),
    "measures.survival": ("Survival", "kaplan_meier"),
    "measures.text_edits": ("TextEdit", "edit_distance", "text_edit", "token_change"),
    "measures.welch": ("Welch", "welch", "welch_from_summaries"),
    "measures.within_strata": ("WithinEffect", "within_effect"),
    "published.checks": ("check_paper",),
    "published.own_table": ("check_table",),
    "published.report": ("report",),
    "published.source": ("PublishedError",),
    "tables.aggregates": ("aggregate", "profile", "ranks"),
    "tables.curves": ("mean_curve",),
    "tables.efficiency": ("efficiency", "so_far"),
    "tables.metrics": ("MissingReferenceError", "compare", "metrics"),
}
_MODULES = {name: module for module, names in _HOMES.items() for name in names}

__all__ = sorted(_MODULES)  # noqa: PLE0605 - a list


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    return found


def __dir__() -> list[str]:
    return __all__
