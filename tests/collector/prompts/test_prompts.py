"""What each prompt contains, and what it must not contain."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

import pytest

from collector import evidence, seeding
from collector.methods import METHODS
from collector.policy import from_text, random_params
from collector.prompts import Prompts, Review, Trial, Turn, structure
from collector.prompts.templates import hashes
from collector.rollouts.evaluate import evaluate
from collector.tasks import TASKS, LinearSpace, get_task
from tests.collector.helpers import shortened

GOOD = {task.id: random_params(task.space, seeding.generator(0, task.id)) for task in TASKS.values()} | {
    "cartpole": [-0.9, 0.5, -1.2, 0.5, -4.0, 3.7, -3.0, 3.3, -0.4, 0.1],
    "frozenlake": [0, 3, 3, 3, 0, 0, 0, 0, 3, 1, 0, 0, 0, 2, 1, 0],
}
CRITICS = {method.id: method for method in METHODS.values() if method.second == "critic"}


def history(task):
    other = [-1.5] * task.space.size if isinstance(task.space, LinearSpace) else [1] * task.space.size
    return [Trial(other, 0.125, single=True), Trial(GOOD[task.id], 0.456, excerpt="0->1->2 | EXCERPT")]


@cache
def evaluated(name):
    return evaluate(shortened(get_task(name)), GOOD[name], list(range(20)))


def critic_prompt(task, method, tau_c=None):
    task, params, result = shortened(task), GOOD[task.id], evaluated(task.id)
    shown = evidence.gather(task, result, method.evidence)
    review = Review(
        params=params,
        mean_return=result.mean_return,
        rollouts=20,
        kind=method.evidence,
        shown=evidence.write(task, params, result.seeds, shown),
        statistics=shown.statistics,
        tau_c=tau_c,
    )
    trials = (
        history(task) if method.history == "excerpts" else [replace(trial, excerpt=None) for trial in history(task)]
    )
    return Prompts(task).critic(trials, review)


@pytest.mark.parametrize("task", TASKS.values(), ids=lambda task: task.id)
def test_the_search_prompt_carries_numbers_and_no_task(task):
    prompt = Prompts(task).search(history(task), Turn(6, 100))
    assert "iteration 7 of 100" in prompt
    assert f"vector of {task.space.size} numbers" in prompt
    assert f"about {task.optimum:g}" in prompt
    assert f"params[{task.space.size - 1}]: v" in prompt
    assert "0.46" in prompt
    assert "not in the list of trials" in prompt
    for secret in ("policy", "rollout", "reward", "->", "EXCERPT", task.description[:30]):
        assert secret not in prompt
    if isinstance(task.space, LinearSpace):
        assert "between -6.0 and 6.0 and has 1 decimal" in prompt
        assert "steps of about 1.0" in prompt
    else:
        assert f"one of the integers {', '.join(map(str, task.space.actions))}" in prompt
        assert "steps of" not in prompt


@pytest.mark.parametrize("task", TASKS.values(), ids=lambda task: task.id)
def test_the_informed_search_prompt_adds_the_task_and_no_rollout(task):
    plain = Prompts(task).search(history(task), Turn(6, 100))
    informed = Prompts(task).search(history(task), Turn(6, 100), informed=True)
    assert task.description in informed
    assert structure(task.space) in informed
    assert "parameters of a policy" in informed
    assert "->" not in informed
    assert "EXCERPT" not in informed
    kept = [line for line in plain.splitlines() if line not in informed.splitlines()]
    assert kept == []


@pytest.mark.parametrize("task", TASKS.values(), ids=lambda task: task.id)
def test_the_solo_critic_prompt_drafts_criticises_and_revises_without_any_rollout(task):
    prompt = Prompts(task).solo(history(task), Turn(6, 200))
    for text in (task.description, structure(task.space), "Draft:", "Critique:", "Revise:", "iteration 7 of 200"):
        assert text in prompt
    assert f"about {task.optimum:g}" in prompt
    for absent in ("->", "EXCERPT", "Median rollout", "Worst rollout", "Statistics of", "Evidence"):
        assert absent not in prompt


@pytest.mark.parametrize("method", CRITICS.values(), ids=CRITICS)
@pytest.mark.parametrize("task", TASKS.values(), ids=lambda task: task.id)
def test_the_critic_is_told_task_policy_result_and_target(task, method):
    prompt = critic_prompt(task, method)
    assert task.description in prompt
    assert structure(task.space) in prompt
    assert f"{task.space.size} parameters" in prompt
    assert f"Target: about {task.optimum:g}" in prompt
    assert from_text(task.space, prompt.split("## Policy under review")[1]) == GOOD[task.id]
    assert "keep what works" in prompt
    assert ("by at most 1.0" in prompt) == isinstance(task.space, LinearSpace)


# For each method: what its critic's prompt must hold, and what it must not.
CONTENTS = {
    "r2po": (
        ["Median rollout (rollout ", "Statistics of the 20 rollouts", "systematic fault"],
        ["Worst rollout", "Best rollout", "Representative rollout", "EXCERPT", "already used", "Revision rule"],
    ),
    "threetraj": (
        ["Worst rollout (rollout ", "Median rollout (rollout ", "Best rollout (rollout ", "Refer to specific rollouts",
         "Do not overfit", "already used"],
        ["Statistics of", "Representative rollout", "EXCERPT", "Revision rule"],
    ),
    "reptraj": (
        ["Representative rollout (rollout ", " reward ", "EXCERPT", "already used"],
        ["Worst rollout", "Median rollout", "Statistics of", "Revision rule"],
    ),
    "alwayscritic": (
        ["Representative rollout (rollout ", " reward ", "EXCERPT", "already used"],
        ["Worst rollout", "Median rollout", "Statistics of", "Revision rule"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("method", CRITICS.values(), ids=CRITICS)
def test_what_each_critic_sees_and_does_not(method):
    prompt = critic_prompt(get_task("cartpole"), method)
    present, absent = CONTENTS[method.id]
    assert [text for text in present if text not in prompt] == []
    assert [text for text in absent if text in prompt] == []


def test_three_rollouts_come_worst_median_best():
    prompt = critic_prompt(get_task("frozenlake"), METHODS["threetraj"])
    assert re.findall(r"^(\w+) rollout \(", prompt, re.MULTILINE) == ["Worst", "Median", "Best"]


@pytest.mark.parametrize(("tau_c", "is_named"), [(None, False), (480.0, True)])
def test_the_revision_rule_names_its_threshold_or_is_absent(tau_c, is_named):
    prompt = critic_prompt(get_task("cartpole"), METHODS["r2po"], tau_c)
    assert ("Revision rule: at a mean return of 480 or more" in prompt) == is_named


def test_statistics_by_hand():
    """Four rollouts that return 500, 100, 100 and 300: mean 250, one success in four."""
    task = get_task("cartpole")
    result = evidence.Evaluation([1, 2, 3, 4], [500.0, 100.0, 100.0, 300.0], [500, 100, 100, 300], ["terminated"] * 4)
    shown = evidence.gather(task, result, "median")
    review = Review([0.0] * 10, 250.0, 4, "median", [], shown.statistics, None)
    prompt = Prompts(task).critic([], review)
    assert "return: mean 250.00, min 100.00, max 500.00" in prompt
    assert "length: mean 250.00, min 100.00, max 500.00" in prompt
    assert "reached a return of 500.00: 1/4" in prompt
    assert "fell short of it: 3/4" in prompt
    assert "None yet." in prompt


def test_structure_formula_is_the_policys():
    """The text states that W[i][j] is params[2*i + j] and b[j] is params[8 + j]: CartPole has 4 · 2 + 2 of them."""
    text = structure(get_task("cartpole").space)
    assert "W has 4 rows" in text
    assert "2 columns" in text
    assert "W[i][j] is params[2*i + j], and b[j] is params[8 + j]: 10 parameters" in text


def test_every_template_is_hashed():
    assert {"search.j2", "critic.j2", "history.j2"} <= set(hashes())
    assert all(len(digest) == 64 for digest in hashes().values())
