"""All figures: the modules of `figures.plots` that draw them, in the order of the page.

A new figure is a module of that package, whose name is added here: see `figures.plots.plotting`. Nothing
is imported, so that `dir(figures)` costs nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

SECTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "salience": ("salience", "citing"),
    "causes": ("causes",),
    "revisions": ("patterns", "noise", "revisions", "edits"),
    "agreement": ("agreement",),
    "returns": ("curves", "stability", "tau"),
    "over-tasks": ("aggregates", "profiles"),
}
"""Modules by the section of the page; within the figures of a module, conditions follow one another."""
APART: Final = ("critics", "remedies")
"""Modules whose figures are of no records: each is a section of its own, where the page is given what it draws."""
OF_TASKS: Final = frozenset({"returns", "over-tasks"})
"""Sections that compare returns of iterations, which must be of one task and not of other examples each time."""
