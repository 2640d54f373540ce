"""Linear and tabular policies, and parameter vectors to and from text."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from collector.tasks.task import LinearSpace, ParameterSpace, TabularSpace

Params = Sequence[float]
Action = int | list[float]


class UnreadableAnswer(ValueError):  # noqa: N818 - it names an answer, not a fault of the program
    """An answer from which no complete parameter vector can be read; the message gives the reason."""


def make_policy(space: ParameterSpace, params: Params) -> Callable[[Any], Action]:
    """The policy as a function from an observation to an action.

    A linear output is `((o₀·w₀ + o₁·w₁) + …) + b` in double precision, added in the order of the dimensions: written
    out, so that a rollout does not depend on the order in which some linear algebra library adds.

    Args:
        space: the policy class.
        params: one number per parameter, in the space's order.

    Raises:
        ValueError: the vector has the wrong length.
    """
    if len(params) != space.size:
        raise ValueError(f"{len(params)} parameters given, {space.size} needed")
    if isinstance(space, TabularSpace):
        table = [int(value) for value in params]
        return lambda state: table[int(state)]
    return _linear(space, [float(value) for value in params])


def _linear(space: LinearSpace, params: list[float]) -> Callable[[Any], Action]:
    width = len(space.actions)
    columns = [params[action:-width:width] for action in range(width)]
    biases = params[-width:]
    outputs = list(zip(columns, biases, strict=True))

    def forward(observation: Any) -> list[float]:
        values = observation.tolist()
        result = []
        for weights, bias in outputs:
            total = 0.0
            for value, weight in zip(values, weights, strict=True):
                total += value * weight
            result.append(total + bias)
        return result

    def choose(observation: Any) -> int:
        values = forward(observation)
        return values.index(max(values))

    return choose if space.discrete else forward


def random_params(space: ParameterSpace, rng: np.random.Generator, *, clip: bool = True) -> list[float]:
    """A random vector for the warm-up: normal(0, 3) for linear policies, uniform for tables.

    Args:
        space: the policy class.
        rng: where the numbers come from.
        clip: keep a linear policy's parameters within the range.
    """
    if isinstance(space, TabularSpace):
        return [float(value) for value in rng.choice(space.actions, size=space.size)]
    draws = rng.normal(0.0, 3.0, size=space.size)
    low, high = (space.low, space.high) if clip else (-np.inf, np.inf)
    return [settle(value, low, high, space.decimals) for value in draws]


def settle(value: float, low: float, high: float, decimals: int) -> float:
    """A number within a range and with so many decimals."""
    return round(min(max(float(value), low), high), decimals) + 0.0  # no negative zero


def out_of_range(space: ParameterSpace, params: Params) -> bool:
    """Whether any value lies outside the stated range."""
    if isinstance(space, TabularSpace):
        return any(value not in space.actions for value in params)
    return any(not space.low <= value <= space.high for value in params)


def to_text(params: Params) -> str:
    """`params[0]: 1.5, params[1]: -2, …`, with 3 significant digits."""
    return ", ".join(f"params[{index}]: {value:.3g}" for index, value in enumerate(params))


# Only ASCII digits: `\d` and float() would take full-width and other digits too.
_ENTRY = re.compile(r"params\[([0-9]{1,6})\][ \t]*:[ \t]*([^\s,;]*)")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def from_text(space: ParameterSpace, answer: str) -> list[float]:
    """Read a parameter vector out of an answer; the first occurrence of each index counts.

    Values outside the range are kept: whether to run them is not the reader's question.

    Raises:
        UnreadableAnswer: an index is missing or too many, a value is not a finite number, or not an allowed action.
    """
    found: dict[int, str] = {}
    for index, value in _ENTRY.findall(answer):
        found.setdefault(int(index), value)
    missing = [index for index in range(space.size) if index not in found]
    if missing:
        raise UnreadableAnswer(f"{len(missing)} of {space.size} parameters missing, the first is params[{missing[0]}]")
    beyond = [index for index in found if index >= space.size]
    if beyond:
        raise UnreadableAnswer(f"params[{min(beyond)}] given, but there are only {space.size} parameters")
    return [_value(space, index, found[index]) for index in range(space.size)]


def _value(space: ParameterSpace, index: int, text: str) -> float:
    # Models dress numbers in Markdown and end sentences after them.
    text = text.strip("*`").rstrip(".")
    if not _NUMBER.fullmatch(text) or not math.isfinite(value := float(text)):
        raise UnreadableAnswer(f"params[{index}] is not a number: {text[:40]!r}")
    if isinstance(space, TabularSpace) and value not in space.actions:
        raise UnreadableAnswer(f"params[{index}] is not an allowed action: {text[:40]}")
    return value + 0.0
