"""The figures, tables and page made from records.

For example::

    import audit
    import figures

    with audit.open("data/runs") as store:
        figures.plot_salience(store, "gpt-oss-20b").figure.savefig("salience.png")
        figures.build(store, "figures/out")

Names are imported when they are first used. `dir(figures)` lists them; the modules where they are defined are private.
"""

from collector.system.lazy_names import attach as _attach
from figures.gallery import APART as _APART
from figures.gallery import SECTIONS as _SECTIONS

_MODULES = (*_APART, *(each for section in _SECTIONS.values() for each in section))
_PLOTS = {f"plot_{each}": f"figures.plots.{each}" for each in _MODULES}
__getattr__, __dir__ = _attach(__name__, __file__, _PLOTS)
