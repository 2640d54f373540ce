"""Several critics side by side: the shares of each, and in what they differ from the first."""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from audit.interventions.arms import NOTHING as NOTHING_SHOWN
from audit.interventions.effects.differences import (
    ALIKE,
    DIFFERS,
    Comparison,
    Critic,
    Shared,
    ShareDifference,
    compared,
    differences,
)
from audit.interventions.effects.named_shares import NOTHING, SHARES, SMALLEST, SMALLEST_CONTENT, STIMULI, UNTRACED
from audit.interventions.effects.results import NOT_ASKED, Share, opposed
from audit.interventions.plan import FRAMES_DRAWN, Plan
from audit.interventions.report import EARLIER, Report, finished, read_report
from audit.interventions.sentences import cell, headline
from audit.output.errors import UsageError, count
from audit.output.escaping import in_line
from audit.output.formats import Row
from audit.output.names import model_name
from audit.output.notes import simulated
from audit.output.rows import Table

COLUMNS: Final = (
    *("plan", "against", "name", "estimate", "low", "high", "p", "p_adjusted", "verdict"),
    *("named", "named_low", "named_high", "units", "runs", "paired"),
)
DESCRIBED: Final = "described"
NO_VERDICT: Final = "no verdict"
NOT_COMPARABLE: Final = "not comparable"
NOT_COMPARED: Final = "not compared"


@dataclass(frozen=True)
class _Column:
    """A plan beside others.

    Attributes:
        name: what it is called here.
        path: its file.
        report: its own.
    """

    name: str
    path: Path
    report: Report

    @property
    def missing(self) -> str | None:
        """What its cells have where there are no shares to compare; None where there are."""
        analysis = self.report.analysis
        if self.report.plan.schema < FRAMES_DRAWN:
            return NOT_COMPARABLE
        if analysis.validity.problems:
            return NO_VERDICT
        return None if analysis.ceiling is not None else NOT_ASKED

    def shares(self, names: Sequence[str]) -> list[Share]:
        """Its shares, those too that are not known."""
        known = {share.name: share for share in self.report.analysis.shares}
        if NOTHING_SHOWN not in self.report.plan.arms:
            known.pop(NOTHING, None)
        found = [known.get(name, Share(name, verdict=NOT_ASKED)) for name in names]
        if (missing := self.missing) in {NOT_COMPARABLE, NO_VERDICT}:
            return [share._replace(verdict=missing) for share in found]
        return found

    def headline(self) -> str:
        """What moves this critic most and whether it says so, as its own report has it."""
        if self.missing == NOT_COMPARABLE:
            return EARLIER
        if self.report.analysis.shares or self.missing == NO_VERDICT:
            return headline(self.report.analysis)
        return (
            "Its plan lacks arm C or the arms that show one rollout alone, so that shares were not asked; for its "
            f"tests: audit intervene report {self.path}"
        )

    def critic(self) -> Critic | None:
        """What its differences are estimated from; None where there are no shares."""
        analysis = self.report.analysis
        if self.missing or analysis.ceiling is None:
            return None
        return Critic(
            self.report.experiment,
            frozenset(share.name for share in analysis.movers),
            analysis.ceiling.signal,
            frozenset(opposed(analysis.shares)),
        )


def side_by_side(
    paths: Sequence[Path], *, outcome: str | None = None, cache: bool = True, workers: int | None = None
) -> Table:
    """Compare the critics of several finished experiments, each with the first.

    Args:
        paths: of the plans.
        outcome: share or None: no other effects are compared.
        cache: as `read_report` has it.
        workers: as `read_report` has it.

    Returns:
        The shares of each plan, a row each, then the differences.

    Raises:
        AuditError: as `read_report` raises it.
        UsageError: no plan, one that is given twice, or another outcome.
    """
    if not paths:
        raise UsageError("no plan; give one or more")
    if outcome not in {None, "share"}:
        raise UsageError(f"--outcome {outcome}: several plans are compared by shares alone; give one plan")
    again = [path for path, times in Counter(path.resolve() for path in paths).items() if times > 1]
    if again:
        raise UsageError(f"{again[0]} is given twice; give plans that differ")
    # Before minutes of tests: whether there is something to test in all of them.
    plans = [finished(path)[0] for path in paths]
    names = headings(plans, paths)
    columns = [
        _Column(name, path, read_report(path, cache=cache, workers=workers))
        for name, path in zip(names, paths, strict=True)
    ]
    shown = [*SHARES, *STIMULI, *(name for name in UNTRACED if any(_has(each, name) for each in columns))]
    alpha = min(plan.alpha for plan in plans)
    pairs = _pairs(columns, alpha)
    rows = [row for each in columns for row in _share_rows(each, shown)]
    rows += [row for other, pair in zip(columns[1:], pairs, strict=True) for row in _rows(columns[0], other, pair)]
    caption = simulated([(column.name, column.report.plan.backend) for column in columns])

    def print_for_people(_: Table) -> None:
        sys.stdout.write("".join(f"{in_line(line)}\n" for line in _heads(columns)) + "\n")
        _print_shares(columns, shown)
        for other, pair in zip(columns[1:], pairs, strict=True):
            _print_differences(columns[0], other, pair)
        sys.stdout.write("".join(f"{line}\n" for line in _explained(columns, pairs)))

    return Table(
        columns=COLUMNS,
        rows=rows,
        title="Shares and their differences",
        caption=caption,
        notes=[*(note for each in columns for note in each.report.notes), *([caption] if caption else [])],
        plain=True,
        print_for_people=print_for_people,
    )


def headings(plans: Sequence[Plan], paths: Sequence[Path]) -> list[str]:
    """What plans are called beside each other: by the model; where that is the same, by the file or the tasks too.

    Args:
        plans: all of them.
        paths: theirs.
    """
    further = (
        [path.name.removesuffix(".json") for path in paths],
        ["+".join(sorted(plan.drawn)) for plan in plans],
        [str(path) for path in paths],
    )
    models = [model_name(plan.model, plan.backend) for plan in plans]
    for each in further:
        names = [
            model if models.count(model) == 1 else f"{model}, {more}" for model, more in zip(models, each, strict=True)
        ]
        if len(set(names)) == len(names):
            break
    return names


_Pair = tuple[Comparison, list[ShareDifference]]


def _pairs(columns: Sequence[_Column], alpha: float) -> list[_Pair | None]:
    """The differences of every plan from the first, corrected together; None where one has no shares."""
    first, *others = (column.critic() for column in columns)
    found = [compared(first, other) if first and other else None for other in others]
    judged = iter(differences([each for each in found if each is not None], alpha=alpha, smallest=SMALLEST))
    return [None if each is None else (each, next(judged)) for each in found]


def _has(column: _Column, name: str) -> bool:
    return any(share.name == name for share in column.report.analysis.shares)


def _share_rows(column: _Column, names: Sequence[str]) -> Iterator[Row]:
    experiment = column.report.experiment
    for share in column.shares(names):
        known = share._asdict() | {
            "verdict": share.verdict or DESCRIBED,
            "units": len(experiment.units),
            "runs": len(set(experiment.clusters)),
        }
        yield _row({"plan": column.name, **known})


def _rows(first: _Column, other: _Column, pair: _Pair | None) -> Iterator[Row]:
    named = {"plan": other.name, "against": first.name}
    if pair is None:
        yield from (_row({**named, "name": name, "verdict": NOT_COMPARED}) for name in (*SHARES, *STIMULI))
        return
    comparison, found = pair
    shared = comparison.shared
    for each in found:
        known = {
            "units": shared.prompts if shared.is_paired else sum(shared.of),
            "runs": shared.runs[0] + shared.runs[1] - shared.runs_of_both,
            "paired": "prompts" if shared.is_paired else "runs" if shared.runs_of_both else "no",
            "verdict": each.verdict or DESCRIBED,
        }
        yield _row({**named, **each._asdict(), **known})


def _row(values: Row) -> Row:
    row = {name: values.get(name) for name in COLUMNS}
    return {
        name: None if isinstance(value, float) and not math.isfinite(value) else value for name, value in row.items()
    }


def _heads(columns: Sequence[_Column]) -> Iterator[str]:
    """Who was asked what, then what moves each critic most."""
    for column in columns:
        report = column.report
        yield f"{column.name}: {report.setting()[0]}"
    yield ""
    yield "What moves each critic most:"
    for column in columns:
        yield f"- {column.name}: {column.headline()}"


def _print_shares(columns: Sequence[_Column], names: Sequence[str]) -> None:
    cells = {column.name: [cell(column.report.analysis, share) for share in column.shares(names)] for column in columns}
    rows = [{"share": name, **{key: each[place] for key, each in cells.items()}} for place, name in enumerate(names)]
    Table(columns=["share", *cells], rows=rows, title="Shares of revisions", plain=True, whole=True).print()


def _print_differences(first: _Column, other: _Column, pair: _Pair | None) -> None:
    title = f"{other.name} minus {first.name}"
    if pair is None:
        without = [column for column in (first, other) if column.critic() is None]
        why = "; ".join(f"{column.name} has {_WITHOUT[column.missing or NOT_ASKED]}" for column in without)
        sys.stdout.write(f"{title}: {NOT_COMPARED}, since {why or 'no prompt has answers under all arms'}\n\n")
        return
    comparison, found = pair
    rows = [
        {
            "share": each.name,
            "difference": _signed(each),
            "p_adjusted": None if math.isnan(each.p_adjusted) else f"{each.p_adjusted:.2g}",
            "p": None if math.isnan(each.p) else f"{each.p:.2g}",
            "verdict": each.verdict or DESCRIBED,
        }
        for each in found
    ]
    title = f"{title}, {_how(comparison.shared)}"
    Table(columns=list(rows[0]), rows=rows, title=title, plain=True, whole=True).print()


_WITHOUT: Final = {
    NOT_COMPARABLE: "a plan of an earlier version",
    NO_VERDICT: "a problem of validity",
    NOT_ASKED: "not been asked for shares",
}


def _how(shared: Shared) -> str:
    """How differences were estimated."""
    if shared.is_paired:
        whole = shared.of == (shared.prompts, shared.prompts)
        beside = "" if whole else f" that both have (of {shared.of[1]} and {shared.of[0]}),"
        return f"paired over {count(shared.prompts, 'prompt')}{beside} of {count(shared.runs[0], 'run')}"
    some = f"{count(shared.prompts, 'prompt')} of {shared.of[1]} and {shared.of[0]} in both"
    if shared.runs_of_both:
        return f"not paired by prompt ({some}); paired over {count(shared.runs_of_both, 'run')} that both have"
    return f"not paired ({some}): the squares of both errors are added"


def _signed(each: ShareDifference) -> str | None:
    """A difference within what it can be: shares are at most 1, and at least -1/2, if another level is followed."""
    if math.isnan(each.estimate):
        return None
    value, low, high = (f"{100 * min(1.5, max(-1.5, end)):+.0f}%" for end in (each.estimate, each.low, each.high))
    return value if math.isnan(each.low) else f"{value} ({low} to {high})"


def _explained(columns: Sequence[_Column], pairs: Sequence[_Pair | None]) -> Iterator[str]:
    """What the tables leave open."""
    if len(columns) > 2:
        other = "" if any(pairs) else "; name a plan first that has shares"
        yield f"Every plan is compared with the first, {columns[0].name}{other}."
    if not any(pairs):
        return
    family = "all shares and pairs" if len(columns) > 2 else "all shares"
    margins = f"{SMALLEST:.0%}, or {SMALLEST_CONTENT:.0%} for contents and printed returns"
    yield f"p_adjusted: by Holm's method over {family}. {ALIKE.capitalize()}: by less than {margins}."
    yield (
        f"Only what moves one of the two {DIFFERS}: who follows one of three labels, places, contents or returns more "
        "follows the others less, which are then compared with each other."
    )
    yield (
        "A share is relative to what the same critic does with one rollout alone: of two that go by the one called "
        "worst equally often, the one that ignores a lone rollout more often has the larger share."
    )
    yield "Wording, length and order of headings are share-equivalents, whose differences have no interval."
