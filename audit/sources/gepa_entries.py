"""An entry of GEPA's `run_log.json`: an iteration, with one proposal or several."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from audit.output.escaping import excerpt
from audit.sources.numbers import number_of, plain
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

    Much is in an entry twice, so that an entry that was damaged contradicts itself.

    Raises:
        LogError: it holds something other than GEPA writes.
    """
    if not isinstance(value, dict):
        raise LogError("the entry is not an object")
    iteration = index(value.get("i"), "i")
    tasks, accepted = _tasks(value), _accepted(value)
    merged = [] if tasks else _merged(value)
    if len(accepted) > (sum(task.is_scored for task in tasks) if tasks else len(merged) // 2):
        raise LogError("the entry adds more candidates than it has proposals with scores")
    proposed, anchor = value.get("proposed_candidate"), value.get("iteration_id")
    if "proposed_candidate" in value and components(proposed) is None:
        raise LogError(f"proposed_candidate is not an object of texts: {excerpt(proposed)}")
    if "iteration_id" in value and not isinstance(anchor, str):
        raise LogError(f"iteration_id is not a text: {excerpt(anchor)}")
    return Entry(iteration, tasks, accepted, components(proposed), anchor, merged)


def _tasks(value: dict[str, Any]) -> list[Task]:
    if "tasks" in value:
        tasks = value["tasks"]
        if not isinstance(tasks, list) or not tasks or not all(isinstance(task, dict) for task in tasks):
            raise LogError("tasks is not a list of objects")
        if "n_tasks" in value and value["n_tasks"] != len(tasks):
            raise LogError("tasks has another length than n_tasks states")
        read = [_task(task, is_whole=True) for task in tasks]
        _check_repeated(value, read)
        return read
    if "n_tasks" in value:
        raise LogError("the entry has n_tasks and no tasks")
    if "selected_program_candidate" in value:
        return [_task({**value, "parent_idx": value["selected_program_candidate"]}, is_whole=False)]
    if not any(name in value for name in ("merged_entities", "merged", "invoked_merge")):
        raise LogError("the entry holds neither a proposal nor a merge")
    return []


def _check_repeated(value: dict[str, Any], tasks: Sequence[Task]) -> None:
    """Compare what an entry repeats of its first tasks; arrays are printed rounded, and are passed over."""
    scored = next((task for task in tasks if task.is_scored), Task(0, [], [], []))
    repeated: list[tuple[str, Callable[[Any], object], object]] = [
        ("selected_program_candidate", lambda each: index(each, "selected_program_candidate"), tasks[0].parent),
        ("subsample_ids", _ids, tasks[0].ids),
        ("subsample_scores", _scores, scored.before),
        ("new_subsample_scores", _scores, scored.after),
    ]
    for name, read, expected in repeated:
        is_array = isinstance(value.get(name), str) and "[" in value[name]
        if name in value and not is_array and read(value[name]) != expected:
            raise LogError(f"{name} is not that of the first task")


def _accepted(value: dict[str, Any]) -> list[int]:
    accepted = value.get("new_program_indices", [])
    if not isinstance(accepted, list):
        raise LogError("new_program_indices is not a list")
    if "new_program_idx" in value:
        last = value["new_program_idx"]
        accepted = accepted or [last]
        if accepted[-1] != last:
            raise LogError(f"new_program_idx is not the last of new_program_indices: {excerpt(last)}")
    return [index(each, "new_program_idx") for each in accepted]


def _merged(value: dict[str, Any]) -> list[int]:
    """The two candidates of a merge; their common ancestor comes third."""
    merged = value.get("merged_entities", [])
    if not isinstance(merged, list) or len(merged) not in (0, 3):
        raise LogError(f"merged_entities is not a list of three candidates: {excerpt(merged)}")
    read = [index(each, "merged_entities") for each in merged]
    if read and (read[2] >= min(read[:2]) or read[0] == read[1]):
        raise LogError(f"merged_entities are not two candidates and their ancestor: {excerpt(merged)}")
    return read[:2]


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


def _task(value: dict[str, Any], *, is_whole: bool) -> Task:
    """Read a task; one of a release that knows tasks has the scores of both candidates, or none."""
    ids = _ids(value.get("subsample_ids"))
    before, after = _scores(value.get("subsample_scores", [])), _scores(value.get("new_subsample_scores", []))
    lengths = {len(ids), len(before), len(after)}
    if len(lengths) > 1 and (after or (before and (is_whole or len(before) != len(ids)))):
        scores = f"{len(before)} scores before and {len(after)} after"
        raise LogError(f"{len(ids)} examples have {scores}, so it is unknown whose they are")
    return Task(index(value.get("parent_idx"), "parent_idx"), ids, before if after else [], after)


def _scores(value: object) -> list[float]:
    scores = plain(value)
    if not isinstance(scores, list):
        raise LogError(f"the scores are not a list: {excerpt(value)}")
    return [number(each) for each in scores]


def _ids(value: object) -> list[str]:
    ids = plain(value) if isinstance(value, str) else value
    if not isinstance(ids, list):
        raise LogError(f"subsample_ids is not a list: {excerpt(value)}")
    read = [_id(each) for each in ids]
    if len({type(each) for each in ids}) > 1:
        raise LogError(f"subsample_ids holds ids of several types: {excerpt(value)}")
    return read


def _id(value: object) -> str:
    """An example's id as text; a loader of examples may number or name them, or have tuples of both."""
    if isinstance(value, str):
        whole = number_of(value) if value.endswith(")") else None
        return str(int(whole)) if whole is not None and whole.is_integer() else value
    if isinstance(value, float) and value.is_integer():  # of an array
        value = int(value)
    return json.dumps(value) if isinstance(value, list) and value else str(index(value, "an id of an example"))
