"""Experiments as relations of a store: answers, units and effects of the plans that it was opened with."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from audit.interventions.answers import AnswerOf, read_answers
from audit.interventions.effects.presence import edit_size
from audit.interventions.experiment import Answered
from audit.interventions.making import tasks_of
from audit.interventions.outcomes import read_experiment
from audit.interventions.plan import Call, Plan, answers_file, read_plan
from audit.interventions.report import Report, read_report
from audit.interventions.showing import ROLES
from audit.vocabulary.keys import RevisionKey

Row = dict[str, Any]


def records_of_plans(plans: Sequence[Path]) -> list[Path]:
    """The records that plans were made from, each path once.

    Raises:
        AuditError: a plan cannot be read or was changed.
    """
    return list(dict.fromkeys((plan.parent / name).resolve() for plan in plans for name in read_plan(plan).data))


def finished(plan: Path, *, cache: bool = True) -> Report:
    """The report on a plan; its tests are done once for the same plan and answers.

    Args:
        plan: its path.
        cache: whether returns of earlier reports may be used, and new ones kept.

    Raises:
        AuditError: as `read_report` raises it.
    """
    answers = answers_file(plan)
    changed = answers.stat().st_mtime_ns if answers.exists() else 0
    return _finished(plan.absolute(), changed, cache)


@functools.lru_cache(maxsize=8)
def _finished(plan: Path, _changed: int, cache: bool) -> Report:
    return read_report(plan, cache=cache)


def answers(plans: Sequence[Row] | None) -> Iterator[Row]:
    """The answers to plans, finished or not.

    Args:
        plans: the rows of the relation `plans`.

    Raises:
        AuditError: a plan or its answers cannot be read.
    """
    return (row for each in _plans(plans) for row in _answers(*each))


def units(plans: Sequence[Row] | None) -> Iterator[Row]:
    """The units of plans, with the number of their answers; arguments and errors as for `answers`."""
    return (row for plan, file, _ in _plans(plans) for row in _units(plan, file))


def effects(plans: Sequence[Row] | None) -> Iterator[Row]:
    """The effects of finished plans; arguments as for `answers`, errors as for `finished`."""
    return (row for plan, file, cache in _plans(plans) for row in _effects(plan, file, cache=cache))


def _plans(rows: Sequence[Row] | None) -> Iterable[tuple[Plan, Path, bool]]:
    """Each plan once, with its path and whether returns may be taken from earlier reports."""
    found: dict[str, tuple[Plan, Path, bool]] = {}
    for row in rows or ():
        plan = read_plan(Path(row["file"]))
        found.setdefault(plan.sha256, (plan, Path(row["file"]), row["use_cache"]))
    return found.values()


def _read(plan: Plan, path: Path) -> dict[Call, AnswerOf]:
    return read_answers(plan, path)[0] if answers_file(path).exists() else {}


def _answers(plan: Plan, path: Path, cache: bool) -> Iterator[Row]:
    answers = _read(plan, path)
    if not answers:
        return
    for each in read_experiment(plan, answers, tasks_of(plan, path), cache=cache).answers:
        written = answers[Call(each.unit, each.arm, each.replicate)]
        yield {
            "plan_sha256": plan.sha256,
            **plan.units[each.unit].key._asdict(),
            "arm": each.arm,
            "replicate": each.replicate,
            "call": each.order,
            "shown": ", ".join(place.content for place in each.shown),
            **_places(each),
            "readable": each.readable,
            "driver": each.driver,
            "mentions_worst": "worst" in each.mentioned,
            "names_worst": "worst" in each.named,
            "says_worst": each.says_worst,
            "changed": each.changed,
            "edit_size": edit_size(each),
            "gain": None if math.isnan(each.gain) else each.gain,
            "harmful": None if math.isnan(each.gain) else each.harmful,
            "words": each.words,
            "prompt_tokens": each.prompt_tokens,
            "prompt_characters": each.prompt_characters,
            "prompt_sha256": written.prompt_sha256,
            "answer": written.completion,
        }


def _places(answer: Answered) -> Row:
    """Where each role was shown, under which heading, and with whose return."""
    found: Row = {f"{role}_{what}": None for role in ROLES for what in ("place", "label", "number")}
    for number, place in enumerate(answer.shown, 1):
        if place.content in ROLES:
            found[f"{place.content}_place"] = number
            found[f"{place.content}_label"] = place.label
            found[f"{place.content}_number"] = place.number
    return found


def _units(plan: Plan, path: Path) -> Iterator[Row]:
    by_unit: dict[RevisionKey, list[AnswerOf]] = {}
    for answer in _read(plan, path).values():
        by_unit.setdefault(answer.unit, []).append(answer)
    for unit in plan.units:
        answered = by_unit.get(unit.key, [])
        yield {
            "plan_sha256": plan.sha256,
            **unit.key._asdict(),
            "backend": plan.backend,
            "model": plan.model,
            "prompt_sha256": unit.prompt_sha256,
            **{f"{role}_rollout": number for role, number in zip(ROLES, unit.rollouts, strict=True)},
            **{f"{role}_return": value for role, value in zip(ROLES, unit.returns, strict=True)},
            "number_readable": unit.number_readable,
            "arms": len({answer.arm for answer in answered}),
            "planned": sum(plan.arms.values()),
            "answered": len(answered),
            "unreadable": sum(answer.params is None for answer in answered),
        }


def _effects(plan: Plan, path: Path, *, cache: bool) -> Iterator[Row]:
    report = finished(path, cache=cache)
    by = {"plan_sha256": plan.sha256, "backend": plan.backend, "model": plan.model}
    for effect, row in zip(report.analysis.effects, report.rows(), strict=True):
        yield {**by, **row, "sentence": report.sentence(effect)}
