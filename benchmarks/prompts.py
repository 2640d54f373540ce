"""Writing a long rollout for a prompt and reading the prompt back, against rolling out 20 of its kind.

    python -m benchmarks.prompts

The rollout is about as long as the task lets one be, and is written whole, in either of the two forms that prompts
have. Reading is the simulated critic's, which is given nothing but the text.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import partial

from benchmarks.timing import best_times
from benchmarks.workloads import Workload, workloads
from collector import evidence
from collector.evidence import ShownRollout
from collector.llm.simulated.reading import read
from collector.prompts import Prompts, Review
from collector.rollouts.evaluate import Trajectory, evaluate, replay

GOAL = 0.005
"""Seconds that writing and reading may take together."""


@dataclass(frozen=True, slots=True)
class Row:
    """One task and form: steps of the rollout; seconds for writing and for reading it, and for 20 rollouts."""

    task: str
    form: str
    steps: int
    write: float
    read: float
    rollouts: float

    def line(self) -> str:
        """The row of the printed table."""
        times = (f"{1000 * seconds:.2f}" for seconds in (self.write, self.read, self.write + self.read, self.rollouts))
        return f"| {self.task} | {self.form} | {self.steps} | {' | '.join(times)} |"


HEAD = """\
| task | form | steps | write (ms) | read (ms) | both (goal ≤ 5) | 20 rollouts (ms) |
|---|---|---|---|---|---|---|"""


def rows() -> Iterator[Row]:
    """Two rows a task: for the form of one line, and for that of a line a step."""
    longest: dict[str, Workload] = {}
    for workload in workloads():
        longest.setdefault(workload.task.id, workload)  # the long one comes first where there are two
    for workload in longest.values():
        task, (params, seeds) = workload.task, workload.policies[0]
        trajectory = max((replay(task, params, seed) for seed in seeds), key=lambda rollout: rollout.length)
        for form, write in (("compact", evidence.compact), ("step by step", evidence.step_by_step)):
            prompt = _prompt(workload, trajectory, form, write(trajectory))
            writing, reading, rolling = best_times(
                partial(write, trajectory), partial(read, prompt), partial(evaluate, task, params, seeds)
            )
            yield Row(task.id, form, trajectory.length, writing, reading, rolling)


def _prompt(workload: Workload, trajectory: Trajectory, form: str, text: str) -> str:
    shown = ShownRollout("median", 0, sum(trajectory.rewards), trajectory.length, text)
    review = Review(
        params=workload.policies[0][0],
        mean_return=0.0,
        rollouts=20,
        kind="three" if form == "compact" else "representative",
        shown=[shown],
        statistics=None,
        tau_c=None,
    )
    return Prompts(workload.task).critic([], review)


def results() -> list[dict[str, object]]:
    """The rows, printed one by one, as they are kept."""
    print(HEAD)
    kept = []
    for row in rows():
        print(row.line(), flush=True)
        kept.append(asdict(row))
    return kept


def main() -> None:
    """Print the rows."""
    results()


if __name__ == "__main__":
    main()
