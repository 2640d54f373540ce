"""Filling in a card from the report of a finished examination and its answers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any, Final

import msgspec
import numpy as np

from audit.cards.card import Card, Cost, Follows, Number, UnitRow, source_of
from audit.cards.findings import findings
from audit.cards.numbers import ABSENT, Judged, estimates, is_known, judge
from audit.cards.suite import Suite
from audit.interventions.answers import AnswerOf
from audit.interventions.effects.named_shares import SHARES
from audit.interventions.effects.results import Share
from audit.interventions.effects.shares import estimated, unit_calls
from audit.interventions.plan import Call, answers_file
from audit.interventions.report import Report
from audit.interventions.sentences import moving
from audit.interventions.share_words import capital
from audit.rerun.rollouts import DECISIVE
from collector.system.versions import versions

DIGITS: Final = 6
"""Significant digits of a card's numbers."""


@dataclass(frozen=True)
class Examined:
    """A card with the answers that it was made from: as they are, and judged."""

    card: Card
    answers: Mapping[Call, AnswerOf]
    judged: Sequence[Judged]


def make_card(
    report: Report,
    suite: Suite,
    size: str,
    answers: Mapping[Call, AnswerOf],
    tasks: Mapping[Any, Any],
    path: Path,
    *,
    cache: bool = True,
    workers: int | None = None,
) -> Examined:
    """Make the card of a finished examination.

    Args:
        report: of its plan.
        suite: whose units were asked.
        size: of the examination.
        answers: by call.
        tasks: by run.
        path: of the plan.
        cache: whether returns of earlier cards may be used, and new ones kept.
        workers: where policies are run.
    """
    plan = report.plan
    judged = judge(plan, suite, answers, report.experiment.answers, tasks, cache=cache, workers=workers)
    numbers, rows = [], {unit.run: {} for unit in plan.units}  # type: ignore[var-annotated]
    for metric, found, values in estimates(judged):
        numbers.append(
            Number(
                section=metric.section,
                name=metric.name,
                who=metric.who,
                meaning=metric.meaning,
                kind=metric.kind,
                **{name: _rounded(getattr(found, name)) for name in _ENDS},
                units=found.units,
                answers=found.answers,
                arm=metric.arm,
            )
        )
        if metric.who == "random edit" and metric.name in ABSENT:
            nothing = {name: ABSENT[metric.name] if is_known(found) else None for name in _ENDS}
            numbers.append(
                msgspec.structs.replace(
                    numbers[-1], who="doing nothing", meaning="the same of a critic that changes nothing", **nothing
                )
            )
        if metric.who == "model":
            for number, (_, mean, _) in values.items():
                rows[number][metric.name] = _known(mean)
    analysis = report.analysis
    is_asked = analysis.ceiling is not None
    if is_asked:
        for number, shares in _pseudo_values(report):
            rows[number].update(shares)
    units = {unit.number: unit for unit in suite.units}
    card = Card(
        suite=suite.name,
        suite_sha256=suite.sha256,
        size=size,
        model=plan.model,
        backend=plan.backend,
        options=plan.options,
        simulated=plan.backend == "simulated",
        versions={"salience-audit": version("salience-audit"), **{each: versions()[each] for each in DECISIVE}},
        plan_sha256=plan.sha256,
        rollouts=plan.rollouts,
        findings=[],
        problems=list(analysis.validity.problems),
        numbers=numbers,
        moves=[_follows(share) for share in analysis.shares] if is_asked else None,
        signal=_rounded(analysis.ceiling.signal) if analysis.ceiling is not None else None,
        by_chance=[number for number in sorted(rows) if units[number].random.improve > 0.5],
        cost=_cost(list(answers.values())),
        units=[
            UnitRow(
                number=number,
                env=units[number].env,
                quality=units[number].quality,
                severity=units[number].severity,
                values=rows[number],
            )
            for number in sorted(rows)
        ],
        answers=source_of(answers_file(path)),
    )
    sentences = [*findings(card), *(moving(analysis) if is_asked and not card.problems else ())]
    if card.number("gain").value is not None:
        sentences += [f"{capital(remark)}." for remark in analysis.validity.remarks]
    return Examined(msgspec.structs.replace(card, findings=sentences), answers, judged)


_ENDS: Final = ("value", "low", "high", "without_low", "without_high")


def _pseudo_values(report: Report) -> Iterator[tuple[int, dict[str, float]]]:
    """What each unit adds to the shares: jackknife pseudo-values, whose mean is the share, for paired comparisons.

    J. W. Tukey, "Bias and confidence in not quite large samples", Annals of Mathematical Statistics 29 (1958).
    """
    calls = unit_calls(report.experiment)
    found = estimated(calls, np.arange(len(calls)))
    for place, each in enumerate(calls):
        values = len(calls) * found.values - (len(calls) - 1) * found.without[place]
        run = report.plan.units[each.unit].run
        yield run, {name: _known(float(value)) for name, value in zip(SHARES, values, strict=False)}


def _follows(share: Share) -> Follows:
    numbers = {name: _rounded(getattr(share, name)) for name in ("low", "high", "p_adjusted")}
    return Follows(name=share.name, value=_rounded(share.estimate), verdict=share.verdict, **numbers)


def _cost(answers: Sequence[AnswerOf]) -> Cost:
    def total(name: str) -> int | None:
        counts = [getattr(each, name) for each in answers]
        return None if None in counts else sum(counts)

    seconds = _rounded(median(each.seconds for each in answers)) if answers else None
    return Cost(
        calls=len(answers),
        prompt_tokens=total("prompt_tokens"),
        completion_tokens=total("completion_tokens"),
        median_seconds=seconds,
    )


def _rounded(value: float) -> float | None:
    return None if not math.isfinite(value) else _known(value)


def _known(value: float) -> float:
    return float(f"{value:.{DIGITS}g}") + 0.0
