"""What the analysis of a data set says, as a line of results."""

from __future__ import annotations

import math
from typing import Any

from audit.interventions.effects.analysis import analyse
from audit.interventions.effects.comparisons import Redraws
from audit.interventions.effects.named_shares import SHARES
from audit.interventions.effects.results import Analysis
from audit.interventions.effects.shares import ceiling, followed
from audit.interventions.experiment import Experiment


def measure(experiment: Experiment, *, permutations: int, seed: int) -> dict[str, Any]:
    """Verdicts on all that is tested.

    Args:
        experiment: the data set.
        permutations: redraws of each test, which are exact at any number.
        seed: of the redraws.
    """
    found = analyse(experiment, [], permutations=permutations, seed=seed)
    movers = found.movers
    return {
        "signal": found.ceiling and round(found.ceiling.signal, 4),
        "headline": movers[0].name if movers else None,
        "problems": list(found.validity.problems),
        "shares": [
            _line(each.name, each.estimate, each.low, each.high, verdict=each.verdict, named=each.named)
            for each in found.shares
        ],
        "carriers": _carriers(found),
    }


def estimates(experiment: Experiment) -> dict[str, Any]:
    """Shares and their intervals alone, for their coverage."""
    found = followed(experiment, Redraws(1, 0))
    assert found is not None
    low, high = found.estimates.interval()
    rows = zip(SHARES, found.estimates.values, low, high, strict=False)
    return {"signal": round(ceiling(found.units).signal, 4), "shares": [_line(*map(_plain, row)) for row in rows]}


def _plain(value: Any) -> Any:
    return value if isinstance(value, str) else float(value)


def _line(name: str, estimate: float, low: float, high: float, **more: Any) -> dict[str, Any]:
    values = {"name": name, "estimate": estimate, "low": low, "high": high, **more}
    rounded = {key: round(value, 5) if isinstance(value, float) else value for key, value in values.items()}
    return {key: value for key, value in rounded.items() if not (isinstance(value, float) and math.isnan(value))}


def _carriers(found: Analysis) -> dict[str, Any]:
    return {
        name: {"units": round(each.units, 4), "uneven": bool(each.is_uneven), "one_run": each.one_run}
        for name, each in found.carriers.items()
    }
