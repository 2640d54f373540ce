"""One recorded rollout, run again step by step."""

from __future__ import annotations

import csv
import io
import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

from audit.options import Data, Selection, options_of
from audit.output.errors import AuditError, UsageError
from audit.output.formats import as_json, rounded
from audit.output.notes import print_notes
from audit.records.lines import RecordedRun, Records, find_run, open_records
from audit.rerun.rollouts import (
    NotRerunnableError,
    Outcome,
    Rollout,
    load_tasks,
    rollouts_of,
    task_of,
    version_note,
    what_is_missing,
)
from audit.sources.iterations import Candidate, Iteration

if TYPE_CHECKING:
    import pandas as pd

    from collector.rollouts.evaluate import Trajectory
    from collector.tasks import Task


@dataclass(frozen=True, slots=True)
class Replay:
    """A rollout that was run again.

    Attributes:
        recorded_run, iteration, candidate: whose rollout it is; `candidate` is initial or revised.
        params: the parameter vector.
        recorded: the rollout as recorded.
        trajectory: its steps.
        observations: names of the observation's components.
        actions: names of the actions of a linear policy, none of a table.
        discrete: whether an action is one of several, rather than a number for each name.
    """

    recorded_run: RecordedRun
    iteration: int
    candidate: str
    params: Sequence[float]
    recorded: Rollout
    trajectory: Trajectory
    observations: tuple[str, ...]
    actions: tuple[str, ...]
    discrete: bool

    @property
    def outcome(self) -> Outcome:
        """Return, length and ending of the replay."""
        return outcome_of(self.trajectory)

    def difference(self) -> str | None:
        """How the replay differs from the record, and what may be the reason; None where it does not."""
        outcome, recorded = self.outcome, self.recorded
        if outcome.agrees(recorded):
            return None
        pairs = (
            ("return", recorded.return_, outcome.return_),
            ("length", recorded.length, outcome.length),
            ("ended", recorded.ended, outcome.ended),
        )
        texts = [f"{name} {a} recorded, {b} replayed" for name, a, b in pairs if a not in {None, b}]
        assert self.recorded_run.run is not None
        return f"the replay differs from the record: {'; '.join(texts)}; {version_note([self.recorded_run.run])}"

    def df(self) -> pd.DataFrame:
        """The steps as a data frame: number, observation, action, reward, and on the last one how it ended."""
        import pandas as pd

        columns, rows = self._rows()
        return pd.DataFrame(rows, columns=columns)

    def _rows(self) -> tuple[list[str], list[list[Any]]]:
        """Column names, and a row per step: its number from 0, observation, action, reward; `ended` on the last one."""
        steps = self.trajectory
        actions = ("action",) if self.discrete else self.actions
        columns = _distinct(["step", *self.observations, *actions, "reward", "ended"])
        rows = [
            [
                number,
                *_listed(observation),
                *_listed(action),
                reward,
                steps.ended if number == steps.length - 1 else None,
            ]
            for number, (observation, action, reward) in enumerate(
                zip(steps.observations[:-1], steps.actions, steps.rewards, strict=True)
            )
        ]
        return columns, rows

    def as_object(self) -> dict[str, Any]:
        """The replay with everything that is known of it, for JSON."""
        condition, env, variant, run = self.recorded_run.identity
        recorded, outcome, steps = self.recorded, self.outcome, self.trajectory
        return {
            "condition": condition,
            "env": env,
            "variant": variant,
            "run": run,
            "iteration": self.iteration,
            "candidate": self.candidate,
            "rollout": recorded.place,
            "seed": recorded.seed,
            "params": list(self.params),
            "return": outcome.return_,
            "length": outcome.length,
            "ended": outcome.ended,
            "recorded_return": recorded.return_,
            "recorded_length": recorded.length,
            "recorded_ended": recorded.ended,
            "agrees": outcome.agrees(recorded),
            "observation_names": list(self.observations),
            "action_names": list(self.actions),
            "steps": [
                {
                    "step": number,
                    "observation": plain_value(observation),
                    "action": plain_value(action),
                    "reward": reward,
                }
                for number, (observation, action, reward) in enumerate(
                    zip(steps.observations[:-1], steps.actions, steps.rewards, strict=True)
                )
            ],
            "last_observation": plain_value(steps.observations[-1]),
        }

    def as_text(self, output: str = "table") -> str:
        """The replay as a `table` to read, as `json`, one object, or as `csv`, a line per step."""
        if output == "table":
            return self._as_table()
        if output == "json":
            return as_json(self.as_object()) + "\n"
        columns, rows = self._rows()
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)
        return stream.getvalue()

    def _as_table(self) -> str:
        """The replay to read: the steps with few digits and names for actions, and how it ended."""
        condition, env, variant, run = self.recorded_run.identity
        columns, rows = self._rows()
        if self.discrete and self.actions:
            place = columns.index("action")
            rows = [[*row[:place], self.actions[row[place]], *row[place + 1 :]] for row in rows]
        outcome = self.outcome
        lines = [
            f"{env} {variant}, run {run}, iteration {self.iteration}, condition {condition}",
            f"{self.candidate} candidate, rollout {self.recorded.place}, seed {self.recorded.seed}",
            "",
            *_aligned(columns[:-1], [[rounded(value) for value in row[:-1]] for row in rows]),
            "",
            f"{outcome.ended} after {outcome.length} steps with return {outcome.return_}",
        ]
        return "\n".join(lines) + "\n"


def replay(
    data: Data,
    env: str,
    variant: str,
    run: int,
    iteration: int,
    rollout: int,
    *,
    revised: bool = False,
    condition: str | None = None,
    task_modules: Sequence[str | Path] = (),
) -> Replay:
    """Run one recorded rollout again, step by step.

    Args:
        data: records.
        env: task.
        variant: method.
        run: number of the run, from 1.
        iteration: from 0.
        rollout: index among the candidate's rollouts, from 0.
        revised: the revised candidate's rollout, not the initial one's.
        condition: needed where several conditions have such a run.
        task_modules: Python files with tasks of your own.

    Raises:
        UsageError: no such iteration or rollout, or a file of tasks that cannot be used.
        AuditError: no revised candidate, no seeds, an unknown task, or parameters that the task cannot be run with.
    """
    options = replace(
        options_of(data, Selection, {}),
        env=[env],
        variant=[variant],
        run=[run],
        condition=None if condition is None else [condition],
    )
    load_tasks([Path(path) for path in task_modules])
    with open_records(options.paths, judged=False) as records:
        try:
            options.choose(records)
            ids: dict[str, Any] = {"condition": None} | {column: value for column, [value] in options.filters()}
            recorded = find_run(records, **ids)
            task = task_of(recorded)
            found = iteration_of(records, recorded, iteration)
            role, candidate = "revised" if revised else "initial", found.revised if revised else found.initial
            if candidate is None:
                raise AuditError(f"iteration {iteration} has no revised candidate")
            one = _rollout(candidate, rollout)
            steps = _trajectory(task, candidate.params, one)
        except NotRerunnableError as error:
            raise AuditError(_cannot(str(error))) from None
        finally:
            print_notes([], records.problems)
    return Replay(recorded, iteration, role, candidate.params, one, steps, *names_of(task))


def outcome_of(steps: Trajectory) -> Outcome:
    """What a rollout gave; rewards are added one by one, as when they were recorded."""
    return Outcome(reduce(operator.add, steps.rewards, 0.0), steps.length, steps.ended)


def _aligned(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Lines of columns as wide as needed, numbers below headings with one word per line."""
    words = [column.split() for column in columns]
    height = max(map(len, words))
    headings = list(zip(*([""] * (height - len(column)) + column for column in words), strict=True))
    widths = [max(map(len, column)) for column in zip(*headings, *rows, strict=True)]
    rule = ["-" * width for width in widths]
    for row in (*headings, rule, *rows):
        yield "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def iteration_of(records: Records, recorded: RecordedRun, wanted: int) -> Iteration:
    """An iteration of a run.

    Raises:
        UsageError: the run has no such finished iteration.
    """
    # All of them, so that whatever is wrong with the run's records is named, as by every command.
    iterations = {iteration.iteration: iteration for iteration in records.iterations(recorded)}
    if wanted in iterations:
        return iterations[wanted]
    held = f"iterations up to {max(iterations)}" if iterations else "no finished one"
    raise UsageError(f"no iteration {wanted}: the run has {held}")


def _rollout(candidate: Candidate, index: int) -> Rollout:
    if candidate.returns and index >= len(candidate.returns):
        raise UsageError(f"no rollout {index}: the candidate has rollouts 0 to {len(candidate.returns) - 1}")
    if (missing := what_is_missing(candidate)) is not None:
        raise AuditError(_cannot(missing))
    return rollouts_of(candidate)[index]


def _trajectory(task: Task, params: Sequence[float], rollout: Rollout) -> Trajectory:
    from collector.rollouts.evaluate import replay

    try:
        return replay(task, params, rollout.seed)
    except Exception as error:  # an environment can raise anything on an invalid action
        raise AuditError(_cannot(f"{type(error).__name__}: {error}")) from error


def _cannot(reason: str) -> str:
    return f"the rollout cannot be run again: {reason}"


def names_of(task: Task) -> tuple[tuple[str, ...], tuple[str, ...], bool]:
    """Names of the observation's components and of the actions, and whether an action is one of several."""
    from collector.tasks import LinearSpace

    if isinstance(task.space, LinearSpace):
        return task.space.observations, task.space.actions, task.space.discrete
    return ("state",), (), True


def plain_value(value: Any) -> Any:
    """An observation or action as plain numbers and lists."""
    return value.tolist() if hasattr(value, "tolist") else value


def _listed(value: Any) -> list[Any]:
    plain = plain_value(value)
    return plain if isinstance(plain, list) else [plain]


def _distinct(names: Sequence[str]) -> list[str]:
    """Names that occur twice get their place as a number, so that no column hides another."""
    return [name if names.index(name) == number else f"{name} ({number})" for number, name in enumerate(names)]
