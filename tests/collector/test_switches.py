"""Departures from the methods as published: each does what it describes, and nothing where it does not apply."""

from __future__ import annotations

import json

import pytest

from collector.methods import METHODS
from collector.records import decode_run
from collector.rollouts.evaluate import evaluate
from collector.spec import recorded_task
from collector.switches import CLIPPED_AS_RELEASED, Switches, effective, switched
from collector.tasks import TASKS, get_task
from tests.collector.helpers import collect, lines, spec, timeless


def chosen(switches, env="swimmer", variant="reptraj", *, iterations=100, warmup=20):
    return effective(switches, get_task(env), METHODS[variant], iterations=iterations, warmup=warmup)


def test_none_is_on_by_default():
    for env in TASKS:
        for variant in METHODS:
            assert chosen(Switches(), env, variant) == {}
            assert switched(get_task(env), {}) == get_task(env)


APPLIES = [
    # switch, task, method, whether it changes anything
    (Switches(action_clipping="released"), "swimmer", "reptraj", True),
    (Switches(action_clipping="released"), "swimmer", "r2po", False),
    (Switches(action_clipping="released"), "cartpole", "reptraj", False),
    (Switches(step_cap=20), "maze", "props", True),
    (Switches(step_cap=100), "maze", "props", False),
    (Switches(optimum=0.9), "maze", "props", True),
    (Switches(optimum=0.97), "maze", "props", False),
    (Switches(step_size=0.1), "swimmer", "r2po", True),
    (Switches(step_size=0.1), "maze", "r2po", False),
    (Switches(warmup_range="unbounded"), "cartpole", "r2po", True),
    (Switches(warmup_range="unbounded"), "nim", "r2po", False),
    (Switches(named_iterations=400), "nim", "r2po", True),
    (Switches(named_iterations=100), "nim", "r2po", False),
    (Switches(paired_seeds=True), "nim", "r2po", True),
    (Switches(paired_seeds=True), "nim", "props", False),
    (Switches(excerpts=3), "nim", "reptraj", True),
    (Switches(excerpts=3), "nim", "r2po", False),
]


def test_a_switch_is_recorded_where_it_changes_something():
    for switches, env, variant, applies in APPLIES:
        assert bool(chosen(switches, env, variant)) == applies, (switches, env, variant)
    released = Switches(action_clipping="released")
    assert {method for method in METHODS if not chosen(released, "swimmer", method)} == CLIPPED_AS_RELEASED


def test_unclipped_actions_are_charged_in_full():
    """A force of 6 costs 0.1 · 36 a step on MountainCarContinuous, though the engine gives no more than 1."""
    task = get_task("mountaincarcontinuous")
    unclipped = switched(task, {"action_clipping": "released"})
    ours, released = (evaluate(each, [0.0, 0.0, 6.0], [3]) for each in (task, unclipped))
    assert released.lengths == ours.lengths
    assert released.returns == [pytest.approx(-3.6 * ours.lengths[0])]


def test_a_step_cap_cuts_rollouts_off():
    task = switched(get_task("maze"), {"step_cap": 20})
    result = evaluate(task, [0.0] * 9, [1])
    assert (result.lengths, result.ended) == ([20], ["truncated"])


def test_prompts_name_what_the_switches_say(tmp_path):
    asked = spec(
        "cartpole", "r2po", iterations=1, switches=Switches(optimum=123.0, step_size=0.3, named_iterations=400)
    )
    folder = collect(asked, tmp_path)
    prompts = {call["role"]: call["prompt"] for call in lines(folder / "calls.jsonl")}
    assert "about 123." in prompts["search"]
    assert "steps of about 0.3" in prompts["search"]
    assert "iteration 1 of 400" in prompts["search"]
    assert "Target: about 123." in prompts["critic"]
    assert "by at most 0.3" in prompts["critic"]
    run = json.loads((folder / "run.json").read_text())
    assert (run["optimum"], run["step_size"], run["iterations"]) == (123.0, 0.3, 1)
    assert run["switches"] == {"optimum": 123.0, "step_size": 0.3, "named_iterations": 400}
    assert recorded_task(decode_run((folder / "run.json").read_bytes())) == asked.task


def test_paired_seeds_are_the_same_for_both_candidates_and_new_in_each_iteration(tmp_path):
    """An unchanged policy on them has no noise."""
    asked = spec("frozenlake", "r2po", iterations=6, tau_c="-1", switches=Switches(paired_seeds=True))
    episodes = [episode for episode in lines(collect(asked, tmp_path) / "episodes.jsonl") if episode["revised"]]
    assert all(episode["initial"]["seeds"] == episode["revised"]["seeds"] for episode in episodes)
    seeds = {seed for episode in episodes for seed in episode["initial"]["seeds"]}
    assert len(seeds) == asked.rollouts * len(episodes)
    same = [episode for episode in episodes if episode["revised"]["params"] == episode["initial"]["params"]]
    assert same
    assert all(episode["initial"]["returns"] == episode["revised"]["returns"] for episode in same)


def test_unbounded_warm_up_leaves_the_range(tmp_path):
    asked = spec("pong", iterations=1, warmup=20, switches=Switches(warmup_range="unbounded"))
    run = json.loads((collect(asked, tmp_path) / "run.json").read_text())
    assert any(abs(value) > 6 for trial in run["warmup"] for value in trial["params"])


def test_switches_do_not_change_other_draws(tmp_path):
    """Random numbers are keyed by purpose: naming 400 iterations changes the prompt, and not the warm-up."""
    plain = collect(spec(iterations=1), tmp_path / "a")
    named = collect(spec(iterations=1, switches=Switches(named_iterations=400)), tmp_path / "b")
    warmups = [json.loads((folder / "run.json").read_text())["warmup"] for folder in (plain, named)]
    assert warmups[0] == warmups[1]
    assert timeless(plain)["calls.jsonl"] != timeless(named)["calls.jsonl"]
