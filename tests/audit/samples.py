"""Hand-made records for the audit's tests: plain dicts, written as JSON, independent of the collector's writer."""

from __future__ import annotations

import json
import statistics
from pathlib import Path

SHARED = Path(__file__).resolve().parents[3] / "shared"
REAL = Path(__file__).resolve().parents[2] / "data" / "real" / "large"
"""Answers of a large model."""

THRESHOLDS = {
    "partial": 100.0,
    "high": 200.0,
    "near_zero": 5.0,
    "meaningful": 0.5,
    "surgical_max": 2,
    "redesign_min": 4,
    "multi_state_min": 3,
    "floor": 0.0,
    "origin": "project",
}


def candidate(returns, params=(1.0, 2.0, 3.0), source="search", answer="an answer", **changes):
    returns = [float(value) for value in returns]
    record = {
        "params": [float(value) for value in params],
        "out_of_range": False,
        "source": source,
        "answer": answer,
        "thinking": None,
        "returns": returns,
        "lengths": [10] * len(returns),
        "seeds": list(range(len(returns))),
        "ended": ["terminated"] * len(returns),
        "mean_return": statistics.fmean(returns) if returns else 0.0,
    }
    return {**record, **changes}


def episode(initial=None, revised=None, *, iteration=0, selected=None, **changes):
    """A two-call iteration; the revised candidate is the critic's, and selected where it is no worse."""
    initial = initial or candidate([1, 2, 3])
    if selected is None:
        better = revised is not None and revised["mean_return"] >= initial["mean_return"]
        selected = "revised" if better else "initial"
    record = {
        "condition": "hand",
        "env": "cartpole",
        "variant": "threetraj",
        "run": 1,
        "iteration": iteration,
        "initial": initial,
        "revised": revised,
        "revision_status": "none" if revised is None else "ok",
        "selected": selected,
        "evidence": None if revised is None else {"kind": "three", "shown": [], "statistics": None},
        "seconds": 0.5,
    }
    return {**record, **changes}


def revision(r0, r1, *, before=(1.0, 2.0, 3.0), after=None, answer="nothing in particular", iteration=0, **changes):
    """An iteration given by the returns of both candidates and their parameters."""
    revised = candidate(r1, after if after is not None else before, "critic", answer)
    return episode(candidate(r0, before), revised, iteration=iteration, **changes)


def run_json(**changes):
    record = {
        "schema": 1,
        "condition": "hand",
        "env": "cartpole",
        "variant": "threetraj",
        "run": 1,
        "seed": 7,
        "iterations": 100,
        "rollouts": 3,
        "tau_c": None,
        "optimum": 500.0,
        "step_size": 1.0,
        "warmup": [],
        "backend": "other",
        "model": "by-hand",
        "options": {},
        "switches": {},
        "thresholds": None,
        "prompts": {},
        "versions": {},
        "started_at": "2026-01-01T00:00:00Z",
    }
    return {**record, **changes}


def write_run(folder, episodes, *, tail=b"", **run):
    """Write a run folder; the run's identity is its first episode's, and K that of its first returns."""
    folder.mkdir(parents=True, exist_ok=True)
    first = episodes[0] if episodes else episode()
    identity = {key: first[key] for key in ("condition", "env", "variant", "run")}
    rollouts = len(first["initial"]["returns"] or ()) or None
    (folder / "run.json").write_text(json.dumps(run_json(**{**identity, "rollouts": rollouts, **run})))
    lines = "".join(json.dumps(record) + "\n" for record in episodes)
    (folder / "episodes.jsonl").write_bytes(lines.encode() + tail)
    return folder
