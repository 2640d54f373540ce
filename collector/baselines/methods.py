"""The baselines as data, beside the nine methods of a language model."""

from __future__ import annotations

from typing import Final, Literal

from collector.budget import ROLLOUTS
from collector.methods import Method
from collector.records import Commits, Count, FirstCall
from collector.tasks import LinearSpace, Task

EPISODES: Final = 4000
"""Episodes in a run, for training and evaluation together."""
ITERATIONS: Final = EPISODES // (1 + ROLLOUTS)
"""Iterations in a run: one training episode and its evaluation each."""
ALL: Final = "sb3-all"
"""The name of the group of all baselines that fit a task."""

Actions = Literal["discrete", "continuous"]


class Baseline(Method, frozen=True, kw_only=True):
    """A deep-RL algorithm: it proposes no parameters and asks no model.

    Attributes:
        algorithm: the name of its class.
        package: the module that has the class.
        needs: the only kind of actions that it can choose, if it is limited to one.
    """

    algorithm: str
    package: str = "stable_baselines3"
    needs: Actions | None = None
    first: FirstCall | None = None
    commits: Commits = "first"
    training_rollouts: Count = 1

    @property
    def calls(self) -> int:
        """No model is called."""
        return 0

    @property
    def iterations(self) -> int:
        """Iterations of a run with the budget of episodes."""
        return ITERATIONS

    def fits(self, task: Task) -> bool:
        """Whether it can learn the task."""
        return self.needs in {None, actions(task)}


BASELINES: dict[str, Baseline] = {
    baseline.id: baseline
    for baseline in (
        Baseline(id="sb3-a2c", algorithm="A2C"),
        Baseline(id="sb3-ppo", algorithm="PPO"),
        Baseline(id="sb3-trpo", algorithm="TRPO", package="sb3_contrib"),
        Baseline(id="sb3-dqn", algorithm="DQN", needs="discrete"),
        Baseline(id="sb3-sac", algorithm="SAC", needs="continuous"),
        Baseline(id="sb3-td3", algorithm="TD3", needs="continuous"),
        Baseline(id="sb3-ddpg", algorithm="DDPG", needs="continuous"),
    )
}


def actions(task: Task) -> Actions:
    """The kind of actions that a task has."""
    return "continuous" if isinstance(task.space, LinearSpace) and not task.space.discrete else "discrete"


def fitting(task: Task) -> list[Baseline]:
    """The baselines that can learn a task."""
    return [baseline for baseline in BASELINES.values() if baseline.fits(task)]
