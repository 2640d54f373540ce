"""Is a picture still the picture it was? What it plots and how, as plain data.

Bytes will not do: another release of a font moves every glyph by a little.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.text import Text


def plotted(figure: Figure) -> dict[str, Any]:
    """What a figure plots: its size, places of panels, limits, labels, lines, bars, marks with their looks, words.

    Where a layout puts panels is left out, since it depends on fonts: the tests of the layout have it.
    """
    legends = [[text.get_text() for text in legend.get_texts()] for legend in figure.legends]
    words = [text.get_text() for text in figure.texts]
    size = _numbers(figure.get_size_inches())
    return {"axes": [_axes(ax) for ax in figure.axes], "legends": legends, "words": words, "size": size}


def _axes(ax: Axes) -> dict[str, Any]:
    spec = ax.get_subplotspec()
    ratios = [spec.get_gridspec().get_width_ratios(), spec.get_gridspec().get_height_ratios()] if spec else []
    return {
        "title": ax.get_title(loc="left"),
        "labels": [ax.get_xlabel(), ax.get_ylabel()],
        "place": [*map(int, spec.get_geometry() if spec else ()), *(_numbers(each) for each in ratios)],
        "spines": [side for side, spine in ax.spines.items() if spine.get_visible()],
        "limits": _numbers([*ax.get_xlim(), *ax.get_ylim()]),
        "lines": [_line(line) for line in ax.lines],
        "bars": [_bar(bar) for bar in ax.patches if isinstance(bar, Rectangle)],
        "marks": [_marks(marks) for marks in ax.collections if isinstance(marks, PathCollection)],
        "words": [_words(text) for text in ax.texts],
    }


def _line(line: Line2D) -> list[Any]:
    look = [str(line.get_linestyle()), str(line.get_marker()), *map(to_hex, (line.get_color(), line.get_mec()))]
    widths = _numbers([line.get_linewidth(), line.get_ms(), line.get_mew()])
    return [
        *look,
        to_hex(line.get_mfc()),
        *widths,
        *_layer(line),
        _numbers(line.get_xdata()),
        _numbers(line.get_ydata()),
    ]


def _bar(bar: Rectangle) -> list[Any]:
    corners = _numbers([*bar.get_xy(), bar.get_width(), bar.get_height()])
    return [*corners, to_hex(bar.get_facecolor()), to_hex(bar.get_edgecolor()), *_layer(bar)]


def _marks(marks: PathCollection) -> list[Any]:
    places = np.asarray(marks.get_offsets(), dtype=float)
    colours = [to_hex(colour) for colour in (*marks.get_facecolor(), *marks.get_edgecolor())]
    shape = _numbers([*marks.get_sizes(), *marks.get_linewidths(), len(marks.get_paths()[0].vertices)])
    return [_numbers(places.ravel()), colours, shape, *_layer(marks)]


def _words(text: Text) -> list[Any]:
    looks = [text.get_horizontalalignment(), text.get_verticalalignment(), to_hex(text.get_color())]
    return [text.get_text(), *_numbers([*text.get_position(), text.get_fontsize()]), *looks]


def _layer(artist: Artist) -> list[Any]:
    return [artist.get_alpha(), float(artist.get_zorder()), bool(artist.get_clip_on())]


def _numbers(values: Any) -> list[float | None]:
    """Four digits, so that what a processor rounds otherwise makes no difference."""
    return [float(f"{v:.4g}") if math.isfinite(v) else None for v in np.asarray(values, dtype=float)]
