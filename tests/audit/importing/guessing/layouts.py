"""Logs of one made-up search, in the layouts that people write, and what each of them means."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from statistics import fmean
from typing import Any

ACCEPT = [True, False, True, True, False, True]
BEFORE = [[1, 0, 0.5], [0.5, 0.25, 1], [1, 0, 0], [0.5, 0.5, 0], [1, 0.25, 0.5], [0, 1, 0]]
AFTER = [[1, 0.5, 0.5], [0, 0.25, 1], [1, 0, 1], [0.5, 1, 0], [1, 0.25, 0.5], [1, 1, 0]]


@dataclass
class Step:
    """One iteration: the fifth is a tie, which is refused."""

    run: int
    number: int
    before: str
    after: str | None
    scores: list[float]
    new_scores: list[float] | None
    ids: list[str]
    accepted: bool
    answer: str


def steps(runs: int = 2, binary: bool = False, missing: bool = False) -> list[Step]:
    """A search that keeps what is better."""
    made = []
    for run in range(runs):
        text = f"Answer the question. Be correct ({run})."
        for number in range(len(ACCEPT)):
            before, after = (
                [float(score > 0.4) for score in each[number]] if binary else [score + 0.0 for score in each[number]]
                for each in (BEFORE, AFTER)
            )
            accepted = fmean(after) > fmean(before) if binary else ACCEPT[number]
            is_missing = missing and number == 3
            new = None if is_missing else f"Answer the question in {number + 2} words, as of {run}, and check."
            answer = f"The {number}th attempt misreads the second example."
            ids = [f"q{run}{number}{letter}" for letter in "abc"]
            after_or_none = None if is_missing else after
            made.append(Step(run, number, text, new, before, after_or_none, ids, accepted and not is_missing, answer))
            text = new if accepted and new else text
    return made


def wanted(
    search: list[Step], *, scores: str = "list", ids: bool = True, answer: bool = True, text: Callable = str
) -> list:
    """What an import should give, in the form of `seen`."""
    rows = []
    for step in search:
        before, after = step.scores, step.new_scores
        if scores == "mean":
            before, after = ([round(fmean(each), 4)] if each else None for each in (before, after))
        rows.append({
            "run": step.run,
            "iteration": step.number,
            "text": [{"text": text(step.before)}, None if step.after is None else {"text": text(step.after)}],
            "scores": [before, after],
            "ids": step.ids if ids and scores == "list" else None,
            "selected": "revised" if step.accepted else "initial",
            "answer": step.answer if answer and step.after is not None else None,
        })  # fmt: skip
    return rows


def seen(records: list[dict[str, Any]]) -> list:
    """What records say, with runs and iterations by their order."""
    runs = sorted({(each["condition"], each["env"], each["variant"], each["run"]) for each in records})
    rows = []
    for each in records:
        run = (each["condition"], each["env"], each["variant"], each["run"])
        numbers = sorted(
            other["iteration"]
            for other in records
            if (other["condition"], other["env"], other["variant"], other["run"]) == run
        )
        sides = [each["initial"], each["revised"]]
        rows.append({
            "run": runs.index(run),
            "iteration": numbers.index(each["iteration"]),
            "text": [side and side.get("text") for side in sides],
            "scores": [side and (side["returns"] or [round(side["mean_return"], 4)]) for side in sides],
            "ids": each["initial"].get("example_ids"),
            "selected": each["selected"],
            "answer": each["revised"] and each["revised"]["answer"],
        })  # fmt: skip
    return sorted(rows, key=lambda row: (row["run"], row["iteration"]))


def jsonl(rows: list[dict]) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def table(rows: list[dict], delimiter: str = ",") -> bytes:
    stream = io.StringIO()
    writer = csv.DictWriter(stream, list(rows[0]), delimiter=delimiter)
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue().encode()


UUIDS = ["7d8f0a52-3c64-4a7e-9d0b-6f4c2a1e5b90", "f3b1c2d4-0e5a-4b6c-8d7e-9f0a1b2c3d4e"]
Layout = tuple[str, bytes, list]


def gepa() -> Layout:
    rows = [
        {"run_id": s.run, "i": s.number, "parent_prompt": s.before, "new_prompt": s.after, "subsample_ids": s.ids,
         "subsample_scores": s.scores, "new_subsample_scores": s.new_scores, "proposal_accepted": s.accepted,
         "reflection": s.answer}
        for s in steps()
    ]  # fmt: skip
    return "log.jsonl", jsonl(rows), wanted(steps())


def dspy_nested() -> Layout:
    def side(text: str | None, scores: list[float] | None, ids: list[str]) -> dict:
        examples = [{"id": name, "score": score} for name, score in zip(ids, scores or [], strict=False)]
        return {"instruction": text, "examples": examples}

    rows = [
        {"trial": s.run, "step": s.number, "parent": side(s.before, s.scores, s.ids),
         "child": side(s.after, s.new_scores, s.ids), "accepted": s.accepted, "rationale": s.answer}
        for s in steps()
    ]  # fmt: skip
    return "log.jsonl", jsonl(rows), wanted(steps())


def hf_columns() -> Layout:
    rows = [
        {"seed": s.run, "idx_step": s.number, "prompt": s.before, "revised_prompt": s.after, "score": fmean(s.scores),
         "revised_score": fmean(s.new_scores), "critique": s.answer, "accepted": s.accepted}
        for s in steps()
    ]  # fmt: skip
    return "log.jsonl", jsonl(rows), wanted(steps(), scores="mean")


def before_after_lists() -> Layout:
    rows = [
        {"run": s.run, "iteration": s.number, "prompts_before_after": [s.before, s.after],
         "scores_before_after": [s.scores, s.new_scores], "example_ids": s.ids, "kept": s.accepted}
        for s in steps()
    ]  # fmt: skip
    return "log.jsonl", jsonl(rows), wanted(steps(), answer=False)


def wide_csv() -> Layout:
    rows = [
        {"run": s.run + 1, "iteration": s.number + 1, "model": "tiny", "task": "trivia", "method": "GEPA",
         "prompt_before": s.before, "prompt_after": s.after, "score_before": round(fmean(s.scores), 4),
         "score_after": round(fmean(s.new_scores), 4), "accepted": str(s.accepted), "critique": s.answer}
        for s in steps()
    ]  # fmt: skip
    return "log.csv", table(rows), wanted(steps(), scores="mean")


def german_csv() -> Layout:
    rows = [
        {"Lauf": s.run + 1, "Schritt": s.number + 1, "Aufgabe": "Quiz", "Prompt_vorher": s.before,
         "Prompt_nachher": s.after, "Punkte_vorher": f"{fmean(s.scores):.4f}".replace(".", ","),
         "Punkte_nachher": f"{fmean(s.new_scores):.4f}".replace(".", ","), "Begründung": s.answer,
         "Übernommen": "ja" if s.accepted else "nein"}
        for s in steps()
    ]  # fmt: skip
    return "log.csv", table(rows, ";"), wanted(steps(), scores="mean")


def wandb() -> Layout:
    rows = [
        {"_step": s.number * 10, "_runtime": 12.5 * (s.number + 1) + s.run, "_timestamp": 1.7e9 + 60.5 * s.number,
         "run_name": f"sunny-dawn-{s.run + 1}", "prompt/before": s.before, "prompt/after": s.after,
         "score/before": fmean(s.scores), "score/after": fmean(s.new_scores), "accepted": int(s.accepted)}
        for s in steps()
    ]  # fmt: skip
    return "log.csv", table(rows), wanted(steps(), scores="mean", answer=False)


def json_in_cells() -> Layout:
    rows = [
        {"run": s.run, "step": s.number,
         "before": json.dumps({"prompt": s.before, "scores": s.scores}),
         "after": json.dumps({"prompt": s.after, "scores": s.new_scores}),
         "ids": json.dumps(s.ids), "accepted": s.accepted, "reflection": s.answer}
        for s in steps()
    ]  # fmt: skip
    return "log.csv", table(rows), wanted(steps())


def python_lists_in_cells() -> Layout:
    rows = [
        {"run": s.run, "step": s.number, "old_prompt": s.before, "new_prompt": s.after, "old_scores": s.scores,
         "new_scores": s.new_scores, "task_ids": s.ids, "accepted": s.accepted, "comment": s.answer}
        for s in steps()
    ]  # fmt: skip
    return "log.csv", table(rows), wanted(steps())


def parameters() -> Layout:
    rows, theta = [], {0: [0.0, 1.0], 1: [0.5, -1.0]}
    search = steps()
    for s in search:
        new = [theta[s.run][0] + 0.25, theta[s.run][1] - s.number]
        rows.append({"seed": s.run, "iteration": s.number, "env": "cartpole", "params": theta[s.run],
                     "revised_params": new, "returns": s.scores, "revised_returns": s.new_scores,
                     "accepted": s.accepted, "answer": s.answer})  # fmt: skip
        if s.accepted:
            theta[s.run] = new
    expected = wanted(search, ids=False)
    for each in expected:
        each["text"] = [None, None]
    return "log.jsonl", jsonl(rows), expected


def scores_by_id() -> Layout:
    def by_id(ids: list[str], scores: list[float]) -> dict:
        return dict(zip(ids, scores, strict=True))

    rows = [
        {"run": s.run, "round": s.number, "current_prompt": s.before, "proposed_prompt": s.after,
         "current_scores": by_id(s.ids, s.scores), "proposed_scores": by_id(s.ids[::-1], s.new_scores[::-1]),
         "accepted": s.accepted, "explanation": s.answer}
        for s in steps()
    ]  # fmt: skip
    return "log.jsonl", jsonl(rows), wanted(steps())


def named_components() -> Layout:
    def parts(text: str) -> dict:
        return {"system": text, "user": "Question: {q}"}

    rows = [
        {"run": s.run, "iter": s.number, "old_prompts": parts(s.before), "new_prompts": parts(s.after),
         "old_score": fmean(s.scores), "new_score": fmean(s.new_scores), "accepted": s.accepted, "advice": s.answer}
        for s in steps()
    ]  # fmt: skip
    expected = wanted(steps(), scores="mean")
    for each in expected:
        each["text"] = [parts(side["text"]) for side in each["text"]]
    return "log.jsonl", jsonl(rows), expected


def camel_case() -> Layout:
    rows = [
        {"runId": f"run-{s.run}", "stepIndex": s.number, "promptBefore": s.before, "promptAfter": s.after,
         "scoresBefore": s.scores, "scoresAfter": s.new_scores, "exampleIds": s.ids, "isAccepted": s.accepted,
         "modelName": "tiny", "llmResponse": s.answer}
        for s in steps()
    ]  # fmt: skip
    return "log.jsonl", jsonl(rows), wanted(steps())


def uuids() -> Layout:
    rows = [
        {"run_id": UUIDS[s.run], "generation": s.number, "parent_code": s.before, "child_code": s.after,
         "parent_fitness": fmean(s.scores), "child_fitness": fmean(s.new_scores), "kept": "yes" if s.accepted else "no",
         "llm_response": s.answer, "parent_id": f"p{s.number}", "child_id": f"c{s.number}"}
        for s in steps()
    ]  # fmt: skip
    return "log.jsonl", jsonl(rows), wanted(steps(), scores="mean")


def timestamps() -> Layout:
    rows = [
        {"timestamp": f"2026-03-0{s.run + 1}T10:{3 * s.number:02d}:07Z", "run": f"r{s.run}", "prompt": s.before,
         "new_prompt": s.after, "reward": s.scores, "new_reward": s.new_scores, "accepted": s.accepted}
        for s in steps()
    ]  # fmt: skip
    return "log.jsonl", jsonl(rows[::-1]), wanted(steps(), ids=False, answer=False)


def booleans() -> Layout:
    search = steps(binary=True)
    rows = [
        {"run": s.run, "step": s.number, "old_instruction": s.before, "new_instruction": s.after,
         "old_correct": [score == 1 for score in s.scores], "new_correct": [score == 1 for score in s.new_scores],
         "question_ids": s.ids, "accepted": s.accepted, "reflection": s.answer}
        for s in search
    ]  # fmt: skip
    return "log.jsonl", jsonl(rows), wanted(search)


def missing_revisions() -> Layout:
    search = steps(missing=True)
    rows = []
    for s in search:
        row = {"run": s.run, "step": s.number, "prompt": s.before, "scores": s.scores, "ids": s.ids}
        if s.after is not None:
            row |= {"new_prompt": s.after, "new_scores": s.new_scores, "accepted": s.accepted, "critique": s.answer}
        rows.append(row)
    return "log.jsonl", jsonl(rows), wanted(search)


def no_flag_but_a_chain() -> Layout:
    rows = [
        {"run": s.run, "step": s.number, "prompt_0": s.before, "prompt_1": s.after, "old_scores": s.scores,
         "new_scores": s.new_scores, "ids": s.ids, "feedback": "per example", "reflection": s.answer}
        for s in steps()
    ]  # fmt: skip
    return "log.jsonl", jsonl(rows), wanted(steps())


def mean_beside_scores() -> Layout:
    rows = [
        {"run": s.run, "step": s.number, "prompt_before": s.before, "prompt_after": s.after, "scores_before": s.scores,
         "scores_after": s.new_scores, "avg_score_before": fmean(s.scores), "avg_score_after": fmean(s.new_scores),
         "val_score_before": 0.5, "val_score_after": 0.25 * s.number, "ids": s.ids, "accepted": s.accepted,
         "duration": 3.5 - s.number / 4, "reflection": s.answer}
        for s in steps()
    ]  # fmt: skip
    return "log.jsonl", jsonl(rows), wanted(steps())


def tabs() -> Layout:
    rows = [
        {"rep": s.run, "gen": s.number, "prompt_old": s.before, "prompt_new": s.after,
         "acc_old": " ".join(map(str, s.scores)), "acc_new": " ".join(map(str, s.new_scores)),
         "rejected": 1 - s.accepted, "analysis": s.answer}
        for s in steps()
    ]  # fmt: skip
    return "log.tsv", table(rows, "\t"), wanted(steps(), ids=False)


def one_run_in_order() -> Layout:
    search = [s for s in steps() if s.run == 0]
    rows = [
        {"before": {"prompt": s.before, "score": fmean(s.scores)},
         "after": {"prompt": s.after, "score": fmean(s.new_scores)},
         "decision": "accept" if s.accepted else "reject", "critique": s.answer}
        for s in search
    ]  # fmt: skip
    return "log.jsonl", jsonl(rows), wanted(search, scores="mean")


def two_scores_with_confusing_names() -> Layout:
    rows = [
        {"run": s.run, "step": s.number, "prompt": s.before, "new_prompt": s.after, "train_score": fmean(s.scores),
         "new_train_score": fmean(s.new_scores), "val_score": 0.5, "new_val_score": 0.75, "accepted": s.accepted}
        for s in steps()
    ]  # fmt: skip
    return "log.jsonl", jsonl(rows), wanted(steps(), scores="mean", answer=False)


def nameless_lists() -> Layout:
    rows = [
        {"run": s.run, "step": s.number, "before": s.scores, "after": s.new_scores, "accepted": s.accepted}
        for s in steps()
    ]  # fmt: skip
    expected = wanted(steps(), ids=False, answer=False)
    for each in expected:
        each["text"] = [None, None] if each["text"][1] else [None]
    return "log.jsonl", jsonl(rows), expected


def losses() -> Layout:
    rows = [
        {"run": s.run, "step": s.number, "prompt": s.before, "new_prompt": s.after, "loss": 1 - fmean(s.scores),
         "new_loss": 1 - fmean(s.new_scores), "accepted": s.accepted}
        for s in steps()
    ]  # fmt: skip
    return "log.jsonl", jsonl(rows), []


def nobody_knows_what_was_kept() -> Layout:
    rows = [
        {"run": s.run, "step": s.number, "prompt": "fixed seed prompt", "new_prompt": s.after,
         "scores": s.scores, "new_scores": s.new_scores, "ids": s.ids, "reflection": s.answer}
        for s in steps()
    ]  # fmt: skip
    expected = wanted(steps())
    for each, s in zip(expected, steps(), strict=True):
        each["text"][0] = {"text": "fixed seed prompt"}
        each["selected"] = "revised" if fmean(s.new_scores) >= fmean(s.scores) else "initial"
    return "log.jsonl", jsonl(rows), expected


def ambiguous_halves() -> Layout:
    rows = [
        {"run": s.run, "step": s.number, "prompt_a": f"a fixed text {s.number}", "prompt_b": s.after,
         "score_a": fmean(s.scores), "score_b": fmean(s.new_scores), "accepted": s.accepted}
        for s in steps()
    ]  # fmt: skip
    expected = wanted(steps(), scores="mean", answer=False)
    for each in expected:
        each["text"][0] = {"text": f"a fixed text {each['iteration']}"}
    return "log.jsonl", jsonl(rows), expected


def runs_without_a_name() -> Layout:
    rows = [
        {"step": s.number, "prompt": s.before, "new_prompt": s.after, "scores": s.scores, "new_scores": s.new_scores,
         "accepted": s.accepted}
        for s in steps()
    ]  # fmt: skip
    expected = [{**each, "run": 0, "iteration": n} for n, each in enumerate(wanted(steps(), ids=False, answer=False))]
    return "log.jsonl", jsonl(rows), expected


LAYOUTS = [
    gepa, dspy_nested, hf_columns, before_after_lists, wide_csv, german_csv, wandb, json_in_cells,
    python_lists_in_cells, parameters, scores_by_id, named_components, camel_case, uuids, timestamps, booleans,
    missing_revisions, no_flag_but_a_chain, mean_beside_scores, tabs, one_run_in_order,
]  # fmt: skip
"""Those that leave no doubt."""

ANSWERS: dict[Callable[[], Layout], tuple[str, ...]] = {
    two_scores_with_confusing_names: ("initial.mean_return=train_score", "revised.mean_return=new_train_score"),
    nameless_lists: ("initial.returns=before", "revised.returns=after"),
    nobody_knows_what_was_kept: ("selected=better",),
    ambiguous_halves: (
        *("initial.text=prompt_a", "revised.text=prompt_b"),
        *("initial.mean_return=score_a", "revised.mean_return=score_b"),
    ),
    runs_without_a_name: ("iteration=@row", "run=1"),
}
"""Those that do not show everything, and what a user has to add."""
