"""Logs of one made-up search as people and tools write them, and which column of each is which field."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Any

BEFORE = [[1, 0, 0.5], [0.5, 0.25, 1], [1, 0, 0], [0.5, 0.5, 0], [1, 0.25, 0.5], [0, 1, 0]]
AFTER = [[1, 0.5, 0.5], [0, 0.25, 1], [1, 0, 1], [0.5, 1, 0], [1, 0.25, 0.5], [1, 1, 0]]


@dataclass
class Step:
    """One iteration: both candidates, their scores, and whether the new one was kept; the fifth is a tie."""

    run: int
    number: int
    before: str
    after: str
    old: list[float]
    new: list[float]
    kept: bool
    theta: list[list[float]]

    def __post_init__(self) -> None:
        """What else a row has."""
        self.ids = [f"q{self.run}{self.number}{letter}" for letter in "abc"]
        self.why = f"The {self.number}th attempt misreads the second example."


def steps() -> list[Step]:
    """Two runs of a search that keeps what is better."""
    made = []
    for run in range(2):
        text, theta = f"Answer the question. Be correct ({run}).", [0.0, 1.0]
        for number, (old, new) in enumerate(zip(BEFORE, AFTER, strict=True)):
            after, changed = f"Answer in {number + 2} words, as of {run}, and check.", [theta[0] + 0.25, 1.0 - number]
            kept = fmean(new) > fmean(old)
            made.append(Step(run, number, text, after, old, new, kept, [theta, changed]))
            text, theta = (after, changed) if kept else (text, theta)
    return made


def written(row: Callable[[Step], Mapping[str, Any]], mark: str = "") -> bytes:
    """The search as JSON Lines, or as CSV with a mark between its cells."""
    rows = [row(step) for step in steps()]
    if not mark:
        return "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in rows).encode()
    stream = io.StringIO()
    writer = csv.DictWriter(stream, list(rows[0]), delimiter=mark)
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue().encode()


def plain(s: Step) -> dict[str, Any]:
    """A row as most logs have it."""
    return {"run": s.run, "step": s.number, "prompt": s.before, "new_prompt": s.after, "score": fmean(s.old),
            "new_score": fmean(s.new), "accepted": s.kept}  # fmt: skip


def changed(**columns: Callable[[Step], Any] | None) -> Callable[[Step], dict[str, Any]]:
    """Such rows with some columns changed, added, or left out where they are None."""
    return lambda s: {
        name: columns[name](s) if name in columns else value
        for name, value in (plain(s) | dict.fromkeys(columns)).items()
        if columns.get(name, plain) is not None
    }


def by_id(ids: list[str], scores: list[float]) -> dict[str, float]:
    """Scores by the example that they are of."""
    return dict(zip(ids, scores, strict=True))


def examples(ids: list[str], scores: list[float]) -> list[dict[str, Any]]:
    """An object for each example."""
    return [{"id": name, "score": score} for name, score in by_id(ids, scores).items()]


def decimal(number: float) -> str:
    """A number with a decimal comma."""
    return f"{number:.4f}".replace(".", ",")


def both(name: str, before: str, after: str) -> dict[str, str]:
    """The columns of a field of both candidates."""
    return {f"initial.{name}": before, f"revised.{name}": after}


USUAL = {"run": "run", "iteration": "step", "selected": "accepted", **both("text", "prompt", "new_prompt")}
MEANS = both("mean_return", "score", "new_score")

Row = Callable[[Step], Mapping[str, Any]]
SURE: dict[str, tuple[str, Row, dict[str, str]]] = {
    "plain": ("", plain, USUAL | MEANS),
    "a pool of parents": ("", changed(prompt=lambda s: steps()[6 * s.run].before), USUAL | MEANS),
    "gepa": ("", lambda s: {
        "run_id": s.run, "i": s.number, "parent_prompt": s.before, "new_prompt": s.after, "subsample_ids": s.ids,
        "subsample_scores": s.old, "new_subsample_scores": s.new, "proposal_accepted": s.kept, "reflection": s.why,
    }, {
        "run": "run_id", "iteration": "i", "selected": "proposal_accepted", "revised.answer": "reflection",
        **both("text", "parent_prompt", "new_prompt"), **both("returns", "subsample_scores", "new_subsample_scores"),
        **both("example_ids", "subsample_ids", "subsample_ids"),
    }),
    "nested": ("", lambda s: {
        "trial": s.run, "step": s.number, "accepted": s.kept, "rationale": s.why,
        "parent": {"instruction": s.before, "examples": examples(s.ids, s.old)},
        "child": {"instruction": s.after, "examples": examples(s.ids, s.new)},
    }, {
        "run": "trial", "iteration": "step", "selected": "accepted", "revised.answer": "rationale",
        **both("text", "parent.instruction", "child.instruction"),
        **both("returns", "parent.examples.*.score", "child.examples.*.score"),
        **both("example_ids", "parent.examples.*.id", "child.examples.*.id"),
    }),
    "german": (";", lambda s: {
        "Lauf": s.run + 1, "Schritt": s.number + 1, "Aufgabe": "Quiz", "Prompt_vorher": s.before,
        "Prompt_nachher": s.after, "Punkte_vorher": decimal(fmean(s.old)), "Punkte_nachher": decimal(fmean(s.new)),
        "Begründung": s.why, "Übernommen": "ja" if s.kept else "nein",
    }, {
        "run": "Lauf", "iteration": "Schritt", "env": "Aufgabe", "selected": "Übernommen",
        "revised.answer": "Begründung", **both("text", "Prompt_vorher", "Prompt_nachher"),
        **both("mean_return", "Punkte_vorher", "Punkte_nachher"),
    }),
    "Weights & Biases": (",", lambda s: {
        "_step": s.number * 10, "_runtime": 12.5 * (s.number + 1) + s.run, "_timestamp": 1.7e9 + 60.5 * s.number,
        "run_name": f"sunny-dawn-{s.run + 1}", "prompt/before": s.before, "prompt/after": s.after,
        "score/before": fmean(s.old), "score/after": fmean(s.new), "accepted": int(s.kept),
    }, {
        "run": "run_name", "iteration": "_step", "selected": "accepted",
        **both("text", "prompt/before", "prompt/after"), **both("mean_return", "score/before", "score/after"),
    }),
    "MLflow": (",", lambda s: {
        "run_id": f"{s.run * 100 + s.number:08x}", "experiment_id": "3", "status": "FINISHED",
        "start_time": f"2026-10-0{s.run + 1} 10:0{s.number}:00+00:00", "metrics.score_before": fmean(s.old),
        "metrics.score_after": fmean(s.new), "params.prompt_before": s.before, "params.prompt_after": s.after,
        "tags.mlflow.parentRunId": f"{s.run:08x}-parent", "tags.accepted": str(s.kept), "tags.critique": s.why,
    }, {
        "run": "tags.mlflow.parentRunId", "iteration": "start_time", "selected": "tags.accepted",
        "revised.answer": "tags.critique", **both("text", "params.prompt_before", "params.prompt_after"),
        **both("mean_return", "metrics.score_before", "metrics.score_after"),
    }),
    "Langfuse": ("", lambda s: {
        "id": f"o{s.run}{s.number}", "sessionId": f"s{s.run}", "startTime": f"2026-10-0{s.run + 1}T10:0{s.number}:00Z",
        "model": "tiny", "input": {"prompt": s.before, "scores": s.old}, "latency": 3 - s.number / 4,
        "output": {"prompt": s.after, "scores": s.new, "reasoning": s.why}, "metadata": {"accepted": s.kept},
    }, {
        "run": "sessionId", "iteration": "startTime", "condition": "model", "selected": "metadata.accepted",
        "seconds": "latency", "revised.answer": "output.reasoning", **both("text", "input.prompt", "output.prompt"),
        **both("returns", "input.scores", "output.scores"),
    }),
    "JSON in cells": (",", lambda s: {
        "run": s.run, "step": s.number, "before": json.dumps({"prompt": s.before, "scores": s.old}),
        "after": json.dumps({"prompt": s.after, "scores": s.new}), "ids": json.dumps(s.ids), "accepted": s.kept,
    }, {
        **USUAL, **both("text", "before.prompt", "after.prompt"), **both("returns", "before.scores", "after.scores"),
        **both("example_ids", "ids", "ids"),
    }),
    "lists of Python, and true and false": (",", lambda s: {
        "run": s.run, "step": s.number, "old_prompt": s.before, "new_prompt": s.after,
        "old_correct": [score > 0.4 for score in s.old], "new_correct": [score > 0.4 for score in s.new],
        "task_ids": s.ids, "rejected": not s.kept, "comment": s.why,
    }, {
        **USUAL, "selected": "rejected", "revised.answer": "comment", **both("text", "old_prompt", "new_prompt"),
        **both("returns", "old_correct", "new_correct"), **both("example_ids", "task_ids", "task_ids"),
    }),
    "parameters": ("", lambda s: {
        "seed": s.run, "iteration": s.number, "env": "cartpole", "method": "ThreeTraj", "params": s.theta[0],
        "revised_params": s.theta[1], "returns": s.old, "revised_returns": s.new, "kept": s.kept, "answer": s.why,
    }, {
        "run": "seed", "iteration": "iteration", "env": "env", "variant": "method", "selected": "kept",
        "revised.answer": "answer", **both("params", "params", "revised_params"),
        **both("returns", "returns", "revised_returns"),
    }),
    "objects by name": ("", lambda s: {
        "run": s.run, "round": s.number, "old_prompts": {"system": s.before, "user": "{q}"}, "llmResponse": s.why,
        "new_prompts": {"system": s.after, "user": "{q}"}, "old_scores": by_id(s.ids, s.old),
        "new_scores": by_id(s.ids, s.new), "isAccepted": "yes" if s.kept else "no",
    }, {
        "run": "run", "iteration": "round", "selected": "isAccepted", "revised.answer": "llmResponse",
        **both("text", "old_prompts", "new_prompts"), **both("returns", "old_scores", "new_scores"),
    }),
    "a mean beside scores": ("", lambda s: {
        "time": f"2026-03-0{s.run + 1}T10:{s.number:02d}:07Z", "run": f"r{s.run}", "prompt_before": s.before,
        "prompt_after": s.after, "scores_before": s.old, "scores_after": s.new, "avg_score_before": fmean(s.old),
        "avg_score_after": fmean(s.new), "val_score_before": 0.5, "val_score_after": s.number / 4,
        "status": "accepted" if s.kept else "rejected", "duration": 3.5 - s.number / 4,
    }, {
        "run": "run", "iteration": "time", "selected": "status", "seconds": "duration",
        **both("text", "prompt_before", "prompt_after"), **both("returns", "scores_before", "scores_after"),
        **both("mean_return", "avg_score_before", "avg_score_after"),
    }),
    "lists of two": ("", lambda s: {
        "run": s.run, "step": s.number, "prompts_before_after": [s.before, s.after], "accepted": s.kept,
        "scores_before_after": [s.old, s.new],
    }, {
        **USUAL, **both("text", "prompts_before_after.0", "prompts_before_after.1"),
        **both("returns", "scores_before_after.0", "scores_before_after.1"),
    }),
    "tabs": ("\t", lambda s: {
        "rep": s.run, "gen": s.number, "prompt_old": s.before, "prompt_new": s.after,
        "acc_old": " ".join(map(str, s.old)), "acc_new": " ".join(map(str, s.new)), "rejected": 1 - s.kept,
    }, {
        "run": "rep", "iteration": "gen", "selected": "rejected", **both("text", "prompt_old", "prompt_new"),
        **both("returns", "acc_old", "acc_new"),
    }),
}  # fmt: skip
"""By name: the mark between cells, a row, and the columns that a guess has to find without a question."""

OPEN: dict[str, tuple[Row, str, tuple[str, ...]]] = {
    "two scores": (
        changed(
            score=None, new_score=None, val_score=lambda s: 0.5, new_val_score=lambda s: 0.5,
            train_score=lambda s: 0.5, new_train_score=lambda s: 0.5,
        ),
        "initial.mean_return: Which scores are compared?",
        ("initial.mean_return=val_score", "revised.mean_return=new_val_score"),
    ),
    "two texts": (
        changed(code=lambda s: s.before, new_code=lambda s: s.after), "initial.text: Which texts are revised?",
        ("initial.text=code", "revised.text=new_code"),
    ),
    "two answers": (
        changed(critique=lambda s: s.why, explanation=lambda s: s.why), "revised.answer: Which is the critic's answer?",
        ("revised.answer=explanation",),
    ),
    "names of no direction": (
        changed(prompt=None, new_prompt=None, prompt_a=lambda s: s.before, prompt_b=lambda s: s.after),
        "initial.text: Which texts are revised?", ("initial.text=prompt_a", "revised.text=prompt_b"),
    ),
    "lists without a word": (
        changed(score=None, new_score=None, before=lambda s: s.old, after=lambda s: s.new),
        "initial.returns: Are these lists scores", ("initial.returns=before", "revised.returns=after"),
    ),
    "losses": (
        changed(score=None, new_score=None, loss=lambda s: 1.5, new_loss=lambda s: 1.5),
        "By its name, of 'loss' the lower is better", (),
    ),
    "the lower is kept": (
        changed(score=lambda s: -fmean(s.old), new_score=lambda s: -fmean(s.new)),
        "always the candidate with the lower score was kept", ("selected=accepted",),
    ),
    "no flag": (
        changed(accepted=None, improved=lambda s: s.kept), "selected: No column states for certain",
        ("selected=strict",),
    ),
    "a flag against the next rows": (
        changed(accepted=lambda s: s.kept if s.number else not s.kept), "In 2 rows 'prompt' has a text", ("run=run",),
    ),
    "names against the order of the rows": (
        changed(prompt=lambda s: s.after, new_prompt=lambda s: s.before), "which text is before?", ("run=run",),
    ),
    "two runs that nothing names": (
        changed(run=None, step=lambda s: 10 * s.run + s.number), "In 1 row 'prompt' has a text", ("run=1",),
    ),
    "iterations that repeat": (
        changed(run=None), "iteration: 'step' seems to count iterations, but 6 rows repeat",
        ("iteration=@row", "run=1"),
    ),
    "a seed per row": (
        changed(run=None, step=None, seed=lambda s: 100 * s.run + s.number), "run: Is every row a run of its own",
        ("run=1",),
    ),
    "a fixed reference": (
        changed(score=None, new_score=None, baseline_score=lambda s: 0.5, val_score=lambda s: 0.5),
        "initial.mean_return: Which scores are compared?",
        ("initial.mean_return=baseline_score", "revised.mean_return=val_score"),
    ),
    "a row per candidate": (
        changed(new_prompt=None, new_score=None), "initial.mean_return: Which columns have the scores", (),
    ),
    "scores of different things": (
        changed(score=None, accuracy=lambda s: 0.5), "initial.mean_return: Which scores are compared?",
        ("initial.mean_return=accuracy", "revised.mean_return=new_score"),
    ),
    "numbers in quotation marks": (
        changed(score=lambda s: str(fmean(s.old))), "initial.mean_return: Which columns have the scores", (),
    ),
}  # fmt: skip
"""By name: a row, the question, and what a user has to state to be asked nothing more."""
