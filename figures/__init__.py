"""The figures, tables and page made from records.

For example::

    import audit
    import figures

    with audit.open("data/runs") as store:
        figures.plot_salience(store, "gpt-oss-20b").figure.savefig("salience.png")
        figures.build(store, "figures/out")

Names are imported when they are first used. `dir(figures)` lists them; the modules where they are defined are private.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from figures.gallery import SECTIONS as _SECTIONS

if TYPE_CHECKING:
    from figures.data import Records, records_of
    from figures.errors import FiguresError
    from figures.names import name
    from figures.options import Band
    from figures.page.build import build
    from figures.page.export import markdown
    from figures.paper.tables import paper_tables
    from figures.plots.aggregates import plot_aggregates
    from figures.plots.agreement import plot_agreement
    from figures.plots.causes import plot_causes
    from figures.plots.citing import plot_citing
    from figures.plots.curves import plot_curves
    from figures.plots.edits import plot_edits
    from figures.plots.noise import plot_noise
    from figures.plots.patterns import plot_patterns
    from figures.plots.profiles import plot_profiles
    from figures.plots.revisions import plot_revisions
    from figures.plots.salience import plot_salience
    from figures.plots.stability import plot_stability
    from figures.plots.tau import plot_tau
    from figures.provenance import origin

_HOMES = {
    "data": ("Records", "records_of"),
    "errors": ("FiguresError",),
    "names": ("name",),
    "options": ("Band",),
    "page.build": ("build",),
    "page.export": ("markdown",),
    "paper.tables": ("paper_tables",),
    "provenance": ("origin",),
}
_MODULES = {name: module for module, names in _HOMES.items() for name in names}
_MODULES |= {f"plot_{each}": f"plots.{each}" for section in _SECTIONS.values() for each in section}

__all__ = sorted(_MODULES)  # noqa: PLE0605 - a list


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    return found


def __dir__() -> list[str]:
    return __all__
