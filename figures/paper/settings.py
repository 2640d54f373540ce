"""Tables of settings: thresholds and optima, and what R2PO returns under other thresholds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

import pandas as pd

from figures.conditions import DEFAULT, HALF, OFF
from figures.paper.bases import Base
from figures.paper.cells import Cell, Goal
from figures.paper.judging import absent, mean_cell
from figures.paper.published import Published, number, row_of
from figures.paper.returns import summary
from stats.published.source import Row
from stats.published.verdicts import exact
from stats.tables.metrics import METRICS

METHOD: Final = "r2po"
SETTINGS: Final = (DEFAULT, HALF, OFF)
IN_PAPER: Final = {OFF: "disabled"}
"""What the paper calls a setting, where it is not what the collector does."""
NO_RULE: Final = "−∞"
"""τ_c where the rule is off, as the paper prints it."""
_COLUMNS: Final = {"mean_return": "mean_reward", "best_return": "best_reward"}


def thresholds(base: Base) -> Iterator[Cell]:
    """R2PO's τ_c and the optimum that prompts name, as the runs were set up."""
    for env in base.tasks:
        found = {"tau_c": thresholds_of(base, env, base.condition), "optimum": optima_of(base, env)}
        for column, values in found.items():
            published = number("thresholds", column, environment=env)
            yield _setting((env,), column, base.condition, values, published)


def thresholds_of(base: Base, env: str, condition: str) -> list[float]:
    """The τ_c that R2PO was run with on a task under a condition; none where records lack it."""
    facts = base.grid.facts.get((condition, env, METHOD))
    return [] if facts is None else _distinct(facts["tau_c"])


def optima_of(base: Base, env: str) -> list[float]:
    """The optimum of a task that its records name."""
    here = [
        f["optimum"]
        for (condition, task, _), f in base.grid.facts.items()
        if (condition, task) == (base.condition, env)
    ]
    return _distinct(pd.concat(here)) if here else []


def sensitivity(base: Base) -> Iterator[Cell]:
    """Returns of R2PO by its setting of τ_c; nothing where there is no setting but the default."""
    for env in base.tasks:
        found = [setting for setting in base.conditions if base.source(env, METHOD, setting)]
        if found:
            for setting in [*SETTINGS, *sorted(set(found) - set(SETTINGS))]:
                yield from _under(base, env, setting)


def _under(base: Base, env: str, setting: str) -> Iterator[Cell]:
    called = IN_PAPER.get(setting, setting)
    place, row = (env, called), row_of("tau_sensitivity", environment=env, setting=called)
    yield _tau(base, place, setting, row)
    source = base.source(env, METHOD, setting)
    for metric in METRICS:
        column = _COLUMNS[metric]
        published = None if row is None else Published(row.number(column), row.number(f"{column}_std"))
        if source is None:
            yield absent(place, column, env, published)
        else:
            yield mean_cell(place, column, source, summary(source, metric), published, goal=Goal.none)


def _tau(base: Base, place: tuple[str, str], setting: str, row: Row | None) -> Cell:
    """The threshold itself; without the rule there is none in the records."""
    env = place[0]
    condition = base.condition if setting == DEFAULT else base.conditions.get(setting, "")
    if setting != OFF:
        published = None if row is None else Published(row.number("tau_c"))
        return _setting(place, "tau_c", condition, thresholds_of(base, env, condition), published)
    published = Published(None, words=NO_RULE) if row else None
    if base.source(env, METHOD, setting) is None:
        return absent(place, "tau_c", env, published)
    cell = Cell(row=place, column="tau_c", text=NO_RULE, value=NO_RULE, env=env, method=METHOD, records=condition)
    return replace(cell, published=published, verdict="same" if published else None)


def _setting(
    place: tuple[str, ...], column: str, records: str, values: list[float], published: Published | None
) -> Cell:
    """A setting that runs share, or all that they have."""
    if not values:
        return absent(place, column, place[0], published)
    verdicts = {exact(value, published.value) if published and published.value else None for value in values}
    text = [f"{value:g}" for value in values]
    return Cell(
        row=place,
        column=column,
        text=", ".join(text),
        value=values[0] if len(values) == 1 else " ".join(text),
        env=place[0],
        method=METHOD,
        records=records,
        published=published,
        verdict=verdicts.pop() if len(verdicts) == 1 else "differs",
    )


def _distinct(values: Iterable[float]) -> list[float]:
    return sorted({float(value) for value in values if pd.notna(value)})
