"""What stands behind many tests: certificates that are read once, and users' tasks that are forgotten."""

from __future__ import annotations

import sys
from functools import cache
from unittest.mock import patch

import gymnasium
import pytest
from httpx import create_ssl_context

from collector.rollouts import plain_loop
from collector.tasks import TASKS


@pytest.fixture(autouse=True, scope="session")
def _certificates_read_once():
    """Every client of a server reads all certificates of the machine; here they speak to this machine, without any."""
    with patch("httpx._transports.default.create_ssl_context", cache(create_ssl_context)):
        yield


@pytest.fixture
def tasks_forgotten():
    """Forget tasks and environments that a test has loaded, since others use the same names."""
    with patch.dict(TASKS), patch.dict(gymnasium.registry), patch.dict(plain_loop._environments.made):
        yield
    for name in [name for name in sys.modules if name.startswith("salience_audit_task_")]:
        del sys.modules[name]
