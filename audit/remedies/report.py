"""Remedies side by side: harm avoided, gain lost, and what it costs."""

from __future__ import annotations

import math
import sys
from collections.abc import Collection, Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np

from audit.interventions.effects.comparisons import over_runs
from audit.interventions.experiment import Experiment
from audit.interventions.report import Report, validity_lines
from audit.measures.cluster_robust import Coefficient
from audit.measures.holm import holm
from audit.output.formats import Row
from audit.output.notes import simulated
from audit.output.rows import Table
from audit.remedies.outcomes import GREEDY, RECORDED, Kept, Outcomes, against, by_unit
from collector.remedies import REMEDIES

ALPHA: Final = 0.05
MATTERS: Final = 0.05
"""Harm avoided, as a part of the way, that is of interest."""
NOTHING: Final = 0.01
"""Harm avoided below which nothing is said to be added."""
LITTLE: Final = 0.1
"""The part of the harm that may be left where all is said to be taken away."""

AVOIDS: Final = "avoids harm"
HARMS: Final = "does more harm"
DOES_NOT: Final = "does not avoid harm"
ADDS_NOTHING: Final = "adds nothing"
"""Of a remedy on acceptance that leaves little harm, as accepting by the mean does."""
CANNOT_TELL: Final = "cannot be told"
BASE: Final = "base"


class Judged(NamedTuple):
    """A remedy; NaN where something is not known.

    Attributes:
        remedy: its name; `A0` and `greedy` are what others are compared with.
        acts: on evidence, instruction, answers or acceptance.
        against: what it is compared with.
        harm_avoided, low, high: mean loss without it less mean loss with it, as a part of the way; 95% interval.
        p, p_adjusted: of no difference, two-sided; by Holm's method over all remedies.
        verdict: avoids harm, does more harm, does not avoid harm (by less than is of interest), adds nothing (where
            accepting by the mean leaves little harm as well), or cannot be told.
        gain_lost, gain_lost_low, gain_lost_high: mean benefit without it less mean benefit with it.
        loss, benefit: with it.
        worse: share of turns after which what is kept returns less.
        accepted: share of turns in which a revision is kept.
        false_accepted: share of turns in which one is kept that returns less on average.
        calls, tokens, rollouts: of a turn, on average; rollouts beyond those of a search without remedy.
        per_1000_tokens: harm avoided by 1,000 more tokens than without it; NaN where it needs none.
        per_1000_rollouts: the same of rollouts.
        best: no other remedy that is compared with the same avoids as much harm at a smaller loss of gain.
        units, runs, turns: how many count.
        unseen, unseen_low, unseen_high: of acceptance, harm avoided as against taking revisions unseen; 95% interval.
    """

    remedy: str
    acts: str
    against: str | None
    harm_avoided: float = math.nan
    low: float = math.nan
    high: float = math.nan
    p: float = math.nan
    p_adjusted: float = math.nan
    verdict: str = BASE
    gain_lost: float = math.nan
    gain_lost_low: float = math.nan
    gain_lost_high: float = math.nan
    loss: float = math.nan
    benefit: float = math.nan
    worse: float = math.nan
    accepted: float = math.nan
    false_accepted: float = math.nan
    calls: float = math.nan
    tokens: float = math.nan
    rollouts: float = math.nan
    per_1000_tokens: float = math.nan
    per_1000_rollouts: float = math.nan
    best: bool = False
    units: int = 0
    runs: int = 0
    turns: int = 0
    unseen: float = math.nan
    unseen_low: float = math.nan
    unseen_high: float = math.nan


def judged(experiment: Experiment, found: Outcomes, asked: Collection[str], *, alpha: float = ALPHA) -> list[Judged]:
    """Judge remedies.

    Args:
        experiment: whose units they were tried on.
        found: what each keeps.
        asked: the remedies that are judged, and corrected for.
        alpha: level of the family of all remedies.
    """
    names = [each.id for each in REMEDIES.values() if each.id in asked]
    rows = [_row(experiment, found, name, None, "base") for name in (RECORDED, GREEDY)]
    rows += [
        _row(experiment, found, name, against(REMEDIES[name]), REMEDIES[name].acts)
        for name in names
        if found.kept.get(name)
    ]
    adjusted = holm([each.p for each in rows]).tolist()
    rows = [_with_verdict(each, p, alpha) for each, p in zip(rows, adjusted, strict=True)]
    best = set(_pareto(rows))
    return [each._replace(best=each.remedy in best) for each in rows]


def _row(experiment: Experiment, found: Outcomes, name: str, base: str | None, acts: str) -> Judged:
    kept = found.kept[name]
    row = Judged(
        remedy=name,
        acts=acts,
        against=base,
        loss=_mean(kept, "loss"),
        benefit=_mean(kept, "benefit"),
        worse=_mean(kept, "worse"),
        accepted=_mean(kept, "accepted"),
        calls=_mean(kept, "calls"),
        rollouts=_mean(kept, "rollouts"),
        false_accepted=_mean(kept, "false"),
        tokens=_tokens(kept),
        units=len({each.unit for each in kept}),
        runs=len({experiment.clusters[each.unit] for each in kept}),
        turns=len(kept),
    )
    if GREEDY in {name, base}:
        unseen = _difference(experiment, found.kept[RECORDED], kept, "loss")
        row = row._replace(unseen=unseen.estimate, unseen_low=unseen.low, unseen_high=unseen.high)
    if base is None:
        return row
    avoided = _difference(experiment, found.kept[base], kept, "loss")
    lost = _difference(experiment, found.kept[base], kept, "benefit")
    more_tokens = row.tokens - _tokens(found.kept[base])
    return row._replace(
        harm_avoided=avoided.estimate,
        low=avoided.low,
        high=avoided.high,
        p=avoided.p,
        gain_lost=lost.estimate,
        gain_lost_low=lost.low,
        gain_lost_high=lost.high,
        per_1000_tokens=1000 * avoided.estimate / more_tokens if more_tokens > 0 else math.nan,
        per_1000_rollouts=1000 * avoided.estimate / row.rollouts if row.rollouts > 0 else math.nan,
    )


def _difference(experiment: Experiment, base: Sequence[Kept], kept: Sequence[Kept], value: str) -> Coefficient:
    """What a value is less with a remedy, unit by unit; where no unit differs at all, nothing is left to chance."""
    without, with_it = by_unit(base, value), by_unit(kept, value)
    units = sorted(without.keys() & with_it.keys())
    values = np.array([without[unit] - with_it[unit] for unit in units])
    found = over_runs(experiment, units, values)
    if len(units) > 1 and not values.any():
        return found._replace(se=0.0, low=0.0, high=0.0, p=1.0)
    return found


def _mean(kept: Sequence[Kept], value: str) -> float:
    of_units = by_unit(kept, value)
    return float(np.mean(list(of_units.values()))) if of_units else math.nan


def _tokens(kept: Sequence[Kept]) -> float:
    return math.nan if any(each.tokens is None for each in kept) else _mean(kept, "tokens")


def _with_verdict(row: Judged, adjusted: float, alpha: float) -> Judged:
    if row.against is None:
        return row
    verdict = CANNOT_TELL
    if adjusted <= alpha:
        verdict = AVOIDS if row.harm_avoided > 0 else HARMS
    elif not math.isnan(row.high) and row.high < MATTERS:
        verdict = ADDS_NOTHING if row.against == GREEDY and row.loss < MATTERS else DOES_NOT
    return row._replace(p_adjusted=adjusted, verdict=verdict)


def _pareto(rows: Sequence[Judged]) -> Iterator[str]:
    """What no other one that is compared with the same beats in both: less loss left, more benefit left."""
    for base in (RECORDED, GREEDY):
        known = [each for each in rows if not math.isnan(each.loss) and base in {each.remedy, each.against}]
        for each in known:
            if not any(
                other.loss <= each.loss
                and other.benefit >= each.benefit
                and (other.loss, other.benefit) != (each.loss, each.benefit)
                for other in known
            ):
                yield each.remedy


COLUMNS: Final = Judged._fields
SETTING: Final = "setting"
FINDINGS: Final = "findings"
"""The parts of the table: who was asked what, and what was found, a sentence a row."""


def table(report: Report, rows: Sequence[Judged], notes: Sequence[str]) -> Table:
    """Remedies as a table, with its findings above it for people.

    Args:
        report: of the experiment.
        rows: the remedies.
        notes: lines for the user.
    """
    caption = simulated([(report.plan.model, report.plan.backend)])
    findings = list(_findings(report, rows))

    def print_for_people(_: Table) -> None:
        sys.stdout.write("\n".join(report.setting()) + "\n\n" + "".join(f"- {each}\n" for each in findings) + "\n")
        shown = [_in_words(each) for each in rows]
        Table(columns=list(shown[0]), rows=shown, title="Remedies", plain=True, whole=True).print()

    return Table(
        columns=COLUMNS,
        rows=[{name: _cell(value) for name, value in each._asdict().items()} for each in rows],
        title="Remedies",
        caption=caption,
        notes=[*report.notes, *notes, *([caption] if caption else [])],
        plain=True,
        print_for_people=print_for_people,
        parts={SETTING: _sentences(report.setting()), FINDINGS: _sentences(findings)},
    )


def _sentences(lines: Sequence[str]) -> list[Row]:
    return [{"sentence": line} for line in lines]


def _findings(report: Report, rows: Sequence[Judged]) -> Iterator[str]:
    yield from validity_lines(report.analysis)
    by_name = {each.remedy: each for each in rows}
    yield (
        f"without a remedy a revision loses {_percent(by_name[RECORDED].loss)} of the way and gains "
        f"{_percent(by_name[RECORDED].benefit)}; kept only if its mean is not lower, as searches do, "
        f"{_percent(by_name[GREEDY].loss)} and {_percent(by_name[GREEDY].benefit)}"
    )
    for verdict, words in ((AVOIDS, "avoid harm"), (HARMS, "do more harm"), (CANNOT_TELL, "cannot be told")):
        found = sorted((each for each in rows if each.verdict == verdict), key=lambda each: -each.harm_avoided)
        if found:
            yield f"{words}: " + "; ".join(f"{each.remedy}, {_between(each)}{_losing(each)}" for each in found)
    found = [each for each in rows if each.verdict == DOES_NOT]
    if found:
        yield f"avoid less than {_percent(MATTERS)} of the way, or nothing: {', '.join(each.remedy for each in found)}"
    gates = [each for each in rows if each.against == GREEDY]
    if gates:
        yield _work(by_name[RECORDED], by_name[GREEDY], gates)
        yield "turns that end in a revision that returns less: " + ", ".join(
            f"{each.remedy} {_percent(each.false_accepted)}" for each in (by_name[GREEDY], *gates)
        )
    for base, words in ((RECORDED, "of those compared with the revision as it is"), (GREEDY, "of those on acceptance")):
        best = [each.remedy for each in rows if each.best and each.against == base]
        if best:
            yield f"{words}, none is better than {', '.join(best)} in both harm and gain"


def _work(unseen: Judged, greedy: Judged, gates: Sequence[Judged]) -> str:
    """Which takes harm away, accepting by the mean or what is beyond that."""
    part = f"{_percent(greedy.unseen)}{_ends(greedy.unseen_low, greedy.unseen_high)} of the way"
    does = f"was not found to take away harm ({part})"
    if greedy.unseen_low > 0:
        left = f" but {_percent(greedy.loss)} of the way" if greedy.loss else ""
        does = f"takes away all the harm{left}" if greedy.loss < LITTLE * unseen.loss else f"takes away harm of {part}"
    more = "; ".join(f"{each.remedy} {_beyond(each)}" for each in gates)
    return f"compared with taking revisions unseen, accepting by the mean {does}; beyond that, {more}"


def _beyond(gate: Judged) -> str:
    """What a remedy on acceptance adds to accepting by the mean."""
    words = {AVOIDS: "takes away more", HARMS: "does more harm", CANNOT_TELL: "cannot be told to add anything"}
    amount = f"{_between(gate)} of the way"
    if gate.verdict in words:
        return f"{words[gate.verdict]}, {amount}"
    return "adds nothing" if gate.high < NOTHING else f"adds less than {_percent(MATTERS)}, {amount}"


def _losing(row: Judged) -> str:
    if math.isnan(row.gain_lost_low) or row.gain_lost_low <= 0:
        return ""
    return f", at a loss of gain of {_percent(row.gain_lost)}"


def _between(row: Judged) -> str:
    return f"{_percent(row.harm_avoided)}{_ends(row.low, row.high)}"


def _ends(low: float, high: float) -> str:
    return "" if math.isnan(low) else f" ({_percent(max(-1, low))} to {_percent(min(1, high))})"


def _in_words(row: Judged) -> Row:
    def share(value: float) -> str | None:
        return None if math.isnan(value) else _percent(value)

    return {
        "remedy": row.remedy,
        "acts on": row.acts,
        "harm avoided": None if row.against is None else _between(row),
        "p_adjusted": None if math.isnan(row.p_adjusted) else f"{row.p_adjusted:.2g}",
        "gain lost": share(row.gain_lost),
        "worse": share(row.worse),
        "falsely kept": share(row.false_accepted),
        "calls": f"{row.calls:g}",
        "tokens": None if math.isnan(row.tokens) else f"{row.tokens:,.0f}",
        "rollouts": f"{row.rollouts:.0f}",
        "verdict": row.verdict,
    }


def _cell(value: object) -> object:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _percent(value: float) -> str:
    return f"{100 * value:.0f}%" if abs(value) >= 0.0995 or not value else f"{100 * value:.1f}%"
