"""The rule for τ_c: its formula, its promise, and what a run records of it."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collector.errors import CollectorError, ModelError, UsageError
from collector.records import WarmupTrial, decode_run
from collector.revision_rule import progress
from collector.tasks import TASKS
from tests.collector.helpers import collect, lines, spec, timeless
from tests.collector.test_resume import Interrupted


def tau_c(random, optimum):
    return progress([WarmupTrial(params=[0.0], return_=value, seed=0) for value in random], optimum)


PROGRESSES = [
    ([9, 10, 45], 500, 255),
    ([-200, -200, -150], -120, -160),
    ([-200, -120], -120, -140),
    ([0.1234, 0.1234], 1, 0.5617),
    ([500, 600], 500, None),  # random policies get more than the optimum
    ([500], 500, None),
    ([999.99], 1000, 1000),
    ([1000], 1000.2, None),  # as the prompt would state it, random policies reach it
]


def test_it_is_half_the_way_from_random_policies_to_the_optimum():
    """So a first iteration of every task is free."""
    for random, optimum, wanted in PROGRESSES:
        assert tau_c(random, optimum) == wanted
    for task in TASKS.values():
        found = tau_c([task.floor] * 20, task.optimum)
        assert found is not None
        assert task.floor < found < task.optimum


@given(random=st.lists(st.floats(-1e4, 1e4), min_size=1, max_size=5), optimum=st.floats(-1e4, 1e4))
def test_equal_returns_everywhere_never_call_for_restraint(random, optimum):
    found = tau_c(random, optimum)
    assert found is None or found > sorted(random)[(len(random) - 1) // 2]


def test_a_run_records_the_rule_and_what_its_prompts_state(tmp_path):
    asked = spec("cartpole", "r2po", tau_c="auto", iterations=12, warmup=5)
    assert asked.condition == "simulated-salient+tau-auto-progress+iterations-12+rollouts-4+warmup-5"
    folder = collect(asked, tmp_path)
    run = json.loads((folder / "run.json").read_bytes())
    assert (run["tau_c"], run["tau_rule"]) == (None, {"id": "progress", "options": {"share": 0.5}})
    prompts = [call["prompt"] for call in lines(folder / "calls.jsonl") if call["role"] == "critic"]
    records = lines(folder / "episodes.jsonl")
    stated = [re.search(r"at a mean return of (\S+) or more", prompt) for prompt in prompts]
    assert [record["tau_c"] for record in records] == [float(found[1]) if found else None for found in stated]
    assert any(record["tau_c"] for record in records)
    for record in records:
        reached = record["tau_c"] is not None and record["initial"]["mean_return"] >= record["tau_c"]
        assert record["restrained"] is reached


def test_the_rule_reads_the_optimum_that_prompts_name(tmp_path):
    from collector.switches import Switches

    asked = spec("cartpole", "r2po", tau_c="auto", iterations=1, switches=Switches(optimum=100.0))
    folder = collect(asked, tmp_path)
    warmup = decode_run((folder / "run.json").read_bytes()).warmup
    middle = sorted(trial.return_ for trial in warmup)[1]
    assert lines(folder / "episodes.jsonl")[0]["tau_c"] == float(f"{(middle + 100) / 2:.4g}")


def test_cut_off_at_any_call_a_run_goes_on_to_the_same_thresholds(tmp_path):
    asked = spec("cartpole", "r2po", tau_c="auto", iterations=8)
    whole = timeless(collect(asked, tmp_path / "whole"))
    for cut in range(len(whole["calls.jsonl"])):
        out = tmp_path / f"cut-{cut}"
        with pytest.raises(ModelError):
            collect(asked, out, Interrupted(cut))
        assert timeless(collect(asked, out)) == whole


def test_a_run_without_the_rule_is_another_run(tmp_path):
    ruled, fixed = (spec("cartpole", "r2po", tau_c=tau, condition="same", iterations=1) for tau in ("auto", "off"))
    collect(ruled, tmp_path)
    with pytest.raises(CollectorError, match=r"tau_rule"):
        collect(fixed, tmp_path)
    collect(ruled, tmp_path)
    collect(fixed, tmp_path / "fixed")
    with pytest.raises(CollectorError, match=r"tau_rule is None, not \{'id': 'progress'"):
        collect(ruled, tmp_path / "fixed")


def test_settings_of_the_rule(tmp_path):
    for setting in ("auto:", "auto:progress", "autos"):
        with pytest.raises(UsageError, match=rf"'{setting}' is neither default, half, off, auto nor a number"):
            spec("cartpole", "threetraj", tau_c=setting)
    with pytest.raises(UsageError, match="--warmup 0 leaves them out"):
        spec("cartpole", "r2po", tau_c="auto", warmup=0)
    assert spec("cartpole", "threetraj", tau_c="auto", warmup=0).tau_rule is None
    # Methods without the rule are as ever.
    plain, ruled = spec(variant="threetraj"), spec(variant="threetraj", tau_c="auto")
    assert (plain, ruled.tau_rule) == (ruled, None)
    assert not {"tau_c", "restrained"} & lines(collect(ruled, tmp_path) / "episodes.jsonl")[0].keys()
