"""How every figure looks: sizes, type, colours, and how it is saved.

Colours are those of `audit.vocabulary.colours`; line styles carry the distinction of methods into grey print. Type is
7 points or larger at the final size: figures are drawn as wide as they are printed.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.ticker import MaxNLocator

from audit.vocabulary.colours import method_colour
from audit.vocabulary.patterns import PATTERNS

WIDTH: Final = 7.0  # inches: the text width of a page with two columns
NARROW: Final = 3.5  # inches: one such column
MUTED: Final = "#5A5A5A"
TAU: Final = "τ_c"
"""As notes and captions have it; pictures and pages set it with a subscript."""

RC: Final = mpl.RcParams(
    {
        "font.family": "DejaVu Sans",
        "font.size": 8,
        "axes.titlesize": 8.5,
        "axes.titleweight": "bold",
        "axes.titlelocation": "left",
        "axes.labelsize": 8,
        "xtick.labelsize": 7,
        "ytick.labelsize": 7,
        "legend.fontsize": 7.5,
        "legend.frameon": False,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.edgecolor": MUTED,
        "axes.linewidth": 0.7,
        "axes.axisbelow": True,
        "xtick.color": MUTED,
        "ytick.color": MUTED,
        "xtick.labelcolor": "black",
        "ytick.labelcolor": "black",
        "xtick.major.width": 0.7,
        "ytick.major.width": 0.7,
        "grid.color": "#E4E4E4",
        "grid.linewidth": 0.6,
        "lines.linewidth": 1.4,
        "figure.facecolor": "white",
        "figure.constrained_layout.use": True,
        "savefig.dpi": 220,
        "pdf.fonttype": 42,
        # Names come from records, and none of the texts here is mathematics.
        "text.parse_math": False,
        "svg.hashsalt": "salience-audit",
    }
)

# Without these, the same data would give another file every second and with every release of Matplotlib.
_METADATA: Final[Mapping[str, dict[str, None]]] = {
    "png": {"Software": None},
    "pdf": {"Creator": None, "Producer": None, "CreationDate": None},
    "svg": {"Creator": None, "Date": None},
}


class Stroke(NamedTuple):
    """Colour and line style of a method."""

    colour: str
    line: str


SOLID, DASHED, DASH_DOT, DOTTED = "-", "--", "-.", ":"

# Solid: a critic reads rollouts. Dash-dot: two calls, no evidence. Dashed: one call. Dotted: reinforcement learning.
_LINES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("r2po", "threetraj", "reptraj", "alwayscritic"), SOLID),
    **dict.fromkeys(("actorsecondpass", "puresearch"), DASH_DOT),
    **dict.fromkeys(("criticonly", "propsplus", "props"), DASHED),
}

PATTERN_COLOURS: Final[Mapping[str, str]] = {
    **{pattern.id: pattern.colour for pattern in PATTERNS.values()},
    "no_change": "#DADADA",
    "unclassified": "#9A9A9A",
}


def stroke(method: str) -> Stroke:
    """Colour and line style of a method."""
    return Stroke(method_colour(method), _LINES.get(method, DOTTED))


def pattern_colour(pattern: str) -> str:
    """Colour of an edit pattern; one that is not known is grey."""
    return PATTERN_COLOURS.get(pattern, "#777777")


def ink_on(colour: str) -> str:
    """Black or white, whichever reads better on a colour (relative luminance as in WCAG 2)."""
    rgb = np.array(mpl.colors.to_rgb(colour))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return "black" if float(linear @ [0.2126, 0.7152, 0.0722]) > 0.179 else "white"


def columns(count: int) -> int:
    """Number of panels side by side, of so many in all."""
    return 2 if count == 4 else min(count, 3)


class Facet(NamedTuple):
    """A panel, whether none is to its left, and whether none is below."""

    ax: Axes
    is_first: bool
    is_lowest: bool


def facets(titles: Sequence[str], height: float = 1.9, across: int | None = None) -> tuple[Figure, list[Facet]]:
    """A figure with a panel for each title, row by row: one column wide for a single panel across, else the page's.

    `height` is that of one row, in inches.
    """
    across = across or columns(len(titles))
    rows = -(-len(titles) // across)
    figure = Figure(figsize=(NARROW if across == 1 else WIDTH, height * rows + 0.2))
    found = []
    for i, title in enumerate(titles):
        ax = figure.add_subplot(rows, across, i + 1)
        ax.set_title(title)
        found.append(Facet(ax, i % across == 0, i + across >= len(titles)))
    return figure, found


def round_ticks(most: int, *, integer: bool = False) -> MaxNLocator:
    """Ticks at multiples of 1, 2, 2.5 or 5 times a power of ten, no more than so many intervals."""
    return MaxNLocator(nbins=most, steps=[1, 2, 5, 10] if integer else [1, 2, 2.5, 5, 10], integer=integer)


def typeset(text: Text) -> Text:
    """Set τ_c with a subscript, where a text has it; dollar signs stay what they are."""
    words = text.get_text()
    if TAU in words:
        text.set_text(words.replace("$", r"\$").replace(TAU, r"$\tau_c$"))
        text.set_parse_math(True)
    return text


def legend(figure: Figure, handles: Sequence[Artist], across: int, **options: float) -> None:
    """Put a legend above the panels, so many entries side by side, and give the figure the height that it takes."""
    rows = -(-len(handles) // across)
    figure.set_figheight(figure.get_figheight() + 0.16 * rows + 0.1)
    entries = figure.legend(handles=handles, loc="outside upper left", ncols=min(across, len(handles)), **options)
    for text in entries.get_texts():
        typeset(text)


def annotate(figure: Figure, note: str) -> None:
    """Put a small note below the panels, and give the figure the height it takes: images travel without their page."""
    width = figure.get_figwidth()
    lines = textwrap.wrap(note, width=int(width * 18), break_on_hyphens=False)
    figure.set_figheight(figure.get_figheight() + 0.14 * len(lines))
    typeset(figure.supxlabel("\n".join(lines), x=0.01, ha="left", fontsize=7, color=MUTED, linespacing=1.35))


def save(figure: Figure, stem: Path) -> list[Path]:
    """Write a figure as PNG, PDF and SVG, to the byte the same for the same data.

    Raises:
        OSError: the files cannot be written.
    """
    paths = []
    with mpl.rc_context(RC):
        # Positions are settled once for all files: with many panels that takes as long as drawing them.
        figure.draw_without_rendering()
        figure.set_layout_engine("none")
        for kind, metadata in _METADATA.items():
            path = stem.with_name(f"{stem.name}.{kind}")
            figure.savefig(path, format=kind, metadata=metadata)
            paths.append(path)
    return paths
