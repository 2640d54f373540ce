"""Small folders of native records."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from collector.records import Candidate, Episode, Run, encode

WriteRun = Callable[..., Path]


def _candidate(value: float) -> Candidate:
    return Candidate(
        params=[0.0] * 10,
        out_of_range=False,
        source="search",
        answer="",
        thinking=None,
        returns=[value, value],
        lengths=[1, 1],
        seeds=[1, 2],
        ended=["terminated", "terminated"],
        mean_return=value,
    )


def writer(above: Path) -> WriteRun:
    """What writes a run of a one-call method on CartPole that returned these values; gives the data set's folder."""

    def write(variant: str, run: int, returns: list[float], **changed: Any) -> Path:
        settings: dict[str, Any] = {"condition": "x", "env": "cartpole", "backend": "ollama", "model": "m"}
        settings |= {"optimum": 500.0, "thresholds": None} | changed
        folder = above / "data" / settings["condition"] / settings["env"] / variant / f"run-{run:02d}"
        folder.mkdir(parents=True)
        facts: dict[str, Any] = {
            "variant": variant,
            "run": run,
            "seed": 0,
            "iterations": len(returns),
            "rollouts": 2,
            "tau_c": None,
            "step_size": 1.0,
        }
        empty: dict[str, Any] = {"options": {}, "switches": {}, "prompts": {}, "versions": {}}
        record = Run(**facts, **settings, **empty, warmup=[], started_at="2026-01-01T00:00:00Z")
        (folder / "run.json").write_bytes(encode(record))
        identity = {"condition": settings["condition"], "env": settings["env"], "variant": variant, "run": run}
        episodes = [
            Episode(
                **identity,
                iteration=i,
                initial=_candidate(value),
                revised=None,
                revision_status="none",
                selected="initial",
                evidence=None,
                seconds=0.0,
            )
            for i, value in enumerate(returns)
        ]
        (folder / "episodes.jsonl").write_bytes(b"".join(map(encode, episodes)))
        return above / "data"

    return write


@pytest.fixture
def write_run(tmp_path: Path) -> WriteRun:
    """As `writer`, for a folder of the test's own."""
    return writer(tmp_path)
