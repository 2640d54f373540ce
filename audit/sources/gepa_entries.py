"""An entry of GEPA's `run_log.json`: an iteration, with one proposal or several."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import msgspec

from audit.sources.tool_runs import LogError, index, number


class Task(msgspec.Struct, array_like=True):
    """A candidate and a minibatch: what one proposal is made from.

    Attributes:
        parent: the candidate's index in `candidates.json`.
        ids: the minibatch, in the order in which it is shown.
        before: the parent's scores on it; none where nothing was proposed.
        after: the proposal's.
    """

    parent: int
    ids: list[str]
    before: list[float]
    after: list[float]

    @property
    def is_scored(self) -> bool:
        """Whether there was a proposal."""
        return bool(self.after)

    @property
    def gain(self) -> float:
        """How much higher the proposal's sum of scores is, which is what GEPA compares."""
        return sum(self.after) - sum(self.before)


class Entry(msgspec.Struct, array_like=True):
    """An iteration.

    Attributes:
        iteration: from 0.
        tasks: one per proposal that was planned; none in a merge, for which nothing is shown to a model.
        accepted: indices of the candidates that it added.
        proposed: the text of its first proposal, where the agent state is written.
        anchor: the name of its folder in `iterations`.
        merged: the two candidates of a merge.
    """

    iteration: int
    tasks: list[Task]
    accepted: list[int]
    proposed: dict[str, str] | None
    anchor: str | None
    merged: list[int] = []


def read_entry(value: Any) -> Entry:
    """Read an entry; a release that knows no tasks has one per iteration.

    Raises:
        LogError: it holds something other than GEPA writes.
    """
    if not isinstance(value, dict):
        raise LogError("the entry is not an object")
    iteration = index(value.get("i"), "i")
    tasks = value.get("tasks")
    if tasks is None:
        is_merge = "selected_program_candidate" not in value
        tasks = [] if is_merge else [{**value, "parent_idx": value["selected_program_candidate"]}]
    if not isinstance(tasks, list) or not all(isinstance(task, dict) for task in tasks):
        raise LogError("tasks is not a list of objects")
    accepted = value.get("new_program_indices", [])
    if "new_program_idx" in value and not accepted:
        accepted = [value["new_program_idx"]]
    if not isinstance(accepted, list):
        raise LogError("new_program_indices is not a list")
    anchor = value.get("iteration_id")
    return Entry(
        iteration,
        [_task(task) for task in tasks],
        [index(each, "new_program_idx") for each in accepted],
        components(value.get("proposed_candidate")),
        anchor if isinstance(anchor, str) else None,
        _merged(value.get("merged_entities")),
    )


def _merged(value: object) -> list[int]:
    """The two candidates of a merge; their common ancestor comes third."""
    pair = value[:2] if isinstance(value, list) else []
    return [index(each, "merged_entities") for each in pair] if len(pair) == 2 else []


def components(value: object) -> dict[str, str] | None:
    """A candidate's texts by component; None where it is anything else."""
    if isinstance(value, dict) and value and all(isinstance(text, str) for text in value.values()):
        return value
    return None


def winners(tasks: Sequence[Task], accepted: int) -> list[Task] | None:
    """Which proposals of an iteration became candidates, in the order of the log; None where it does not show.

    The log states how many. They are those with higher sums of scores, or those with no lower ones under the rule that
    keeps equals, if there are as many of these; a strategy that keeps the best of them leaves it open.
    """
    if len(tasks) == 1:
        return list(tasks) if accepted else []
    for kept in ([task for task in tasks if task.gain > 0], [task for task in tasks if task.gain >= 0]):
        if len(kept) == accepted:
            return kept
    return [] if accepted == 0 else None


def _task(value: dict[str, Any]) -> Task:
    ids = value.get("subsample_ids")
    if not isinstance(ids, list):
        raise LogError("subsample_ids is not a list")
    before, after = _scores(value, "subsample_scores"), _scores(value, "new_subsample_scores")
    if not before or not after:
        before = after = []
    elif not len(before) == len(after) == len(ids):
        scores = f"{len(before)} scores before and {len(after)} after"
        raise LogError(f"{len(ids)} examples have {scores}, so it is unknown whose they are")
    return Task(index(value.get("parent_idx"), "parent_idx"), [_id(each) for each in ids], before, after)


def _scores(value: dict[str, Any], name: str) -> list[float]:
    scores = value.get(name, [])
    if not isinstance(scores, list):
        raise LogError(f"{name} is not a list")
    return [number(each) for each in scores]


def _id(value: object) -> str:
    if type(value) is int:
        return str(value)
    return value if isinstance(value, str) else json.dumps(value)
