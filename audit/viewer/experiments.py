"""The experiments that a viewer was given: their plans and answers, read again when a file has changed."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from audit.interventions.answers import AnswerOf, read_answers
from audit.interventions.plan import Call, Plan, answers_file, read_plan
from audit.output.errors import AuditError, Problem
from audit.vocabulary.keys import RevisionKey

Mark = tuple[int, int] | None
"""When a file was written and its bytes; None where there is none."""


class Experiment(NamedTuple):
    """A plan and its answers so far.

    Attributes:
        path: of the plan.
        plan: the plan.
        answers: by call; none where nothing was asked yet.
        problems: lines of the file of answers that hold none.
    """

    path: Path
    plan: Plan
    answers: Mapping[Call, AnswerOf]
    problems: Sequence[Problem]


def experiment(plans: Sequence[Path], number: int) -> Experiment:
    """One of the plans.

    Args:
        plans: the viewer's.
        number: from 1.

    Raises:
        AuditError: there is no such plan, it was changed, or it or its answers cannot be read.
    """
    if not 1 <= number <= len(plans):
        raise AuditError(f"no plan {number}; there are {len(plans)}: name them with --plan FILE")
    path = plans[number - 1]
    return _read(path, _mark(path), _mark(answers_file(path)))


def units_of(plans: Sequence[Path], key: RevisionKey) -> list[dict[str, int]]:
    """The units that were made from a revision, each with the number of its plan; plans with problems have none."""
    found = []
    for number in range(1, len(plans) + 1):
        try:
            place = experiment(plans, number).plan.places().get(key)
        except AuditError:  # which the page of interventions reports
            continue
        if place is not None:
            found.append({"plan": number, "unit": place + 1})
    return found


def _mark(path: Path) -> Mark:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


@functools.lru_cache(maxsize=16)
def _read(path: Path, _plan: Mark, answered: Mark) -> Experiment:
    plan = read_plan(path)
    return Experiment(path, plan, *(({}, []) if answered is None else read_answers(plan, path)))
