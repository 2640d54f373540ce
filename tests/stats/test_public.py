"""What `import stats` offers."""

from __future__ import annotations

import pytest

import stats


def test_what_is_listed_is_what_there_is() -> None:
    assert dir(stats) == stats.__all__ == sorted(set(stats.__all__))
    with pytest.raises(AttributeError, match="module 'stats' has no attribute 'anova'"):
        stats.anova  # noqa: B018


def test_every_name_is_documented() -> None:
    assert [name for name in stats.__all__ if not (getattr(stats, name).__doc__ or "").strip()] == []


def test_functions_are_those_of_the_measures() -> None:
    from audit.measures.welch import welch

    assert stats.welch is welch
    assert stats.welch([480, 500, 455], [410, 390, 402]).p == pytest.approx(0.01494074)
