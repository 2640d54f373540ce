"""Rollouts at the machine's speed, where they can be compiled: the same numbers as the plain loop, to the bit."""

from __future__ import annotations

import threading
import warnings
from functools import cache
from typing import TYPE_CHECKING

from collector.tasks import Task

if TYPE_CHECKING:
    from collector.rollouts.compiled.rollouts import CompiledRollouts


class PlainLoopWarning(UserWarning):
    """Rollouts run in the plain loop: the same results, more slowly."""


_prepared: dict[str, tuple[Task, CompiledRollouts | None]] = {}
_preparing = threading.Lock()


def compiled_rollouts(task: Task) -> CompiledRollouts | None:
    """The task's compiled rollouts; none where there are none to be had, for which a warning gives the reason once.

    Before they are handed out, they have shown in this process that they agree with the plain loop: libraries that
    compute a cosine otherwise, or a damaged cache, would not.
    """
    dynamics = task.dynamics
    if dynamics is None or (dynamics.gym_id, dynamics.make_options) != (task.gym_id, task.make_options):
        return None  # a task derived from another one may have its own environment, and still the other's dynamics
    rollouts = _known(task)
    if isinstance(rollouts, _Unknown):
        with _preparing:  # the trials step through an environment, and there is one for all threads
            rollouts = _known(task)
            if isinstance(rollouts, _Unknown):
                rollouts = _prepare(task)
                _prepared[task.id] = task, rollouts
    return rollouts


class _Unknown:
    """Marks rollouts that have not been compiled yet."""


def _known(task: Task) -> CompiledRollouts | _Unknown | None:
    known, rollouts = _prepared.get(task.id, (None, None))
    if known is None or (known.space, known.dynamics) != (task.space, task.dynamics):
        return _Unknown()
    return rollouts


def _prepare(task: Task) -> CompiledRollouts | None:
    try:
        from collector.rollouts.compiled.preparing import prepare

        return prepare(task)
    except ImportError as error:
        _say(f"Numba cannot be used ({_first_line(error)})")
    except Exception as error:  # whatever goes wrong in compiling or in the cache, the plain loop remains
        _say(f"{task.id} cannot be compiled ({_first_line(error) or type(error).__name__})")
    return None


@cache
def _say(reason: str) -> None:
    warnings.warn(f"{reason}; rollouts run in the plain loop, with the same results", PlainLoopWarning, stacklevel=2)


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]
