"""`collector.rollouts.evaluate` against a plain loop over `gymnasium.make`, as it is usually written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import gymnasium
import numpy as np

from benchmarks.timing import best_times
from benchmarks.workloads import Workload, workloads
from collector.policy import Params
from collector.rollouts.evaluate import evaluate
from collector.tasks import LinearSpace, Task

TARGETS = {
    ("cartpole", "long"): 200, ("mountaincar", "long"): 200, ("mountaincarcontinuous", "long"): 200,
    ("pong", "long"): 200, ("frozenlake", "random"): 40, ("maze", "random"): 40, ("nim", "random"): 40,
    ("cartpole", "random"): 40, ("inverteddoublependulum", "long"): 3, ("invertedpendulum", "long"): 3,
    ("swimmer", "random"): 3,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Row:
    """One workload: mean steps of a rollout; seconds of one evaluation of 20 rollouts, ours and Gymnasium's."""

    task: str
    kind: str
    steps: float
    ours: float
    gymnasium: float
    target: float | None

    @property
    def ratio(self) -> float:
        """How many times as fast as the Gymnasium loop."""
        return self.gymnasium / self.ours

    def line(self) -> str:
        """The row of the printed table."""
        cells = [
            self.task, self.kind, f"{self.steps:.0f}", _milliseconds(self.ours), _milliseconds(self.gymnasium),
            f"{self.ratio:.1f}", _goal(self.target),
        ]  # fmt: skip
        return f"| {' | '.join(cells)} |"


COLUMNS = ("task", "policies", "mean steps", "ours (ms)", "Gymnasium (ms)", "ratio", "goal")
HEAD = f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}"


def rows() -> Iterator[Row]:
    """One row a workload."""
    for workload in workloads():
        task = workload.task
        environment = gymnasium.make(task.gym_id, **task.make_options)
        lengths = [length for params, seeds in workload.policies for length in evaluate(task, params, seeds).lengths]
        ours, plain = best_times(partial(_ours, workload), partial(_plain, environment, workload))
        environment.close()
        count = len(workload.policies)
        yield Row(
            task=task.id,
            kind=workload.kind,
            steps=float(np.mean(lengths)),
            ours=ours / count,
            gymnasium=plain / count,
            target=TARGETS.get((task.id, workload.kind)),
        )


def results() -> list[dict[str, object]]:
    """The rows, printed one by one, as they are kept."""
    print(HEAD)
    kept: list[dict[str, object]] = []
    for row in rows():
        print(row.line(), flush=True)
        kept.append(asdict(row) | {"ratio": row.ratio})
    return kept


def _ours(workload: Workload) -> None:
    for params, seeds in workload.policies:
        evaluate(workload.task, params, seeds)


def _plain(environment: gymnasium.Env, workload: Workload) -> None:
    for params, seeds in workload.policies:
        plain(environment, workload.task, params, seeds)


def plain(environment: Any, task: Task, params: Params, seeds: list[int]) -> list[float]:
    """Returns of one rollout per seed."""
    space = task.space
    if isinstance(space, LinearSpace):
        width = len(space.actions)
        weights, bias = np.reshape(params[:-width], (-1, width)), np.array(params[-width:])
    returns = []
    for seed in seeds:
        observation, _ = environment.reset(seed=seed)
        total, done = 0.0, False
        while not done:
            if not isinstance(space, LinearSpace):
                action = int(params[observation])
            elif space.discrete:
                action = int(np.argmax(observation @ weights + bias))
            else:
                bounds = environment.action_space
                action = np.clip(observation @ weights + bias, bounds.low, bounds.high)
            observation, reward, terminated, truncated, _ = environment.step(action)
            total += float(reward)
            done = terminated or truncated
        returns.append(total)
    return returns


def _milliseconds(seconds: float) -> str:
    return f"{1000 * seconds:.3g}"


def _goal(target: float | None) -> str:
    return "" if target is None else f"≥ {target:.0f}"


def main() -> None:
    """Print the rows."""
    results()


if __name__ == "__main__":
    main()
