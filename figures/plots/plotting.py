"""What a module of a figure has, and figures as users plot them: axes of Matplotlib, made from a store.

A module NAME of this package that `figures.gallery` lists has

- `NEEDS`: the kinds of figures that it draws, each with its title and what it needs, for a page without it; nothing
  where its absence is no loss;
- `draw`: the drawings of one condition, those that there are records for;
- `plot_NAME`: the same for users, which `figures` exports.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Protocol

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from audit.store import Store
from figures.conditions import families
from figures.data import Records, records_of
from figures.errors import FiguresError
from figures.names import label
from figures.plots.drawing import Drawing, joined
from figures.provenance import origin
from figures.style import annotate

Panels = NDArray[Any]
"""Axes of Matplotlib, shape (panels,), in the order in which they are read."""


class Plots(Protocol):
    """A module of this package."""

    NEEDS: Mapping[str, str]

    def draw(self, records: Records, condition: str, /) -> Iterable[Drawing]:
        """Draw the figures of one condition."""


def finished(
    figure: Figure,
    records: Records,
    condition: str,
    called: tuple[str, str, str],
    sentences: Iterable[str],
    description: str,
) -> Drawing:
    """A figure that was drawn, with its note below it: some sentences, and what made the condition's records.

    `called` has its stem, title and caption.
    """
    note = joined([*sentences, origin(records.facts, condition)])
    annotate(figure, note)
    return Drawing(*called, note, description, figure)


Draw = Callable[[Records, str], Iterable[Drawing]]


def axes_of(
    draw: Draw,
    needs: Mapping[str, str],
    store: Store,
    condition: str | None,
    *,
    kinds: Collection[str] = (),
) -> Panels:
    """Draw a figure of one condition.

    Args:
        draw: of the figure's module.
        needs: likewise.
        store: the records.
        condition: which one; needed where there are several.
        kinds: of figures, the first of which is drawn; all that have needs, if not given.

    Returns:
        The axes, of a new figure that pyplot does not know of: `axes[0].figure.savefig(...)` writes it.

    Raises:
        FiguresError: there is no such condition, or the records have nothing for the figure.
    """
    records = records_of(store)
    chosen = one_of(records, condition)
    wanted = kinds or [kind for kind, what in needs.items() if what]
    drawn = next((each for each in draw(records, chosen) if each.stem in wanted), None)
    if drawn is None:
        raise nothing(chosen, "; ".join(needs[kind] for kind in wanted))
    return np.array(drawn.figure.axes, dtype=object)


def one_of(records: Records, condition: str | None) -> str:
    """The condition that was asked for, or the only one.

    Raises:
        FiguresError: there is none of that name, or none was asked for and there are several.
    """
    present = records.conditions
    if condition is None and len(present) == 1:
        return present[0]
    if condition is None or condition not in {*present, *families(present)}:
        wrong = "" if condition is None else f"no condition {label(condition)!r}: "
        raise FiguresError(f"{wrong}give one of the conditions {', '.join(map(label, present))}")
    return condition


def nothing(condition: str, needs: str) -> FiguresError:
    """The error for records that have nothing for a figure."""
    return FiguresError(f"nothing to draw of condition {label(condition)}: {needs}")
