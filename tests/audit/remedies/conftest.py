"""Small experiments on remedies, made once."""

from __future__ import annotations

import pytest

import audit
from tests.audit.interventions.planned import recorded


@pytest.fixture(scope="session")
def asked(tmp_path_factory):
    """The plan of a finished experiment on recorded prompts of the simulated critic."""
    folder = tmp_path_factory.mktemp("remedies")
    data = recorded(folder / "runs", runs=3, iterations=4)
    audit.remedy_plan([data], backend="simulated", out=folder / "plan.json", units=6, rollouts=10)
    audit.remedy_run(folder / "plan.json")
    return folder / "plan.json"
