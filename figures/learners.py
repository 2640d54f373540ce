"""Reinforcement learning beside a condition's own methods: on each task the algorithm that did best."""

from __future__ import annotations

from typing import Final, NamedTuple

import pandas as pd

from figures.conditions import BASELINE, learners_in, learners_of
from figures.names import TASKS, name, ordered

BEST: Final = "sb3-best"
"""What the best algorithm of a task is called, whichever it is."""


class Beside(NamedTuple):
    """A condition's rows with those of the best algorithms, which algorithms these are, and whose they are."""

    rows: pd.DataFrame
    remark: str
    source: str | None

    def on_every_task(self) -> Beside:
        """The same without reinforcement learning if it lacks a task that all others have: it takes none from them."""
        learns = self.rows["variant"] == BEST
        methods = self.rows[~learns].groupby("env")["variant"].nunique()
        common = methods.index[methods == self.rows.loc[~learns, "variant"].nunique()]
        lacking = ordered(set(common) - set(self.rows.loc[learns, "env"]), TASKS)
        if not learns.any() or not lacking:
            return self
        remark = f"Without reinforcement learning, which has no runs on {', '.join(map(name, lacking))}."
        return Beside(self.rows[~learns], remark, None)


def with_best_learners(frame: pd.DataFrame, condition: str, column: str) -> Beside:
    """Put the runs of reinforcement learning beside a condition's own, as one method called `sb3-best`.

    Args:
        frame: runs or iterations of all conditions, with columns condition, env, variant and run.
        condition: of nothing but reinforcement learning has all its algorithms, as they are.
        column: of the returns that choose the best algorithm, averaged within runs and then over them.

    Returns:
        Rows under the condition's name. It borrows only algorithms and tasks that it has no runs of, and no task that
        it has nothing on.
    """
    here = frame[frame["condition"] == condition]
    learners = learners_in(frame)
    if condition in learners:
        return Beside(here, "", None)
    other = learners_of(condition, learners)
    pool = _joined(here, frame[frame["condition"] == other]).assign(condition=condition)
    learns = pool["variant"].astype(str).str.startswith(BASELINE)
    chosen = _best(pool[learns], column)
    stands_out = pd.Series([cell in chosen for cell in zip(pool["env"], pool["variant"], strict=True)], dtype=bool)
    rows = pool[~learns | stands_out].assign(variant=pool["variant"].where(~learns, BEST))
    of_task = dict(chosen)
    best = ", ".join(f"{name(of_task[env])} on {name(env)}" for env in ordered(of_task, TASKS))
    return Beside(rows, f"Best of the reinforcement learners by mean return: {best}." if best else "", other)


def _joined(here: pd.DataFrame, borrowed: pd.DataFrame) -> pd.DataFrame:
    own = set(zip(here["env"], here["variant"], strict=True))
    tasks = {env for env, _ in own}
    kept = [cell[0] in tasks and cell not in own for cell in zip(borrowed["env"], borrowed["variant"], strict=True)]
    return pd.concat([here, borrowed[kept]], ignore_index=True)


def _best(learners: pd.DataFrame, column: str) -> set[tuple[str, str]]:
    runs = learners.groupby(["env", "variant", "run"])[column].mean()
    means = runs.groupby(["env", "variant"]).mean().dropna().reset_index()
    best = means.sort_values([column, "variant"], ascending=[False, True]).drop_duplicates("env")
    return set(zip(best["env"], best["variant"], strict=True))
