"""The plan of an experiment on reflection prompts, and its calls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import msgspec

from audit.interventions.plan import LARGEST, TEXTS, Call, LeftOut, digest, folder_of, read_bytes, relative
from audit.interventions.texts.arms import ALONE, ARMS, CONJOINT, NOTHING, PLACEBOS, RECORDED, SHUFFLED, Material
from audit.interventions.texts.units import Eligible, TextUnit, eligible
from audit.interventions.units import draw
from audit.options import Options
from audit.output.errors import AuditError, UsageError, count
from audit.records.lines import open_records
from collector import seeding

SCHEMA: Final = 1
SMALLEST: Final = 0.15
"""The smallest share of interest of what is drawn at random."""
REMEDIES: Final = "remedies"
"""The preset of `audit remedy`."""
_PRESENCE: Final = (SHUFFLED, "RW", "RM", "RB")
_CONTRASTS: Final = ("F", "N", "X", "L", "AP")
PRESETS: Final[Mapping[str, tuple[int, Mapping[str, int]]]] = {
    "small": (24, {RECORDED: 2, CONJOINT: 20, ALONE: 6, NOTHING: 4}),
    "standard": (
        60,
        {
            RECORDED: 4,
            CONJOINT: 20,
            ALONE: 8,
            NOTHING: 4,
            **dict.fromkeys(_PRESENCE, 4),
            **dict.fromkeys((*_CONTRASTS, *PLACEBOS), 3),
        },
    ),
    "presence": (40, {RECORDED: 2, **dict.fromkeys(_PRESENCE, 10)}),
    REMEDIES: (40, {RECORDED: 6, **dict.fromkeys((SHUFFLED, "RW", "N", "L", "AP"), 6)}),
}
"""Units, and answers of each: under `S` of each of its examples."""


class TextPlan(msgspec.Struct, frozen=True, kw_only=True):
    """A plan.

    Attributes:
        schema: version of this form.
        kind: what tells it from plans on rollouts.
        sha256: of everything else in it.
        version: of the program that made it.
        preset: what it was made from.
        data: the records, relative to the folder of the plan where they are on the same disk.
        backend, model, options: who is asked; `options` are all that the model reports of itself.
        given: options as they were given, for making the model again.
        seed: of all that is drawn.
        arms: answers of each unit by arm.
        units: those drawn.
        asked: of each unit, the arms that it has what they need for.
        eligible: number of units that could have been drawn, by task.
        left_out: revisions that could not.
        longest: characters of the longest prompt that was taken; None for no bound.
        alpha: level of the family.
        permutations: redraws of each test.
        smallest: the smallest share of interest.
        prompt_characters: of all calls, about.
    """

    schema: int = SCHEMA
    kind: str = TEXTS
    sha256: str = ""
    version: str
    preset: str
    data: list[str]
    backend: str
    model: str
    options: dict[str, Any]
    given: dict[str, Any]
    seed: int
    arms: dict[str, int]
    units: list[TextUnit]
    asked: list[list[str]]
    eligible: dict[str, int]
    left_out: list[LeftOut]
    longest: int | None
    alpha: float
    permutations: int
    smallest: float = SMALLEST
    prompt_characters: int

    def calls(self) -> list[Call]:
        """All calls in the order in which they are made: one random order over units, arms and replicates."""
        every = [
            Call(place, arm, replicate)
            for place, (unit, asked) in enumerate(zip(self.units, self.asked, strict=True))
            for arm in asked
            for replicate in range(self.arms[arm] * (len(unit.scores) if arm == ALONE else 1))
        ]
        order = seeding.generator(self.seed, "intervene", "order").permutation(len(every))
        return [every[place] for place in order]

    def purpose(self, call: Call) -> tuple[str | int, ...]:
        """The key of everything that is drawn for a call."""
        return ("intervene", *self.units[call.unit].key, call.arm, call.replicate)

    def call_seed(self, call: Call) -> int:
        """The seed that the model is given."""
        return seeding.seeds(self.seed, 1, *self.purpose(call), "call")[0] >> 1

    def signed(self) -> TextPlan:
        """The plan with its hash."""
        return msgspec.structs.replace(self, sha256=digest(msgspec.json.encode(self)))


def make_text_plan(
    request: Options,
    *,
    out: Path,
    preset: str,
    units: int | None,
    arms: Sequence[str],
    longest: int | None,
    **fields: Any,
) -> TextPlan:
    """Make a plan; nothing is asked, and nothing written.

    Args:
        request: the records, and which of their runs.
        out: where the plan will be.
        preset: of `PRESETS`.
        units: how many prompts to draw; None for the preset's.
        arms: answers of each unit by arm, `RW=8`, in place of the preset's.
        longest: leave out prompts of more characters.
        fields: of the plan, as they are.

    Raises:
        UsageError: an unknown preset or arm.
        AuditError: no unit is eligible.
    """
    if preset not in PRESETS:
        raise UsageError(f"unknown preset '{preset}' for prompts of texts; choose from {', '.join(PRESETS)}")
    number, chosen = PRESETS[preset]
    asked = _arms(arms, chosen)
    with open_records(request.paths) as records:
        found = eligible(records, request.choose(records), longest=longest)
    drawn = draw([unit for unit, _ in found.units.values()], units or number, fields["seed"])
    if not drawn:
        raise AuditError(_nothing(found))
    materials = [found.units[unit.key][1] for unit in drawn]
    plan = TextPlan(
        version=version("salience-audit"),
        preset=preset,
        data=relative(request.paths, folder_of(out)),
        arms=asked,
        units=drawn,
        asked=[[arm for arm in asked if ARMS[arm].needs(material)] for material in materials],
        eligible=dict(Counter(key.env for key in found.units)),
        left_out=[LeftOut(env, reason, revisions) for (env, reason), revisions in sorted(found.left_out.items())],
        longest=longest,
        prompt_characters=0,
        **fields,
    )
    characters = sum(len(str(materials[call.unit].prompt)) for call in plan.calls())
    return msgspec.structs.replace(plan, prompt_characters=characters).signed()


def _arms(settings: Sequence[str], preset: Mapping[str, int]) -> dict[str, int]:
    arms = dict(preset)
    for setting in settings:
        name, equals, number = setting.partition("=")
        if name not in ARMS:
            raise UsageError(f"unknown arm '{name}' for prompts of texts; choose from {', '.join(ARMS)}")
        if not equals or not number.isdecimal() or int(number) > 1000:
            raise UsageError(f"--arm {setting}: give the number of answers of each unit, for example {name}=4")
        arms[name] = int(number)
    chosen = {name: arms[name] for name in ARMS if arms.get(name)}
    for name in chosen:
        if (control := ARMS[name].control) is not None and control not in chosen:
            raise UsageError(f"arm {name} is compared with {control}, which is not asked; add --arm {control}=4")
    if not chosen:
        raise UsageError("no arm is left to ask")
    return chosen


def _nothing(found: Eligible) -> str:
    if not found.prompts:
        return "nothing to ask again: no reflection prompts in the records"
    reasons: Counter[str] = Counter()
    for (_, reason), number in found.left_out.items():
        reasons[reason] += number
    listed = "; ".join(f"{number}: {reason}" for reason, number in reasons.most_common())
    prompts = count(sum(found.prompts.values()), "reflection prompt")
    return f"nothing to ask again: of {prompts} none is eligible ({listed})"


def control_of(plan: TextPlan, arm: str) -> str | None:
    """What an arm is compared with: remedies with the recorded prompt."""
    if plan.preset == REMEDIES:
        return None if arm == RECORDED else RECORDED
    return ARMS[arm].control


def read_text_plan(path: Path) -> TextPlan:
    """Read a plan.

    Raises:
        AuditError: it cannot be read, is no such plan, was written by a newer version, or is not as it was written.
    """
    data = read_bytes(path)
    try:
        plan = msgspec.json.decode(data, type=TextPlan)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise AuditError(f"{path} is not a plan of audit intervene ({error})") from None
    if len(data) > LARGEST or plan.schema > SCHEMA:
        raise AuditError(f"{path}: written by a newer version (schema {plan.schema}); this one reads {SCHEMA}")
    if digest(data) != plan.sha256:
        raise AuditError(f"{path} was changed after it was written: its SHA-256 does not fit; make a new plan")
    if unknown := plan.arms.keys() - ARMS.keys():
        raise AuditError(f"{path} asks under arm {min(unknown)}, which this version does not have")
    return plan


def units_of(plan: TextPlan, path: Path) -> tuple[list[Material], list[Mapping[str, str]]]:
    """What the arms of each unit are made from, and the candidate that each revises.

    Raises:
        AuditError: the records are not there, or are not those of the plan.
    """
    folder = folder_of(path)
    clusters = {unit.cluster for unit in plan.units}
    with open_records([folder / name for name in plan.data]) as records:
        found = eligible(records, [run for run in records.runs if run.identity in clusters], longest=plan.longest)
    for unit in plan.units:
        if unit.key not in found.units or found.units[unit.key][0] != unit:
            raise AuditError(f"unit {unit} is not what was planned: the records changed since; make a new plan")
    keys = [unit.key for unit in plan.units]
    return [found.units[key][1] for key in keys], [found.candidates[key] for key in keys]
