"""Every picture is the one it was, unless it was changed on purpose.

After a change that was meant, look at the pictures, then write `tests/figures/plots/golden` again:
`SALIENCE_AUDIT_GOLDEN=write python -m pytest tests/figures/plots/test_golden.py`.
"""

from __future__ import annotations

import json
import os
import pickle
import re
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
from tests.figures.plots.likeness import plotted

GOLDEN = Path(__file__).parent / "golden"
WRITE = os.environ.get("SALIENCE_AUDIT_GOLDEN") == "write"
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
        text = re.sub(r"\[[^\[\]{}]*\]", lambda numbers: re.sub(r"\n *", " ", numbers[0]), text)
        (GOLDEN / f"{kind}.json").write_text(f"{text}\n", encoding="utf-8")


def changed(kind: str, figure: Figure) -> bool:
    """Whether a figure plots anything else than is stored."""
    return plotted(figure) != nearly(json.loads((GOLDEN / f"{kind}.json").read_text(encoding="utf-8")))


def test_every_figure_plots_what_it_did(figure_of_each_kind: dict[str, Figure]) -> None:
    assert sorted(figure_of_each_kind) == KINDS
    assert {path.name for path in GOLDEN.iterdir()} == {f"{kind}.json" for kind in KINDS}
    assert [kind for kind in KINDS if changed(kind, figure_of_each_kind[kind])] == []


def shorten_a_bar(figure: Figure) -> None:
    bar = next(bar for ax in figure.axes for bar in ax.patches if bar.get_width() > 10)
    bar.set_width(0.7 * bar.get_width())


def recolour_a_bar(figure: Figure) -> None:
    next(bar for ax in figure.axes for bar in ax.patches).set_facecolor("#2C78B5")


def lose_a_line(figure: Figure) -> None:
    # The last: below a learning curve lies a faint copy of it.
    lines = [line for ax in figure.axes for line in ax.lines if len(set(map(float, line.get_xydata().ravel()))) > 2]
    lines[-1].remove()


def stretch_a_panel(figure: Figure) -> None:
    low, high = figure.axes[0].get_xlim()
    figure.axes[0].set_xlim(low, low + 1.1 * (high - low))


def move_the_marks(figure: Figure) -> None:
    for marks in [marks for ax in figure.axes for marks in ax.collections]:
        marks.set_offsets(1.1 * np.asarray(marks.get_offsets()))


def lose_a_panel(figure: Figure) -> None:
    figure.axes[-1].remove()


def widen_a_line(figure: Figure) -> None:
    figure.axes[0].lines[-1].set_linewidth(2.0)


def test_a_visible_change_is_noticed(figure_of_each_kind: dict[str, Figure]) -> None:
    for kind, change in (
        ("noise", shorten_a_bar),
        ("salience", recolour_a_bar),
        ("curves-main", lose_a_line),
        ("curves-variants", widen_a_line),
        ("causes", stretch_a_panel),
        ("revisions", move_the_marks),
        ("edits", lose_a_panel),
    ):
        figure = pickle.loads(pickle.dumps(figure_of_each_kind[kind]))
        change(figure)
        assert changed(kind, figure), (kind, change)


@pytest.mark.slow
def test_another_font_is_no_visible_change(wide: Records, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(RC, "font.family", ["DejaVu Serif"])
    assert [drawing.stem for drawing in drawings_of(wide, SALIENT) if changed(drawing.stem, drawing.figure)] == []
    assert mpl.rcParams["font.family"] != ["DejaVu Serif"]
