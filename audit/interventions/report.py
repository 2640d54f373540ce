"""The report of an experiment: validity first, then the primary family, then all else."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from audit.interventions.answers import AnswerOf, read_answers, report_of
from audit.interventions.arms import ARMS
from audit.interventions.effects.analysis import analyse
from audit.interventions.effects.exchanges import METHOD as EXCHANGES
from audit.interventions.effects.named_shares import SMALLEST
from audit.interventions.effects.results import (
    FOUND,
    NO_VERDICT,
    NOT_BEYOND_PLACEBO,
    NOT_TESTED,
    Analysis,
    Effect,
    Share,
    opposed,
)
from audit.interventions.experiment import Experiment
from audit.interventions.making import tasks_of
from audit.interventions.outcomes import read_experiment
from audit.interventions.plan import FRAMES_DRAWN, Call, Plan, read_plan
from audit.interventions.sentences import carried, ceiling_line, missing_shares, moving, share_sentence, verdict_lines
from audit.interventions.share_words import against, is_blind
from audit.output.errors import AuditError, Problem, count
from audit.output.names import model_name

Row = dict[str, Any]

COLUMNS: Final = (*(name for name in Effect._fields if name != "method"), "method")
ESSENTIAL: Final = (
    *("name", "outcome", "env", "arm", "control", "estimate", "low", "high", "p_adjusted", "verdict"),
    *("p", "beyond_placebo_p", "units", "runs"),
)

FAMILY: Final = "Primary hypotheses, corrected by Holm's method:"
EARLIER: Final = "The plan is of an earlier version: its tests are reported as then; later verdicts are not comparable."
_CAUSES: Final = {
    "label": "calling a rollout worst",
    "number": "printing the lowest return with a rollout",
    "position": "showing a rollout first",
    "last position": "showing a rollout last",
    "presence": "showing the worst rollout and not another near the median",
    "presence of the best": "showing the best rollout and not another near the median",
}
NO_FAMILY: Final = "none: the arms of the plan test no hypothesis of the family, so all below is exploratory."
_ROUNDING: Final = 1e-12
_ONE_PERCENT: Final = 0.005
"""What is printed as one percent or more."""


@dataclass(frozen=True)
class Report:
    """A finished experiment.

    Attributes:
        plan: its plan.
        experiment: its answers, read.
        analysis: what they show.
        notes: lines for the user about the file of answers.
    """

    plan: Plan
    experiment: Experiment
    analysis: Analysis
    notes: Sequence[str]

    def rows(self, outcome: str | None = None) -> list[Row]:
        """The effects; unknown numbers are None."""
        return [_row(effect) for effect in self.analysis.effects if outcome in {None, effect.outcome}]

    def sentence(self, effect: Effect) -> str:
        """An effect of this experiment in plain words; of a share, where a problem leaves no verdict, the problem."""
        problems = self.analysis.validity.problems
        if effect.outcome == "share" and problems:
            return f"{NO_VERDICT}{problems[0]}"
        unknown = {} if is_blind(self.analysis) else opposed(self.analysis.shares)
        if effect.outcome == "share" and effect.name in unknown:
            return f"{against(unknown[effect.name])}."
        return sentence(effect)

    def lines(self) -> Iterator[str]:
        """The report in sentences."""
        yield from self.setting()
        for title, sentences in self.sections():
            yield ""
            yield title
            yield from (f"- {each}" for each in sentences)

    def setting(self) -> list[str]:
        """Who was asked what, a sentence each."""
        return list(_setting(self.plan, self.experiment))

    def sections(self) -> Iterator[tuple[str, list[str]]]:
        """The parts of the report: the heading of each, and its sentences."""
        if self.analysis.shares:
            yield "What moves this critic:", list(moving(self.analysis))
            yield (
                "What does not, and what cannot be told:",
                [*verdict_lines(self.analysis), *missing_shares(self.analysis)],
            )
            if self.analysis.carriers:
                yield "Who carries it:", list(carried(self.analysis.carriers))
            yield "Validity:", [*ceiling_line(self.analysis), *_validity(self.analysis)]
            return
        yield "Validity:", list(_validity(self.analysis))
        yield FAMILY, [sentence(each) for each in self.analysis.primary] or [NO_FAMILY]
        # Plans of earlier versions could not ask for shares.
        asked = self.plan.schema >= FRAMES_DRAWN
        yield (
            "What answers name, and what is open:",
            [*_named(self.analysis), *(missing_shares(self.analysis) if asked else ())],
        )


def read_report(path: Path, *, cache: bool = True, workers: int | None = None) -> Report:
    """Read a finished experiment, and test it.

    Args:
        path: of the plan.
        cache: whether returns of earlier reports may be used, and new ones kept.
        workers: threads or processes that run revised policies; None for one per core.

    Raises:
        AuditError: the plan was changed, or calls have no answer yet: p-values are shown when all are in.
    """
    plan, answers, problems = finished(path)
    experiment = read_experiment(plan, answers, tasks_of(plan, path), cache=cache, workers=workers)
    analysis = analyse(
        experiment,
        plan.family,
        permutations=plan.permutations,
        seed=plan.seed % 2**32,
        alpha=plan.alpha,
        planned_arms=list(plan.arms),
        smallest=SMALLEST if plan.schema >= FRAMES_DRAWN else None,
    )
    return Report(plan, experiment, analysis, report_of(problems))


def finished(path: Path, program: str = "audit intervene") -> tuple[Plan, dict[Call, AnswerOf], list[Problem]]:
    """A plan, the answers to all its calls, and lines of their file that hold none.

    Args:
        path: of the plan.
        program: whose `run` goes on, in messages.

    Raises:
        AuditError: the plan was changed, or calls have no answer yet.
    """
    plan = read_plan(path)
    answers, problems = read_answers(plan, path)
    if line := unfinished(plan, path, len(answers)):
        raise AuditError(line.replace("audit intervene", program))
    return plan, answers, problems


def unfinished(plan: Plan, path: Path, answers: int) -> str | None:
    """Why effects are not tested yet, and what to do; None where all calls have an answer.

    Args:
        plan: the plan.
        path: its path.
        answers: calls with an answer.
    """
    missing = plan.cost.calls - answers
    if not missing:
        return None
    return (
        f"{missing:,} of {plan.cost.calls:,} calls have no answer yet; effects are tested when all are in, since "
        f"testing early finds effects by chance; go on with: audit intervene run {path}"
    )


def sentence(effect: Effect) -> str:
    """An effect in plain words, and what follows from it."""
    if effect.outcome == "share":
        return share_sentence(
            Share(effect.name, effect.estimate, effect.low, effect.high, effect.p, effect.p_adjusted, effect.verdict)
        )
    if effect.verdict == NOT_TESTED or math.isnan(effect.estimate):
        return f"{effect.name} on {effect.outcome}: not tested, too few answers."
    size = _interval(effect.estimate, effect.low, effect.high)
    if effect.outcome == "text" and effect.control is None:
        cause = _CAUSES.get(effect.name, effect.name)
        more = "more" if effect.estimate >= 0 else "less"
        what = f"{cause} makes it {_interval(abs(effect.estimate), *_turned(effect))} {more} likely to be what the " + (
            "change is justified by"
        )
    elif effect.method == EXCHANGES:
        what = f"{effect.name} moves edits by {size} more than the labels of the other two do"
    elif effect.outcome == "edits":
        arm = ARMS[effect.arm]
        cause = arm.changing or effect.name
        is_median = arm.takes_away and effect.control == arm.control
        more = f", beyond what the same does to the median one ({effect.control})" if is_median else ""
        what = f"{cause} moves edits by {size} of the distance between two answers to one prompt{more}"
    elif effect.outcome == "gain":
        what = f"return of revised policies, {effect.arm} minus {effect.control}: {size}"
    else:
        arms = effect.arm if effect.control is None else f"{effect.arm} minus {effect.control}"
        what = f"{effect.name} on {effect.outcome}, {arms}: {size}"
    return f"{what}; {_p(effect)}: {_verdict(effect)}."


def _setting(plan: Plan, experiment: Experiment) -> Iterator[str]:
    runs = len(set(experiment.clusters))
    yield (
        f"{count(len(plan.units), 'prompt')} of {count(runs, 'run')}, {plan.cost.calls:,} answers of "
        f"{model_name(plan.model, plan.backend)}; plan {plan.sha256}"
    )
    drawn = ", ".join(
        f"{env} {number} of {plan.eligible.get(env, 0)} eligible" for env, number in sorted(plan.drawn.items())
    )
    if plan.schema < FRAMES_DRAWN:
        yield EARLIER
    yield f"Effects are those for prompts that show three different returns: {drawn}."


def _validity(analysis: Analysis) -> Iterator[str]:
    validity = analysis.validity
    yield (
        f"two answers to the same prompt differ {_number(validity.spread)} times as much as answers to different "
        f"prompts, and name the same driver in {_share(validity.same_driver)} of pairs; {_share(validity.repeated)} "
        "of texts are repeated"
    )
    unreadable = [f"{each.arm} {each.unreadable} of {each.answers}" for each in validity.unreadable if each.unreadable]
    yield f"unreadable answers, counted as no change: {', '.join(unreadable) or 'none'}"
    if validity.unchanged >= _ONE_PERCENT:
        yield f"of the answers that can be read, {_share(validity.unchanged)} change nothing"
    followed = "" if math.isnan(validity.followed_p) else f"; of what is followed: p {_number(validity.followed_p)}"
    yield f"drift between the first and the second half of calls: p {_number(validity.drift_p)}{followed}"
    yield from validity_lines(analysis)


def validity_lines(analysis: Analysis) -> Iterator[str]:
    """What ends the verdict, then what is remarked and does not."""
    yield from (f"PROBLEM: {problem}" for problem in analysis.validity.problems)
    yield from (f"remark: {remark}" for remark in analysis.validity.remarks)


def _named(analysis: Analysis) -> Iterator[str]:
    found = analysis.naming
    low, high = max(found.named_low, 0.0), min(found.named_high, 1.0)
    between = "" if math.isnan(low) else f" ({_share(low)} to {_share(high)})"
    yield (
        f"{_share(found.named)}{between} of answers to the unchanged evidence are justified by the worst rollout, "
        f"and {_share(found.mentioned)} mention it"
    )
    yield from analysis.notes


def _verdict(effect: Effect) -> str:
    if effect.verdict == FOUND:
        if math.isnan(effect.beyond_placebo_p):
            return "found"
        return f"found, and beyond what rewording the prompt does (p {_number(effect.beyond_placebo_p)})"
    if effect.verdict == NOT_BEYOND_PLACEBO:
        return f"not beyond what rewording the prompt does (p {_number(effect.beyond_placebo_p)})"
    return "not found"


def _p(effect: Effect) -> str:
    adjusted = "" if math.isnan(effect.p_adjusted) else f", corrected {_number(effect.p_adjusted)}"
    return f"p {_number(effect.p)}{adjusted}"


def _turned(effect: Effect) -> tuple[float, float]:
    return (effect.low, effect.high) if effect.estimate >= 0 else (-effect.high, -effect.low)


def _interval(value: float, low: float, high: float) -> str:
    bounds = "" if math.isnan(low) else f" ({_number(low)} to {_number(high)})"
    return f"{_number(value)}{bounds}"


def _number(value: float) -> str:
    if math.isnan(value):
        return "unknown"
    return f"{value:.2g}" if abs(value) < 0.1 else f"{value:.2f}"


def _share(value: float) -> str:
    return "unknown" if math.isnan(value) else f"{100 * value:.0f}%"


def _row(effect: Effect) -> Row:
    return {name: _cell(getattr(effect, name)) for name in COLUMNS}


def _cell(value: Any) -> Any:
    if not isinstance(value, float):
        return value
    # A difference of equal means may leave a rounding error.
    return None if math.isnan(value) else 0.0 if abs(value) < _ROUNDING else value
