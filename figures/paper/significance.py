"""Tables of tests: R2PO against each baseline, task by task, corrected within each baseline over the tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import pandas as pd

from audit.output.numbers import known
from figures.names import name
from figures.paper.bases import Base, Source
from figures.paper.cells import Cell
from figures.paper.judging import absent, decimal, mean_cell, probability
from figures.paper.published import BUDGET, Published, Withheld, row_of, tasks
from figures.paper.returns import ANY_BASELINE, ranking, summary
from figures.tables import MISSING
from stats.published.source import Row
from stats.published.verdicts import Verdict, against_gap, prints_as, widest
from stats.tables.metrics import Metric, compare

REFERENCE: Final = "r2po"
FAMILIES: Final = ("props", "propsplus", ANY_BASELINE)
ALPHA: Final = 0.05
CORRECTED: Final = ("holm_p", "significant")
"""What depends on how many tasks a family has."""
UNTESTED: Final[Mapping[str, Any]] = {
    **dict.fromkeys(("gap", "welch_t", "raw_p", "holm_p", "significant", "family")),
    "note": "no runs of the baseline",
}


@dataclass(frozen=True)
class Comparison:
    """R2PO and a baseline on one task: whose runs, what was found, what was published; and the table's metric."""

    metric: Metric
    env: str
    family: str
    ours: Source | None
    theirs: Source | None
    test: Mapping[str, Any]
    row: Row | None

    @property
    def place(self) -> tuple[str, str]:
        """Ids of its row."""
        return self.env, self.family

    def unlike(self, column: str) -> Withheld | None:
        """Why a number of its test cannot be compared with what was published; None where it can."""
        sources = [source for source in (self.ours, self.theirs) if source]
        reasons = [reason for source in sources if (reason := source.unlike(BUDGET)) is not None]
        if not reasons and column in CORRECTED and self.test["family"] != len(tasks(_table(self.metric))):
            return Withheld.family
        return reasons[0] if reasons else None


def tests(metric: Metric) -> Callable[[Base], Iterator[Cell]]:
    """Welch's test of R2PO against each family of baselines on each task."""

    def cells(base: Base) -> Iterator[Cell]:
        found = _comparisons(base, metric)
        if any(each.test["gap"] is not None for each in found):
            for each in found:
                yield from _means(each)
                yield from _tested(each)

    return cells


def _comparisons(base: Base, metric: Metric) -> list[Comparison]:
    pairs = {
        (env, family): (base.source(env, REFERENCE), next((s for s, _ in ranking(base, env, [family], metric)), None))
        for env in base.tasks
        for family in FAMILIES
    }
    frames = [
        source.runs.assign(condition=base.condition, env=env, variant=variant)
        for (env, family), both in pairs.items()
        for variant, source in zip((REFERENCE, family), both, strict=True)
        if source is not None and (variant == family or family == FAMILIES[0])
    ]
    if not any(ours and theirs for ours, theirs in pairs.values()):
        return []
    tested = compare(pd.concat(frames, ignore_index=True), REFERENCE, metric, ALPHA)
    by_place = {(test["env"], test["baseline"]): test for test in tested}
    return [
        Comparison(
            metric, env, family, ours, theirs, by_place.get((env, family), UNTESTED), _published(metric, env, family)
        )
        for (env, family), (ours, theirs) in pairs.items()
    ]


def _published(metric: Metric, env: str, family: str) -> Row | None:
    return row_of(_table(metric), environment=env, baseline_family=family)


def _table(metric: Metric) -> str:
    return "significance_mean_reward" if metric == "mean_return" else "significance_best_reward"


def _main(each: Comparison, column: str) -> Published | None:
    """The published mean, with the spread that the main table gives."""
    if each.row is None:
        return None
    is_reference = column == "r2po_mean"
    table = "mean_reward" if each.metric == "mean_return" else "best_reward"
    heading = {"props": "ProPS", "propsplus": "ProPS+", ANY_BASELINE: "Best SB3"}[each.family]
    main = row_of(table, environment=each.env, column="R2PO" if is_reference else heading)
    method = each.row["baseline"] if each.family == ANY_BASELINE and not is_reference else ""
    return Published(each.row.number(column), main.number("std") if main else None, method=method)


def _means(each: Comparison) -> Iterator[Cell]:
    for column, source in (("baseline_mean", each.theirs), ("r2po_mean", each.ours)):
        published = _main(each, column)
        if source is None:
            yield absent(each.place, column, each.env, published)
        else:
            named = name(source.method) if column == "baseline_mean" and each.family == ANY_BASELINE else ""
            yield mean_cell(each.place, column, source, summary(source, each.metric), published, named=named)


def _tested(each: Comparison) -> Iterator[Cell]:
    test = each.test
    written = {
        "gap": decimal(test["gap"]),
        "welch_t": decimal(test["welch_t"], 3),
        "raw_p": probability(test["raw_p"]),
        "holm_p": probability(test["holm_p"]),
        "significant": MISSING if test["significant"] is None else _decision(test["significant"]),
    }
    for column, text in written.items():
        yield _cell(each, column, test[column], text)
    yield Cell(row=each.place, column="note", text=test["note"] or "", env=each.env)


def _cell(each: Comparison, column: str, value: Any, text: str) -> Cell:
    published = _printed(each, column)
    withheld = each.unlike(column) if published and value is not None else None
    verdict = None
    if published and value is not None and not withheld:
        verdict = _verdict(each, column, value, published)
    return Cell(
        row=each.place,
        column=column,
        text=text,
        value=value if isinstance(value, bool | None) else known(value),
        env=each.env,
        method=REFERENCE,
        records=each.ours.condition if each.ours else "",
        published=published,
        verdict=verdict,
        withheld=withheld,
    )


def _printed(each: Comparison, column: str) -> Published | None:
    if each.row is None:
        return None
    if column != "significant":
        return Published(each.row.number(column))
    p = each.row.number("holm_p").value
    return Published(None, words=_decision(p <= ALPHA))


def _verdict(each: Comparison, column: str, value: Any, published: Published) -> Verdict | None:
    if column == "significant":
        return "same" if _decision(value) == published.text else "differs"
    if column == "gap":
        return _gap_verdict(each)
    return "same" if published.value and prints_as(value, published.value) else None


def _gap_verdict(each: Comparison) -> Verdict | None:
    reference, baseline = _main(each, "r2po_mean"), _main(each, "baseline_mean")
    if not (each.ours and each.theirs and each.row and reference and baseline):
        return None
    ours = summary(each.ours, each.metric), summary(each.theirs, each.metric)
    theirs = [widest(one.value, one.spread, one.runs) for one in (reference, baseline) if one.value and one.spread]
    return against_gap(ours, each.row.number("gap"), (theirs[0], theirs[1])) if len(theirs) == 2 else None


def _decision(significant: bool) -> str:
    return "yes" if significant else "no"
