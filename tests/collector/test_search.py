"""The loop: what is kept, what is recorded, and what happens to answers that cannot be read."""

from __future__ import annotations

import asyncio
import json
import os
import threading
from statistics import fmean

import pytest

from collector.errors import CollectorError
from collector.llm.simulated import SimulatedModel
from collector.methods import METHODS
from collector.rollouts.evaluate import evaluate
from collector.run_folder import RunFolder
from collector.search import search, select
from collector.tasks import TASKS, get_task
from tests.collector.helpers import (
    GOOD,
    QUICK,
    ScriptedModel,
    answer,
    candidate_of,
    collect,
    lines,
    short,
    shortened,
    spec,
    timeless,
)

BAD = [0] * 16

EPISODE = {
    "condition", "env", "variant", "run", "iteration", "initial", "revised", "revision_status", "selected", "evidence",
    "seconds",
}  # fmt: skip
CANDIDATE = {
    "params", "out_of_range", "source", "answer", "thinking", "returns", "lengths", "seeds", "ended", "mean_return",
}  # fmt: skip
CALL = {
    "condition", "env", "variant", "run", "iteration", "role", "attempt", "prompt", "completion", "thinking", "model",
    "prompt_tokens", "completion_tokens", "seconds", "error",
}  # fmt: skip
RUN = {
    "schema", "condition", "env", "variant", "run", "seed", "iterations", "rollouts", "tau_c", "optimum", "step_size",
    "warmup", "backend", "model", "options", "switches", "thresholds", "prompts", "versions", "started_at", "method",
}  # fmt: skip


ROLES = {
    "props": ["search"],
    "propsplus": ["search"],
    "criticonly": ["search"],
    "puresearch": ["search", "search"],
    "actorsecondpass": ["search", "search"],
    "alwayscritic": ["search", "critic"],
    "reptraj": ["search", "critic"],
    "threetraj": ["search", "critic"],
    "r2po": ["search", "critic"],
}


PAIRS = [
    pytest.param(env, variant, marks=[] if env in QUICK or variant == "r2po" else pytest.mark.slow)
    for env in TASKS
    for variant in METHODS
]


@pytest.mark.parametrize(("env", "variant"), PAIRS)
def test_records_are_as_documented(env, variant, tmp_path):
    asked = spec(env, variant, iterations=4, rollouts=3, switches=short(env))
    folder = collect(asked, tmp_path)
    run = json.loads((folder / "run.json").read_text())
    assert set(run) == RUN
    assert (run["env"], run["variant"], run["schema"], len(run["warmup"])) == (env, variant, 1, 3)
    assert run["tau_c"] == (TASKS[env].tau_c if variant == "r2po" else None)
    episodes = lines(folder / "episodes.jsonl")
    assert [episode["iteration"] for episode in episodes] == [0, 1, 2, 3]
    for episode in episodes:
        assert set(episode) == EPISODE
        assert (episode["evidence"] or {}).get("kind") == METHODS[variant].evidence
        assert (episode["revised"] is None) == (episode["revision_status"] in {"none", "unreadable"})
        assert (episode["revision_status"] == "none") == (len(ROLES[variant]) == 1)
        for candidate in filter(None, (episode["initial"], episode["revised"])):
            assert set(candidate) == CANDIDATE
            assert {len(candidate[name]) for name in ("returns", "lengths", "seeds", "ended")} == {3}
            assert candidate["mean_return"] == fmean(candidate["returns"])
    calls = lines(folder / "calls.jsonl")
    assert all(set(call) == CALL for call in calls)
    assert [(call["iteration"], call["role"]) for call in calls if call["error"] is None] == [
        (iteration, role) for iteration in range(4) for role in ROLES[variant]
    ]


def test_recorded_rollouts_run_again_are_equal(tmp_path):
    for env in TASKS:
        task, folder = shortened(get_task(env)), collect(spec(env, "reptraj", switches=short(env)), tmp_path)
        for episode in lines(folder / "episodes.jsonl"):
            for candidate in filter(None, (episode["initial"], episode["revised"])):
                again = evaluate(task, candidate["params"], candidate["seeds"]).record
                assert again == {name: candidate[name] for name in again}
        for trial in json.loads((folder / "run.json").read_text())["warmup"]:
            assert evaluate(task, trial["params"], [trial["seed"]]).returns == [trial["return"]]


def test_the_two_candidates_are_rolled_out_on_seeds_of_their_own(tmp_path):
    model = ScriptedModel(answer(GOOD), answer(GOOD))
    folder = collect(spec("frozenlake", "threetraj", model=model, iterations=1, rollouts=20), tmp_path, model)
    (episode,) = lines(folder / "episodes.jsonl")
    assert not set(episode["initial"]["seeds"]) & set(episode["revised"]["seeds"])
    assert episode["initial"]["returns"] != episode["revised"]["returns"]


SELECTED = {
    ("better", 2.0): "revised",
    ("better", 1.0): "revised",
    ("better", 0.9): "initial",
    ("revised", 0.0): "revised",
    ("better", None): "initial",
    ("first", None): "initial",
    ("revised", None): "initial",
}


def test_selection():
    for (commits, revised), selected in SELECTED.items():
        second = None if revised is None else candidate_of([revised])
        assert select(commits, candidate_of([1.0]), second) == selected, (commits, revised)


@pytest.mark.parametrize(("variant", "kept"), [("threetraj", GOOD), ("alwayscritic", BAD)])
def test_the_winner_and_only_the_winner_enters_the_history(variant, kept, tmp_path):
    """A critic that ruins a good policy: its revision enters the history only where it always does."""
    model = ScriptedModel(answer(GOOD), answer(BAD), answer(GOOD), answer(GOOD))
    asked = spec("frozenlake", variant, model=model, iterations=2, rollouts=20, warmup=0)
    first = lines(collect(asked, tmp_path, model) / "episodes.jsonl")[0]
    history = [line for line in model.prompts[2].splitlines() if line.startswith("#0 ")]
    mean = first["initial" if kept == GOOD else "revised"]["mean_return"]
    assert history == [f"#0 params=({', '.join(map(str, kept))}) mean return {mean:.2f}"]


def test_the_warm_up_opens_the_history_with_single_returns(tmp_path):
    model = ScriptedModel(answer(GOOD), answer(GOOD))
    folder = collect(spec("frozenlake", "r2po", model=model, iterations=1, warmup=5), tmp_path, model)
    warmup = json.loads((folder / "run.json").read_text())["warmup"]
    assert len(warmup) == 5
    opened = [line for line in model.prompts[0].splitlines() if " single return " in line]
    assert [line.rsplit(" ", 1)[1] for line in opened] == [f"{trial['return']:.2f}" for trial in warmup]


def test_an_unreadable_answer_is_asked_for_again_with_another_seed(tmp_path):
    model = ScriptedModel("no idea", answer(GOOD), answer(GOOD))
    folder = collect(spec("frozenlake", "threetraj", model=model, iterations=1), tmp_path, model)
    calls = lines(folder / "calls.jsonl")
    assert [(call["role"], call["attempt"], call["error"] is None) for call in calls] == [
        ("search", 1, False),
        ("search", 2, True),
        ("critic", 1, True),
    ]
    assert calls[0]["error"] == "16 of 16 parameters missing, the first is params[0]"
    assert model.prompts[0] == model.prompts[1]
    assert model.seeds[0] != model.seeds[1]
    assert all(0 <= seed < 2**31 for seed in model.seeds)


def test_a_critic_that_stays_unreadable_is_recorded_and_the_initial_candidate_kept(tmp_path):
    model = ScriptedModel(answer(GOOD), *["no idea"] * 5, answer(GOOD), answer(GOOD))
    folder = collect(spec("frozenlake", "alwayscritic", model=model, iterations=2), tmp_path, model)
    first, second = lines(folder / "episodes.jsonl")
    assert (first["revised"], first["revision_status"], first["selected"]) == (None, "unreadable", "initial")
    assert second["revision_status"] == "ok"
    assert model.script == []


def test_a_search_that_stays_unreadable_ends_the_run_and_can_be_resumed(tmp_path):
    model = ScriptedModel(*["no idea"] * 5)
    asked = spec("frozenlake", "threetraj", model=model, iterations=1)
    with pytest.raises(CollectorError, match="no readable search answer in 5 attempts at iteration 0"):
        collect(asked, tmp_path, model)
    model.script = ["still none", answer(GOOD), answer(GOOD)]
    folder = collect(asked, tmp_path, model)
    assert [call["attempt"] for call in lines(folder / "calls.jsonl")] == [1, 2, 3, 4, 5, 6, 7, 1]


def test_values_out_of_range_are_run_and_flagged(tmp_path):
    model = ScriptedModel(answer([7.5] + [0] * 9), answer([0] * 10))
    folder = collect(spec("cartpole", "threetraj", model=model, iterations=1), tmp_path, model)
    (episode,) = lines(folder / "episodes.jsonl")
    assert (episode["initial"]["out_of_range"], episode["revised"]["out_of_range"]) == (True, False)
    assert episode["initial"]["params"][0] == 7.5


def test_only_methods_with_excerpts_show_trajectories_of_earlier_iterations(tmp_path):
    for variant in METHODS:
        folder = collect(spec("frozenlake", variant, iterations=8), tmp_path)
        last = [call for call in lines(folder / "calls.jsonl") if call["iteration"] == 7]
        shown = {call["role"]: call["prompt"].count("from one of its rollouts") for call in last}
        assert shown["search"] == 0
        assert shown.get("critic", 0) == (5 if METHODS[variant].history == "excerpts" else 0)


def test_the_same_seed_gives_the_same_records_and_another_seed_or_run_others(tmp_path):
    first = timeless(collect(spec(seed=3), tmp_path / "a"))
    assert timeless(collect(spec(seed=3), tmp_path / "b")) == first
    assert timeless(collect(spec(seed=4), tmp_path / "c"))["episodes.jsonl"] != first["episodes.jsonl"]
    one, two = (lines(collect(spec(runs=number), tmp_path) / "episodes.jsonl")[0]["initial"] for number in (1, 2))
    assert one != two


def test_progress_is_reported_with_calls_and_best_return(tmp_path):
    reported = []
    collect(spec(iterations=3), tmp_path, report=reported.append)
    episodes = lines(tmp_path / spec(iterations=3).folder / "episodes.jsonl")
    kept = [episode[episode["selected"]]["mean_return"] for episode in episodes]
    assert (reported[-1].finished, reported[-1].current, reported[-1].best) == (3, kept[-1], max(kept))
    assert reported[-1].calls == len(lines(tmp_path / spec(iterations=3).folder / "calls.jsonl"))


def test_an_answer_beyond_all_bounds_is_recorded_and_asked_for_again(tmp_path):
    flood = answer(GOOD, "on and on " * 1_000_000)
    model = ScriptedModel(flood, answer(GOOD), answer(GOOD))
    folder = collect(spec("frozenlake", "threetraj", model=model, iterations=1), tmp_path, model)
    calls = lines(folder / "calls.jsonl")
    assert calls[0]["completion"] == flood
    assert calls[0]["error"].endswith("characters; answers of more than 1,000,000 are not read")
    assert [call["attempt"] for call in calls] == [1, 2, 1]
    assert (folder / "episodes.jsonl").stat().st_size < 10_000


def test_pure_search_sends_the_same_prompt_twice_and_the_second_pass_tells_the_first_result(tmp_path):
    for variant in ("puresearch", "actorsecondpass"):
        model = ScriptedModel(answer(GOOD), answer(BAD))
        folder = collect(spec("frozenlake", variant, model=model, iterations=1), tmp_path, model)
        (episode,) = lines(folder / "episodes.jsonl")
        assert (episode["initial"]["source"], episode["revised"]["source"]) == ("search", "search")
        assert model.seeds[0] != model.seeds[1]
        first, second = model.prompts
        if variant == "puresearch":
            assert first == second
        else:
            reported = f"#3 params=({', '.join(map(str, GOOD))}) mean return {episode['initial']['mean_return']:.2f}"
            assert reported in second
            assert reported not in first


def test_a_compiled_task_needs_no_worker_and_nothing_is_synced_on_the_event_loop(tmp_path, monkeypatch):
    """Neither for rollouts nor for writing them into prompts, history's excerpts included."""
    syncing, fsync = set(), os.fsync
    monkeypatch.setattr(os, "fsync", lambda file: (syncing.add(threading.current_thread()), fsync(file)))
    handed_over = []

    async def offload(function, *args):
        handed_over.append(function)
        return function(*args)

    async def run(asked):
        with RunFolder(tmp_path / asked.folder) as folder:
            await search(asked, folder, SimulatedModel(), offload, lambda progress: None)

    for variant in ("threetraj", "r2po", "reptraj"):
        asyncio.run(run(spec("cartpole", variant)))
    assert handed_over == []
    assert syncing
    assert threading.main_thread() not in syncing
