"""The units of such an experiment: recorded prompts whose examples and their scores are known."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import msgspec

from audit.interventions.texts.arms import Material
from audit.interventions.units import NO_PROMPT, sha256
from audit.records.lines import RecordedRun, Records
from audit.sources.iterations import Iteration
from audit.sources.prompts import prompts_of
from audit.sources.reflection_prompts import (
    DIALECTS,
    OPENEVOLVE,
    SIMBA,
    Dialect,
    ReflectionPrompt,
    Shown,
    applied,
    read_prompt,
)
from audit.vocabulary.keys import RevisionKey, RunKey

UNKNOWN: Final = "its template is not known, or it shows fewer than two examples"
NO_SCORES: Final = "the scores of what it shows are not recorded"
TOO_MANY: Final = "it shows more than 8 examples"
SAME: Final = "it shows an example twice"
MOST: Final = 8


class TextUnit(msgspec.Struct, frozen=True, kw_only=True):
    """A unit as a plan holds it.

    Attributes:
        condition, env, variant, run, iteration: the revision.
        prompt_sha256: of the recorded prompt.
        dialect: whose template it was made with.
        scores: of the examples in the order of display.
        component: which of the candidate's texts is revised; None where the prompt shows none of them.
        current: that text; empty where it is not known.
    """

    condition: str
    env: str
    variant: str
    run: int
    iteration: int
    prompt_sha256: str
    dialect: str
    scores: list[float]
    component: str | None
    current: str

    @property
    def key(self) -> RevisionKey:
        """What identifies it."""
        return RevisionKey(self.condition, self.env, self.variant, self.run, self.iteration)

    @property
    def cluster(self) -> RunKey:
        """The run, whose units share a history."""
        return RunKey(self.condition, self.env, self.variant, self.run)

    @property
    def template(self) -> Dialect:
        """Whose template the prompt was made with."""
        return next(each for each in DIALECTS if each.name == self.dialect)

    def __str__(self) -> str:
        return f"{self.env}/{self.variant}/{self.run}/{self.iteration}"


@dataclass
class Eligible:
    """The units that some records offer.

    Attributes:
        prompts: number of revisions that were looked at, by task.
        units: those that can be asked again, with what their arms are made from.
        candidates: the candidate that each revises.
        left_out: the others, by task and reason.
    """

    prompts: Counter[str] = field(default_factory=Counter)
    units: dict[RevisionKey, tuple[TextUnit, Material]] = field(default_factory=dict)
    candidates: dict[RevisionKey, Mapping[str, str]] = field(default_factory=dict)
    left_out: Counter[tuple[str, str]] = field(default_factory=Counter)


def eligible(records: Records, runs: Sequence[RecordedRun], *, longest: int | None = None) -> Eligible:
    """Find the units of some runs.

    Args:
        records: where the runs are from.
        runs: those to look through.
        longest: characters of the longest prompt that is taken; None for no bound.
    """
    found = Eligible()
    for run in runs:
        iterations = sorted(records.iterations(run), key=lambda each: each.iteration)
        read: dict[RevisionKey, tuple[TextUnit, ReflectionPrompt]] = {}
        pool: dict[str, dict[str, tuple[float, Shown]]] = {}
        for iteration, prompt in zip(iterations, prompts_of(run.files, iterations), strict=True):
            if iteration.evidence is None:
                continue
            key = RevisionKey(*run.identity, iteration.iteration)
            found.prompts[key.env] += 1
            made = _unit(key, iteration, prompt, longest)
            if isinstance(made, str):
                found.left_out[key.env, made] += 1
                continue
            unit, parsed = read[key] = made
            found.candidates[key] = iteration.initial.text or {}
            for score, each in zip(unit.scores, parsed.shown, strict=True):
                pool.setdefault(unit.dialect, {})[_identity(each)] = score, each
        for key, (unit, parsed) in read.items():
            found.units[key] = unit, _material(unit, parsed, pool[unit.dialect])
    return found


def _unit(
    key: RevisionKey, iteration: Iteration, prompt: str | None, longest: int | None
) -> tuple[TextUnit, ReflectionPrompt] | str:
    """A unit of a recorded prompt, or why it is none."""
    if prompt is None:
        return NO_PROMPT
    if longest is not None and len(prompt) > longest:
        return f"its prompt has more than {longest:,} characters"
    parsed = read_prompt(prompt)
    if parsed is None or len(parsed.shown) > MOST:
        return UNKNOWN if parsed is None else TOO_MANY
    if len({_identity(each) for each in parsed.shown}) < len(parsed.shown):
        return SAME
    scores = _scores(parsed, iteration)
    if scores is None:
        return NO_SCORES
    shown = tuple(each.scored(score) for each, score in zip(parsed.shown, scores, strict=True))
    parsed = ReflectionPrompt(parsed.before, shown, parsed.gaps, parsed.after, parsed.dialect)
    texts = iteration.initial.text or {}
    around = f"{parsed.before}{parsed.after}"
    within = [name for name, text in texts.items() if text.strip() and text.strip() in around]
    component = max(within or (texts if len(texts) == 1 else ()), key=lambda name: len(texts[name]), default=None)
    unit = TextUnit(
        **key._asdict(),
        prompt_sha256=sha256(prompt),
        dialect=parsed.dialect.name,
        scores=scores,
        component=component,
        current=texts[component] if component is not None else "",
    )
    return unit, parsed


def _scores(parsed: ReflectionPrompt, iteration: Iteration) -> list[float] | None:
    """The scores of the examples shown: by their headings, or else in the order in which they are recorded."""
    shown = iteration.evidence.shown if iteration.evidence else []
    by_name = {each.name: each.return_ for each in shown if isinstance(each.name, str)}
    found = [by_name.get(name) for name in parsed.names]
    if None in found:
        found = [each.return_ for each in shown] if len(shown) == len(parsed.shown) else []
    known = [score for score in found if score is not None]
    return known if known and len(known) == len(parsed.shown) else None


def _identity(shown: Shown) -> str:
    """What tells it from others: a program's code alone, as its other lines depend on where it is shown."""
    code = re.search(r"^```.*?^```", shown.text, re.DOTALL | re.MULTILINE) if shown.feedback is None else None
    return code[0] if code else f"{shown.text}\0{shown.feedback}"


def _material(unit: TextUnit, parsed: ReflectionPrompt, pool: Mapping[str, tuple[float, Shown]]) -> Material:
    """With examples of the run's other prompts, which stand in for another where the tool's headings allow it."""
    own = {_identity(each) for each in parsed.shown}
    others = [] if parsed.dialect.named else [each for name, each in pool.items() if name not in own]
    middle = sorted(unit.scores)[len(unit.scores) // 2]
    # Equally near ones are taken in an order that depends on the unit, so that not all have the same.
    ranked = sorted(others, key=lambda each: (abs(each[0] - middle), _order(unit, each[1])))
    passing = [shown for score, shown in ranked if score >= max(unit.scores) and score > min(unit.scores)]
    return Material(parsed, tuple(unit.scores), ranked[0][1] if ranked else None, passing[0] if passing else None)


def _order(unit: TextUnit, shown: Shown) -> bytes:
    return hashlib.blake2b(repr((unit.key, shown.text)).encode(), digest_size=8).digest()


def revised(unit: TextUnit, candidate: Mapping[str, str], answer: str) -> dict[str, str] | None:
    """The candidate that an answer proposes; None where it cannot be made.

    Args:
        unit: what was revised.
        candidate: that, whole.
        answer: of the model.
    """
    proposal = unit.template.proposal(answer)
    if proposal is None:
        return None
    if unit.dialect == SIMBA.name:
        try:
            advice = json.loads(proposal)
        except (ValueError, RecursionError):
            return None
        named = {name: text for name, text in advice.items() if name in candidate} if isinstance(advice, dict) else {}
        return (
            {**candidate, **{name: f"{candidate[name]}\n\n{text}" for name, text in named.items()}} if named else None
        )
    if unit.component is None:
        return None
    if unit.dialect == OPENEVOLVE.name and "SEARCH" in answer:
        text = applied(candidate[unit.component], answer)
        return None if text is None else {**candidate, unit.component: text}
    return {**candidate, unit.component: proposal}
