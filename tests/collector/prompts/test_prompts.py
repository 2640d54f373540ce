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


def test_search_prompts_carry_numbers_and_informed_ones_the_task_and_none_a_rollout():
    for task in TASKS.values():
        trials, space = history(task), task.space
        plain = Prompts(task).search(trials, Turn(6, 100))
        is_linear = isinstance(space, LinearSpace)
        values = (
            "between -6.0 and 6.0 and has 1 decimal"
            if is_linear
            else f"one of the integers {', '.join(map(str, space.actions))}"
        )
        stated = ["iteration 7 of 100", f"vector of {space.size} numbers", f"params[{space.size - 1}]: v", "0.46"]
        for text in (*stated, f"about {task.optimum:g}", "not in the list of trials", values):
            assert text in plain, (task.id, text)
        assert ("steps of about 1.0" in plain, "steps of" in plain) == (is_linear, is_linear)
        for secret in ("policy", "rollout", "reward", "->", "EXCERPT", task.description[:30]):
            assert secret not in plain
        informed = Prompts(task).search(trials, Turn(6, 100), informed=True)
        assert "parameters of a policy" in informed
        assert [line for line in plain.splitlines() if line not in informed.splitlines()] == []
        solo = Prompts(task).solo(trials, Turn(6, 200))
        for text in ("Draft:", "Critique:", "Revise:", "iteration 7 of 200", f"about {task.optimum:g}"):
            assert text in solo
        for absent in ("Median rollout", "Worst rollout", "Statistics of", "Evidence"):
            assert absent not in solo
        for prompt in (informed, solo):
            assert task.description in prompt
            assert structure(space) in prompt
            assert "->" not in prompt
            assert "EXCERPT" not in prompt


@pytest.mark.parametrize("method", CRITICS.values(), ids=CRITICS)
def test_the_critic_is_told_task_policy_result_and_target(method):
    for task in TASKS.values():
        prompt = critic_prompt(task, method)
        parameters, target = f"{task.space.size} parameters", f"Target: about {task.optimum:g}"
        for text in (task.description, structure(task.space), parameters, target, "keep what works"):
            assert text in prompt, (task.id, text)
        assert from_text(task.space, prompt.split("## Policy under review")[1]) == GOOD[task.id]
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


def test_what_each_critic_sees_and_does_not():
    for method in CRITICS.values():
        prompt = critic_prompt(get_task("cartpole"), method)
        present, absent = CONTENTS[method.id]
        assert [text for text in present if text not in prompt] == []
        assert [text for text in absent if text in prompt] == []
    prompt = critic_prompt(get_task("frozenlake"), METHODS["threetraj"])
    assert re.findall(r"^(\w+) rollout \(", prompt, re.MULTILINE) == ["Worst", "Median", "Best"]
    prompt = critic_prompt(get_task("cartpole"), METHODS["r2po"], 480.0)
    assert "Revision rule: at a mean return of 480 or more" in prompt


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
