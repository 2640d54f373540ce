"""Which revisions a number of a table counts: the filter behind every cell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from audit.output.cells import is_weighted
from audit.output.formats import Row
from audit.viewer.query import Filters

Filter = Mapping[str, str | tuple[str, ...]]

CONTROL: Final = "control"
"""In a filter: the method that the row's own is compared with."""
GROUP: Final = ("condition", "env", "variant")
REGRESSION: Final = {"direction": "regression"}
CITING: Final = {"cites": "true"}
SALIENCE: Final = {"in_salience": "true"}
"""Revisions whose critic saw items of which one is asked about."""


@dataclass(frozen=True)
class Counted:
    """A relation of counts.

    Attributes:
        title: of its table.
        relation: with a row per condition, task and method, and perhaps a value of `by`.
        cells: columns that are counts, with the filter of what they count beside the row's own.
        shares: columns of percentages, with the count that each is the share of.
        rows: the filter of all rows.
        by: further columns of the relation that name a row, with the column of revisions that each is.
    """

    title: str
    relation: str
    cells: Mapping[str, Filter]
    shares: Mapping[str, str] = field(default_factory=dict)
    rows: Filter = field(default_factory=dict)
    by: Mapping[str, str] = field(default_factory=dict)

    def filter_of(self, row: Row, column: str) -> dict[str, list[str]] | None:
        """The filter of the revisions that a cell counts, or is a share by; None where it counts none."""
        if column in self.shares and is_weighted(row, self.shares[column]):
            return None
        column = self.shares.get(column, column)
        if column not in self.cells or row[column] is None:
            return None
        own = {name: str(row["control"]) if value == CONTROL else value for name, value in self.cells[column].items()}
        return {
            name: [value] if isinstance(value, str) else list(value)
            for name, value in {**self.filter_of_row(row), **own}.items()
        }

    def filter_of_row(self, row: Row) -> dict[str, str | tuple[str, ...]]:
        """The filter of all revisions of a row."""
        named = {name: str(row[name]) for name in GROUP}
        by = {
            column: "" if row[name] is None else BINS.get(str(row[name]), str(row[name]))
            for name, column in self.by.items()
        }
        return {**named, **by, **self.rows}


BINS: Final[Mapping[str, str | tuple[str, ...]]] = {"matched": ("floor", "low", "partial", "high")}
"""Rows of several values."""

_OUTCOMES: Final = {
    "revisions": {},
    "regressions": REGRESSION,
    "improvements": {"direction": "improvement"},
    "no_change": {"direction": "no_change"},
}

COUNTED: Final[Mapping[str, Counted]] = {
    "summary": Counted(
        "Revisions",
        "summary",
        {**_OUTCOMES, "accepted": {"accepted": "true"}},
        {"accepted_pct": "accepted", "regressions_pct": "regressions"},
    ),
    "salience": Counted(
        "Salience-problem regressions",
        "salience",
        {
            "revisions": {},
            "regressions": REGRESSION,
            "strict": {"strict": "true"},
            "permissive": {"permissive": "true"},
            "worst_below_median": {**REGRESSION, "worst_below_median": "true"},
            "worst_below_best": {**REGRESSION, "worst_below_best": "true"},
        },
        {
            "regressions_pct": "regressions",
            "strict_pct": "strict",
            "permissive_pct": "permissive",
            "strict_untied_pct": "strict",
            "permissive_untied_pct": "permissive",
        },
        rows=SALIENCE,
    ),
    "rates": Counted(
        "How often answers cite the item asked about",
        "base_rates",
        {
            **_OUTCOMES,
            "citing_regressions": {**REGRESSION, **CITING},
            "citing_improvements": {"direction": "improvement", **CITING},
            "citing_no_change": {"direction": "no_change", **CITING},
        },
        {f"citing_{name}_pct": f"citing_{name}" for name in ("regressions", "improvements", "no_change")},
        rows=SALIENCE,
    ),
    "patterns": Counted(
        "Edit patterns",
        "patterns_summary",
        {"revisions": {}},
        {"pct": "revisions"},
        by={"pattern": "pattern"},
    ),
    "agreement": Counted(
        "Agreement of the worst, median and best rollout",
        "agreement_summary",
        {"revisions": {}},
        rows={"evidence_kind": ("three", "batch")},
        by={"structure": "structure"},
    ),
    "severity": Counted(
        "How far the worst one stands out",
        "severity_summary",
        {
            "revisions": {},
            "citing": CITING,
            "regressions": REGRESSION,
            "citing_regressions": {**REGRESSION, **CITING},
        },
        {"citing_pct": "citing", "regressions_pct": "regressions", "regressions_citing_pct": "citing_regressions"},
        rows=SALIENCE,
        by={"degree": "degree"},
    ),
    "noise": Counted(
        "Regressions that no change would have produced",
        "noise_summary",
        {
            "revisions": {},
            "tested": {"p_no_change": ".."},
            "regressions": REGRESSION,
            "beyond_noise": {**REGRESSION, "p_no_change": "..0.05"},
            "strict": {"strict": "true"},
            "strict_beyond_noise": {"strict": "true", "p_no_change": "..0.05"},
            "citing_regressions": {**SALIENCE, **REGRESSION, **CITING},
            "citing_beyond_noise": {**SALIENCE, **REGRESSION, **CITING, "p_no_change": "..0.05"},
        },
        {
            "regressions_pct": "regressions",
            "beyond_noise_pct": "beyond_noise",
            "strict_beyond_noise_pct": "strict_beyond_noise",
        },
    ),
    "controls": Counted(
        "Regressions against those of a control that start equally well",
        "controls",
        {
            "revisions": {},
            "regressions": REGRESSION,
            "citing": CITING,
            "citing_regressions": {**REGRESSION, **CITING},
            "control_revisions": {"variant": CONTROL},
            "control_regressions": {"variant": CONTROL, **REGRESSION},
        },
        {
            "regressions_pct": "regressions",
            "citing_regressions_pct": "citing_regressions",
            "control_regressions_pct": "control_regressions",
        },
        by={"start": "start"},
    ),
}
"""The tables of counts, in the order of the page."""


def filters_of(chosen: Filter) -> Filters:
    """A filter as a query has it."""
    return tuple((name, (value,) if isinstance(value, str) else value) for name, value in chosen.items())
