"""What tests of effects share."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _few_resamples(monkeypatch):
    """Intervals of weights from fewer resamples: no test of effects is about their ends."""
    monkeypatch.setattr("audit.interventions.effects.presence._RESAMPLES", 99)
