"""The simulated model: it reads the prompt alone, and its personalities differ where they should."""

from __future__ import annotations

import contextlib
import hashlib
from functools import cache
from itertools import product

import numpy as np
import pytest
from scipy.stats import binomtest

from collector import evidence, seeding
from collector.errors import ModelError, UsageError
from collector.llm.simulated import PERSONALITIES, SimulatedModel, get_personality
from collector.llm.simulated.anchoring import choose_anchor, typicality
from collector.llm.simulated.model import UNREADABLE, read_request
from collector.llm.simulated.reading import read
from collector.llm.simulated.revising import OBEYS_RULE
from collector.methods import METHODS
from collector.policy import UnreadableAnswer, from_text, out_of_range, random_params
from collector.prompts import Prompts, Review, Trial, Turn
from collector.rollouts.evaluate import evaluate
from collector.tasks import TASKS, get_task
from tests.collector.helpers import shortened

FALLIBLE = [-0.8, -0.3, 1.4, -0.8, 4.8, 6.0, -5.5, 1.6, -3.1, -1.8]
"""A CartPole policy whose rollouts end after between some 30 and some 100 steps."""

CRITICS = [method for method in METHODS.values() if method.second == "critic"]


def critic_prompt(task, method, params, *, tau_c=None, history=(), seeds=range(20)):
    result = evaluate(task, params, list(seeds))
    shown = evidence.gather(task, result, method.evidence)
    written = evidence.write(task, params, result.seeds, shown)
    review = Review(params, result.mean_return, 20, method.evidence, written, shown.statistics, tau_c)
    return Prompts(task).critic(list(history), review), shown


@cache
def three_rollouts():
    return critic_prompt(get_task("cartpole"), METHODS["threetraj"], FALLIBLE)


@cache
def answers(prompt, personality, count=400):
    model, request = SimulatedModel(personality), read_request(prompt)
    return [model.answer_request(request, seed) for seed in range(count)]


def interval(hits, count):
    """Exact 99.9% interval of a frequency."""
    return binomtest(hits, count).proportion_ci(0.999)


def test_it_reads_what_the_prompt_says():
    for task, method in product(map(shortened, TASKS.values()), CRITICS):
        params = random_params(task.space, seeding.generator(5, task.id))
        history = [Trial(params, -0.5, single=True), Trial(params, 0.25)]
        prompt, shown = critic_prompt(task, method, params, tau_c=0.75, history=history)
        seen = read(prompt)
        assert (seen.proposed, seen.target, seen.rule) == (tuple(params), task.optimum, 0.75), (task.id, method.id)
        assert [(trial.value, trial.single) for trial in seen.trials] == [(-0.5, True), (0.25, False)]
        assert [(r.label, r.index, r.value) for r in seen.rollouts] == [
            (s.label, s.rollout, pytest.approx(s.return_, abs=1e-4)) for s in shown.shown
        ]
        assert all(len(rollout.states) == len(rollout.actions) > 0 for rollout in seen.rollouts)


def vectors(task, completions):
    """Those of the answers that can be read."""
    for completion in completions:
        with contextlib.suppress(UnreadableAnswer):
            yield completion, from_text(task.space, completion.text)


def test_search_answers_are_new_and_in_range():
    for task, kind in product(TASKS.values(), ("search", "solo")):
        history = [Trial(random_params(task.space, seeding.generator(6, number)), number / 10) for number in range(8)]
        prompt = getattr(Prompts(task), kind)(history, Turn(8, 100))
        found = [params for _, params in vectors(task, answers(prompt, "salient", 60))]
        assert len(found) > 50
        assert not any(out_of_range(task.space, params) for params in found)
        assert not [params for params in found if params in [trial.params for trial in history]]


def test_the_same_prompt_and_seed_give_the_same_answer():
    prompt, _ = three_rollouts()
    assert SimulatedModel("salient").answer(prompt, 7) == SimulatedModel("salient").answer(prompt, 7)
    assert SimulatedModel("salient").answer(prompt, 7) != SimulatedModel("salient").answer(prompt, 8)


def test_anchors_are_chosen_as_documented():
    """Worst with the probability of fixation, else in proportion to typicality, here computed by hand."""
    request = read(three_rollouts()[0])
    returns = np.array([rollout.value for rollout in request.rollouts])
    weights = np.exp(-np.abs(returns - request.achieved) / (returns.max() - returns.min()))
    weights /= weights.sum()
    for personality in map(get_personality, PERSONALITIES):
        fixation = personality.fixation
        expected = (1 - fixation) * weights + fixation * np.array([1, 0, 0])
        rngs = (seeding.generator(0, number) for number in range(2000))
        chosen = [choose_anchor(request, personality, rng).label for rng in rngs]
        for label, probability in zip(("worst", "median", "best"), expected, strict=True):
            low, high = interval(chosen.count(label), len(chosen))
            assert low <= probability <= high, (personality.id, label)
    assert typicality([3.0, 3.0, 3.0], 3.0) == pytest.approx([1 / 3] * 3)


def test_a_salient_critic_talks_of_the_worst_rollout_far_more_often_than_a_balanced_one():
    prompt, _ = three_rollouts()
    mentions = {
        name: [completion.truth["mentioned"] == "worst" for completion in answers(prompt, name)]
        for name in PERSONALITIES
    }
    rates = {name: interval(sum(hits), len(hits)) for name, hits in mentions.items()}
    assert rates["salient"].low > rates["balanced"].high + 0.2
    assert rates["talker"].low > rates["balanced"].high + 0.2
    assert rates["silent"].high < rates["balanced"].low
    assert abs(np.mean(mentions["talker"]) - get_personality("talker").outspoken) < 0.06


def test_it_says_so_in_words_and_not_always_in_the_same():
    prompt, _ = three_rollouts()
    counts = {
        name: sum("worst rollout" in completion.text.lower() for completion in answers(prompt, name))
        for name in ("salient", "balanced")
    }
    assert interval(counts["salient"], 400).low > interval(counts["balanced"], 400).high
    forms = {completion.truth["mention"] for completion in answers(prompt, "salient")}
    assert forms == {"label", "index", "return", "paraphrase", None}


def test_edits_follow_the_anchor():
    """Anchored on different rollouts, the critic moves different parameters of a table: those of the states it read."""
    task, params = get_task("frozenlake"), [0.0, 3, 3, 3, 0, 0, 0, 0, 3, 1, 0, 0, 0, 2, 1, 0]
    prompt, _ = critic_prompt(task, METHODS["threetraj"], params)
    last_states = {r.label: {int(state) for state in r.states[:, 0]} for r in read(prompt).rollouts}
    inside = total = 0
    for completion, revised in vectors(task, answers(prompt, "salient")):
        changed = {state for state in range(16) if revised[state] != params[state]}
        if completion.truth["driver"] == "worst" and len(changed) <= len(last_states["worst"]):
            inside += len(changed & last_states["worst"])
            total += len(changed)
    assert total > 100
    assert inside == total


def test_it_obeys_the_revision_rule_mostly():
    task = get_task("cartpole")
    good = [-0.9, 0.5, -1.2, 0.5, -4.0, 3.7, -3.0, 3.3, -0.4, 0.1]
    prompt, _ = critic_prompt(task, METHODS["r2po"], good, tau_c=480.0)
    drivers = [completion.truth["driver"] for completion in answers(prompt, "salient")]
    low, high = interval(drivers.count("none"), len(drivers))
    assert low <= OBEYS_RULE <= high


def test_answers_are_unreadable_now_and_then():
    prompt, _ = three_rollouts()
    unreadable = 2000 - sum(1 for _ in vectors(get_task("cartpole"), answers(prompt, "balanced", 2000)))
    low, high = interval(unreadable, 2000)
    assert low <= UNREADABLE <= high


def test_a_prompt_of_another_kind_or_an_unknown_personality_is_refused_in_one_line():
    with pytest.raises(ModelError, match="cannot read this prompt") as error:
        SimulatedModel().answer("What is the weather like?", 0)
    assert "\n" not in str(error.value)
    with pytest.raises(UsageError, match="unknown personality 'grumpy'; choose from salient, balanced, silent, talker"):
        SimulatedModel("grumpy")


FIRST_FOUR = {
    "salient": "d8b93626828d436fe0bb739f7ffae2940a1242a0bdf4358762c00725195870f1",
    "balanced": "22746f3f594b3cfaafd0c210f20bde19438243d2562edba71f61ef072de57117",
    "silent": "b4ccb97071bc99d651f96b4de7e19c5d27511b6f9941705cf83d9b8330fad1aa",
    "talker": "14f84b59e132834e21233c1f682bc4f6137fafa8b341e8ff070e5e8b9822f405",
}
"""SHA-256 of many answers of each, with what they record, as they were before other rules were added."""


@pytest.fixture(scope="module")
def requests_of_tasks():
    prompts = []
    for env in ("cartpole", "frozenlake", "pong", "maze", "mountaincarcontinuous"):
        task = get_task(env)
        params = random_params(task.space, seeding.generator(8, env))
        history = [Trial(random_params(task.space, seeding.generator(9, number)), number / 10) for number in range(4)]
        for method in CRITICS:
            prompts.append(critic_prompt(task, method, params, history=history)[0])
            prompts.append(critic_prompt(task, method, params, tau_c=-1000.0, history=history)[0])
        prompts.append(Prompts(task).search(history, Turn(4, 100)))
    return [read_request(prompt) for prompt in (*prompts, three_rollouts()[0])]


def test_answers_in_records_stay_as_they_are(requests_of_tasks):
    """Kept records of simulated runs are made anew to the byte."""
    for personality, digest in FIRST_FOUR.items():
        model, found = SimulatedModel(personality), hashlib.sha256()
        for request, seed in product(requests_of_tasks, range(25)):
            completion = model.answer_request(request, seed)
            if completion.truth is not None:
                del completion.truth["position"]  # in no record
            found.update(f"{completion.text}\n{completion.truth}\n".encode())
        assert found.hexdigest() == digest, personality
