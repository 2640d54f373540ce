"""The report of an experiment on reflection prompts: whether it holds, what moves the reflector, and what it earns."""

from __future__ import annotations

import math
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from audit.interventions.effects.results import CANNOT_TELL, DOES_NOT, LEAST_SIGNAL, MOVES, NO_VERDICT
from audit.interventions.plan import Call
from audit.interventions.texts.arms import ALONE, ARMS, CONJOINT, NOTHING, PLACEBOS, Material
from audit.interventions.texts.contrasts import PRESENCE, Contrast, contrasts, problems
from audit.interventions.texts.effects import (
    CALLED_WORSE,
    DRAWN,
    FIRST,
    HIGHEST,
    LAST,
    LONGEST,
    LOWEST,
    LOWEST_PRINTED,
    SCORED,
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
from audit.interventions.texts.units import revised
from audit.measures.holm import holm
from audit.measures.stratified_permutation import stratified_difference
from audit.output.errors import AuditError, count, report
from audit.output.rows import Table
from audit.output.tables import print_plain_table

COLUMNS: Final = (
    *("name", "outcome", "arm", "control", "estimate", "low", "high", "p", "p_adjusted", "beyond_placebo_p"),
    *("verdict", "units"),
)
NOT_EVALUATED: Final = frozenset({CONJOINT, ALONE, NOTHING})
"""The arms whose candidates are not scored: no loop would ask so."""
_WORDS: Final = {
    FIRST: ("the example that is shown first", "because it is first"),
    LAST: ("the example that is shown last", "because it is last"),
    LOWEST_PRINTED: ("the example with the lowest printed score", "because of that number"),
    LONGEST: ("the example with the longest feedback", "because it is longest"),
    CALLED_WORSE: ("the one that is called the worse", "because of that name"),
    LOWEST: ("the example with the lowest score", "whatever is printed or said about it"),
    HIGHEST: ("the example with the highest score", "whatever is printed or said about it"),
}
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
        named: of each share, how often answers name the example that has the attribute, and another alone.
    """

    plan: TextPlan
    answers: int
    followed: Followed
    contrasts: Sequence[Contrast]
    scores: Sequence[dict[str, Any]]
    problems: Sequence[str]
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
            yield from self._following()
        moving = [each for each in self.contrasts if each.verdict == MOVES]
        for each in moving:
            yield _moved(each)
        if self.plan.preset == REMEDIES:
            yield from (_earned(row) for row in self.scores if row.get("verdict"))
        elif unknown := [each.name for each in self.contrasts if each.verdict == CANNOT_TELL]:
            why = "" if PLACEBOS[0] in self.plan.arms else " (no placebos were asked to compare with)"
            yield f"Whether these change its texts cannot be told{why}: {', '.join(unknown)}."

    def _following(self) -> Iterator[str]:
        found, noise = self.followed, f"signal to noise {self.followed.signal:.2f}"
        if found.signal < LEAST_SIGNAL:
            if found.signal_high < LEAST_SIGNAL:
                yield (
                    "It follows none of the examples: texts for one of them are as unlike each other as those for "
                    f"different ones ({noise}, at most {found.signal_high:.2f})."
                )
            else:
                yield f"Cannot be told: texts for different examples can hardly be told apart ({noise})."
            return
        movers = sorted((each for each in found.shares if each.verdict == MOVES), key=lambda each: -each.estimate)
        for each in movers:
            what, why = _WORDS[each.name]
            ends = f"{_percent(each.low)} to {_percent(each.high)}"
            yield f"{_percent(each.estimate)} of its texts follow {what}, {why} ({ends})."
            if each.name in SCORED:
                yield "That score was not drawn: its cause may be all that goes with it."
            if each.name in self.named:
                own, other = self.named[each.name]
                yield (
                    f"Its reasons name that one in {own:.0%} of answers, and only another in {other:.0%}."
                    if own or other
                    else "Its reasons name no example."
                )
        if not movers:
            yield "Nothing that was drawn was found to decide which example its texts follow."
        for verdict, words in ((DOES_NOT, "Does not decide"), (CANNOT_TELL, "Cannot be told")):
            if names := [each.name for each in found.shares if each.verdict == verdict]:
                yield f"{words}: {', '.join(names)}."
        yield (
            "Percentages are of texts written as for one example alone, beyond what the other examples have "
            f"({noise}; what is drawn within ±{self.plan.smallest:.0%} counts as not deciding)."
        )


def _percent(value: float) -> str:
    return f"{max(-1.0, min(1.0, value)):.0%}" if not math.isnan(value) else "unknown"


def _moved(each: Contrast) -> str:
    if each.name == PRESENCE:
        more = "more" if each.estimate > 0 else "less"
        return f"It misses the example of the lowest score {more} than that of the highest (p {each.p_adjusted:.2g})."
    size = "" if math.isnan(each.estimate) else f", {each.estimate:.2f} times what another example does"
    return f"Changed by {each.name} ({each.arm} against {each.control}{size}; p {each.p_adjusted:.2g})."


def _earned(each: Mapping[str, Any]) -> str:
    ends = "" if math.isnan(each["low"]) else f" ({each['low']:+.3g} to {each['high']:+.3g})"
    amount = f"{each['estimate']:+.3g}{ends}"
    words = {MOVES: "changes", CANNOT_TELL: "cannot be told to change"}[str(each["verdict"])]
    arms = f"{each['arm']} against {each['control']}"
    return f"{ARMS[each['arm']].meaning.capitalize()}: {words} the {each['outcome']} ({arms}), {amount}."


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
    in_conjoint = [proposal(plan, unit, answer) is None for unit, answer in answers if answer.arm == CONJOINT]
    unreadable = float(np.mean(in_conjoint)) if in_conjoint else 0.0
    shares = followed(plan, materials, units, unreadable)
    scores = read_scores(path)
    proposed = candidates_of(plan, path) if scores else []
    lacking = sum(digest_of(each) not in scores for each in proposed)
    few = lacking > MOST_LACKING * len(proposed) or not proposed
    made = TextReport(
        plan,
        len(answers),
        shares,
        contrasts(plan, units, shares.spread),
        [] if few else _scores(plan, found, candidates, scores),
        problems(plan, answers, units, lambda unit, answer: proposal(plan, unit, answer) is not None),
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
        print_plain_table(list(COLUMNS), shown, "All effects")

    return Table(
        columns=COLUMNS, rows=rows, title="Effects", notes=notes, plain=True, print_for_people=print_for_people
    )
