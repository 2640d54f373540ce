"""Runs that skip iterations whose search answers stay unreadable: recorded, resumed exactly, part of the condition."""

from __future__ import annotations

import json

import pytest

from collector.errors import CollectorError
from collector.run_folder import read_run
from collector.sweep import states
from collector.switches import Switches
from tests.collector.helpers import GOOD, ScriptedModel, answer, collect, lines, spec

UNREADABLE = ["no idea"] * 5
SKIP = Switches(on_unreadable="skip")


def test_an_iteration_is_recorded_as_spent_with_nothing_proposed(tmp_path):
    model = ScriptedModel(*UNREADABLE, answer(GOOD), answer(GOOD), *UNREADABLE, answer(GOOD), answer(GOOD))
    asked = spec(model=model, iterations=4, warmup=0, switches=SKIP)
    folder = collect(asked, tmp_path, model)
    skipped = lines(folder / "skipped.jsonl")
    assert all(line.pop("seconds") >= 0 for line in skipped)
    error = "16 of 16 parameters missing, the first is params[0]"
    assert skipped == [{**asked.identity, "iteration": each, "attempts": 5, "error": error} for each in (0, 2)]
    assert [episode["iteration"] for episode in lines(folder / "episodes.jsonl")] == [1, 3]
    assert len(lines(folder / "calls.jsonl")) == 14
    # The history holds what was proposed; the iteration that prompts name goes on.
    before, after = model.prompts[0], model.prompts[5]
    assert before.replace("iteration 1 of 4", "iteration 2 of 4") == after
    assert before != after
    (state,) = states([asked], tmp_path)
    assert state.complete
    run = json.loads((folder / "run.json").read_text())
    assert run["switches"] == {"on_unreadable": "skip"}
    assert run["condition"].endswith("+on-unreadable-skip")


def test_a_second_search_answer_that_stays_unreadable_leaves_the_first_candidate(tmp_path):
    stops = r"no readable search answer in 5 attempts .*begin anew with --on-unreadable skip"
    for variant in ("puresearch", "actorsecondpass"):
        model, again = (ScriptedModel(answer(GOOD), *UNREADABLE) for _ in range(2))
        folder = collect(spec(variant=variant, model=model, iterations=1, switches=SKIP), tmp_path, model)
        (episode,) = lines(folder / "episodes.jsonl")
        assert (episode["revised"], episode["revision_status"], episode["selected"]) == (None, "unreadable", "initial")
        assert not (folder / "skipped.jsonl").exists()
        with pytest.raises(CollectorError, match=stops):
            collect(spec(variant=variant, model=again, iterations=1), tmp_path, again)


def test_a_run_that_proposes_nothing_at_all_is_complete(tmp_path):
    model = ScriptedModel(*UNREADABLE * 3)
    asked = spec(model=model, iterations=3, switches=SKIP)
    reported = []
    folder = collect(asked, tmp_path, model, reported.append)
    assert [line["iteration"] for line in lines(folder / "skipped.jsonl")] == [0, 1, 2]
    assert not (folder / "episodes.jsonl").exists()
    last = reported[-1]
    assert (last.finished, last.skipped, last.current, last.best, last.calls) == (3, 3, None, None, 15)
    assert states([asked], tmp_path)[0].complete


GAPS = [
    ("skipped.jsonl", lambda lines: lines[1:], "episodes.jsonl:1: iteration 1 where 0 belongs"),
    ("skipped.jsonl", lambda lines: [*lines, lines[0]], "skipped.jsonl:3: iteration 0 where 3 belongs"),
    ("episodes.jsonl", lambda lines: lines[1:], "skipped.jsonl:2: iteration 2 where 1 belongs"),
    ("skipped.jsonl", lambda lines: ["{}", *lines], "skipped.jsonl:1: condition is missing"),
]


def test_a_gap_or_a_line_too_many_is_refused(tmp_path):
    model = ScriptedModel(*UNREADABLE, answer(GOOD), answer(GOOD), *UNREADABLE)
    folder = collect(spec(model=model, iterations=3, switches=SKIP), tmp_path, model)
    for name, damage, message in GAPS:
        path = folder / name
        whole = path.read_text()
        path.write_text("".join(f"{line}\n" for line in damage(whole.splitlines())))
        with pytest.raises(CollectorError) as error:
            read_run(folder)
        assert message in str(error.value)
        path.write_text(whole)
