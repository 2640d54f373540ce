"""One unit of an experiment: what was shown in each call, and what was answered."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from audit.interventions.answers import AnswerOf, ShownLine, read_answers, report_of
from audit.interventions.arms import ARMS
from audit.interventions.experiment import Answered
from audit.interventions.making import tasks_of
from audit.interventions.outcomes import changed_of, read_experiment
from audit.interventions.plan import TEXTS, Call, Plan, kind_of, read_plan
from audit.output.errors import UsageError
from audit.output.escaping import visible
from audit.output.rows import Table

COLUMNS: Final = (*("arm", "replicate", "shown", "driver", "mentioned", "changed", "edit", "gain", "error", "answer"),)
LONGEST: Final = 600
"""Characters of an answer that people get to see, unless they ask for all."""


def intervene_show(plan: str | Path, unit: str | int, *, full: bool = False, cache: bool = True) -> Table:
    """The answers to one prompt of an experiment, arm by arm.

    Args:
        plan: the plan's file.
        unit: its number in the plan, from 1, or `ENV/VARIANT/RUN/ITERATION`.
        full: print answers in full.
        cache: whether returns of policies that an earlier report ran may be used, and new ones kept.

    Returns:
        Answers, a row each, in the order of arms.

    Raises:
        UsageError: no such unit.
        AuditError: the plan was changed, or has no answers.
    """
    path = Path(plan)
    if kind_of(path) == TEXTS:
        from audit.interventions.texts.doors import text_show

        return text_show(path, str(unit), full=full)
    read = read_plan(path)
    place = _place(read, str(unit))
    answers, problems = read_answers(read, path)
    rows = [_row(read, *each) for each in answers_to(read, path, place, answers, cache=cache)]

    def print_for_people(_: Table) -> None:
        sys.stdout.write("\n".join(_lines(read, place, rows, full=full)) + "\n")

    return Table(columns=COLUMNS, rows=rows, notes=report_of(problems), plain=True, print_for_people=print_for_people)


def answers_to(
    plan: Plan, path: Path, place: int, answers: Mapping[Call, AnswerOf], *, cache: bool
) -> list[tuple[AnswerOf, Answered, list[int]]]:
    """The answers to one unit, in the order of arms.

    Args:
        plan: the plan.
        path: its path.
        place: index of the unit.
        answers: all of the plan, by call.
        cache: whether returns of policies that an earlier report ran may be used, and new ones kept.

    Returns:
        Of each what is written, what is read off it, and the indices of the parameters that it changes.

    Raises:
        AuditError: a task is not known here.
    """
    mine = {call: answer for call, answer in answers.items() if call.unit == place}
    tasks = tasks_of(plan, path)
    found = read_experiment(plan, mine, tasks, cache=cache).answers
    by_call = {Call(each.unit, each.arm, each.replicate): each for each in found}
    policy, space = plan.units[place].params, tasks[plan.units[place].cluster].space
    return [
        (mine[call], by_call[call], changed_of(space, policy, mine[call].params or policy))
        for call in sorted(mine, key=lambda call: (list(plan.arms).index(call.arm), call.replicate))
    ]


def _place(plan: Plan, unit: str) -> int:
    if unit.isdecimal() and 1 <= int(unit) <= len(plan.units):
        return int(unit) - 1
    found = [place for place, each in enumerate(plan.units) if unit in {str(each), f"{each.condition}/{each}"}]
    if len(found) == 1:
        return found[0]
    if found:
        names = ", ".join(f"{plan.units[place].condition}/{unit}" for place in found)
        raise UsageError(f"unit {unit} exists under several conditions: {names}")
    first = ", ".join(str(each) for each in plan.units[:3])
    raise UsageError(f"no unit '{unit}'; give a number from 1 to {len(plan.units)}, or one of {first}, …")


def _row(plan: Plan, answer: AnswerOf, read: Answered, changed: Sequence[int]) -> dict[str, Any]:
    before = plan.units[read.unit].params
    after = answer.params or before
    return {
        "arm": answer.arm,
        "replicate": answer.replicate,
        "shown": " | ".join(_shown(each) for each in answer.shown) or "no rollout",
        "driver": read.driver,
        "mentioned": ", ".join(sorted(read.mentioned)),
        "changed": read.changed,
        "edit": ", ".join(f"params[{index}] {before[index]:g} → {after[index]:g}" for index in changed),
        "gain": None if math.isnan(read.gain) else read.gain,
        "error": answer.error,
        "answer": visible(answer.completion),
    }


def _shown(each: ShownLine) -> str:
    """A rollout as it was shown, and what it was in truth."""
    value = "return hidden" if each.return_ is None else f"{each.return_:g}"
    return f"{each.name} {each.rollout}, {value} [{each.content}]"


def _lines(plan: Plan, place: int, rows: Sequence[Mapping[str, Any]], *, full: bool) -> Iterator[str]:
    unit = plan.units[place]
    named = ", ".join(
        f"{role} {returned:g} (rollout {rollout})"
        for role, returned, rollout in zip(("worst", "median", "best"), unit.returns, unit.rollouts, strict=True)
    )
    yield f"Unit {place + 1}: {unit.condition} {unit}: {named}"
    arm = None
    for row in rows:
        if row["arm"] != arm:
            arm = row["arm"]
            yield ""
            yield f"{arm}: {ARMS[arm].meaning}"
        gain = "" if row["gain"] is None else f", gain {row['gain']:.3g}"
        yield f"  {row['replicate'] + 1}. shown: {row['shown']}"
        yield f"     justified by: {row['driver'] or 'no single rollout'}; speaks of: {row['mentioned'] or 'none'}"
        yield f"     {row['error'] or row['edit'] or 'nothing changed'}{gain}"
        text = row["answer"] if full or len(row["answer"]) <= LONGEST else f"{row['answer'][:LONGEST]} […]"
        yield from (f"       {line}" for line in text.splitlines())
