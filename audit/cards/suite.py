"""The suite: prompts of known policies that every critic is asked, the same for all."""

from __future__ import annotations

import hashlib
import itertools
import lzma
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

import msgspec

from audit.output.errors import AuditError
from collector.errors import cannot_write
from collector.records import Call, Episode, Run, encode

if TYPE_CHECKING:
    from collector.tasks import Task

Quality = Literal["poor", "middling", "near"]
SeverityBand = Literal["low", "high"]
Size = Literal["quick", "full"]

NAME: Final = "suite-1"
CONDITION: Final = NAME
"""What its records are filed under."""
SEED: Final = 1
TASKS: Final = ("cartpole", "inverteddoublependulum", "mountaincarcontinuous")
"""Tasks on which rollouts of one policy differ, are quick, and make prompts of moderate length."""
QUALITIES: Final[tuple[Quality, ...]] = ("poor", "middling", "near")
SEVERITIES: Final[tuple[SeverityBand, ...]] = ("low", "high")
CELLS: Final = tuple(itertools.product(TASKS, QUALITIES, SEVERITIES))
OF_EACH: Final[dict[Size, int]] = {"quick": 4, "full": 7}
"""Units of each task, quality and severity: 72 and 126 in all; those of `quick` are the first of `full`."""
NEAR: Final = 0.9
"""Part of a high return from which on a policy is near the optimum."""
_FILE: Final = Path(__file__).parent / f"{NAME}.jsonl.xz"


class Truth(msgspec.Struct, frozen=True):
    """The return of the policy under review on fresh rollouts: mean, standard deviation, and how many."""

    mean: float
    sd: float
    rollouts: int


class Random(msgspec.Struct, frozen=True):
    """What random edits of the length of one search step do: mean gain, share that gain, and how many."""

    gain: float
    improve: float
    edits: int


class SuiteUnit(msgspec.Struct, frozen=True, kw_only=True):
    """A unit of the suite.

    Attributes:
        number: from 1; also the number of its run.
        quality: of the policy by its true mean: below the task's threshold for partial success, below nine tenths of
            that for high returns, above it.
        severity: of its evidence: the median of the three rollouts is nearer to the worst one, or to the best.
        truth: the policy's return.
        random: what random edits of it do.
        run, episode: its record.
        prompt: of the critic.
    """

    number: int
    quality: Quality
    severity: SeverityBand
    truth: Truth
    random: Random
    run: Run
    episode: Episode
    prompt: str

    @property
    def env(self) -> str:
        """Its task."""
        return self.run.env


class Span(msgspec.Struct, frozen=True):
    """The way that gains on a task are measured by: from what random policies return to what counts as high."""

    env: str
    random: float
    high: float

    @property
    def length(self) -> float:
        """Of the way."""
        return self.high - self.random


class _Head(msgspec.Struct, frozen=True):
    suite: str
    seed: int
    spans: list[Span]


@dataclass(frozen=True)
class Suite:
    """A suite.

    Attributes:
        name: `suite-1`, or with another seed `suite-1-seed-7`.
        seed: what it was made from.
        spans: by task.
        units: all, in the order of their numbers.
        sha256: of its text.
    """

    name: str
    seed: int
    spans: dict[str, Span]
    units: Sequence[SuiteUnit]
    sha256: str

    def of_size(self, size: Size) -> Sequence[SuiteUnit]:
        """The units of a size: its first ones, which have as many of each task, quality and severity."""
        return self.units[: OF_EACH[size] * len(CELLS)]


def quality_of(task: Task, mean: float) -> Quality:
    """The band of a mean return, by the task's thresholds of edit patterns.

    From nine tenths of a high return on it is near the optimum: on two of the tasks hardly any linear policy whose
    rollouts differ gets more.
    """
    thresholds = task.thresholds
    assert thresholds is not None
    return "poor" if mean < thresholds.partial else "middling" if mean < NEAR * thresholds.high else "near"


def written(name: str, seed: int, spans: Sequence[Span], units: Sequence[SuiteUnit]) -> bytes:
    """A suite as text: a line of JSON about it, and one for each unit."""
    lines = [msgspec.json.encode(_Head(name, seed, list(spans))), *(msgspec.json.encode(unit) for unit in units)]
    return b"".join(line + b"\n" for line in lines)


def read_suite(text: bytes) -> Suite:
    """A suite of its text.

    Raises:
        AuditError: it is none.
    """
    try:
        first, *lines = text.splitlines()
        head = msgspec.json.decode(first, type=_Head)
        units = [msgspec.json.decode(line, type=SuiteUnit) for line in lines]
    except (msgspec.MsgspecError, ValueError) as error:
        raise AuditError(f"no suite of audit critic ({error})") from None
    spans = {each.env: each for each in head.spans}
    return Suite(head.suite, head.seed, spans, units, hashlib.sha256(text).hexdigest())


@cache
def packaged() -> Suite:
    """The suite that is in the package."""
    return read_suite(lzma.decompress(_FILE.read_bytes()))


def read_file(path: Path) -> Suite:
    """A suite that was kept in a file.

    Raises:
        AuditError: it cannot be read.
    """
    try:
        return read_suite(lzma.decompress(path.read_bytes()))
    except (OSError, lzma.LZMAError) as error:
        raise AuditError(f"cannot read {path}: {error}") from None


def compressed(text: bytes) -> bytes:
    """The text of a suite as files hold it."""
    return lzma.compress(text, preset=9 | lzma.PRESET_EXTREME)


def write_records(units: Sequence[SuiteUnit], folder: Path) -> None:
    """Write units as records, each a run of one iteration, in which the critic has not answered yet.

    Args:
        units: those to write.
        folder: for the records.

    Raises:
        AuditError: they cannot be written.
    """
    for unit in units:
        call = Call(
            **{name: getattr(unit.episode, name) for name in ("condition", "env", "variant", "run", "iteration")},
            role="critic",
            attempt=1,
            prompt=unit.prompt,
            completion="",
            thinking=None,
            model="none",
            prompt_tokens=None,
            completion_tokens=None,
            seconds=0.0,
            error="a prompt of the suite, to which the answers are in an experiment",
        )
        run = folder / unit.run.condition / unit.run.env / unit.run.variant / f"run-{unit.run.run:02d}"
        try:
            run.mkdir(parents=True, exist_ok=True)
            for name, record in (("run.json", unit.run), ("episodes.jsonl", unit.episode), ("calls.jsonl", call)):
                (run / name).write_bytes(encode(record))
        except OSError as error:
            raise AuditError(cannot_write(run, error)) from None
