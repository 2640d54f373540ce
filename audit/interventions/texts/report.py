"""The report of an experiment on reflection prompts: whether it holds, what moves the reflector, and what it earns."""

from __future__ import annotations

import math
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from audit.interventions.effects.results import CANNOT_TELL, MOVES, NO_VERDICT
from audit.interventions.effects.unreadable import holding, unreadable_line, with_consequence
from audit.interventions.effects.validity import CERTAIN, DOUBTFUL, drift_line
from audit.interventions.plan import Call
from audit.interventions.texts.arms import ALONE, CONJOINT, NOTHING, PLACEBOS, Material
from audit.interventions.texts.contrasts import Contrast, contrasts, drift_p, problems, unreadable
from audit.interventions.texts.effects import (
    DRAWN,
    Followed,
    Share,
    UnitTexts,
    followed,
    holders,
    proposal,
    read_units,
)
from audit.interventions.texts.evaluating import digest_of, read_scores
from audit.interventions.texts.plan import REMEDIES, TextPlan, control_of, units_of
from audit.interventions.texts.running import TextAnswer, read_text_answers
from audit.interventions.texts.sentences import changed_by, earned, following
from audit.interventions.texts.units import revised
from audit.measures.holm import holm
from audit.measures.stratified_permutation import stratified_difference
from audit.output.errors import AuditError, count, report
from audit.output.rows import Table

COLUMNS: Final = (
    *("name", "outcome", "arm", "control", "estimate", "low", "high", "p", "p_adjusted", "beyond_placebo_p"),
    *("verdict", "units"),
)
NOT_EVALUATED: Final = frozenset({CONJOINT, ALONE, NOTHING})
"""The arms whose candidates are not scored: no loop would ask so."""
MOST_LACKING: Final = 0.05
"""The share of candidates without a score beyond which scores tell nothing: what fails to be scored is seldom like the
rest."""
_ROUNDING: Final = 1e-9


@dataclass(frozen=True)
class TextReport:
    """A finished experiment.

    Attributes:
        plan: its plan.
        answers: how many.
        followed: which example texts follow.
        contrasts: what else changes them.
        scores: of arms, where candidates were scored.
        problems: what forbids a verdict.
        remarks: what may disturb the results and does not forbid one.
        named: of each share, how often answers name the example that has the attribute, and another alone.
    """

    plan: TextPlan
    answers: int
    followed: Followed
    contrasts: Sequence[Contrast]
    scores: Sequence[dict[str, Any]]
    problems: Sequence[str]
    remarks: Sequence[str]
    named: Mapping[str, tuple[float, float]]

    def rows(self) -> list[dict[str, Any]]:
        """A row for each share, contrast and score; what is not known is None."""
        blank = dict.fromkeys(COLUMNS)
        found: list[dict[str, Any]] = []
        found += [
            {**blank, **share._asdict(), "outcome": "share", "arm": CONJOINT, "units": self.followed.units}
            for share in self.followed.shares
        ]
        found += [{**blank, **each._asdict(), "outcome": "text"} for each in self.contrasts]
        found += [{**blank, **each} for each in self.scores]
        if self.problems:
            found = [{**row, "verdict": row["verdict"] and "no verdict"} for row in found]
        return [
            {name: None if isinstance(value, float) and math.isnan(value) else value for name, value in row.items()}
            for row in found
        ]

    def lines(self) -> Iterator[str]:
        """The report in sentences."""
        runs = len({unit.cluster for unit in self.plan.units})
        asked = f"{count(len(self.plan.units), 'prompt')} of {count(runs, 'run')}"
        yield f"{asked}, {count(self.answers, 'answer')} of {self.plan.model}."
        if self.problems:
            yield f"{NO_VERDICT}{self.problems[0]}."
            yield from (f"Also: {each}." for each in self.problems[1:])
            return
        if self.followed.shares:
            yield from following(self.plan, self.followed, self.contrasts, self.named)
        moving = [each for each in self.contrasts if each.verdict == MOVES]
        for each in moving:
            yield changed_by(each)
        if self.plan.preset == REMEDIES:
            yield from (earned(row) for row in self.scores if row.get("verdict"))
        elif unknown := [each.name for each in self.contrasts if each.verdict == CANNOT_TELL]:
            why = "" if PLACEBOS[0] in self.plan.arms else " (no placebos were asked to compare with)"
            yield f"Whether these change its texts cannot be told{why}: {', '.join(unknown)}."
        yield from (f"Remark: {each}." for each in self.remarks)


def read_text_report(path: Path, plan: TextPlan) -> tuple[TextReport, list[str]]:
    """Read a finished experiment, and lines about its file of answers.

    Raises:
        AuditError: calls have no answer yet, or the records changed.
    """
    found, faults = read_text_answers(plan, path)
    missing = len(plan.calls()) - len(found)
    if missing:
        raise AuditError(
            f"{missing:,} of {len(plan.calls()):,} calls have no answer yet; go on with: audit intervene run {path}"
        )
    materials, candidates = units_of(plan, path)
    answers = [(call.unit, answer) for call, answer in sorted(found.items())]
    units = read_units(plan, answers)

    def is_read(unit: int, answer: TextAnswer) -> bool:
        return proposal(plan, unit, answer) is not None

    in_conjoint = [not is_read(unit, answer) for unit, answer in answers if answer.arm == CONJOINT]
    lost = float(np.mean(in_conjoint)) if in_conjoint else 0.0
    shares = followed(plan, materials, units, lost)
    changed = contrasts(plan, units, shares.spread)
    drift = drift_p(plan, units)
    ending = problems([(unit, answer) for unit, answer in answers if is_read(unit, answer)], drift)
    remarks = [drift_line(drift)] if CERTAIN <= drift <= DOUBTFUL else []
    if line := unreadable_line(unreadable(plan, answers, is_read)):
        counted = read_units(plan, answers, count=True)
        again = followed(plan, materials, counted, lost)
        kept, holds = holding(shares.shares, followed(plan, materials, units, 0.0).shares, again.shares)
        holds &= bool(kept) or not plan.arms.keys() >= {CONJOINT, ALONE}
        shares = replace(shares, shares=kept)
        changed, _ = holding(changed, changed, contrasts(plan, counted, again.spread))
        (remarks if holds else ending).append(with_consequence(line, holds=holds))
    scores = read_scores(path)
    proposed = candidates_of(plan, path) if scores else []
    lacking = sum(digest_of(each) not in scores for each in proposed)
    few = lacking > MOST_LACKING * len(proposed) or not proposed
    made = TextReport(
        plan,
        len(answers),
        shares,
        changed,
        [] if few else _scores(plan, found, candidates, scores),
        ending,
        remarks,
        _named(plan, materials, units, shares.shares),
    )
    notes = [*report(faults)]
    if lacking:
        left = "no verdict on scores" if few else "left out"
        notes.append(
            f"{count(lacking, 'candidate')} of {len(proposed)} without a score: {left}; score them with --evaluate"
        )
    if plan.preset == REMEDIES and not scores:
        notes.append(
            "candidates were not scored: audit remedy run PLAN --evaluate module:function tells what they earn"
        )
    return made, notes


def candidates_of(plan: TextPlan, path: Path) -> list[Mapping[str, str]]:
    """The candidates to score: those revised, and those that answers propose."""
    found, _ = read_text_answers(plan, path)
    _, current = units_of(plan, path)
    proposed = [
        revised(plan.units[call.unit], current[call.unit], answer.completion)
        for call, answer in sorted(found.items())
        if call.arm not in NOT_EVALUATED and answer.error is None
    ]
    return [*current, *(each for each in proposed if each is not None)]


def _scores(
    plan: TextPlan,
    found: Mapping[Call, TextAnswer],
    candidates: Sequence[Mapping[str, str]],
    scores: Mapping[str, float],
) -> list[dict[str, Any]]:
    """Of each arm against its control: the gain over the candidate revised, and how often there is a loss."""
    gains: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for call, answer in found.items():
        if call.arm in NOT_EVALUATED:
            continue
        before = scores.get(digest_of(candidates[call.unit]))
        new = revised(plan.units[call.unit], candidates[call.unit], answer.completion) if answer.error is None else None
        after = before if new is None else scores.get(digest_of(new))  # a loop keeps what it has
        if before is not None and after is not None:
            gains[call.arm].append((call.unit, after - before))
    rows: list[dict[str, Any]] = []
    for outcome, value in (
        ("mean gain", lambda gain: gain),
        ("share of losses", lambda gain: float(gain < -_ROUNDING)),
    ):
        for arm, own in gains.items():
            control = control_of(plan, arm)
            if control is None or control not in gains:
                mean = float(np.mean([value(gain) for _, gain in own]))
                rows.append(
                    {"name": arm, "outcome": outcome, "arm": arm, "estimate": mean, "units": len({u for u, _ in own})}
                )
                continue
            both = [*((True, *each) for each in own), *((False, *each) for each in gains[control])]
            values = np.array([value(gain) for _, _, gain in both])
            first, strata = np.array([is_own for is_own, *_ in both]), np.array([unit for _, unit, _ in both])
            test = stratified_difference(values, first, strata, redraws=plan.permutations, seed=plan.seed)
            error = _error(values, first, strata)
            rows.append(
                {
                    "name": arm,
                    "outcome": outcome,
                    "arm": arm,
                    "control": control,
                    "estimate": test.difference,
                    "low": test.difference - 1.96 * error,
                    "high": test.difference + 1.96 * error,
                    "p": test.p,
                    "units": test.strata,
                }
            )
    tested = [row for row in rows if "p" in row]
    for row, p in zip(tested, holm([row["p"] for row in tested]).tolist(), strict=True):
        row |= {"p_adjusted": p, "verdict": MOVES if p <= plan.alpha else CANNOT_TELL}
    return rows


def _error(values: np.ndarray, first: np.ndarray, strata: np.ndarray) -> float:
    """Standard error of a mean difference over units."""
    differences = [
        values[own & first].mean() - values[own & ~first].mean()
        for own in (strata == unit for unit in np.unique(strata))
        if (own & first).any() and (own & ~first).any()
    ]
    return float(np.std(differences, ddof=1) / math.sqrt(len(differences))) if len(differences) > 1 else math.nan


def _named(
    plan: TextPlan, materials: Sequence[Material], units: Sequence[UnitTexts], shares: Sequence[Share]
) -> dict[str, tuple[float, float]]:
    """Of answers under `C`, how often reasons name the example with an attribute, and how often another alone."""
    moving = [each.name for each in shares if each.verdict == MOVES and each.name in DRAWN]
    counts: dict[str, list[tuple[bool, bool]]] = defaultdict(list)
    for each in units:
        for row in each.rows(CONJOINT):
            answer = each.answers[row]
            text = proposal(plan, each.unit, answer) or ""
            reason = answer.completion.replace(text, "")
            names = {
                place
                for place, shown in enumerate(answer.shown)
                if re.search(rf"\b{re.escape(shown.name)}\b", reason, re.I)
            }
            for name, place in holders(answer.shown, materials[each.unit]).items():
                if name in moving:
                    counts[name].append((place in names, bool(names) and place not in names))
    return {
        name: (float(np.mean([own for own, _ in each])), float(np.mean([other for _, other in each])))
        for name, each in counts.items()
    }


def text_report_table(path: Path, plan: TextPlan) -> Table:
    """The report as a table of rows, with its sentences above for people."""
    made, notes = read_text_report(path, plan)
    rows = made.rows()

    def print_for_people(_: Table) -> None:
        sys.stdout.write("\n".join(made.lines()) + "\n\n")
        shown = [
            {name: f"{value:.3g}" if isinstance(value, float) else value for name, value in row.items()} for row in rows
        ]
        Table(columns=COLUMNS, rows=shown, title="All effects", plain=True, is_part=True).print()

    return Table(
        columns=COLUMNS, rows=rows, title="Effects", notes=notes, plain=True, print_for_people=print_for_people
    )
