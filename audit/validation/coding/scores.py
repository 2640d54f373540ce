"""How well detectors agree with coders, and coders with one another."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from audit.measures.agreement import (
    accuracy,
    against_rest,
    confusion,
    f1,
    f1_interval,
    kappa,
    kappa_interval,
    precision,
    recall,
    wilson,
)
from audit.measures.bootstrap import UNKNOWN, Interval, percentile_interval, resampled_sums
from audit.validation.coding.codes import CODES, NO, YES
from audit.validation.coding.found import Finding, Found
from audit.validation.coding.labels import Label
from audit.validation.coding.sampling import Stratum
from audit.vocabulary.keys import RevisionKey

Tables = NDArray[np.float64]


class Bootstrap(NamedTuple):
    """How runs are resampled."""

    resamples: int = 9999
    seed: int = 0


_SCORES: Final[Mapping[str, Callable[[Tables], Tables]]] = {
    "accuracy": accuracy,
    "precision": precision,
    "recall": recall,
    "f1": f1,
    "kappa": kappa,
}
METRICS: Final = tuple(_SCORES)

_OF_INDEPENDENT: Final[Mapping[str, tuple[str, Callable[[Tables], Interval]]]] = {
    "accuracy": ("wilson", lambda table: wilson(np.trace(table), table.sum())),
    "precision": ("wilson", lambda table: wilson(table[0, 0], table[:, 0].sum())),
    "recall": ("wilson", lambda table: wilson(table[0, 0], table[0].sum())),
    "f1": ("wilson", f1_interval),
    "kappa": ("asymptotic", kappa_interval),
}
"""Intervals that take answers to be independent."""

COLUMNS: Final = (
    *("condition", "coder", "column", "code", "detector", "weighted_by", "n", "runs", "tp", "fp", "fn", "tn"),
    *(f"{metric}{part}" for metric in METRICS for part in ("", "_low", "_high", "_interval")),
)
POOLED: Final = "all"
"""The condition of rows over all conditions."""

Row = dict[str, Any]


class Strata(NamedTuple):
    """What the records hold of each stratum, to weigh a sample by.

    Attributes:
        columns: what the strata are of.
        of: the stratum of every revision in the records, labelled or not.
    """

    columns: Sequence[str]
    of: Mapping[RevisionKey, Stratum]

    def sizes(self, condition: str | None) -> Counter[Stratum]:
        """How many revisions of a condition, or of all, each stratum has."""
        return Counter(name for identity, name in self.of.items() if condition in {None, identity.condition})


class Pair(NamedTuple):
    """A code held true, and what was found."""

    identity: RevisionKey
    coded: str
    finding: Finding


@dataclass(frozen=True)
class Comparison:
    """One coder's codes of a column, compared with the findings of a detector or another coder.

    The condition is None where all are taken together. `codes` are those that the column may hold.
    """

    condition: str | None
    coder: str
    column: str
    detector: str
    pairs: Sequence[Pair]
    codes: Sequence[str]

    def disagreements(self) -> Iterator[Row]:
        """A row for each answer on which the two differ."""
        for identity, coded, finding in self.pairs:
            if coded != finding.code:
                yield {
                    **identity._asdict(),
                    "coder": self.coder,
                    "column": self.column,
                    "coded": coded,
                    "detector": self.detector,
                    "found": finding.code,
                    "text": finding.text,
                }


def comparisons(
    labels: Sequence[Label],
    found: Sequence[Found],
    codes: Mapping[str, Sequence[str]] = CODES,
    *,
    pool: bool = False,
) -> list[Comparison]:
    """Compare every coder with every detector, and with the coders whose names come later.

    Args:
        labels: of the revisions that the detectors were run on.
        found: what detectors find.
        codes: the columns, and the codes that each may hold.
        pool: whether all conditions are taken together.

    Returns:
        By condition, coder and column, those with at least one answer.
    """
    by_coder: dict[str, list[Label]] = {}
    for label in sorted(labels, key=lambda label: (label.coder, label.identity)):
        by_coder.setdefault(label.coder, []).append(label)
    conditions = [None] if pool else sorted({label.identity.condition for label in labels})
    result = []
    for condition in conditions:
        for coder, rows in by_coder.items():
            mine = [row for row in rows if condition in {None, row.identity.condition}]
            for column in codes:
                others = [_as_found(column, theirs) for name, theirs in by_coder.items() if name > coder]
                for other in (*(each for each in found if each.column == column), *others):
                    pairs = [
                        Pair(row.identity, row.codes[column], other.findings[row.identity])
                        for row in mine
                        if column in row.codes and row.identity in other.findings
                    ]
                    if pairs:
                        result.append(Comparison(condition, coder, column, other.detector, pairs, codes[column]))
    return result


def scores(comparison: Comparison, bootstrap: Bootstrap, strata: Strata | None, *, classes: bool) -> Iterator[Row]:
    """The rows of one comparison: one for a yes-or-no column; for drivers one of all codes, and one per code.

    Args:
        comparison: what is compared.
        bootstrap: how intervals are made.
        strata: to weigh answers by, so that strata count as they do in the records; None for equal weights.
        classes: whether all drivers that occur have a row, or `worst` alone.
    """
    column, pairs = comparison.column, comparison.pairs
    codes = tuple(comparison.codes)
    counts = _table(pairs, codes)
    weights = None if strata is None else _weights(comparison, strata)
    runs: dict[tuple[Any, ...], list[int]] = {}
    for place, pair in enumerate(pairs):
        runs.setdefault(pair.identity[:4], []).append(place)
    per_run = np.stack(
        [
            _table([pairs[place] for place in places], codes, weights and [weights[place] for place in places])
            for _, places in sorted(runs.items())
        ]
    )
    start = {
        "condition": POOLED if comparison.condition is None else comparison.condition,
        "coder": comparison.coder,
        "column": column,
        "detector": comparison.detector,
        "weighted_by": None if strata is None else " ".join(strata.columns),
        "n": len(pairs),
        "runs": len(runs),
    }

    def row(code: str | None, restrict: Callable[[NDArray[Any]], NDArray[Any]], metrics: Sequence[str]) -> Row:
        values = {**start, "code": code, **_scored(restrict(per_run), bootstrap, metrics, weighted=strata is not None)}
        if metrics == METRICS:
            (tp, fn), (fp, tn) = restrict(counts).astype(int).tolist()
            values |= {"tp": tp, "fp": fp, "fn": fn, "tn": tn}
        return {name: values.get(name) for name in COLUMNS}

    if codes == (YES, NO):
        yield row(None, lambda tables: against_rest(tables, 0), METRICS)
        return
    yield row(None, lambda tables: tables, ("accuracy", "kappa"))
    occurring = counts.sum(0) + counts.sum(1) > 0
    for place, code in enumerate(codes):
        if code == "worst" or (classes and occurring[place]):
            yield row(code, lambda tables, place=place: against_rest(tables, place), METRICS)  # type: ignore[misc]


def _as_found(column: str, theirs: Sequence[Label]) -> Found:
    """A coder as a detector."""
    findings = {row.identity: Finding(row.codes[column]) for row in theirs if column in row.codes}
    return Found(column, f"coder {theirs[0].coder}", findings)


def _scored(per_run: Tables, bootstrap: Bootstrap, metrics: Sequence[str], *, weighted: bool) -> dict[str, Any]:
    """Scores with 95% intervals.

    Args:
        per_run: counts, shape (runs, codes, codes), as `audit.measures.agreement` has them in the last two axes.
        bootstrap: how runs are resampled.
        metrics: which scores.
        weighted: whether counts are weighted; only resampling can handle weights.

    Returns:
        Under the name of each score its value; then its bounds, with `_low` and `_high`, and what they are by, with
        `_interval`: `bootstrap` of runs, or, where there is one run or all resamples agree, `wilson` or
        `asymptotic`, which take answers to be independent. None where there is no such value.
    """
    total = per_run.sum(0)
    several = len(per_run) > 1
    sums = resampled_sums(per_run.reshape(len(per_run), -1), **bootstrap._asdict()) if several else None
    result: dict[str, Any] = {}
    for metric in metrics:
        score = float(_SCORES[metric](total))
        interval, by = UNKNOWN, "bootstrap"
        if sums is not None:
            interval = percentile_interval(_SCORES[metric](sums.reshape(-1, *total.shape)))
        if not interval.high - interval.low > 1e-9 and not weighted and not math.isnan(score):
            by, independent = _OF_INDEPENDENT[metric]
            interval = independent(total)
        known = interval.high - interval.low > 1e-9
        result |= {
            metric: None if math.isnan(score) else score,
            f"{metric}_low": interval.low if known else None,
            f"{metric}_high": interval.high if known else None,
            f"{metric}_interval": by if known else None,
        }
    return result


def _table(pairs: Sequence[Pair], codes: Sequence[str], weights: Sequence[float] | None = None) -> Tables:
    return confusion([pair.coded for pair in pairs], [pair.finding.code for pair in pairs], codes, weights)


def _weights(comparison: Comparison, strata: Strata) -> list[float]:
    """For each answer the revisions of its stratum in the records per answer of it here, scaled to one on average."""
    sizes = strata.sizes(comparison.condition)
    names = [strata.of[pair.identity] for pair in comparison.pairs]
    here = Counter(names)
    total = sum(sizes[name] for name in here)
    return [sizes[name] / here[name] * len(names) / total for name in names]
