"""The card of a critic: who was examined, what was found, and digests of all that it was found from."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any, Final

import msgspec
import numpy as np

from audit.cards.numbers import ABSENT, Judged, estimates, is_known, judge
from audit.cards.suite import Suite
from audit.interventions.answers import AnswerOf
from audit.interventions.effects.named_shares import SHARES
from audit.interventions.effects.results import Share
from audit.interventions.effects.shares import estimated, unit_calls
from audit.interventions.plan import Call, answers_file
from audit.interventions.report import Report
from audit.interventions.sentences import moving
from audit.output.errors import AuditError
from audit.output.names import model_name
from audit.rerun.rollouts import DECISIVE
from collector.system.versions import versions

SCHEMA: Final = 1
DIGITS: Final = 6
"""Significant digits of a card's numbers."""
MARK: Final = 12
"""Hexadecimal digits of a line's digest."""


class Number(msgspec.Struct, frozen=True, kw_only=True):
    """A number of a card; what is not known is null.

    Attributes:
        section: `form`, `help`, `harm` or `says`.
        name: its name.
        who: `model`, or for comparison `random edit` or `doing nothing`.
        meaning: in a sentence.
        kind: `share` of answers, or `mean`.
        value: the number.
        low, high: its 95% interval, units being drawn.
        without_low, without_high: smallest and largest value without any one task.
        units, answers: how many count.
        arm: under which the answers were asked.
    """

    section: str
    name: str
    who: str
    meaning: str
    kind: str
    value: float | None
    low: float | None
    high: float | None
    without_low: float | None
    without_high: float | None
    units: int
    answers: int
    arm: str


class Follows(msgspec.Struct, frozen=True, kw_only=True):
    """A share of revisions that follow a rollout for some reason, as `audit intervene report` has it."""

    name: str
    value: float | None
    low: float | None
    high: float | None
    p_adjusted: float | None
    verdict: str | None


class UnitRow(msgspec.Struct, frozen=True, kw_only=True):
    """A unit: what it is, and the model's mean values by metric."""

    number: int
    env: str
    quality: str
    severity: str
    values: dict[str, float]


class Cost(msgspec.Struct, frozen=True, kw_only=True):
    """What the answers took; null where the backend does not count."""

    calls: int
    prompt_tokens: int | None
    completion_tokens: int | None
    median_seconds: float | None


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """The answers: the digest of their file, and the beginning of that of each of its lines, in order."""

    sha256: str
    lines: list[str]


class Card(msgspec.Struct, frozen=True, kw_only=True):
    """A card.

    Attributes:
        schema: version of this form.
        suite, suite_sha256: what was asked.
        size: `quick` or `full`.
        model, backend, options: who answered.
        simulated: it was no language model.
        versions: of the packages that decide what policies return.
        plan_sha256: of the plan.
        rollouts: of each revised policy, and of the policy under review.
        findings: in sentences.
        problems: of validity; with any, nothing else counts.
        numbers: all of them.
        moves: shares that follow; null where they were not asked.
        signal: signal to noise of edits for single rollouts; null where shares were not asked.
        by_chance: numbers of the units that a random edit of one step improves more often than not.
        cost: of the answers.
        units: unit by unit, for comparisons.
        answers: what all this was found from.
    """

    schema: int = SCHEMA
    suite: str
    suite_sha256: str
    size: str
    model: str
    backend: str
    options: dict[str, Any]
    simulated: bool
    versions: dict[str, str]
    plan_sha256: str
    rollouts: int
    findings: list[str]
    problems: list[str]
    numbers: list[Number]
    moves: list[Follows] | None
    signal: float | None
    by_chance: list[int]
    cost: Cost
    units: list[UnitRow]
    answers: Source

    @property
    def name(self) -> str:
        """The model as people read it."""
        return model_name(self.model, self.backend)

    def number(self, name: str, who: str = "model") -> Number:
        """The number of that name."""
        return next(each for each in self.numbers if each.name == name and each.who == who)


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
    workers: str | None = None,
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
    findings = [*_findings(card), *(moving(analysis) if is_asked else ())]
    return Examined(msgspec.structs.replace(card, findings=findings), answers, judged)


_ENDS: Final = ("value", "low", "high", "without_low", "without_high")


def written(card: Card) -> bytes:
    """A card as its file holds it."""
    return msgspec.json.format(msgspec.json.encode(card), indent=1) + b"\n"


def read_card(path: Path) -> Card:
    """Read a card, from its file or the folder that it is in.

    Raises:
        AuditError: there is none, or it cannot be read.
    """
    file = path / "card.json" if path.is_dir() else path
    try:
        text = file.read_bytes()
        if (schema := msgspec.json.decode(text, type=_Schema).schema) > SCHEMA:
            raise AuditError(f"{file}: written by a newer version (schema {schema}); this one reads {SCHEMA}")
        return msgspec.json.decode(text, type=Card)
    except OSError as error:
        hint = "; make it with: audit critic" if path.is_dir() else ""
        raise AuditError(f"cannot read {file}: {error.strerror or error}{hint}") from None
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise AuditError(f"{file} is not a card of audit critic ({error})") from None


class _Schema(msgspec.Struct):
    schema: int


def source_of(path: Path) -> Source:
    """The digests of a file of answers.

    Raises:
        AuditError: it cannot be read.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise AuditError(f"cannot read {path}: {error.strerror or error}") from None
    marks = [hashlib.sha256(line).hexdigest()[:MARK] for line in data.splitlines()]
    return Source(sha256=hashlib.sha256(data).hexdigest(), lines=marks)


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


MATTERS: Final = 0.05
"""Mean gain, as a part of the way, that is worth knowing of."""


def _findings(card: Card) -> Iterator[str]:
    """What the numbers say, a sentence each; of a model whose answers cannot be read, only that."""
    if card.problems:
        yield f"No verdict: {card.problems[0]}"
    readable = card.number("readable")
    yield f"{_between(readable)} of its answers can be read."
    gain, random = card.number("gain"), card.number("gain", "random edit")
    if gain.value is None or random.value is None:
        yield "Nothing else is known of this model: none of its answers can be read."
        return
    verdict = _verdict(gain)
    if not card.problems:
        yield (
            f"{verdict}: a revision changes the return by {_signed(gain)} of the way from random policies to high "
            f"returns, a random edit of the same size by {_percent(random.value)}."
        )
    evidence = card.number("gain from evidence")
    if evidence.value is not None and evidence.low is not None and evidence.high is not None and not card.problems:
        if evidence.low > 0:
            yield f"The rollouts that it is shown help it: {_signed(evidence)} of the way against none."
        elif evidence.high < 0:
            yield f"It does better without the rollouts that it is shown: {_signed(evidence)} of the way against none."
        else:
            yield f"Whether the rollouts that it is shown help it cannot be told: {_signed(evidence)} against none."
    worse, by_random = card.number("made worse"), card.number("made worse", "random edit")
    yield f"It makes {_between(worse)} of policies worse, a random edit {_percent(by_random.value)}."
    broken = card.number("near-optimal breaks")
    if broken.value is not None:
        yield f"Of near-optimal policies it breaks {_between(broken)}."
    names = card.number("names the worst")
    if names.value is not None:
        yield f"It names the worst rollout in {_between(names)} of its answers; naming one at random would be 33%."


def _verdict(gain: Number) -> str:
    assert gain.value is not None
    if gain.low is None or gain.high is None:
        return "Whether it helps cannot be told"
    if gain.low > 0:
        return "It helps"
    if gain.high < 0:
        return "It harms"
    if gain.low > -MATTERS and gain.high < MATTERS:
        return "On average it makes no difference"
    return "Whether it helps cannot be told"


def _between(number: Number) -> str:
    ends = "" if number.low is None else f" ({_percent(number.low)} to {_percent(number.high)})"
    return f"{_percent(number.value)}{ends}"


def _signed(number: Number) -> str:
    assert number.value is not None
    ends = "" if number.low is None else f" ({_percent(number.low)} to {_percent(number.high)})"
    return f"{100 * number.value:+.0f}%{ends}"


def _percent(value: float | None) -> str:
    return "unknown" if value is None else f"{round(100 * value)}%"
