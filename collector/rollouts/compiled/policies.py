"""Linear and tabular policies, compiled: the arithmetic of `collector.policy`, in the same order.

`inputs` and `outputs` are constants wherever these functions are called, so that their loops are unrolled.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numba.extending import register_jitable

from collector.tasks.task import LinearSpace, ParameterSpace

Function = TypeVar("Function", bound=Callable[..., Any])


def inlined(function: Function) -> Function:
    """Make a plain function known to Numba, always put in the place of its call: left to itself, LLVM calls most."""
    register_jitable(forceinline=True)(function)
    return function


class PolicyParts(NamedTuple):
    """What the loops need of a policy class.

    Attributes:
        choose: `(params, observation, inputs, outputs, single, low, high, chosen, sent) -> action`: the action as the
            environment is sent it. `chosen` receives the action as the policy gave it.
        write: `(observation, inputs, single, row)` puts the observation into a row of an array.
        inputs: numbers in an observation.
        outputs: outputs of the policy.
        width: numbers in an action as the policy gave it.
    """

    choose: Callable[..., Any]
    write: Callable[..., None]
    inputs: int
    outputs: int
    width: int


def policy_parts(space: ParameterSpace) -> PolicyParts:
    """The parts for a policy class."""
    if not isinstance(space, LinearSpace):
        return PolicyParts(_look_up, _write_state, 1, 1, 1)
    inputs, outputs = len(space.observations), len(space.actions)
    if space.discrete:
        return PolicyParts(_choose_largest, _write_numbers, inputs, outputs, 1)
    return PolicyParts(_choose_outputs, _write_numbers, inputs, outputs, outputs)


@inlined
def _output(params: Any, observation: Any, inputs: Any, outputs: Any, single: Any, action: Any) -> Any:
    """Products added in the order of the dimensions, then the bias."""
    total = 0.0
    for dimension in range(inputs):
        value = observation[dimension]
        if single:  # as Gymnasium hands it out
            value = np.float64(np.float32(value))
        total += value * params[dimension * outputs + action]
    return total + params[inputs * outputs + action]


@inlined
def _choose_largest(
    params: Any, observation: Any, inputs: Any, outputs: Any, single: Any, low: Any, high: Any, chosen: Any, sent: Any
) -> Any:
    """The action with the largest output, the first one on ties."""
    best, action = _output(params, observation, inputs, outputs, single, 0), 0
    for other in range(1, outputs):
        value = _output(params, observation, inputs, outputs, single, other)
        if value > best:
            best, action = value, other
    chosen[0] = action
    return action


@inlined
def _choose_outputs(
    params: Any, observation: Any, inputs: Any, outputs: Any, single: Any, low: Any, high: Any, chosen: Any, sent: Any
) -> Any:
    """The outputs are the action; what the environment is sent of them is in single precision and within its range."""
    for action in range(outputs):
        chosen[action] = _output(params, observation, inputs, outputs, single, action)
        sent[action] = min(max(np.float32(chosen[action]), np.float32(low)), np.float32(high))
    return sent


@inlined
def _look_up(
    params: Any, observation: Any, inputs: Any, outputs: Any, single: Any, low: Any, high: Any, chosen: Any, sent: Any
) -> Any:
    """The action that the table has for the state."""
    action = int(params[observation])
    chosen[0] = action
    return action


@inlined
def _write_numbers(observation: Any, inputs: Any, single: Any, row: Any) -> None:
    for dimension in range(inputs):
        row[dimension] = np.float32(observation[dimension]) if single else observation[dimension]


@inlined
def _write_state(observation: Any, inputs: Any, single: Any, row: Any) -> None:
    row[0] = observation
