"""Tests, intervals and per-run metrics over returns.

For example::

    import stats

    stats.welch([480, 500, 455], [410, 390, 402])
    stats.holm([0.01, 0.04, 0.03])

Names are imported when they are first used. `dir(stats)` lists them; the modules where they are defined are private.
"""

from collector.system.lazy_names import attach as _attach

__getattr__, __dir__ = _attach(__name__, __file__)
