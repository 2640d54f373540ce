"""What `import stats` offers."""

from __future__ import annotations

import subprocess
import sys

import pytest

import stats


def test_what_is_listed_is_what_there_is() -> None:
    assert dir(stats) == stats.__all__ == sorted(set(stats.__all__))
    with pytest.raises(AttributeError, match="module 'stats' has no attribute 'anova'"):
        stats.anova  # noqa: B018


def test_every_name_is_documented() -> None:
    assert [name for name in stats.__all__ if not (getattr(stats, name).__doc__ or "").strip()] == []


def test_importing_loads_nothing_heavy() -> None:
    heavy = {"numpy", "pandas", "scipy", "statsmodels", "matplotlib", "seaborn", "duckdb"}
    code = (
        "import importlib, sys\n"
        "for package in ('stats', 'figures'):\n"
        f"    dir(importlib.import_module(package)); print(package, *sorted({heavy!r} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "stats\nfigures\n"


def test_functions_are_those_of_the_measures() -> None:
    from audit.measures.welch import welch

    assert stats.welch is welch
    assert stats.welch([480, 500, 455], [410, 390, 402]).p == pytest.approx(0.01494074)
