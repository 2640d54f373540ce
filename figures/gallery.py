"""All figures: which there are, and in which section of the page they stand."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from typing import Final

import pandas as pd

from figures.data import Records
from figures.options import Band
from figures.plots.aggregates import aggregates
from figures.plots.agreement import agreement_structures
from figures.plots.citing import citing_rates
from figures.plots.curve_sets import curve_figures
from figures.plots.drawing import Drawing, left_out
from figures.plots.edits import edit_map
from figures.plots.noise import noise_floor
from figures.plots.patterns import pattern_bars
from figures.plots.profiles import profiles
from figures.plots.revisions import revision_map
from figures.plots.salience import salience_bars
from figures.plots.stability import stability_gaps
from figures.plots.tau import tau_figures
from figures.provenance import origin

SECTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "salience": ("salience", "citing"),
    "revisions": ("patterns", "noise", "revisions", "edits"),
    "agreement": ("agreement",),
    "returns": ("curves-main-four", "curves-main", "curves-variants-four", "curves-variants", "stability", "tau"),
    "over-tasks": ("aggregate", "profile"),
}
"""Kinds of figures by the section of the page, in order; within a kind, conditions follow one another."""

NEEDS: Final[Mapping[str, str]] = {
    "salience": "Salience-problem regressions (needs regressions of ThreeTraj)",
    "citing": "Citing the worst rollout, and base rates (needs revisions of ThreeTraj)",
    "patterns": "Edit patterns (needs revisions with parameters)",
    "noise": "Regressions against chance (needs revisions with the returns of single rollouts)",
    "revisions": "Revisions (needs revisions)",
    "edits": "Size of edits (needs revisions with parameters)",
    "agreement": "What the critic was shown (needs revisions of ThreeTraj)",
    "curves-main": "Learning curves, R2PO and baselines (needs runs of ProPS, ProPS+ or Stable-Baselines3)",
    "curves-variants": "Learning curves, variants of R2PO (needs runs of them)",
    "stability": "Stability (needs runs)",
    "tau": "Sensitivity to τ_c (needs R2PO under two settings of τ_c)",
    "aggregate": "Methods over tasks (needs several methods on a task whose floor and optimum are known)",
    "profile": "Performance profiles and sample efficiency (needs the same)",
}
"""What each kind shows and needs, for a page without it; figures of four tasks apart are no loss where none is."""


def drawings_of(records: Records, condition: str, *, band: Band = Band.std) -> Iterator[Drawing]:
    """Draw every figure of one condition that its records have something for."""
    made_with = origin(records.facts, condition)
    salience = pd.DataFrame(
        records.salience, columns=["condition", "env", "variant", "regressions", "strict", "permissive"]
    )
    candidates = (
        salience_bars(salience, records.revisions, condition, made_with),
        citing_rates(records.rates, records.revisions, condition, made_with),
        pattern_bars(records.revisions, condition, made_with),
        noise_floor(records.noise, condition, made_with),
        revision_map(records.revisions, condition, made_with),
        edit_map(records.revisions, condition, made_with),
        agreement_structures(records.agreement, records.revisions, condition, made_with),
        stability_gaps(records.metrics, records.runs, condition, made_with),
        aggregates(records.over_tasks, condition, made_with),
        profiles(records.over_tasks, condition, made_with),
    )
    yield from (drawing for drawing in candidates if drawing is not None)
    yield from curve_figures(records.iterations, records.facts, condition, band=band)


def not_drawn(section: str, kinds: Container[str]) -> str:
    """Which figures of a section are not among these kinds, and what they need; empty where none is missing."""
    return left_out([NEEDS[kind] for kind in SECTIONS[section] if kind in NEEDS and kind not in kinds])


def comparisons(records: Records) -> Iterator[tuple[str, Drawing]]:
    """Draw the figures that hold conditions against one another; each with what its conditions have in common."""
    yield from tau_figures(records.metrics, records.runs, records.facts)
