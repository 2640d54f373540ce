"""Hand-made records of text candidates: plain dicts, written as JSON, independent of the recorder's writer."""

from __future__ import annotations

import statistics

from tests.audit.samples import run_json


def text_run(**changes):
    """What `write_run` is to write of a run whose candidates are texts."""
    record = run_json(
        **dict.fromkeys(("iterations", "rollouts", "tau_c", "optimum", "step_size", "thresholds")),
        env="sums",
        variant="gepa",
        schema=2,
        candidates="text",
        selection_rule="strict",
        score_range=[0.0, 1.0],
        method={"second": "critic", "evidence": "batch"},
    )
    return {**record, **changes}


def text_candidate(scores, text="Add the numbers.", source="critic", answer=None, ids=None, **changes):
    """A prompt of one component, scored on the examples 0, 1, ... unless others are given."""
    record = {
        "text": {"instruction": text},
        "source": source,
        "answer": answer,
        "returns": [float(score) for score in scores],
        "example_ids": ids or [str(number) for number in range(len(scores))],
        "mean_return": statistics.fmean(scores),
    }
    return {**record, **changes}


def items(scores, texts=None):
    """Examples as a prompt shows them, in order."""
    shown = [
        {"label": "item", "rollout": place, "return": float(score), "name": f"Example {place + 1}"}
        for place, score in enumerate(scores)
    ]
    return [{**each, "text": text} for each, text in zip(shown, texts, strict=True)] if texts else shown


def text_revision(before, after, *, answer="Example 1 went wrong.", iteration=0, kind="batch", **changes):
    """An iteration that revises a prompt: scores on the examples before and after."""
    record = {
        "condition": "hand",
        "env": "sums",
        "variant": "gepa",
        "run": 1,
        "iteration": iteration,
        "initial": text_candidate(before, source="parent"),
        "revised": text_candidate(after, "Add the numbers with care.", answer=answer),
        "revision_status": "ok",
        "selected": "revised" if sum(after) > sum(before) else "initial",
        "evidence": {"kind": kind, "shown": items(before)},
        "seconds": None,
    }
    return {**record, **changes}
