"""What to expect of a plan: calls, tokens and hours, and the chance that its tests see an effect of some size."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri, stdtrit

from audit.interventions.arms import ARMS, BASE, CONJOINT, LETTERED, PLACEBOS
from audit.interventions.effects.contrasts import FEWEST_PLACEBOS
from audit.interventions.effects.named_shares import SMALLEST
from audit.interventions.effects.presence import REPLACED
from audit.interventions.effects.shares import ALONE
from audit.interventions.experiment import Floats
from audit.interventions.plan import Cost
from audit.interventions.presets import Hypothesis, asks_presence, asks_shares
from audit.interventions.units import Unit
from audit.measures.energy import energy_test, farthest_test, pairwise_distances
from audit.measures.following import Normal, estimate, normal_equations
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

SIGNAL: Final = 0.25
"""Signal to noise between edits for different rollouts that a plan reckons with; simulated critics have 0.1 to 0.45."""
POWER: Final = 0.8
TESTED_SHARES: Final = 13
"""Shares and what is no rollout that Holm's method corrects for."""
NO_SHARES: Final = "no verdicts on shares: those need C, and S_w, S_m and S_b with two answers each or more"
_UNITS: Final = 300
"""Units of simulated edits from which errors of shares are known."""
_DRAWS: Final = 400
"""Experiments that are drawn from them."""
_REPLACED: Final = tuple(REPLACED.values())
_NEAR: Final = 0.1
"""How far the rollout that takes another's place is from the median one, in standard deviations of rollouts."""
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


class Decides(NamedTuple):
    """What a plan can decide.

    Attributes:
        sentence: in one sentence.
        nothing: no answers whatever could lead to a verdict or a significant test.
    """

    sentence: str
    nothing: bool


def decides(
    units: Sequence[Unit],
    arms: Mapping[str, int],
    hypotheses: Sequence[Hypothesis],
    *,
    alpha: float,
    permutations: int,
) -> Decides:
    """What a plan can decide, at the signal to noise that critics mostly have.

    Args:
        units: those drawn.
        arms: answers of each unit by arm.
        hypotheses: the family of tests, where no shares are asked for.
        alpha: level of the family.
        permutations: redraws of each test.
    """
    if asks_shares(arms):
        return _of_shares(units, arms, alpha, permutations)
    if asks_presence(arms):
        return _of_presence(units, arms, alpha, permutations)
    level = alpha / max(1, len(hypotheses))
    smallest = [max(1 / (1 + permutations), _smallest_p(len(units), arms, each)) for each in hypotheses]
    if smallest and min(smallest) > level:
        return Decides(
            f"this plan can find nothing: the smallest p that its tests can have is {min(smallest):.2g}, above "
            f"{level:.2g}; ask about more units, or for more answers",
            nothing=True,
        )
    return Decides(f"this plan has tests, and {NO_SHARES}", nothing=False)


def _smallest_p(units: int, arms: Mapping[str, int], hypothesis: Hypothesis) -> float:
    """The share of one arrangement among all."""
    own = arms[hypothesis.arm]
    each = 3**own if hypothesis.control is None else math.comb(own + arms[hypothesis.control], own)
    return float(each) ** -units


def _of_shares(units: Sequence[Unit], arms: Mapping[str, int], alpha: float, permutations: int) -> Decides:
    runs = len({unit.cluster for unit in units})
    clusters = runs if runs > 1 else len(units)
    if clusters < 2:
        return Decides("this plan can find nothing: a single unit has no intervals; ask about more", nothing=True)
    if TESTED_SHARES / (1 + permutations) > alpha:
        return Decides(
            f"this plan can find nothing: with {permutations} permutations no corrected p is below {alpha:g}; ask for "
            f"{math.ceil(TESTED_SHARES / alpha)} or more",
            nothing=True,
        )
    error = _share_error(len(units), arms)
    first = max(float(ndtri(1 - alpha / TESTED_SHARES)), float(stdtrit(clusters - 1, 1 - alpha / 2)))
    found = (first + float(ndtri(POWER))) * error
    if found > 1:
        return Decides(
            f"this plan can find nothing: at a signal to noise of {SIGNAL:g} fewer than {POWER:.0%} of such "
            "experiments find a label that all revisions follow; ask about more units or runs, or for more answers",
            nothing=True,
        )
    room = (SMALLEST - float(stdtrit(clusters - 1, 1 - alpha)) * error) / error
    unmoved = max(0.0, 2 * float(ndtr(room)) - 1)
    return Decides(
        f"at a signal to noise of {SIGNAL:g} between rollouts this plan finds, with a chance of {POWER:.0%}, a label "
        f"or place that {found:.0%} of revisions follow; of one that none follow it says so, within {SMALLEST:.0%}, "
        f"with a chance of {unmoved:.0%}",
        nothing=False,
    )


def _of_presence(units: Sequence[Unit], arms: Mapping[str, int], alpha: float, permutations: int) -> Decides:
    level = alpha / len(_REPLACED)
    if max(1 / (1 + permutations), 0.5 ** len(units)) > level:
        return Decides(
            f"this plan can find nothing: of {len(units)} units and {permutations} permutations no corrected p is "
            f"below {alpha:g}; ask about more units, with more permutations",
            nothing=True,
        )
    low, high = 0.0, 1.0
    if _presence_power(len(units), arms, high, alpha) < POWER:
        return Decides(
            f"this plan can find nothing: at a signal to noise of {SIGNAL:g} fewer than {POWER:.0%} of such "
            "experiments find a rollout that all revisions follow by what it shows; ask about more units, or for more "
            "answers",
            nothing=True,
        )
    while high - low > 0.02:
        middle = (low + high) / 2
        low, high = (low, middle) if _presence_power(len(units), arms, middle, alpha) >= POWER else (middle, high)
    return Decides(
        f"at a signal to noise of {SIGNAL:g} between rollouts this plan finds, with a chance of {POWER:.0%}, that the "
        f"worst or the best rollout moves edits by what it shows if {high:.0%} of revisions follow it; it has "
        f"{NO_SHARES}",
        nothing=False,
    )


def _presence_power(units: int, arms: Mapping[str, int], share: float, alpha: float) -> float:
    """The chance that a rollout which a share of revisions follow is found, at the first step of Holm's procedure.

    It has to be farther from the whole evidence than chance, than each of the others, and than one more placebo, all by
    normal approximation.
    """
    rng = np.random.default_rng(0)
    sizes = [arms[arm] for arm in (LETTERED, *_REPLACED)]
    names = np.repeat(np.arange(-1, len(_REPLACED)), sizes)
    tables: list[list[Floats]] = [[], []]
    for _ in range(_UNITS):
        means = rng.normal(size=(4, DIMENSIONS))
        means[:3] *= math.sqrt(2 * SIGNAL / ((means[:3] - means[:3].mean(axis=0)) ** 2).sum())
        means[3] = means[1] + _NEAR * math.sqrt(SIGNAL / DIMENSIONS) * means[3]
        noise = rng.normal(size=(len(names), DIMENSIONS)) / math.sqrt(DIMENSIONS)
        # The rollout of the first arm is followed wherever it is shown; others go by any that is.
        shown = rng.integers(3, size=len(names))
        shown = np.where(shown == names, 3, shown)
        follows = np.where((rng.random(len(names)) < share) & (names != 0), 0, shown)
        tables[0].append(pairwise_distances(means[shown] + noise))
        tables[1].append(pairwise_distances(means[follows] + noise))
    nothing, moved = (farthest_test(each, [names] * _UNITS, redraws=1).values for each in tables)
    drawn = moved[rng.integers(_UNITS, size=(_DRAWS, units))]
    first = float(ndtri(1 - alpha / len(_REPLACED)))
    means, root = drawn.mean(axis=1), math.sqrt(units)
    found = means[:, 0] > first * nothing[:, 0].std() / root
    for other in (1, 2):
        beyond = drawn[:, :, 0] - drawn[:, :, other]
        found &= beyond.mean(axis=1) > first * beyond.std(axis=1) / root
    asked = [arm for arm in PLACEBOS if arms.get(arm) and arms.get(BASE)]
    if len(asked) >= FEWEST_PLACEBOS:
        spread = _null_sd(units, arms[asked[0]], arms[BASE])
        others = rng.normal(scale=spread, size=(_DRAWS, len(asked)))
        limit = float(stdtrit(len(asked) - 1, 1 - alpha)) * math.sqrt(1 + 1 / len(asked))
        found &= means[:, 0] > others.mean(axis=1) + limit * others.std(axis=1, ddof=1)
    return float(found.mean())


def _share_error(units: int, arms: Mapping[str, int]) -> float:
    """Standard error of a label's share, from edits drawn about means of three rollouts, none of which is followed."""
    rng = np.random.default_rng(0)
    calls, each = arms[CONJOINT], min(arms[arm] for arm in ALONE)
    levels = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]])
    matrices, rights = [], []
    for _ in range(_UNITS):
        means = rng.normal(size=(3, DIMENSIONS))
        means *= math.sqrt(2 * SIGNAL / ((means - means.mean(axis=0)) ** 2).sum())
        # An edit's variance about its mean is 1 in all.
        noise = rng.normal(size=(calls + 3 * each, DIMENSIONS)) / math.sqrt(DIMENSIONS)
        labels = rng.permuted(np.tile(np.arange(3), (calls, 1)), axis=1)
        weights = np.concatenate([levels[labels].transpose(0, 2, 1), np.full((calls, 1, 3), 1 / 3)], axis=1)
        references = [mean + part for mean, part in zip(means, np.split(noise[calls:], 3), strict=True)]
        answers = means[rng.integers(3, size=calls)] + noise[:calls]
        matrix, right = normal_equations(answers, weights, references)
        matrices.append(matrix)
        rights.append(right)
    normal = Normal(np.array(matrices), np.array(rights))
    found = estimate(normal, np.arange(_UNITS), np.array([[1.5, 0.0, 0.0]]))
    return float(found.errors[0]) * math.sqrt(_UNITS / units)


def _null_sd(units: int, *sizes: int) -> float:
    """Standard deviation of the test's statistic where there is no effect, from two arms' answers drawn at random."""
    rng = np.random.default_rng(0)
    names = np.repeat(range(2), sizes)
    tables = [pairwise_distances(rng.normal(size=(len(names), DIMENSIONS))) for _ in range(units)]
    return energy_test(tables, [names == 0] * units, redraws=REDRAWS).null_sd
