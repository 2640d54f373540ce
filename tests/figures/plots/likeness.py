"""Is a picture still the picture it was? What it plots, and how it looks from afar, against stored copies.

Bytes will not do: another release of a font moves every glyph by a little.
"""

from __future__ import annotations

import io
import math
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib import image
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection, PolyCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.text import Text
from numpy.typing import NDArray
from scipy.ndimage import uniform_filter

from figures.style import RC

DPI = 60
WINDOW = 9


def plotted(figure: Figure) -> dict[str, Any]:
    """What a figure plots, as plain data: limits, labels, lines, bars, marks, and all its words."""
    legends = [[text.get_text() for text in legend.get_texts()] for legend in figure.legends]
    words = [text.get_text() for text in figure.texts]
    return {"axes": [_axes(ax) for ax in figure.axes], "legends": legends, "words": words}


def _axes(ax: Axes) -> dict[str, Any]:
    return {
        "title": ax.get_title(loc="left"),
        "labels": [ax.get_xlabel(), ax.get_ylabel()],
        "limits": _numbers([*ax.get_xlim(), *ax.get_ylim()]),
        "lines": [_line(line) for line in ax.lines],
        "bars": [
            [*_numbers([*bar.get_xy(), bar.get_width(), bar.get_height()]), to_hex(bar.get_facecolor())]
            for bar in ax.patches
            if isinstance(bar, Rectangle)
        ],
        "marks": [_marks(marks) for marks in ax.collections if isinstance(marks, PathCollection)],
        "bands": [
            [_numbers(path.vertices.ravel()), to_hex(band.get_facecolor()[0], keep_alpha=True)]
            for band in ax.collections
            if isinstance(band, PolyCollection)
            for path in band.get_paths()
        ],
        "words": [[text.get_text(), *_numbers(text.get_position())] for text in ax.texts],
    }


def _line(line: Line2D) -> list[Any]:
    look = [str(line.get_linestyle()), str(line.get_marker()), to_hex(line.get_color())]
    inside = to_hex(line.get_markerfacecolor())
    return [*look, inside, _numbers(line.get_xdata()), _numbers(line.get_ydata())]


def _marks(marks: PathCollection) -> list[Any]:
    places = np.asarray(marks.get_offsets(), dtype=float)
    return [_numbers(places.ravel()), [to_hex(colour) for colour in marks.get_facecolor()]]


def _numbers(values: Any) -> list[float | None]:
    """Four digits, so that what a processor rounds otherwise makes no difference."""
    return [float(f"{v:.4g}") if math.isfinite(v) else None for v in np.asarray(values, dtype=float)]


def seen(figure: Figure) -> NDArray[np.float64]:
    """A figure as it looks from afar: shape (height, width, 3), from 0 to 1.

    Words, ticks and grids are left out, and panels are where they are before any text has taken its room, so that
    fonts have no influence. How words and panels share the room is for the tests of the layout.
    """
    with mpl.rc_context(RC):
        figure.set_layout_engine("none")
        scales = [axis for ax in figure.axes for axis in (ax.xaxis, ax.yaxis)]
        hidden = [each for each in (*figure.findobj(Text), *figure.legends, *scales) if each.get_visible()]
        for artist in hidden:
            artist.set_visible(False)
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png", dpi=DPI)
        for artist in hidden:
            artist.set_visible(True)
    buffer.seek(0)
    return np.asarray(image.imread(buffer), dtype=float)[:, :, :3]


def store(picture: NDArray[np.float64], path: Path) -> None:
    """Keep a picture."""
    image.imsave(path, picture, metadata={"Software": None})


def stored(path: Path) -> NDArray[np.float64]:
    """A picture that was kept."""
    return np.asarray(image.imread(path), dtype=float)[:, :, :3]


def difference(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """How far two pictures differ, seen with blurred eyes, where they differ most: 0 if they are the same, 1 at most.

    Pictures of different sizes are as unlike as can be.
    """
    if one.shape != other.shape:
        return 1.0
    return float(np.abs(uniform_filter(one - other, (WINDOW, WINDOW, 1))).max())
