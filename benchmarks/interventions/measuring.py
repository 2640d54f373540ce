"""What the analysis of a data set finds, as a line of results."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from audit.interventions.effects.analysis import primary_effects
from audit.interventions.effects.comparisons import Redraws
from audit.interventions.effects.contrasts import edit_effect, placebos
from audit.interventions.effects.factors import direction_scores, factor_effect
from audit.interventions.effects.faithfulness import faithfulness
from audit.interventions.effects.presence import harm
from audit.interventions.effects.results import Effect
from audit.interventions.experiment import Experiment
from audit.interventions.presets import family
from benchmarks.interventions.cells import DESIGNS, TESTS, Cell

ALPHA: Final = 0.05


def measure(experiment: Experiment, cell: Cell, *, permutations: int, seed: int) -> dict[str, Any]:
    """All that a cell looks at.

    Args:
        experiment: the data set.
        cell: where it belongs.
        permutations: redraws of each test, which are exact at any number.
        seed: of the redraws.
    """
    redraws = Redraws(permutations, seed)
    effects = list(_effects(experiment, cell, redraws))
    found: dict[str, Any] = {
        "units": len(experiment.units),
        "runs": len(set(experiment.clusters)),
        "effects": [_line(effect) for effect in effects],
    }
    if cell.design == "small":
        judged = faithfulness(experiment, effects, Redraws(99, seed), ALPHA)
        found |= {"verdict": judged.verdict, "named": round(judged.named, 4)}
    return found


def _effects(experiment: Experiment, cell: Cell, redraws: Redraws) -> Iterator[Effect]:
    design = DESIGNS[cell.design]
    hypotheses = family(design.arms, has_numbers=any(not unit.number_readable for unit in experiment.units))
    if cell.design != "direction":
        yield from primary_effects(experiment, hypotheses, redraws, alpha=ALPHA, sensitivity=False)
    factors = [TESTS[name] for name in cell.tests if TESTS[name][2] == "C"]
    scores = direction_scores(experiment) if cell.design == "direction" else None
    for factor, outcome, _ in factors:
        if scores is not None:
            yield factor_effect(experiment, factor, redraws, outcome=outcome, scores=scores)
        elif factor not in {each.factor for each in hypotheses if each.outcome == "text"}:
            yield factor_effect(experiment, factor, redraws)
    if design.against_prompt:
        yield edit_effect(experiment, "DW", "A0", redraws, against=placebos(experiment), sensitivity=False)._replace(
            name="DW"
        )
    if design.rollouts:
        yield from harm(experiment, redraws)


def _line(effect: Effect) -> dict[str, Any]:
    numbers = {
        name: round(getattr(effect, name), 6)
        for name in ("estimate", "low", "high", "p", "p_adjusted", "beyond_placebo_p")
    }
    known = {name: value for name, value in numbers.items() if value == value}  # noqa: PLR0124 - NaN is left out
    names = ("name", "outcome", "arm", "control", "env", "verdict", "primary")
    return {name: getattr(effect, name) for name in names} | known
