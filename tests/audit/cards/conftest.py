"""Small examinations, made once."""

from __future__ import annotations

import pytest

import audit
from tests.audit.cards.scripted import Scripted, zeroes

UNITS = 18


@pytest.fixture(scope="session")
def examined(tmp_path_factory):
    """The folder of an examination of the simulated critic: one prompt of each kind."""
    folder = tmp_path_factory.mktemp("critics") / "salient"
    audit.critic(backend="simulated", out=folder, units=UNITS)
    return folder


@pytest.fixture(scope="session")
def zeroed(tmp_path_factory):
    """The folder of an examination of a critic that sets all parameters to 0."""
    folder = tmp_path_factory.mktemp("critics") / "zeroes"
    server = Scripted(zeroes)
    try:
        audit.critic(out=folder, units=UNITS, **server.options())
    finally:
        server.close()
    return folder
