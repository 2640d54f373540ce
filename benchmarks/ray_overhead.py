"""What Ray on one machine costs over local worker processes: to start, and in batches of so much work a call.

python -m benchmarks.ray_overhead
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Final

from benchmarks.timing import Comparison, compare
from collector.policy import Params
from collector.rollouts.evaluate import evaluate
from collector.rollouts.executors import Executor, executor
from collector.system.cores import cores
from collector.tasks import TASKS, Task

TASK: Final = TASKS["cartpole"]
SEEDS: Final = range(20)
GRAINS: Final = (0.01, 0.05, 0.2)
"""Seconds of a call."""
SECONDS: Final = 2.0
"""Work of a measurement, on each worker."""


def work(task: Task, params: Params, seeds: Sequence[int], times: int) -> int:
    """Evaluate a policy so many times, on one core whatever the task."""
    return sum(evaluate(task, params, seeds).lengths[0] for _ in range(times))


def overheads(*, works: bool) -> list[Comparison]:
    """Batches of each grain, by Ray and by local workers in turns: `ours` is Ray's time.

    Args:
        works: calls work, so that what Ray's own processes take counts as well; else they sleep, so that other load on
            the machine hardly matters. Work is compared on an idle machine only: Ray runs in a session of its own,
            to which Linux gives a share of busy cores of its own.
    """
    params = [0.1] * TASK.space.size
    work(TASK, params, SEEDS, 10)
    began = time.perf_counter()
    work(TASK, params, SEEDS, 2000)
    one = (time.perf_counter() - began) / 2000

    async def batches(workers: Executor, grain: float) -> None:
        calls = round(SECONDS / grain) * workers.size
        call = (work, TASK, params, SEEDS, round(grain / one)) if works else (time.sleep, grain)
        await asyncio.gather(*(workers(*call) for _ in range(calls)))

    with executor(str(cores())) as here, executor("ray", tasks=[TASK]) as ray:
        for each in (here, ray):
            asyncio.run(batches(each, 0.2))
        return [
            compare(
                f"{1000 * grain:.0f} ms of {'work' if works else 'sleep'} a call",
                lambda grain=grain: asyncio.run(batches(ray, grain)),
                lambda grain=grain: asyncio.run(batches(here, grain)),
            )
            for grain in GRAINS
        ]


def starts() -> Comparison:
    """To start all workers and have each answer a call, Ray's after its canary; compiled loops are kept already."""

    def start(workers: str) -> None:
        with executor(workers, tasks=[TASK]) as started:
            asyncio.run(first(started))

    async def first(workers: Executor) -> None:
        await asyncio.gather(*(workers(work, TASK, [0.1] * TASK.space.size, SEEDS, 1) for _ in range(workers.size)))

    return compare("start, first call, end", lambda: start("ray"), lambda: start(str(cores())))


def main() -> None:
    """Print both tables."""
    print("| what | local (s) | Ray (s) | Ray over local |\n|---|---|---|---|")
    for row in [*overheads(works=False), *overheads(works=True)]:
        print(
            f"| {row.name} | {row.alternative:.2f} | {row.ours:.2f} | {100 * (row.ours / row.alternative - 1):+.1f}% |"
        )
    row = starts()
    print(f"| {row.name} | {row.alternative:.2f} | {row.ours:.2f} | {row.ours - row.alternative:+.1f} s |")


if __name__ == "__main__":
    from benchmarks import ray_overhead  # noqa: PLW0406 - the name by which workers import it

    ray_overhead.main()
