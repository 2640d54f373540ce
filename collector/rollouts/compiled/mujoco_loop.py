"""MuJoCo's own steps with a policy between them, in one compiled loop without the interpreter or its lock.

The loop calls the functions of MuJoCo's library itself, on the memory of the model and the data that MuJoCo's Python
package made, and reads positions and forces in place.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import mujoco
import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from collector.rollouts.compiled.policies import inlined, policy_parts
from collector.tasks.dynamics import Body, MujocoDynamics
from collector.tasks.task import ParameterSpace


class Library(NamedTuple):
    """Addresses of functions of MuJoCo's library; each takes a model and data."""

    step: int
    forward: int
    reset: int


def library() -> Library:
    """The library that MuJoCo's Python package has loaded.

    Raises:
        OSError: it is not where that package keeps it.
        AttributeError: it lacks one of the functions.
    """
    folder = Path(mujoco.__file__).parent
    found = sorted(path for pattern in ("libmujoco*", "mujoco.dll") for path in folder.glob(pattern))
    if not found:
        raise OSError("MuJoCo's library was not found in its package")
    loaded = ctypes.CDLL(str(found[0]))
    addresses = (ctypes.cast(getattr(loaded, name), ctypes.c_void_p).value for name in _FUNCTIONS)
    return Library(*(address or 0 for address in addresses))


_FUNCTIONS = ("mj_step", "mj_forward", "mj_resetData")


def _generate_call(_typing: Any, function: Any, model: Any, data: Any) -> Any:
    """How to call a C function of two pointers by its address."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        word = context.get_value_type(types.intp)
        kind = ir.FunctionType(ir.VoidType(), [word, word])
        builder.call(builder.inttoptr(arguments[0], kind.as_pointer()), arguments[1:])
        return context.get_dummy_value()

    return types.void(types.intp, types.intp, types.intp), generate


_call: Any = intrinsic(_generate_call)


def body(data: Any) -> Body:
    """Views of the data's memory."""
    return Body(data.qpos, data.qvel, data.site_xpos, data.qfrc_constraint, 2.0)


def compile_loop(dynamics: MujocoDynamics, space: ParameterSpace, name: str, *, recording: bool) -> Callable[..., None]:
    """The loop for a task.

    It takes `(library, model, data, body, control, frames, params, starts, cap, low, high, returns, lengths,
    terminated, record)`: addresses, views of the data's memory, steps of MuJoCo for one of the policy, and the first
    positions and velocities, a row for each rollout. The last four are filled as by `closed_loop.compile_loop`.
    """
    functions: tuple[Callable[..., Any], ...] = (dynamics.observe, dynamics.reward, *dynamics.helpers)
    for function in functions:
        inlined(function)
    observe, judge = dynamics.observe, dynamics.reward
    choose, write, inputs, outputs, width = policy_parts(space)

    def loop(
        library: Any, model: int, data: int, body: Any, control: Any, frames: int, params: Any, starts: Any, cap: int,
        low: float, high: float, returns: Any, lengths: Any, terminated: Any, record: Any,
    ) -> None:  # fmt: skip
        positions, velocities = starts
        chosen = np.empty(width, np.float64)
        sent = np.empty(outputs, np.float32)
        for rollout in range(len(positions)):
            _call(library.reset, model, data)
            # One by one: see `closed_loop`.
            for number in range(positions.shape[1]):
                body.positions[number] = positions[rollout, number]
            for number in range(velocities.shape[1]):
                body.velocities[number] = velocities[rollout, number]
            _call(library.forward, model, data)
            if recording:
                write(observe(body), inputs, False, record[0])
            total, length, ended = 0.0, 0, False
            while not ended and length < cap:
                action = choose(params, observe(body), inputs, outputs, False, low, high, chosen, sent)
                before = body.positions[0]
                for number in range(outputs):
                    control[number] = action[number]
                for _ in range(frames):
                    _call(library.step, model, data)
                reward, ended = judge(body, before, action)
                total += reward
                if recording:
                    for number in range(width):
                        record[length, inputs + number] = chosen[number]
                    record[length, -1] = reward
                    write(observe(body), inputs, False, record[length + 1])
                length += 1
            returns[rollout], lengths[rollout], terminated[rollout] = total, length, ended

    loop.__qualname__ = name
    return njit(loop, cache=True, nogil=True, error_model="numpy")  # type: ignore[no-any-return]
