"""Experiments as their pages show them: plans, validity and effects, and the answers of all arms to one prompt."""

from __future__ import annotations

import math
import threading
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from audit.interventions.answers import AnswerOf, ShownLine, report_of
from audit.interventions.arms import ARMS
from audit.interventions.experiment import Answered
from audit.interventions.intervene import describe
from audit.interventions.outcomes import evidence_of
from audit.interventions.relations import finished
from audit.interventions.report import unfinished
from audit.interventions.show import answers_to
from audit.interventions.showing import ROLES
from audit.models.catalog import schema
from audit.output.errors import AuditError
from audit.output.escaping import in_line, visible
from audit.output.notes import simulated
from audit.references import resolve
from audit.references.sentences import leading
from audit.viewer.experiments import experiment
from audit.viewer.revision import mention_of, segments

if TYPE_CHECKING:
    from collections.abc import Sequence

    from audit.interventions.plan import Plan
    from audit.viewer.experiments import Experiment
    from audit.viewer.session import Session

FRESH: Final = "fresh "
"""What the content of a rollout on a fresh seed begins with."""
_TESTING: Final = threading.Lock()
"""Held while effects are tested, so that whoever asks for the same report meanwhile waits for it."""


def plans(session: Session) -> dict[str, Any]:
    """The plans to choose from; of one that cannot be read, why."""
    files = session.options.plans
    return {"plans": [_chosen(session, number, in_line(str(path))) for number, path in enumerate(files, start=1)]}


def _chosen(session: Session, number: int, file: str) -> dict[str, Any]:
    try:
        _, read, answers, _ = experiment(session.options.plans, number)
    except AuditError as error:
        return {"number": number, "file": file, "problem": in_line(str(error))}
    return {"number": number, "file": file, "problem": None, **_size(read, len(answers))}


def _size(read: Plan, answers: int) -> dict[str, Any]:
    return {
        "sha256": read.sha256,
        "model": read.model,
        "backend": read.backend,
        "units": len(read.units),
        "calls": read.cost.calls,
        "answered": answers,
    }


def plan(session: Session, number: int) -> dict[str, Any]:
    """A plan: who is asked what, how far it is answered, and its units.

    Args:
        session: what is viewed.
        number: of the plan, from 1.

    Raises:
        AuditError: there is no such plan, or it cannot be read.
    """
    found = experiment(session.options.plans, number)
    path, read, answers, problems = found
    by_unit = Counter(call.unit for call in answers)
    return {
        "number": number,
        "file": in_line(str(path)),
        **_size(read, len(answers)),
        "caption": simulated([(read.model, read.backend)]),
        "preset": read.preset,
        "settings": {
            "seed": read.seed,
            "alpha": read.alpha,
            "permutations": read.permutations,
            "rollouts": read.rollouts,
            "written_by": read.version,
        },
        "description": list(describe(read)),
        "arms": [_arm(found, arm) for arm in read.arms],
        "unfinished": unfinished(read, path, len(answers)),
        "notes": report_of(list(problems)),
        "planned": sum(read.arms.values()),
        "rows": [
            {
                "unit": place + 1,
                **unit.key._asdict(),
                **dict(zip(ROLES, unit.returns, strict=True)),
                "answered": by_unit[place],
            }
            for place, unit in enumerate(read.units)
        ],
    }


def _arm(found: Experiment, arm: str) -> dict[str, Any]:
    mine = [answer for call, answer in found.answers.items() if call.arm == arm]
    return {
        "arm": arm,
        "meaning": ARMS[arm].meaning,
        "control": ARMS[arm].control,
        "replicates": found.plan.arms[arm],
        "planned": found.plan.arms[arm] * len(found.plan.units),
        "answered": len(mine),
        "unreadable": sum(answer.params is None for answer in mine),
    }


def report(session: Session, number: int) -> dict[str, Any]:
    """The report of a finished experiment, as `audit intervene report` prints it; tested once.

    Args:
        session: what is viewed.
        number: of the plan, from 1.

    Raises:
        AuditError: there is no such plan, it cannot be read, or calls have no answer yet.
    """
    path = experiment(session.options.plans, number).path
    with _TESTING:
        made = finished(path, cache=session.options.cache)
    described = schema()["intervention_effects"]["columns"]
    effects = [
        {**row, "sentence": made.sentence(effect)}
        for effect, row in zip(made.analysis.effects, made.rows(), strict=True)
    ]
    return {
        "setting": made.setting(),
        "sections": [{"title": title, "lines": lines} for title, lines in made.sections()],
        "problems": list(made.analysis.validity.problems),
        "effects": effects,
        "columns": [{"name": name, "meaning": described.get(name, "")} for name in effects[0]] if effects else [],
    }


def unit(session: Session, number: int, place: int) -> dict[str, Any]:
    """The answers to one prompt, arm by arm.

    Args:
        session: what is viewed.
        number: of the plan, from 1.
        place: of the unit in the plan, from 1.

    Raises:
        AuditError: there is no such plan or unit, or its task is not known here.
    """
    found = experiment(session.options.plans, number)
    path, read, answers, _ = found
    if not 1 <= place <= len(read.units):
        raise AuditError(f"no unit {place}; the plan has {len(read.units)}")
    asked = read.units[place - 1]
    by_arm: dict[str, list[dict[str, Any]]] = {arm: [] for arm in read.arms}
    for answer, answered, changed in answers_to(read, path, place - 1, answers, cache=session.options.cache):
        by_arm[answer.arm].append(_answer(answer, answered, changed, asked.params))
    return {
        "plan": number,
        "plans": len(session.options.plans),
        "unit": place,
        "units": len(read.units),
        "key": list(asked.key),
        "model": read.model,
        "is_recorded": session.table.row(asked.key) is not None,
        "shown": [
            {"role": role, "rollout": rollout, "return": value}
            for role, rollout, value in zip(ROLES, asked.rollouts, asked.returns, strict=True)
        ],
        "arms": [{**_arm(found, arm), "answers": of_arm} for arm, of_arm in by_arm.items()],
    }


def _answer(answer: AnswerOf, read: Answered, changed: Sequence[int], before: Sequence[float]) -> dict[str, Any]:
    """An answer; its mentions and its driver are in true roles, whatever the prompt called the rollouts."""
    contents, evidence = evidence_of(answer.shown)
    roles = {label: _role(content) for label, content in contents.items()}
    mentions = [
        replace(mention, labels=tuple(roles.get(label, label) for label in mention.labels))
        for mention in resolve(answer.completion, evidence)
    ]
    shown = [_shown(each) for each in answer.shown]
    return {
        "replicate": answer.replicate + 1,
        "text": False,
        "shown": shown,
        "mentions": [mention_of(each, shown) for each in mentions],
        "answer": segments(answer.completion, mentions, range(*leading(answer.completion, mentions))),
        "driver": read.driver and _role(read.driver),
        "edits": [
            {"index": index, "before": before[index], "after": (answer.params or before)[index]} for index in changed
        ],
        "gain": None if math.isnan(read.gain) else read.gain,
        "harmful": read.harmful,
        "error": answer.error and in_line(answer.error),
        "thinking": answer.thinking and visible(answer.thinking),
    }


def _role(content: str) -> str:
    role = content.removeprefix(FRESH)
    return role if role in ROLES else "other"


def _shown(each: ShownLine) -> dict[str, Any]:
    """A rollout as it was shown, its true role, and whose return was printed with it."""
    return {
        "name": in_line(each.name),
        "roles": [_role(each.content)],
        "fresh": each.content.startswith(FRESH),
        "rollout": each.rollout,
        "return": each.return_,
        "number": each.number and _role(each.number),
        "length": each.length,
    }
