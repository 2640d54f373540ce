"""Sound records, drawn at random: small runs of every method, of the project's own kind or imported."""

from __future__ import annotations

import json
import math
from random import Random
from typing import Any

Record = dict[str, Any]

EVIDENCE = {"threetraj": "three", "r2po": "median", "reptraj": "representative", "alwayscritic": "representative"}
ITEMS = ("batch", "pair", "programs")
VARIANTS = (*EVIDENCE, "puresearch", "props", "sb3-dqn")
TEXTS = (
    "The worst rollout fell at step 12, so params[0] goes up.",
    "Ä ö ü — 好 \U0001f600, the median one is typical.",
    "params[0]: 1.5, params[1]: -2\nBoth work.",
    'quotes " and \\ and / and \t',
    "",
)


def run_json(rng: Random, condition: str) -> Record:
    """What a run is; a quarter of them are imported, and hold less; a third revise texts."""
    is_imported, is_text = rng.random() < 0.25, rng.random() < 1 / 3
    run: Record = {
        "schema": 1,
        "condition": condition,
        "env": rng.choice(("cartpole", "pong", "frozenlake")),
        "variant": rng.choice(VARIANTS),
        "run": rng.randint(1, 12),
        "seed": rng.choice((0, 7, 2**40)),
        "iterations": 100,
        "rollouts": rng.randint(1, 4),
        "tau_c": rng.choice((None, 0.5)),
        "optimum": 500.0,
        "step_size": rng.choice((None, 1.0)),
        "warmup": [{"params": [0.5, -1.0], "return": 3.0, "seed": 5}] * rng.randint(0, 1),
        "backend": "other",
        "model": "by-hand",
        "options": {"imported_from": ["log.csv"]} if is_imported else {"temperature": 0.5},
        "switches": {},
        "thresholds": rng.choice((None, thresholds())),
        "prompts": {"search": "0" * 64},
        "versions": {"python": "3.12"},
        "started_at": "2026-01-01T00:00:00Z",
    }
    if is_text:
        run |= dict.fromkeys(("rollouts", "tau_c", "optimum", "step_size", "thresholds"))
        run |= {
            "schema": 2,
            "candidates": "text",
            "env": "sums",
            "variant": rng.choice(("gepa", "by-hand")),
            "warmup": [],
        }
        run["method"] = {"second": "critic", "evidence": rng.choice(ITEMS), "commits": "better"}
        run |= rng.choice(({}, {"selection_rule": rng.choice(("better", "strict", "always", "pool"))}))
        run |= rng.choice(({}, {"score_range": rng.choice((None, [-3.0, 500.0]))}))
    elif run["tau_c"] is None and rng.random() < 0.5:
        run["tau_rule"] = {"id": "progress", "options": {"share": 0.5}}
    if is_imported:
        for name in ("seed", "iterations", "rollouts", "optimum", "model", "started_at"):
            run[name] = rng.choice((run[name], None))
    return run


def thresholds() -> Record:
    """Thresholds of the edit patterns."""
    values = {"partial": 100.0, "high": 200.0, "near_zero": 5.0, "meaningful": 0.5}
    return {**values, "surgical_max": 2, "redesign_min": 4, "multi_state_min": 3, "floor": 0.0, "origin": "project"}


def episode(rng: Random, run: Record, iteration: int) -> Record:
    """A sound line of the run's `episodes.jsonl`."""
    if run.get("candidates") == "text":
        return text_episode(rng, run, iteration)
    variant, is_imported = run["variant"], "imported_from" in run["options"]
    rollouts = run["rollouts"] or 3
    size = 0 if variant.startswith("sb3-") else 2
    initial = candidate(rng, "baseline" if size == 0 else "search", rollouts, size)
    has_two = variant in EVIDENCE or variant == "puresearch"
    status = rng.choice(("ok", "ok", "ok", "unreadable")) if has_two else "none"
    revised = candidate(rng, "critic", rollouts, size) if status == "ok" else None
    record = {
        "condition": run["condition"],
        "env": run["env"],
        "variant": variant,
        "run": run["run"],
        "iteration": iteration,
        "initial": initial,
        "revised": revised,
        "revision_status": status,
        "selected": "initial" if revised is None else rng.choice(("initial", "revised")),
        "evidence": evidence(rng, EVIDENCE[variant], initial) if variant in EVIDENCE else None,
        "seconds": 0.25,
    }
    if run.get("tau_rule"):
        record |= {"tau_c": rng.choice((None, 2.5)), "restrained": rng.random() < 0.5}
    return sparse(rng, record) if is_imported else record


def candidate(rng: Random, source: str, rollouts: int, size: int) -> Record:
    """A candidate with a mean that agrees."""
    returns = [rng.choice((0.0, 1.0, -3.0, round(rng.uniform(-50, 500), 3))) for _ in range(rollouts)]
    return {
        "params": [round(rng.uniform(-6, 6), 2) for _ in range(size)],
        "out_of_range": False,
        "source": source,
        "answer": rng.choice(TEXTS),
        "thinking": rng.choice((None, "Hm.")),
        "returns": returns,
        "lengths": [rng.randint(1, 500) for _ in returns],
        "seeds": rng.choice((None, [rng.getrandbits(rng.choice((8, 40, 64))) for _ in returns])),
        "ended": [rng.choice(("terminated", "truncated")) for _ in returns],
        "mean_return": math.fsum(returns) / len(returns),
    }


def evidence(rng: Random, kind: str, initial: Record) -> Record:
    """What the critic was shown of a candidate."""
    labels = {"three": ("worst", "median", "best"), "median": ("median",), "representative": ("representative",)}[kind]
    shown = []
    for label in labels:
        index = rng.randrange(len(initial["returns"]))
        picked = {"return": initial["returns"][index], "length": initial["lengths"][index]}
        shown.append({"label": label, "rollout": index, **picked})
    span = {"mean": 2.5, "min": 1, "max": 4.0}
    statistics = {"returns": span, "lengths": span, "successes": 1, "rollouts": len(initial["returns"])}
    return {"kind": kind, "shown": shown, "statistics": rng.choice((None, statistics))}


def text_episode(rng: Random, run: Record, iteration: int) -> Record:
    """A sound line of a run whose candidates are texts."""
    status = rng.choice(("ok", "ok", "ok", "unreadable", "none"))
    initial = text_candidate(rng, "parent")
    record = {
        **{name: run[name] for name in ("condition", "env", "variant", "run")},
        "iteration": iteration,
        "initial": initial,
        "revised": text_candidate(rng, "critic") if status == "ok" else None,
        "revision_status": status,
        "selected": rng.choice(("initial", "revised")) if status == "ok" else "initial",
        "evidence": rng.choice((None, items(rng, run["method"]["evidence"], initial))),
        "seconds": rng.choice((None, 0.25)),
    }
    return sparse(rng, record) if "imported_from" in run["options"] else record


def text_candidate(rng: Random, source: str) -> Record:
    """A text with a mean that agrees."""
    scores = [rng.choice((0.0, 1.0, -3.0, round(rng.uniform(-3, 500), 3))) for _ in range(rng.randint(1, 4))]
    names = rng.sample(("instruction", 'user\'s "part"', "a.b", "", "$", "drop table runs; --"), rng.randint(1, 3))
    candidate = {
        "text": rng.choice((None, {name: rng.choice(TEXTS) for name in names})),
        "source": source,
        "answer": rng.choice((None, *TEXTS)),
        "thinking": rng.choice((None, "Hm.")),
        "returns": scores,
        "example_ids": rng.choice((None, [rng.choice(("7", "b", "b", "é")) for _ in scores])),
        "mean_return": math.fsum(scores) / len(scores),
    }
    if rng.random() < 0.5:
        del candidate["thinking"]
    return candidate if rng.random() < 0.8 else candidate | {"returns": None, "example_ids": None}


def items(rng: Random, kind: str, initial: Record) -> Record:
    """Examples or programs that a critic was shown, some with their texts."""
    shown = []
    for place in range(rng.randint(0, 3)):
        index = rng.choice((None, rng.randrange(len(initial["returns"]))) if initial["returns"] else (None,))
        score = 0.5 if index is None else initial["returns"][index]
        name = rng.choice((None, f"Example {place + 1}"))
        item = {"label": rng.choice(("item", "worst", "best")), "rollout": index, "return": score, "name": name}
        shown.append(item | rng.choice(({}, {"text": rng.choice((None, *TEXTS))})))
    return {"kind": kind, "shown": shown}


def sparse(rng: Random, record: Record) -> Record:
    """The record with null for some of what an imported log need not hold."""
    if rng.random() < 0.5:
        record["seconds"] = None
    for role in ("initial", "revised"):
        held = record[role] or {}
        for field in set(held) - {"source", "mean_return"}:
            if rng.random() < 0.2:
                held[field] = None
    for shown in (record["evidence"] or {"shown": ()})["shown"]:
        for field in ("rollout", "return", "length", "text"):
            if rng.random() < 0.2:
                shown[field] = None
    return record


def line_of(record: Record) -> bytes:
    """A record as `collect` writes it, line break left out."""
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode()
