"""Rules for τ_c: their formulas, the promises that all keep, and what a run records of them."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from statistics import fmean, variance

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collector.errors import CollectorError, ModelError, UsageError
from collector.plan import revision_rule
from collector.prompts import Prompts, Review
from collector.records import Episode, Evidence, WarmupTrial, decode, decode_run
from collector.revision_rule import RULES, Situation, stated
from collector.tasks import TASKS, get_task
from tests.collector.helpers import candidate_of, collect, lines, spec, timeless
from tests.collector.test_resume import Interrupted

PROGRESS, RECORD = RULES["progress"], RULES["record"]


def situation(kept=(), initial=(0.0,), *, random=(0.0,), optimum=100.0, iteration=None):
    """Kept candidates by their returns, one in each iteration before this one."""
    episodes = [
        Episode(
            condition="c",
            env="cartpole",
            variant="r2po",
            run=1,
            iteration=number,
            initial=candidate_of(returns),
            revised=None,
            revision_status="unreadable",
            selected="initial",
            evidence=None,
            seconds=0.0,
        )
        for number, returns in enumerate(kept)
    ]
    return Situation(
        iteration=len(episodes) if iteration is None else iteration,
        initial=candidate_of(initial),
        episodes=episodes,
        warmup=[WarmupTrial(params=[0.0], return_=value, seed=0) for value in random],
        optimum=optimum,
    )


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


def test_progress_is_half_the_way_from_random_policies_to_the_optimum():
    """So a first iteration of every task is free."""
    for random, optimum, wanted in PROGRESSES:
        assert PROGRESS.threshold(situation(random=random, optimum=optimum)) == wanted
    for task in TASKS.values():
        floor = task.floor
        tau_c = PROGRESS.threshold(situation(random=(floor,) * 20, optimum=task.optimum, initial=(floor,)))
        assert tau_c is not None
        assert floor < tau_c < task.optimum


def test_the_record_is_shrunk_and_lowered_by_the_error_of_the_difference():
    kept = [(10, 20), (30, 34), (50, 58), (40, 44), (60, 70), (20, 20)]
    initial = (51, 55)
    means, errors = [fmean(each) for each in kept], [variance(each) / 2 for each in kept]
    centre = fmean(means)
    shrunk = 1 - (6 - 3) * fmean(errors) / sum((mean - centre) ** 2 for mean in means)
    best = centre + shrunk * (65 - centre)
    wanted = best - math.sqrt(errors[4] + variance(initial) / 2)
    found = RECORD.threshold(situation(kept, initial))
    assert 0 < shrunk < 1
    assert found == pytest.approx(wanted, rel=5e-4)
    assert found == stated(wanted)


def test_only_the_best_eight_count_and_where_nothing_is_random_they_are_the_threshold():
    best = [(float(number),) for number in range(51, 59)]
    assert RECORD.threshold(situation(best)) == RECORD.threshold(situation([(1.0,), (2.0,), *best])) == 58
    # One rollout each tells nothing of the error; several equal ones tell that there is none.
    for rollouts in (1, 3):
        kept = [(value,) * rollouts for value in (1.0, 5.0, 30.0, 20.0, 10.0)]
        assert RECORD.threshold(situation(kept, (30.0,) * rollouts)) == 30


def test_the_record_waits_and_an_old_one_counts_only_near_the_optimum():
    flat = [(50.0,), *[(10.0,)] * 20]
    assert RECORD.threshold(situation(flat[:4])) is None
    assert RECORD.threshold(situation(flat[:10])) == 50
    assert RECORD.threshold(situation(flat[:11])) is None
    near = [(98.0,), *[(10.0,)] * 20]
    assert RECORD.threshold(situation(near)) == 98
    assert RECORD.threshold(situation([(97.9,), *near[1:]])) is None
    # Iterations that proposed nothing pass as well.
    assert RECORD.threshold(situation(flat[:5], iteration=10)) == 50
    assert RECORD.threshold(situation(flat[:5], iteration=11)) is None


@pytest.mark.parametrize("rule", RULES.values(), ids=list(RULES))
@given(
    level=st.floats(-1e4, 1e4),
    optimum=st.floats(-1e4, 1e4),
    iterations=st.integers(0, 30),
    rollouts=st.integers(1, 4),
)
def test_equal_returns_everywhere_never_call_for_restraint(rule, level, optimum, iterations, rollouts):
    flat = (level,) * rollouts
    facts = situation([flat] * iterations, flat, random=(level,) * 5, optimum=optimum)
    tau_c = rule.threshold(facts)
    assert tau_c is None or facts.initial.mean_return < tau_c


@pytest.mark.parametrize("rule", RULES.values(), ids=list(RULES))
@given(
    random=st.lists(st.floats(-1e4, 1e4), min_size=1, max_size=5),
    kept=st.lists(st.lists(st.floats(-1e4, 1e4), min_size=3, max_size=3), min_size=6, max_size=12),
    optimum=st.floats(-1e4, 1e4),
)
def test_a_threshold_is_above_random_policies_and_is_the_number_that_the_prompt_states(rule, random, kept, optimum):
    facts = situation(kept, kept[-1], random=random, optimum=optimum)
    tau_c = rule.threshold(facts)
    if tau_c is not None:
        assert tau_c > facts.random_return
        review = Review([1.0] * 10, 1.0, 3, "median", [], None, tau_c)
        shown = Prompts(get_task("cartpole")).critic([], replace(review, statistics=STATISTICS))
        assert float(re.search(r"at a mean return of (\S+) or more", shown)[1]) == tau_c


STATISTICS = decode(
    b'{"kind":"median","shown":[],"statistics":{"returns":{"mean":1,"min":1,"max":1},'
    b'"lengths":{"mean":1,"min":1,"max":1},"successes":1,"rollouts":1}}',
    Evidence,
).statistics


@pytest.mark.parametrize("rule", RULES)
def test_a_run_records_the_rule_and_what_its_prompts_state(rule, tmp_path):
    asked = spec("cartpole", "r2po", tau_c=f"auto:{rule}", iterations=12, warmup=5)
    assert asked.condition == f"simulated-salient+tau-auto-{rule}+iterations-12+rollouts-4+warmup-5"
    folder = collect(asked, tmp_path)
    run = json.loads((folder / "run.json").read_bytes())
    assert (run["tau_c"], run["tau_rule"]) == (None, {"id": rule, "options": RULES[rule].options})
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
    assert lines(folder / "episodes.jsonl")[0]["tau_c"] == stated((middle + 100) / 2)


@pytest.mark.parametrize("rule", ["progress", pytest.param("record", marks=pytest.mark.slow)])
def test_cut_off_at_any_call_a_run_goes_on_to_the_same_thresholds(rule, tmp_path):
    asked = spec("cartpole", "r2po", tau_c=f"auto:{rule}", iterations=8)
    whole = timeless(collect(asked, tmp_path / "whole"))
    for cut in range(len(whole["calls.jsonl"])):
        out = tmp_path / f"cut-{cut}"
        with pytest.raises(ModelError):
            collect(asked, out, Interrupted(cut))
        assert timeless(collect(asked, out)) == whole


def test_a_run_under_another_rule_is_another_run(tmp_path):
    one, other, fixed = (
        spec("cartpole", "r2po", tau_c=setting, condition="same", iterations=1)
        for setting in ("auto", "auto:record", "off")
    )
    collect(one, tmp_path)
    for asked in (other, fixed):
        with pytest.raises(CollectorError, match=r"tau_rule"):
            collect(asked, tmp_path)
    collect(one, tmp_path)
    collect(fixed, tmp_path / "fixed")
    with pytest.raises(CollectorError, match=r"tau_rule is None, not \{'id': 'progress'"):
        collect(one, tmp_path / "fixed")


def test_settings_of_rules(tmp_path):
    assert revision_rule("auto") is revision_rule("auto:progress") is PROGRESS
    assert revision_rule("default") is revision_rule("autos") is None
    for setting in ("auto:", "auto:payoff", "auto:Progress"):
        with pytest.raises(UsageError, match=rf"'{setting}' names no rule; choose from auto:progress, auto:record"):
            spec("cartpole", "threetraj", tau_c=setting)
    with pytest.raises(UsageError, match="--warmup 0 leaves them out"):
        spec("cartpole", "r2po", tau_c="auto", warmup=0)
    assert spec("cartpole", "threetraj", tau_c="auto", warmup=0).tau_rule is None
    # Methods without the rule are as ever.
    plain, ruled = spec(variant="threetraj"), spec(variant="threetraj", tau_c="auto")
    assert (plain, ruled.tau_rule) == (ruled, None)
    assert not {"tau_c", "restrained"} & lines(collect(ruled, tmp_path) / "episodes.jsonl")[0].keys()
