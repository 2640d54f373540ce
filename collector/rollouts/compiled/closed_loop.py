"""Environment and policy in one compiled loop, over many rollouts, without the interpreter or its lock.

What is combined here are plain functions of modules, not compiled ones: only those have a name under which Numba
finds its cache again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

from collector.rollouts.compiled.generator import WORDS, seed_generator
from collector.rollouts.compiled.policies import inlined, policy_parts
from collector.tasks.dynamics import Dynamics
from collector.tasks.task import ParameterSpace


def compile_loop(dynamics: Dynamics, space: ParameterSpace, name: str, *, recording: bool) -> Callable[..., None]:
    """The loop for a task: `(params, seeds, cap, low, high, returns, lengths, terminated, record)`.

    It fills `returns`, `lengths` and `terminated`, which have an entry for each seed. All rollouts advance together,
    one step each in turn: while the processor waits for one step's results (a cosine, a division), it can work on
    another rollout's.

    Args:
        dynamics: the task's dynamics.
        space: its policy class.
        name: identifies this loop, in this version of its sources, in Numba's cache.
        recording: there is one seed, and the loop fills `record` with a row for each step: observation, action as the
            policy gave it, and reward. A last row has the last observation.
    """
    functions: tuple[Callable[..., Any], ...] = (dynamics.reset, dynamics.step, dynamics.observe, *dynamics.helpers)
    for function in functions:
        inlined(function)
    reset, step, observe, single = dynamics.reset, dynamics.step, dynamics.observe, dynamics.single
    choose, write, inputs, outputs, width = policy_parts(space)

    def loop(
        params: Any, seeds: Any, cap: int, low: float, high: float, returns: Any, lengths: Any, terminated: Any,
        record: Any,
    ) -> None:  # fmt: skip
        count = len(seeds)
        chosen = np.empty(width, np.float64)
        sent = np.empty(outputs, np.float32)
        generators = np.empty((count, WORDS), np.uint64)
        seed_generator(generators[0], seeds[0])
        states = [reset(generators[0])] * count
        for rollout in range(1, count):
            seed_generator(generators[rollout], seeds[rollout])
            states[rollout] = reset(generators[rollout])
        running = np.empty(count, np.int64)
        # Here and below numbers are set one by one: for one assignment to a slice Numba compiles what a message about
        # shapes needs, half of all that there would be to compile.
        for rollout in range(count):
            returns[rollout], running[rollout] = 0.0, rollout
        length = 0
        if recording:
            write(observe(states[0]), inputs, single, record[0])
        while count:
            length += 1
            place = 0
            while place < count:
                rollout = running[place]
                action = choose(
                    params, observe(states[rollout]), inputs, outputs, single, low, high, chosen, sent
                )  # fmt: skip
                state, reward, ended = step(states[rollout], action, generators[rollout])
                states[rollout] = state
                returns[rollout] += reward
                if recording:
                    for number in range(width):
                        record[length - 1, inputs + number] = chosen[number]
                    record[length - 1, -1] = reward
                    write(observe(state), inputs, single, record[length])
                if ended or length == cap:
                    lengths[rollout], terminated[rollout] = length, ended
                    count -= 1
                    running[place] = running[count]
                else:
                    place += 1

    loop.__qualname__ = name
    # NumPy's rules for division: a check for zero at every one would cost half the speed.
    return njit(loop, cache=True, nogil=True, error_model="numpy")  # type: ignore[no-any-return]
