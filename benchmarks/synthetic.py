"""Synthetic records: the native format, random numbers, answers of a given length."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import numpy as np

from collector import seeding
from collector.records import SCHEMA
from collector.tasks import get_task

SENTENCE = "The cart drifts to the left and the pole follows it, so I raised the weight on its velocity a little. "


def write_records(folder: Path, *, revisions: int, answer_length: int = 2000, runs: int = 10) -> Path:
    """Write ThreeTraj records on CartPole.

    Args:
        folder: where the run folders go.
        revisions: how many in all.
        answer_length: characters in each critic answer.
        runs: how many runs they are spread over.
    """
    task = get_task("cartpole")
    for run in range(1, runs + 1):
        path = folder / "synthetic" / "cartpole" / "threetraj" / f"run-{run:02d}"
        path.mkdir(parents=True)
        identity = {"condition": "synthetic", "env": "cartpole", "variant": "threetraj", "run": run}
        facts = {
            "schema": SCHEMA, "seed": 0, "iterations": revisions // runs, "rollouts": 20, "tau_c": None,
            "optimum": task.optimum, "step_size": 1.0, "warmup": [], "backend": "simulated", "model": "synthetic",
            "options": {}, "switches": {}, "thresholds": msgspec.to_builtins(task.thresholds), "prompts": {},
            "versions": {}, "started_at": "2026-01-01T00:00:00+00:00",
        }  # fmt: skip
        (path / "run.json").write_text(json.dumps(identity | facts))
        rng = seeding.generator(0, "synthetic", run)
        with (path / "episodes.jsonl").open("w") as file:
            for iteration in range(revisions // runs):
                file.write(json.dumps(identity | _episode(iteration, rng, answer_length)) + "\n")
    return folder


def _episode(iteration: int, rng: np.random.Generator, answer_length: int) -> dict[str, object]:
    initial, revised = (_candidate(source, rng, answer_length) for source in ("search", "critic"))
    better = revised["mean_return"] >= initial["mean_return"]  # type: ignore[operator]
    return {
        "iteration": iteration,
        "initial": initial,
        "revised": revised,
        "revision_status": "ok",
        "selected": "revised" if better else "initial",
        "evidence": None,
        "seconds": 0.0,
    }


def _candidate(source: str, rng: np.random.Generator, answer_length: int) -> dict[str, object]:
    returns = rng.integers(9, 501, size=20).astype(float)
    named = "In the worst rollout " if source == "critic" and rng.random() < 0.7 else ""
    text = (named + SENTENCE * (answer_length // len(SENTENCE) + 1))[: answer_length if source == "critic" else 120]
    return {
        "params": [round(float(value), 1) for value in rng.uniform(-6, 6, size=10)],
        "out_of_range": False,
        "source": source,
        "answer": text,
        "thinking": None,
        "returns": returns.tolist(),
        "lengths": [int(value) for value in returns],
        "seeds": rng.integers(0, 2**32, size=20).tolist(),
        "ended": ["truncated" if value == 500 else "terminated" for value in returns],
        "mean_return": float(np.mean(returns)),
    }
