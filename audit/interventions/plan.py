"""The plan of an experiment: all that is fixed before the first call, in a file with its own hash."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from audit.interventions.arms import ARMS
from audit.interventions.presets import Hypothesis
from audit.interventions.units import Unit
from audit.output.errors import AuditError
from audit.records.locating import local_path
from audit.vocabulary.keys import RevisionKey, RunKey
from collector import seeding
from collector.errors import cannot_write
from collector.system.regular_files import open_regular

SCHEMA: Final = 2
FRAMES_DRAWN: Final = 2
"""The first schema in whose plans `C` draws a frame as well; before, it was the neutral one."""
ENDING: Final = ".answers.jsonl"
"""What the plan's `.json` becomes in the name of the file of its answers."""
TEXTS: Final = "texts"
KIND: Final = "rollouts"
"""What a plan is on that states nothing else."""
LARGEST: Final = 256 * 2**20
"""Bytes of the largest plan that is read."""


class Call(NamedTuple):
    """One call of a plan: which unit, under which arm, and which of its answers there."""

    unit: int
    arm: str
    replicate: int


class LeftOut(msgspec.Struct, frozen=True):
    """Revisions that cannot be asked again."""

    env: str
    reason: str
    revisions: int


class Cost(msgspec.Struct, frozen=True):
    """What a plan is expected to cost; hours are None where the rate is not known."""

    calls: int
    prompt_tokens: int
    completion_tokens: int
    hours: float | None
    basis: str


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """A plan.

    Attributes:
        schema: version of this form.
        sha256: of everything else in it.
        version: of the program that made it.
        preset: what it was made from.
        data: the records, relative to the folder of the plan where they are on the same disk.
        task_modules, templates: files of users' tasks, and their folder of templates; the same.
        spliced: recorded prompts are changed as they are, without being made again from the record.
        backend, model, options: who is asked; `options` are all that the model reports of itself.
        given: options as they were given, for making the model again.
        seed: of the draw of units, of the order of calls, and of everything drawn in the arms.
        arms: answers of each unit by arm.
        units: those drawn.
        eligible: number of units that could have been drawn, by task.
        left_out: revisions that could not.
        outcomes: what is read off the answers.
        family: the primary hypotheses.
        alpha: level of the family.
        permutations: redraws of each test.
        rollouts: fresh rollouts of each revised policy; 0 for none.
        cost: expected.
        switches: those of the runs that have any, by `condition/env/variant/run`: what their policies are run and
            scaled under.
        suite: digest of the suite of `audit critic` whose prompts are asked; None for prompts of other records.
        remedies: those that an experiment of `audit remedy` is about.
    """

    schema: int = SCHEMA
    sha256: str = ""
    version: str
    preset: str
    data: list[str]
    task_modules: list[str]
    templates: str | None
    spliced: bool
    backend: str
    model: str
    options: dict[str, Any]
    given: dict[str, Any]
    seed: int
    arms: dict[str, int]
    units: list[Unit]
    eligible: dict[str, int]
    left_out: list[LeftOut]
    outcomes: list[str]
    family: list[Hypothesis]
    alpha: float
    permutations: int
    rollouts: int
    cost: Cost
    switches: dict[str, dict[str, Any]] = {}
    suite: str | None = None
    remedies: list[str] = []

    def calls(self) -> list[Call]:
        """All calls in the order in which they are made: one random order over units, arms and replicates."""
        every = [
            Call(unit, arm, replicate)
            for unit in range(len(self.units))
            for arm, number in self.arms.items()
            for replicate in range(number)
        ]
        order = seeding.generator(self.seed, "intervene", "order").permutation(len(every))
        return [every[place] for place in order]

    def purpose(self, call: Call) -> tuple[str | int, ...]:
        """The key of everything that is drawn for a call: never its prompt, which two arms may share."""
        return ("intervene", *self.units[call.unit].key, call.arm, call.replicate)

    def call_seed(self, call: Call) -> int:
        """The seed that the model is given."""
        # 31 bits, since some servers keep seeds as signed numbers.
        return seeding.seeds(self.seed, 1, *self.purpose(call), "call")[0] >> 1

    @property
    def drawn(self) -> Counter[str]:
        """Units by task."""
        return Counter(unit.env for unit in self.units)

    def places(self) -> dict[RevisionKey, int]:
        """The index of each unit."""
        return {unit.key: place for place, unit in enumerate(self.units)}

    def signed(self) -> Plan:
        """The plan with its hash."""
        return msgspec.structs.replace(self, sha256=digest(msgspec.json.encode(self)))


def write_plan(plan: msgspec.Struct, path: Path) -> None:
    """Write a plan, which must not exist, so that none is replaced after its answers were seen.

    Raises:
        AuditError: the file exists or cannot be written.
    """
    text = msgspec.json.format(msgspec.json.encode(plan), indent=1)
    try:
        with path.open("xb") as file:
            try:
                file.write(text + b"\n")
                file.flush()
                os.fsync(file.fileno())
            except OSError:
                path.unlink(missing_ok=True)
                raise
    except FileExistsError:
        raise AuditError(f"{path} exists; a plan is not replaced: name another place with --out FILE") from None
    except OSError as error:
        raise AuditError(cannot_write(path, error, "--out FILE")) from None


def read_plan(path: Path) -> Plan:
    """Read a plan.

    Raises:
        AuditError: it cannot be read, is no plan, was written by a newer version, or is not as it was written.
    """
    data = read_bytes(path)
    try:
        head = msgspec.json.decode(data, type=_Schema)
        schema = head.schema
        if head.kind != KIND:
            raise AuditError(f"{path} is a plan on {head.kind}, which only audit intervene and audit remedy read")
        if schema > SCHEMA:
            raise AuditError(f"{path}: written by a newer version (schema {schema}); this one reads {SCHEMA}")
        plan = msgspec.json.decode(data, type=Plan)
        sha256 = digest(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise AuditError(f"{path} is not a plan of audit intervene ({error})") from None
    if sha256 != plan.sha256:
        raise AuditError(f"{path} was changed after it was written: its SHA-256 does not fit; make a new plan")
    if unknown := plan.arms.keys() - ARMS.keys():
        raise AuditError(f"{path} asks under arm {min(unknown)}, which this version does not have")
    return plan


def kind_of(path: Path) -> str:
    """What the plan in a file is on; `rollouts` where the file is none, which whoever reads it reports."""
    try:
        return msgspec.json.decode(read_bytes(path), type=_Schema).kind
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return KIND


def read_bytes(path: Path) -> bytes:
    """The bytes of a plan, one more than it can have at most.

    Raises:
        AuditError: it cannot be read.
    """
    try:
        with open_regular(path) as file:
            return file.read(LARGEST + 1)
    except OSError as error:
        raise AuditError(f"cannot read {path}: {error.strerror or error}") from None


class _Schema(msgspec.Struct):
    schema: int
    kind: str = KIND


def digest(plan: bytes) -> str:
    """SHA-256 of a plan but for its own field, in a form that later versions with more fields find as well."""
    fields = msgspec.json.decode(plan) | {"sha256": ""}
    return hashlib.sha256(msgspec.json.encode(fields, order="sorted")).hexdigest()


def answers_file(plan: Path) -> Path:
    """Where the answers to a plan are: beside it, wherever a link to it is."""
    plan = plan.resolve() if plan.is_symlink() else plan
    return plan.with_name(plan.name.removesuffix(".json") + ENDING)


def folder_of(plan: Path) -> Path:
    """The folder that a plan's data are relative to, links resolved: `..` leads out of where it really is."""
    return plan.resolve().parent


def name_of(run: RunKey) -> str:
    """A run as a plan names it."""
    return "/".join(map(str, run))


def relative(paths: Sequence[str | Path], folder: Path) -> list[str]:
    """Paths as a plan in a folder holds them, so that both can be moved together."""

    def shortest(path: str | Path) -> str:
        local = local_path(path)
        try:
            return Path(os.path.relpath(local, folder)).as_posix()
        except ValueError:  # on another drive
            return str(local.absolute())

    return [shortest(path) for path in paths]
