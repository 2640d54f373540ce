"""What `import figures` offers: each plot is the picture of the page, as axes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

import figures
from figures.data import EXPERIMENTS, FRAMES, ROWS, Records
from figures.gallery import APART, SECTIONS
from tests.figures.plots.likeness import plotted

SALIENT = "simulated-salient"
PLOTS = sorted(f"plot_{module}" for modules in SECTIONS.values() for module in modules)


class Held:
    """A store that holds some records."""

    problems: tuple[()] = ()
    plans = (Path("plan.json"),)

    def __init__(self, records: Records) -> None:
        self._frames = {name: getattr(records, field) for field, name in FRAMES.items()}
        self._rows = {name: getattr(records, field) for field, name in (ROWS | EXPERIMENTS).items()}

    def frame(self, name: str) -> pd.DataFrame:
        return self._frames[name]

    def rows(self, name: str) -> list[dict[str, Any]]:
        return self._rows[name] if name in self._rows else self._frames[name].to_dict("records")


def test_what_is_listed_is_what_there_is() -> None:
    assert dir(figures) == figures.__all__ == sorted(set(figures.__all__))
    plots = [name for name in figures.__all__ if name.startswith("plot_")]
    assert sorted([*PLOTS, *(f"plot_{module}" for module in APART)]) == plots
    assert [name for name in figures.__all__ if not (getattr(figures, name).__doc__ or "").strip()] == []
    with pytest.raises(AttributeError, match="module 'figures' has no attribute 'plot_nothing'"):
        figures.plot_nothing  # noqa: B018


@pytest.mark.slow
def test_plots_are_the_pictures_of_the_page(wide: Records, figure_of_each_kind: dict[str, Figure]) -> None:
    store = Held(wide)
    page = [plotted(figure) for kind, figure in figure_of_each_kind.items() if kind != "curves-variants"]
    drawn = {name: getattr(figures, name)(store, SALIENT) for name in PLOTS}
    first = {name: axes if name == "plot_salience" else axes[0] for name, axes in drawn.items()}
    assert [name for name, ax in first.items() if plotted(ax.figure) not in page] == []
    assert len(page) == len(PLOTS)
    assert all(len(axes) == len(first[name].figure.axes) for name, axes in drawn.items() if name != "plot_salience")


def test_a_plot_is_drawn_on_the_axes_of_a_caller(records: Records) -> None:
    figure, (left, right) = plt.subplots(1, 2)
    assert figures.plot_salience(Held(records), SALIENT, ax=right) is right
    own = figures.plot_salience(Held(records), SALIENT)
    assert [bar.get_width() for bar in right.patches] == [bar.get_width() for bar in own.patches] != []
    assert not left.has_data()
    plt.close(figure)


def test_a_condition_is_chosen_where_there_are_several(records: Records) -> None:
    store = Held(records)
    with pytest.raises(figures.FiguresError, match=r"^give one of the conditions gpt-oss-20b, simulated-salient$"):
        figures.plot_patterns(store)
    with pytest.raises(figures.FiguresError, match=r"^no condition 'other': give one of the conditions gpt"):
        figures.plot_patterns(store, "other")
    one = Held(replace(records, **{field: here(getattr(records, field)) for field in FRAMES}))
    assert figures.plot_patterns(one)[0].get_title(loc="left") == "FrozenLake"


def here(frame: pd.DataFrame) -> pd.DataFrame:
    return frame[frame["condition"] == SALIENT]


def test_what_cannot_be_drawn_names_what_it_needs(records: Records) -> None:
    store = Held(replace(records, salience=[]))
    for options in ({}, {"ax": "own"}):
        with pytest.raises(figures.FiguresError, match=r"^nothing to draw of condition gpt-oss-20b: Salience-problem "):
            figures.plot_salience(store, "gpt-oss-20b", **options)
    with pytest.raises(figures.FiguresError, match=r"R2PO and baselines \(needs .*\); Learning .* variants of R2PO \("):
        figures.plot_curves(Held(replace(records, iterations=records.iterations.iloc[:0])), "gpt-oss-20b")
