"""Every picture is the one it was, unless it was changed on purpose.

After a change that was meant, look at the pictures, then write `tests/figures/plots/golden` again:
`SALIENCE_AUDIT_GOLDEN=write python -m pytest tests/figures/plots/test_golden.py`.
"""

from __future__ import annotations

import json
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure

from figures.data import Records
from figures.gallery import SECTIONS
from figures.page.drawings import drawings_of, kinds_of
from figures.style import RC
from tests.figures.conftest import SALIENT
from tests.figures.plots.likeness import likeness, plotted, seen, similarity, store, stored

GOLDEN = Path(__file__).parent / "golden"
WRITE = os.environ.get("SALIENCE_AUDIT_GOLDEN") == "write"
LIKE = 0.97
KINDS = sorted(kind for section in SECTIONS for kind in kinds_of(section) if not kind.endswith("-four"))


def nearly(value: Any) -> Any:
    """Numbers with room for rounding, in lists and mappings of any depth."""
    if isinstance(value, dict):
        return {key: nearly(each) for key, each in value.items()}
    if isinstance(value, list):
        return [nearly(each) for each in value]
    return pytest.approx(value, rel=2e-3, abs=1e-9) if isinstance(value, float) else value


@pytest.mark.skipif(not WRITE, reason="writes the stored pictures, when asked to")
def test_write(figure_of_each_kind: dict[str, Figure]) -> None:
    for path in GOLDEN.iterdir():
        path.unlink()
    for kind, figure in figure_of_each_kind.items():
        text = json.dumps(plotted(figure), ensure_ascii=False, indent=1, sort_keys=True)
        (GOLDEN / f"{kind}.json").write_text(f"{text}\n", encoding="utf-8")
        store(seen(figure), GOLDEN / f"{kind}.png")


def test_every_kind_of_figure_is_stored(figure_of_each_kind: dict[str, Figure]) -> None:
    assert sorted(figure_of_each_kind) == KINDS
    assert {path.name for path in GOLDEN.iterdir()} == {f"{kind}.{e}" for kind in KINDS for e in ("json", "png")}
    assert max(path.stat().st_size for path in GOLDEN.iterdir()) < 50_000


@pytest.mark.parametrize("kind", KINDS)
def test_a_figure_plots_what_it_did(kind: str, figure_of_each_kind: dict[str, Figure]) -> None:
    expected = json.loads((GOLDEN / f"{kind}.json").read_text(encoding="utf-8"))
    assert plotted(figure_of_each_kind[kind]) == nearly(expected)


@pytest.mark.parametrize("kind", KINDS)
def test_a_figure_looks_as_it_did(kind: str, figure_of_each_kind: dict[str, Figure]) -> None:
    assert likeness(seen(figure_of_each_kind[kind]), stored(GOLDEN / f"{kind}.png")) > LIKE


def shorten_a_bar(figure: Figure) -> None:
    bar = next(bar for ax in figure.axes for bar in ax.patches if bar.get_width() > 10)
    bar.set_width(0.7 * bar.get_width())


def recolour_a_bar(figure: Figure) -> None:
    next(bar for ax in figure.axes for bar in ax.patches).set_facecolor("#2C78B5")


def lose_a_line(figure: Figure) -> None:
    # The last: below a learning curve lies a faint copy of it.
    lines = [line for ax in figure.axes for line in ax.lines if len(set(map(float, line.get_xydata().ravel()))) > 2]
    lines[-1].remove()


def dash_a_line(figure: Figure) -> None:
    for line in figure.axes[0].lines:
        line.set_linestyle(":")


def lose_the_intervals(figure: Figure) -> None:
    for bar in [line for ax in figure.axes for line in ax.lines if len(line.get_xdata()) == 2]:
        bar.remove()


def stretch_a_panel(figure: Figure) -> None:
    low, high = figure.axes[0].get_xlim()
    figure.axes[0].set_xlim(low, low + 1.1 * (high - low))


def move_the_marks(figure: Figure) -> None:
    for marks in [marks for ax in figure.axes for marks in ax.collections]:
        marks.set_offsets(1.1 * np.asarray(marks.get_offsets()))


def lose_a_panel(figure: Figure) -> None:
    figure.axes[-1].remove()


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("patterns", shorten_a_bar),
        ("noise", shorten_a_bar),
        ("salience", recolour_a_bar),
        ("agreement", recolour_a_bar),
        ("curves-main", lose_a_line),
        ("curves-variants", lose_the_intervals),
        ("curves-variants", dash_a_line),
        ("stability", stretch_a_panel),
        ("citing", lose_a_line),
        ("tau", lose_a_line),
        ("causes", lose_a_panel),
        ("causes", stretch_a_panel),
        ("revisions", move_the_marks),
        ("edits", lose_a_panel),
    ],
)
def test_a_visible_change_is_noticed_twice(
    kind: str, change: Callable[[Figure], None], figure_of_each_kind: dict[str, Figure]
) -> None:
    figure = pickle.loads(pickle.dumps(figure_of_each_kind[kind]))
    change(figure)
    assert plotted(figure) != nearly(json.loads((GOLDEN / f"{kind}.json").read_text(encoding="utf-8")))
    assert likeness(seen(figure), stored(GOLDEN / f"{kind}.png")) < LIKE


@pytest.mark.slow
def test_another_font_is_no_visible_change(wide: Records, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(RC, "font.family", ["DejaVu Serif"])
    monkeypatch.setitem(RC, "xtick.labelsize", 7.4)
    for drawing in drawings_of(wide, SALIENT):
        assert likeness(seen(drawing.figure), stored(GOLDEN / f"{drawing.stem}.png")) > LIKE, drawing.stem
    assert mpl.rcParams["font.family"] != ["DejaVu Serif"]


def test_similarity_by_hand() -> None:
    # Without variation only the means count: (2 ab + c) / (a² + b² + c), c = 0.05².
    half, whole = np.full((7, 8, 3), 0.5), np.ones((7, 8, 3))
    assert similarity(half, half).ravel().tolist() == pytest.approx([1.0] * 6)
    assert similarity(half, whole).ravel().tolist() == pytest.approx([1.0025 / 1.2525] * 6)
    # A pattern and its negative, both of mean 1/2: covariance is minus the variance. 25 of 49 pixels are white:
    # means 25/49 and 24/49, variance 25 · 24 / 49².
    board = (np.indices((7, 7)).sum(axis=0) % 2 == 0).astype(float)[:, :, None]
    m, n, v, c = 25 / 49, 24 / 49, 600 / 2401, 0.0025
    expected = (2 * m * n + c) * (-2 * v + c) / ((m**2 + n**2 + c) * (2 * v + c))
    assert similarity(board, 1 - board).ravel().tolist() == pytest.approx([expected])


def test_pictures_of_other_sizes_are_not_alike() -> None:
    assert likeness(np.ones((20, 20, 3)), np.ones((20, 21, 3))) == -1
    assert likeness(np.ones((20, 20, 3)), np.ones((20, 20, 3))) == 1
