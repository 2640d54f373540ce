"""A task's compiled loops, behind one interface: whole evaluations, and one rollout step by step."""

from __future__ import annotations

import hashlib
import inspect
import os
from abc import ABC, abstractmethod
from array import array
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from llvmlite import binding
from numpy.typing import NDArray

from collector.policy import Params
from collector.rollouts.compiled import closed_loop
from collector.rollouts.compiled.policies import policy_parts
from collector.system.cores import cores
from collector.tasks import Task, draws
from collector.tasks.dynamics import Dynamics, MujocoDynamics

NO_CAP: Final = int(np.iinfo(np.int64).max)
SHARES_PER_CORE: Final = 2
"""Rollouts differ in length; a core that is done early takes another share."""
SHARED: Final = 1000
"""Rollouts of compiled dynamics that one thread is given: handing them to others takes as long as many of them."""
_UNBOUNDED: Final = (-np.inf, np.inf)

Numbers = NDArray[np.float64]


class Record(NamedTuple):
    """A rollout of T steps: T + 1 observations, T actions as the policy gave them, T rewards; a row for each."""

    observations: Numbers
    actions: Numbers
    rewards: Numbers
    terminated: bool


class Job(NamedTuple):
    """What a loop is asked, and where it puts the answers.

    Attributes:
        params: the parameter vector.
        seeds: one for each rollout.
        cap: the step cap.
        low, high: bounds of actions.
        returns, lengths, terminated: of the rollouts, in the order of their seeds.
        record: what a recording loop fills.
    """

    params: array[float]
    seeds: array[int]
    cap: int
    low: float
    high: float
    returns: Numbers
    lengths: NDArray[np.int64]
    terminated: NDArray[np.bool_]
    record: Numbers


class CompiledRollouts(ABC):
    """Rollouts of one task; several threads may use it at once."""

    action_range: tuple[float, float]

    def __init__(self, dynamics: Dynamics | MujocoDynamics, task: Task, compile_loop: Callable[..., Any]) -> None:
        self._parts = policy_parts(task.space)
        self._nothing = self._record(0)
        name = f"{task.id}-{fingerprint(dynamics)}"
        self._loop: Any = compile_loop(dynamics, task.space, f"{name}-evaluate", recording=False)
        self._recording_loop: Any = compile_loop(dynamics, task.space, f"{name}-trace", recording=True)

    def evaluate(self, job: Job) -> None:
        """Fill in the answers."""
        self._run(self._loop, job)

    def trace(self, job: Job) -> Record:
        """The rollout of one seed, step by step."""
        self.evaluate(job)
        record = self._record(int(job.lengths[0]))
        self._run(self._recording_loop, job._replace(record=record))
        inputs = self._parts.inputs
        return Record(record[:, :inputs], record[:-1, inputs:-1], record[:-1, -1], bool(job.terminated[0]))

    def job(self, task: Task, params: Params, seeds: Sequence[int]) -> Job:
        """Parameters and at least one seed in the form that the loops take.

        Raises:
            OverflowError: a seed is negative or has more than 64 bits.
        """
        low, high = self.action_range if task.clip_actions else _UNBOUNDED
        cap = NO_CAP if task.step_cap is None else task.step_cap
        count = len(seeds)
        return Job(  # an `array` takes lists in half of NumPy's time
            array("d", params), array("Q", seeds), cap, low, high,
            np.empty(count), np.empty(count, np.int64), np.empty(count, np.bool_), self._nothing,
        )  # fmt: skip

    def _record(self, length: int) -> Numbers:
        return np.empty((length + 1, self._parts.inputs + self._parts.width + 1))

    def is_cached(self) -> bool:
        """Whether the loops are in Numba's cache, so that they need not be compiled."""
        return all(any(_cached(loop)) for loop in (self._loop, self._recording_loop))

    def forget(self) -> None:
        """Remove the loops from Numba's cache."""
        for loop in (self._loop, self._recording_loop):
            for path in _cached(loop):
                path.unlink(missing_ok=True)

    @abstractmethod
    def _run(self, loop: Callable[..., None], job: Job) -> None:
        """Fill in the job's answers."""


class ClosedLoopRollouts(CompiledRollouts):
    """Rollouts of a task whose dynamics are compiled too."""

    def __init__(self, task: Task) -> None:
        assert isinstance(task.dynamics, Dynamics)
        super().__init__(task.dynamics, task, closed_loop.compile_loop)
        self.action_range = task.dynamics.action_range or _UNBOUNDED

    def _run(self, loop: Callable[..., None], job: Job) -> None:
        if len(job.seeds) <= SHARED:
            loop(*job)
            return

        def work(part: slice) -> None:
            loop(*job._replace(
                seeds=job.seeds[part],
                returns=job.returns[part],
                lengths=job.lengths[part],
                terminated=job.terminated[part],
            ))  # fmt: skip

        share_out(work, len(job.seeds))


def share_out(work: Callable[[slice], None], count: int) -> None:
    """Do a number of rollouts on all cores, each with its own seed and its own place for the answer.

    Args:
        work: does the rollouts of a slice, without the interpreter's lock.
        count: of rollouts.
    """
    shares = min(count, SHARES_PER_CORE * cores()) if cores() > 1 else 1
    parts = [slice(count * share // shares, count * (share + 1) // shares) for share in range(shares)]
    if shares == 1:
        work(parts[0])
    else:
        list(_threads().map(work, parts))


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(cores(), thread_name_prefix="rollouts")


def _cached(loop: Any) -> Iterator[Path]:
    """The files of a loop in Numba's cache."""
    yield from Path(loop.stats.cache_path).glob(f"*{loop.__qualname__}*.nb?")


def fingerprint(dynamics: Dynamics | MujocoDynamics) -> str:
    """A name for the processor and the version of all source files that a task's loops are made of.

    Numba knows a cached function by its own file alone, and keeps one index for all processors.
    """
    functions = (dynamics.reset, dynamics.observe, *dynamics.helpers)
    files = {inspect.getsourcefile(function) for function in (*functions, draws.uniform, Dynamics)}
    digest = hashlib.blake2b(digest_size=8)
    digest.update(f"{binding.get_host_cpu_name()} {os.environ.get('NUMBA_CPU_NAME')}".encode())
    for file in (*sorted(map(str, files)), *sorted(map(str, Path(__file__).parent.glob("*.py")))):
        digest.update(Path(file).read_bytes())
    return digest.hexdigest()
