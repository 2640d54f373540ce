"""What all tests share."""

from __future__ import annotations

import functools
import signal

import pytest
import typer.main
import typer.testing
from hypothesis import HealthCheck, settings

from tests.shared import opened_once  # noqa: F401 - a fixture

# The same examples on every machine, however slow; `--hypothesis-profile default` looks for new ones.
settings.register_profile(
    "repeatable", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("repeatable")


@pytest.fixture(autouse=True, scope="session")
def _interruptible():
    """Let signals end tests and their children, though a job in the background, or under `nohup`, ignores some."""
    for kind, usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
        if signal.getsignal(kind) is signal.SIG_IGN:
            signal.signal(kind, usual)


@pytest.fixture(autouse=True, scope="session")
def _cache_of_their_own(tmp_path_factory):
    """Keep tests from reading or filling the user's cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SALIENCE_AUDIT_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(autouse=True, scope="session")
def _no_width_of_the_terminal():
    """Print tables as into a pipe, whatever the terminal in which tests run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("COLUMNS", raising=False)
        yield


@pytest.fixture(autouse=True, scope="session")
def _commands_made_once():
    """Make a program's commands once a process, as in life: a worker calls them thousands of times."""
    with pytest.MonkeyPatch.context() as patch:
        made = functools.cache(typer.main.get_command)
        patch.setattr("typer.main.get_command", made)
        patch.setattr("typer.testing._get_command", made)
        yield
