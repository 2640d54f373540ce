"""Small folders of native records."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.audit.samples import candidate, episode, write_run

WriteRun = Callable[..., Path]


def writer(above: Path) -> WriteRun:
    """What writes a run of a one-call method on CartPole that returned these values; gives the data set's folder."""

    def write(
        variant: str, run: int, returns: list[float], *, condition: str = "x", env: str = "cartpole", **changed: Any
    ) -> Path:
        identity = {"condition": condition, "env": env, "variant": variant, "run": run}
        rows = [episode(candidate([value, value]), iteration=i, **identity) for i, value in enumerate(returns)]
        made_with = {"backend": "ollama", "model": "m", "iterations": len(returns), "rollouts": 2}
        write_run(
            above / "data" / condition / env / variant / f"run-{run:02d}", rows, **identity, **made_with | changed
        )
        return above / "data"

    return write


@pytest.fixture(name="write_run")
def own(tmp_path: Path) -> WriteRun:
    """As `writer`, for a folder of the test's own."""
    return writer(tmp_path)
