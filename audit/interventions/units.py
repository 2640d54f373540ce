"""The units of an experiment: recorded critics' prompts that show three different rollouts, and how they are drawn."""

from __future__ import annotations

import hashlib
import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

import msgspec
import numpy as np
from scipy.stats import rankdata

from audit.interventions.showing import ROLES, Evidence
from audit.output.errors import UsageError
from audit.records.lines import RecordedRun, Records
from audit.rerun.rollouts import NotRerunnableError, task_of
from audit.sources.iterations import Iteration
from audit.sources.prompts import prompts_of
from audit.vocabulary.keys import RevisionKey, RunKey
from collector import errors
from collector.prompt_parts import Block, CriticPrompt, UnknownPromptError
from collector.prompts.templates import check
from collector.remedies import acting_on, recorded

if TYPE_CHECKING:
    from audit.interventions.rendering import Rendering

NO_PROMPT: Final = "its prompt is not recorded, or is in an archive, which has to be unpacked"
NOT_THREE: Final = "it does not show three rollouts"
TIES: Final = "the returns shown are not all different"
SAME: Final = "one rollout is shown twice"
ORDER: Final = "its rollouts are not the worst, the median and the best, in this order"
NOT_RENDERED: Final = "its prompt cannot be made again from the record"
DIFFERENT: Final = "its prompt comes out differently when it is made again"
REWRITTEN: Final = "a remedy changed how its evidence is shown"
TOO_FEW: Final = "every rollout of the evaluation is shown"
_FAILURES: Final = (ValueError, AssertionError, LookupError, errors.CollectorError)
"""What making a prompt again raises where the record, the task or a user's template does not allow it."""


class Unit(msgspec.Struct, frozen=True, kw_only=True):
    """A unit as a plan holds it.

    Attributes:
        condition, env, variant, run, iteration: the revision.
        prompt_sha256: of the recorded prompt.
        params: of the policy under review.
        rollouts: numbers of the worst, the median and the best rollout shown.
        returns: theirs.
        number_readable: whether returns can be read off the rollouts themselves.
    """

    condition: str
    env: str
    variant: str
    run: int
    iteration: int
    prompt_sha256: str
    params: list[float]
    rollouts: list[int]
    returns: list[float]
    number_readable: bool

    @property
    def key(self) -> RevisionKey:
        """What identifies it."""
        return RevisionKey(self.condition, self.env, self.variant, self.run, self.iteration)

    @property
    def cluster(self) -> RunKey:
        """The run, whose units share a history."""
        return RunKey(self.condition, self.env, self.variant, self.run)

    def __str__(self) -> str:
        return f"{self.env}/{self.variant}/{self.run}/{self.iteration}"


class Drawn(Protocol):
    """What is drawn: a revision of a run."""

    @property
    def key(self) -> RevisionKey:
        """What identifies it."""

    @property
    def cluster(self) -> RunKey:
        """The run, whose units share a history."""


U = TypeVar("U", bound=Drawn)


@dataclass
class Eligible:
    """The units that some records offer.

    Attributes:
        prompts: number of revisions that were looked at, by task.
        units: those that can be asked again, with what their arms are made from.
        left_out: the others, by task and reason.
    """

    prompts: Counter[str] = field(default_factory=Counter)
    units: dict[RevisionKey, tuple[Unit, Evidence]] = field(default_factory=dict)
    left_out: Counter[tuple[str, str]] = field(default_factory=Counter)


def eligible(
    records: Records,
    runs: Sequence[RecordedRun],
    *,
    spliced: bool,
    templates: Path | None = None,
    longest: int | None = None,
    needs: frozenset[str] = frozenset(),
    only: frozenset[RevisionKey] | None = None,
    further: bool = False,
    draws: int = 0,
    seed: int = 0,
) -> Eligible:
    """Find the units of some runs.

    Args:
        records: where the runs are from.
        runs: those to look through.
        spliced: the recorded prompt is enough; otherwise it has to come out of the record again, byte for byte.
        templates: a user's templates of prompts; None for the project's own.
        longest: characters of the longest prompt that is taken; None for no bound.
        needs: what the arms need besides the prompt, as `Arm.needs` names it.
        only: the units to make; None for all.
        further: make the further rollouts that arms need; finding units can do without.
        draws: fresh evaluations of each policy.
        seed: of these.

    Raises:
        UsageError: the templates cannot be used.
    """
    if templates is not None:
        try:
            check(templates)
        except errors.UsageError as error:
            raise UsageError(str(error)) from None
    found = Eligible()
    for run in runs:
        iterations = sorted(records.iterations(run), key=lambda each: each.iteration)
        rendering = None if spliced and needs <= {"prompt"} else _rendering(run, templates)
        is_rewritten = run.run is not None and acting_on(recorded(run.run.switches), "evidence") is not None
        for place, (iteration, prompt) in enumerate(zip(iterations, prompts_of(run.files, iterations), strict=True)):
            key = RevisionKey(*run.identity, iteration.iteration)
            if iteration.evidence is None or (only is not None and key not in only):
                continue
            found.prompts[key.env] += 1
            made = REWRITTEN if is_rewritten else _unit(key, iteration, prompt)
            if prompt is not None and longest is not None and len(prompt) > longest:
                made = f"its prompt has more than {longest:,} characters"
            if isinstance(made, tuple) and not spliced:
                reason = _gate(rendering, iterations, place, prompt or "")
                made = reason or made
            if isinstance(made, tuple) and "rollouts" in needs and len(iteration.initial.returns) <= len(ROLES):
                made = TOO_FEW
            if isinstance(made, tuple) and further:
                made = _with_others(made, rendering, iteration, needs, draws, seed)
            if isinstance(made, str):
                found.left_out[key.env, made] += 1
            else:
                found.units[key] = made
    return found


def draw(units: Sequence[U], number: int, seed: int) -> list[U]:
    """Draw units evenly over runs; a larger draw with the same seed contains a smaller one.

    Units of each run are ordered by a hash, and drawn in turns: the first of every run, then the second. No run gives
    more than its share and one, ⌈number / runs⌉ + 1, even where others have fewer to give.

    Args:
        units: all that are eligible.
        number: how many to draw.
        seed: of the hash.
    """
    by_run: dict[RunKey, list[U]] = defaultdict(list)
    for unit in sorted(units, key=lambda unit: _digest(seed, unit.key)):
        by_run[unit.cluster].append(unit)
    if not by_run:
        return []
    most = math.ceil(number / len(by_run)) + 1
    turns = [(turn, _digest(seed, run), unit) for run, each in by_run.items() for turn, unit in enumerate(each[:most])]
    return [unit for _, _, unit in sorted(turns, key=lambda each: each[:2])][:number]


def sha256(text: str) -> str:
    """Of a text in UTF-8."""
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def _digest(seed: int, key: tuple[object, ...]) -> bytes:
    return hashlib.blake2b(repr((seed, tuple(key))).encode(), digest_size=8).digest()


def _unit(key: RevisionKey, iteration: Iteration, prompt: str | None) -> tuple[Unit, Evidence] | str:
    """A unit of a recorded prompt, or why it is none."""
    if prompt is None:
        return NO_PROMPT
    try:
        parsed = CriticPrompt.read(prompt)
    except UnknownPromptError as error:
        return NOT_THREE if iteration.evidence and iteration.evidence.kind != "three" else str(error)
    if reason := _unfit(parsed.blocks):
        return reason
    blocks = parsed.blocks
    unit = Unit(
        **key._asdict(),
        prompt_sha256=sha256(prompt),
        params=iteration.initial.params,
        rollouts=[block.rollout for block in blocks],
        returns=[block.value for block in blocks if block.value is not None],
        number_readable=number_readable(iteration.initial.returns, iteration.initial.lengths),
    )
    return unit, Evidence(parsed, dict(zip(ROLES, blocks, strict=True)), number_readable=unit.number_readable)


def _unfit(blocks: Sequence[Block]) -> str | None:
    """Why rollouts as they were shown make no unit; None where they do."""
    values = [block.value for block in blocks if block.value is not None]
    if len(blocks) != len(ROLES):
        return NOT_THREE
    if len({block.rollout for block in blocks}) < len(ROLES):
        return SAME
    if len(set(values)) < len(ROLES):
        return TIES
    in_order = tuple(block.label for block in blocks) == ROLES and values == sorted(values)
    return None if in_order else ORDER


def number_readable(returns: Sequence[float], lengths: Sequence[int]) -> bool:
    """Whether a rollout's return can be read off its steps.

    It can where the longer rollout is always the better one, or always the worse one, and where returns take one or two
    values only, as they then state success. Unknown lengths count as readable: nothing is known that would forbid it.

    Args:
        returns: shape (K,).
        lengths: shape (K,), in steps; empty where they are not recorded.
    """
    if len(lengths) != len(returns) or len(set(returns)) <= 2:
        return True
    by_return, by_length = rankdata(returns, method="dense"), rankdata(lengths, method="dense")
    falling = by_length.max() + 1 - by_length
    return bool(np.array_equal(by_return, by_length) or np.array_equal(by_return, falling))


def _rendering(run: RecordedRun, templates: Path | None) -> Rendering | None:
    from audit.interventions.rendering import Rendering

    try:
        return None if run.run is None else Rendering(run.run, task_of(run), templates)
    except NotRerunnableError:
        return None


def _gate(rendering: Rendering | None, iterations: Sequence[Iteration], place: int, prompt: str) -> str | None:
    """Why a prompt does not come out of the record again, byte for byte; None where it does."""
    if rendering is None:
        return NOT_RENDERED
    try:
        return None if rendering.prompt(iterations, place) == prompt else DIFFERENT
    except _FAILURES:
        return NOT_RENDERED


def _with_others(
    made: tuple[Unit, Evidence],
    rendering: Rendering | None,
    iteration: Iteration,
    needs: frozenset[str],
    draws: int,
    seed: int,
) -> tuple[Unit, Evidence] | str:
    """A unit with the further rollouts that its arms need, or why it cannot have them."""
    unit, evidence = made
    contents: Mapping[str, Block] = evidence.contents
    fresh: list[Mapping[str, Block]] = []
    situation = None
    try:
        if "rollouts" in needs:
            assert rendering is not None
            contents = {**contents, **rendering.others(iteration, evidence.contents)}
        if "policy" in needs:
            assert rendering is not None
            purpose = ("intervene", *map(str, unit.key))
            fresh = [rendering.fresh(iteration, seed, *purpose, number) for number in range(draws)]
        if "record" in needs:
            assert rendering is not None
            situation = rendering.situation(iteration, evidence)
    except _FAILURES:
        return NOT_RENDERED
    return unit, Evidence(evidence.prompt, contents, fresh, unit.number_readable, situation=situation)
