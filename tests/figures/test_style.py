"""Names, colours, and what every figure owes its reader."""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import getsource
from pathlib import Path
from textwrap import dedent
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from figures.data import Records
from figures.gallery import SECTIONS
from figures.names import IMPROVEMENTS, METHODS, REGRESSIONS, TASKS, name, ordered
from figures.page.build import Contents
from figures.page.drawings import drawings_of, drawn, kinds_of, not_drawn, plots_of
from figures.page.export import latex
from figures.plots.drawing import Drawing, in_style
from figures.style import PATTERN_COLOURS, facets, ink_on, save, stroke, typeset
from figures.tables import Table
from tests.figures.conftest import REAL, SALIENT

# Kinds that want baselines, all ten tasks, several settings of τ_c or experiments.
NEED_MORE = {"causes", "curves-main", "curves-main-four", "curves-variants-four", "tau"}
# Modules whose figures have a panel for every task, three side by side, or for every task and method.
ENOUGH = dict.fromkeys(("patterns", "noise", "agreement", "stability", "tau"), 5)
ENOUGH |= dict.fromkeys(("revisions", "edits", "curves"), 2)
WHOLE = ("salience", "citing", "aggregates", "profiles")


@pytest.fixture(scope="module")
def drawings(everything: Contents) -> list[Drawing]:
    return [drawing for kind in everything.drawings.values() for drawing in kind]


def contrast(a: str, b: str) -> float:
    """Contrast ratio of WCAG 2, from its definition."""

    def luminance(colour: str) -> float:
        parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in mpl.colors.to_rgb(colour)]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_names_and_looks() -> None:
    assert (name("r2po"), name("cartpole"), name("brand-new")) == ("R2PO", "CartPole", "brand-new")
    assert ordered(["zzz", "props", "r2po", "aaa", "r2po"], METHODS) == ["r2po", "props", "aaa", "zzz"]
    assert len(TASKS) == 10
    looks = {method: stroke(method) for method in METHODS}
    assert len(set(looks.values())) == len(METHODS)
    assert stroke("brand-new") == stroke("brand-new")
    # 2 to 1 is where thin coloured lines get lost; text needs more, and is never coloured.
    assert [method for method, look in looks.items() if contrast(look.colour, "white") <= 2] == []
    assert [c for c in PATTERN_COLOURS.values() if contrast(ink_on(c), c) < 4.5] == []
    text = typeset(Figure().text(0, 0, "a$b τ_c = 3"))
    assert (text.get_text(), text.get_parse_math()) == (r"a\$b $\tau_c$ = 3", True)
    assert latex(Table("t", "τ_c_x", "a_b", "", [], [])).count(r"$\tau_c$\_x") == 1


def test_a_figure_of_each_kind_is_drawn_per_condition(drawings: list[Drawing]) -> None:
    kinds = {kind for section in SECTIONS for kind in kinds_of(section)} - NEED_MORE
    expected = {f"{kind}-{condition}" for kind in kinds for condition in ("simulated-salient", "gpt-oss-20b")}
    # The other condition has one method.
    assert {drawing.stem for drawing in drawings} == expected - {"aggregate-gpt-oss-20b", "profile-gpt-oss-20b"}


def test_what_a_section_lacks_is_told_by_its_title(drawings: list[Drawing]) -> None:
    needed = {kind: needs for section in SECTIONS for kind, needs in kinds_of(section).items() if needs}
    for drawing in drawings:
        [kind] = [kind for kind in needed if re.fullmatch(rf"{kind}-(simulated-salient|gpt-oss-20b)", drawing.stem)]
        assert needed[kind].startswith(f"{drawing.title} (needs ")
    message = not_drawn("returns", {"curves-variants", "stability"})
    assert re.match(
        r"Not shown, as these records hold nothing for them: Learning curves, R2PO and baselines \(", message
    )
    assert message.endswith("; Sensitivity to τ_c (needs R2PO under two settings of τ_c).")
    assert not_drawn("over-tasks", {"aggregate", "profile"}) == ""


def test_pictures_have_what_made_their_records_in_seven_points_or_larger(drawings: list[Drawing]) -> None:
    for drawing in drawings:
        texts = [text for text in drawing.figure.findobj(Text) if text.get_text()]
        inside = " ".join(text.get_text() for text in texts).replace("\n", " ")
        made_with = "Model gpt-oss:20b (ollama)." if "gpt" in drawing.stem else "Simulated model, personality salient"
        assert (made_with in inside, drawing.note in inside) == (True, True), drawing.stem
        assert min(text.get_fontsize() for text in texts) >= 7, drawing.stem


def full(records: Records, tasks: Sequence[str]) -> Records:
    """Some tasks and every LLM method, with as long names as there will ever be."""

    def spread(frame: pd.DataFrame, methods: int = 9) -> pd.DataFrame:
        one = frame[(frame["condition"] == REAL)]
        cells = [(env, method) for env in tasks for method in list(METHODS)[:methods]]
        return pd.concat([one.assign(env=env, variant=method) for env, method in cells], ignore_index=True)

    def every(rows: list[dict[str, Any]], methods: int = 1) -> list[dict[str, Any]]:
        one = [row for row in rows if row["condition"] == REAL]
        cells = [(env, method) for env in tasks for method in ("threetraj", *METHODS)[:methods]]
        return [{**row, "env": env, "variant": method} for env, method in cells for row in one]

    runs = spread(records.runs)
    settings = [runs[runs["variant"] == "r2po"].assign(condition=f"{REAL}+tau-{tau}") for tau in ("off", "half")]
    return replace(
        records,
        **{key: spread(getattr(records, key)) for key in ("iterations", "facts")},
        **{key: every(getattr(records, key)) for key in ("salience", "agreement", "rates")},
        # One-call methods revise nothing.
        revisions=spread(records.revisions, methods=6),
        noise=every(records.noise, methods=6),
        runs=pd.concat([runs, *settings]),
    )


def figures_of(records: Records, tasks: Mapping[str, int]) -> list[Drawing]:
    """The figures of some modules, with every method and as many tasks as the module is given."""
    plots = {
        module: each for section in SECTIONS for module, each in zip(SECTIONS[section], plots_of(section), strict=True)
    }
    return [
        drawing
        for module, count in tasks.items()
        for drawing in drawn(plots[module], full(records, list(TASKS)[:count]), REAL)
    ]


def single_cell(records: Records) -> list[Drawing]:
    """One method on one task, with every pattern there is: the smallest panels below the largest legend."""
    frame = records.revisions[(records.revisions["env"] == "cartpole") & (records.revisions["variant"] == "threetraj")]
    base = frame.iloc[[1]]
    kinds = (("regression", REGRESSIONS), ("improvement", IMPROVEMENTS))
    every = [base.assign(direction=direction, pattern=pattern) for direction, known in kinds for pattern in known]

    def here(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        wanted = (SALIENT, "cartpole", "threetraj")
        return [row for row in rows if (row["condition"], row["env"], row["variant"]) == wanted]

    one = replace(
        records,
        iterations=records.iterations.iloc[:6],
        facts=records.facts.iloc[:1],
        revisions=pd.concat([base, *every], ignore_index=True),
        runs=records.runs.iloc[:1],
        **{key: here(getattr(records, key)) for key in ("salience", "rates", "noise")},
        agreement=here(records.agreement)[:1],
    )
    return list(drawings_of(one, SALIENT))


@dataclass(frozen=True)
class Layout:
    """Where the parts of a figure are: panels with their words, the labels of each axis, legends and notes."""

    stem: str
    canvas: Bbox
    panels: list[Bbox]
    labels: list[list[Bbox]]
    legends: list[Bbox]
    notes: list[Bbox]


def layout(drawing: Drawing) -> Layout:
    figure = drawing.figure
    if engine := figure.get_layout_engine():
        engine.execute(figure)
    axes = [axis for ax in figure.axes for axis in (ax.xaxis, ax.yaxis)]
    return Layout(
        drawing.stem,
        figure.bbox.padded(1),
        [ax.get_tightbbox() for ax in figure.axes],
        [
            [label.get_window_extent() for label in axis.get_ticklabels() if label.get_text() and label.get_visible()]
            for axis in axes
        ],
        [legend.get_window_extent() for legend in figure.legends],
        [text.get_window_extent() for text in figure.texts],
    )


@pytest.mark.parametrize(
    "which",
    ["all", "single cell", *(pytest.param(name, marks=pytest.mark.slow) for name in ("full grid", "all panels"))],
)
def test_every_part_of_a_figure_has_its_room(which: str, drawings: list[Drawing], records: Records) -> None:
    """Nothing is clipped, no legend covers data, no panel reaches into another and no labels of an axis overlap."""
    made: dict[str, Callable[[], list[Drawing]]] = {
        "all": lambda: drawings,
        "single cell": lambda: single_cell(records),
        # Every task in panels that show them all; else enough for panels beside and below each other.
        "full grid": lambda: figures_of(records, {**dict.fromkeys(WHOLE, 10), **ENOUGH}),
        "all panels": lambda: figures_of(records, dict.fromkeys(ENOUGH, 10)),
    }
    laid_out = [layout(drawing) for drawing in made[which]()]
    assert laid_out
    for each in laid_out:
        for box in (*each.panels, *each.legends, *each.notes):
            assert each.canvas.x0 <= box.x0 <= box.x1 <= each.canvas.x1, each.stem
            assert each.canvas.y0 <= box.y0 <= box.y1 <= each.canvas.y1, each.stem
        assert not any(a.overlaps(b) for a, b in itertools.product(each.panels, each.legends)), each.stem
        for boxes in ([box.padded(-1) for box in each.panels], *each.labels):
            assert not any(a.overlaps(b) for a, b in itertools.combinations(boxes, 2)), each.stem


@pytest.mark.slow
def test_files_are_the_same_to_the_byte_in_another_process_and_year(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And no display is needed."""

    def draw() -> Figure:
        figure, ((ax, *_),) = facets([""])
        ax.plot([1, 2], [3, 4], label="R₀")
        return figure

    program = (
        "import sys; from pathlib import Path\n"
        "from figures.plots.drawing import in_style; from figures.style import facets, save\n"
        f"{dedent(getsource(draw)).replace(' -> Figure', '')}"
        "save(in_style(draw)(), Path(sys.argv[1]))\n"
    )
    without = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY", "MPLBACKEND")}
    environment = {**without, "SOURCE_DATE_EPOCH": "1700000000", "PYTHONHASHSEED": "1"}
    subprocess.run([sys.executable, "-c", program, str(tmp_path / "a")], check=True, env=environment)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    save(in_style(draw)(), tmp_path / "b")
    for kind in ("png", "pdf", "svg"):
        assert (tmp_path / f"a.{kind}").read_bytes() == (tmp_path / f"b.{kind}").read_bytes()
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert b"CreationDate" not in (tmp_path / "a.pdf").read_bytes()
    assert b"Software" not in (tmp_path / "a.png").read_bytes()


def test_ticks_are_round_numbers(drawings: list[Drawing]) -> None:
    for drawing in drawings:
        for ax in drawing.figure.axes:
            places = np.diff(ax.get_xticks())
            if len(places) == 0 or any(label.get_text().isalpha() for label in ax.get_xticklabels()):
                continue
            leading = 10 ** (np.log10(places) % 1)
            assert np.isclose(leading[:, None], [1, 2, 2.5, 5, 10]).any(axis=1).all(), (drawing.stem, ax.get_xticks())


def test_drawing_leaves_the_users_settings_alone(tmp_path: Path) -> None:
    before = mpl.rcParams["font.size"], mpl.rcParams["axes.grid"]
    save(in_style(Figure)(), tmp_path / "x")
    assert (mpl.rcParams["font.size"], mpl.rcParams["axes.grid"]) == before
