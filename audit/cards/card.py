"""The form of a card: who was examined, what was found, and digests of all that it was found from."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any, Final

import msgspec

from audit.output.errors import AuditError
from audit.output.names import model_name

SCHEMA: Final = 1


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
    """The answers: the digest of their file."""

    sha256: str


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
    """The digest of a file of answers.

    Raises:
        AuditError: it cannot be read.
    """
    try:
        return Source(sha256=hashlib.sha256(path.read_bytes()).hexdigest())
    except OSError as error:
        raise AuditError(f"cannot read {path}: {error.strerror or error}") from None
