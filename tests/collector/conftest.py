"""What stands behind many tests: users' tasks that are forgotten."""

from __future__ import annotations

import sys
from unittest.mock import patch

import gymnasium
import pytest

from collector.rollouts import plain_loop
from collector.tasks import TASKS


@pytest.fixture
def tasks_forgotten():
    """Forget tasks and environments that a test has loaded, since others use the same names."""
    with patch.dict(TASKS), patch.dict(gymnasium.registry), patch.dict(plain_loop._environments.made):
        yield
    for name in [name for name in sys.modules if name.startswith("salience_audit_task_")]:
        del sys.modules[name]
