"""What to expect of a plan: calls, tokens and hours, and the chance that its tests see an effect of some size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from scipy.special import ndtr, ndtri

from audit.interventions.arms import ARMS, BASE
from audit.interventions.effects.contrasts import SEPARATION
from audit.interventions.plan import Cost, Power
from audit.interventions.presets import Hypothesis
from audit.interventions.units import Unit
from audit.measures.energy import energy_test, pairwise_distances, presence_test
from audit.measures.experiment_power import power_of_calls
from audit.vocabulary.keys import RevisionKey

CHARACTERS_PER_TOKEN: Final = 2.0
"""Of critics' prompts, which are mostly numbers; text has about 4."""
ANSWER_TOKENS: Final = 300
"""Tokens of an answer without thinking, where no limit is lower."""
SECONDS_PER_CALL: Final = 10.0
"""Of a server, with `IN_FLIGHT` calls at once."""
IN_FLIGHT: Final = 4
LOCAL_PROMPT_RATE: Final = 260.0
"""Tokens a second that the packaged model reads on two cores (`docs/models.md`)."""
LOCAL_ANSWER_RATE: Final = 69.0
"""The same for tokens that it writes."""

EFFECTS: Final = (0.1, 0.2, 0.3)
"""Effects whose power a plan states: shares of answers that go another way."""
DIMENSIONS: Final = 3
"""Directions in which simulated answers differ; fewer make the test less certain."""
REDRAWS: Final = 499


def cost(
    units: Sequence[Unit],
    arms: Mapping[str, int],
    characters: Mapping[RevisionKey, int],
    *,
    backend: str,
    max_tokens: int | None,
) -> Cost:
    """Estimate what a plan costs.

    Args:
        units: those drawn.
        arms: answers of each unit by arm.
        characters: of the recorded prompt of each unit.
        backend: who is asked.
        max_tokens: longest answer; None where there is no limit.
    """
    calls = len(units) * sum(arms.values())
    prompt = sum(characters[unit.key] for unit in units) / len(units) / CHARACTERS_PER_TOKEN
    answer = min(ANSWER_TOKENS, max_tokens or ANSWER_TOKENS)
    how = f"at {CHARACTERS_PER_TOKEN:g} characters a token of prompts, {answer} tokens an answer without thinking"
    hours = calls * SECONDS_PER_CALL / IN_FLIGHT / 3600
    if backend == "simulated":
        hours = 0.0
    elif backend == "local":
        prompts = len(units) * sum(number if ARMS[arm].draws else 1 for arm, number in arms.items())
        hours = (prompts * prompt / LOCAL_PROMPT_RATE + calls * answer / LOCAL_ANSWER_RATE) / 3600
        how += f"; {LOCAL_PROMPT_RATE:g} tokens of prompts and {LOCAL_ANSWER_RATE:g} of answers a second"
    else:
        how += f"; {SECONDS_PER_CALL:g} s a call, {IN_FLIGHT} at once"
    return Cost(calls, round(calls * prompt), calls * answer, hours, how)


def powers(
    units: Sequence[Unit], arms: Mapping[str, int], hypotheses: Sequence[Hypothesis], alpha: float
) -> list[Power]:
    """The power of the primary tests, at the first and strictest step of Holm's procedure.

    Args:
        units: those drawn.
        arms: answers of each unit by arm.
        hypotheses: the family.
        alpha: its level.
    """
    level = alpha / max(len(hypotheses), 1)
    found: list[Power] = []
    for each in hypotheses:
        if each.control is None:
            calls = arms[each.arm] * sum(not unit.number_readable for unit in units)
            found += [
                Power(each.factor, each.outcome, effect, power_of_calls(calls, effect, alpha=level))
                for effect in EFFECTS
            ]
            continue
        spread = _null_sd(len(units), arms, each.arm, each.control)
        for effect in EFFECTS:
            power = float(ndtr(SEPARATION * effect**2 / spread - ndtri(1 - level))) if spread else None
            found.append(Power(each.factor, each.outcome, effect, power))
    return found


def _null_sd(units: int, arms: Mapping[str, int], arm: str, control: str) -> float:
    """Standard deviation of the test's statistic where there is no effect, from answers that are drawn at random."""
    rng = np.random.default_rng(0)
    sizes = [arms[arm], arms[control]]
    from_base = ARMS[arm].takes_away and control != BASE and BASE in arms
    if from_base:
        sizes.append(arms[BASE])
    names = np.repeat(range(len(sizes)), sizes)
    tables = [pairwise_distances(rng.normal(size=(len(names), DIMENSIONS))) for _ in range(units)]
    masks = [[names == place] * units for place in range(len(sizes))]
    if from_base:
        return presence_test(tables, masks[2], masks[0], masks[1], redraws=REDRAWS).null_sd
    return energy_test(tables, masks[0], redraws=REDRAWS).null_sd
