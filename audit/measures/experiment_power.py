"""How many calls and units does an experiment need, and which effect can it find? Normal approximations.

Of choices among blocks of evidence: an answer follows one of k blocks, the one with the attribute in a share P = 1/k +
(k - 1) tau / k of calls, tau the average marginal component effect, estimated by k/(k - 1) (share - 1/k). Of paired
means: the variance of two-stage sampling, as in E. Miller, "Adding error bars to evals" (arXiv 2411.00640, 2024).
"""

from __future__ import annotations

import math

from scipy.special import ndtr, ndtri


def calls_for_effect(
    effect: float, *, power: float = 0.8, alpha: float = 0.05, design_effect: float = 1.0, blocks: int = 3
) -> float:
    """The calls that find an effect on which block an answer follows; to be rounded up.

    (z + z')^2 (k/(k - 1))^2 P (1 - P) deff / tau^2.

    Args:
        effect: tau, between 0 and 1.
        power: chance to find it.
        alpha: size of the two-sided test; for the first step of Holm's correction, divided by the tests.
        design_effect: that of `design_effect`; 1 for conditional randomisation tests.
        blocks: k, among which the attribute is drawn.

    Raises:
        ValueError: an argument is out of its range.
    """
    _check(power, alpha)
    return _z(power, alpha) ** 2 * _choice_variance(effect, blocks) * design_effect / effect**2


def power_of_calls(
    calls: float, effect: float, *, alpha: float = 0.05, design_effect: float = 1.0, blocks: int = 3
) -> float:
    """The chance to find an effect with that many calls, the inverse of `calls_for_effect`.

    Args:
        calls: that count.
        effect: tau, between 0 and 1.
        alpha: size of the two-sided test.
        design_effect: that of `design_effect`.
        blocks: k, among which the attribute is drawn.

    Raises:
        ValueError: an argument is out of its range.
    """
    _check(0.5, alpha)
    error = math.sqrt(_choice_variance(effect, blocks) * design_effect / calls) if calls > 0 else math.inf
    return float(ndtr((effect / error if error else math.inf) - ndtri(1 - alpha / 2)))


def detectable_effect(
    calls: float, *, power: float = 0.8, alpha: float = 0.05, design_effect: float = 1.0, blocks: int = 3
) -> float:
    """The smallest tau that is found with that many calls: the inverse of `calls_for_effect`.

    P (1 - P) is quadratic in tau, and so is the equation: tau^2 = c (1 + (k - 1) tau)(1 - tau).

    Args:
        calls: that count.
        power: chance to find it.
        alpha: size of the two-sided test.
        design_effect: that of `design_effect`.
        blocks: k, among which the attribute is drawn.

    Returns:
        Between 0 and 1; NaN without calls.

    Raises:
        ValueError: an argument is out of its range.
    """
    _check(power, alpha)
    if not calls > 0:
        return math.nan
    c = _z(power, alpha) ** 2 * design_effect / calls / (blocks - 1)
    linear, quadratic = c * (blocks - 2), 1 + c * (blocks - 1)
    return (linear + math.sqrt(linear**2 + 4 * quadratic * c)) / (2 * quadratic)


def units_for_difference(difference: float, sd: float, *, power: float = 0.8, alpha: float = 0.05) -> float:
    """The units that find a mean difference between two arms; to be rounded up.

    (z + z')^2 (sd / difference)^2; times a design effect where units of a run depend on each other.

    Args:
        difference: of the means, in the outcome's unit.
        sd: of a unit's difference, such as `unit_difference_sd` has it.
        power: chance to find it.
        alpha: size of the two-sided test.

    Raises:
        ValueError: an argument is out of its range.
    """
    _check(power, alpha)
    return (_z(power, alpha) * sd / difference) ** 2


def detectable_difference(units: float, sd: float, *, power: float = 0.8, alpha: float = 0.05) -> float:
    """The smallest mean difference that is found with that many units: the inverse of `units_for_difference`.

    Args:
        units: divided by a design effect where units of a run depend on each other.
        sd: of a unit's difference.
        power: chance to find it.
        alpha: size of the two-sided test.

    Returns:
        NaN without units.

    Raises:
        ValueError: an argument is out of its range.
    """
    _check(power, alpha)
    return _z(power, alpha) * sd / math.sqrt(units) if units > 0 else math.nan


def unit_difference_sd(
    *, between: float, within: float, replicates: float, rollout: float = 0.0, rollouts: float = 1
) -> float:
    """Standard deviation of a unit's difference between the means of two arms.

    Args:
        between: sd of the effect from unit to unit.
        within: sd of the outcome from call to call of one arm of a unit.
        replicates: calls in each arm.
        rollout: sd of a return from rollout to rollout, where the outcome is a mean return.
        rollouts: over which that mean is.
    """
    return math.sqrt(between**2 + 2 * (within**2 + rollout**2 / rollouts) / replicates)


def best_replicates(*, between: float, within: float, cost_of_unit: float, cost_of_call: float) -> float:
    """The calls in each of two arms that find most at a given cost: sqrt(2 s_c^2 / w^2 * c0 / (2 c)).

    Args:
        between: w, sd of the effect from unit to unit.
        within: s_c, sd of the outcome from call to call of one arm of a unit.
        cost_of_unit: c0, of a unit without its calls.
        cost_of_call: c, in the same currency.
    """
    return within / between * math.sqrt(cost_of_unit / cost_of_call)


def design_effect(size: float, correlation: float) -> float:
    """The factor by which dependence within clusters inflates a variance: 1 + (m - 1) rho (Kish, 1965).

    Args:
        size: m, observations of a cluster.
        correlation: rho, of two observations of one cluster.
    """
    return 1 + (size - 1) * correlation


def _choice_variance(effect: float, blocks: int) -> float:
    """Variance of one call's estimate of tau."""
    if not 0 < effect <= 1:
        raise ValueError(f"the effect must be above 0 and at most 1, not {effect}")
    chance = 1 / blocks + (blocks - 1) * effect / blocks
    return (blocks / (blocks - 1)) ** 2 * chance * (1 - chance)


def _z(power: float, alpha: float) -> float:
    return float(ndtri(1 - alpha / 2) + ndtri(power))


def _check(power: float, alpha: float) -> None:
    if not (0 < power < 1 and 0 < alpha < 1):
        raise ValueError(f"power and alpha must lie between 0 and 1, not {power} and {alpha}")
