"""Cards: numbers held against Gymnasium and hand calculations, planted critics, and pages whose counts agree."""

from __future__ import annotations

import json
import re

import gymnasium
import numpy as np
import pytest

import audit
from audit.cards.card import read_card
from audit.cards.numbers import METRICS
from audit.cards.suite import packaged
from audit.interventions.plan import read_plan
from collector import seeding
from tests.audit.cards.conftest import UNITS
from tests.audit.cards.scripted import Scripted, copies, in_words, policy_of, silent

SIMULATED = {"gain", "gain over a random edit", "made worse", "near-optimal breaks"}


def numbers(folder):
    return {(each.name, each.who): each for each in read_card(folder).numbers}


def test_a_critic_that_copies_does_nothing(tmp_path):
    server = Scripted(copies)
    try:
        audit.critic(out=tmp_path / "copies", units=UNITS, **server.options())
    finally:
        server.close()
    card = read_card(tmp_path / "copies")
    found = numbers(tmp_path / "copies")
    for name in ("readable", "in range", "within a step", "unchanged"):
        assert found[name, "model"].value == 1, name
    for name in ("gain", "made worse", "made better", "near-optimal breaks", "gain from evidence"):
        assert found[name, "model"].value == 0, name
    for name in ("gain", "made worse", "near-optimal breaks"):
        assert found[name, "model"].value == found[name, "doing nothing"].value
    assert "On average it makes no difference" in " ".join(card.findings)
    assert "The rollouts that it is shown make no difference on average: 0% (0% to 0%) against none." in card.findings
    assert not card.problems


def test_zeroes_break_what_gymnasium_says_they_break(zeroed):
    """All parameters 0 push a cart to the left always; Gymnasium's own loop gives the gains of the first cart."""
    found = numbers(zeroed)
    card = read_card(zeroed)
    unit = next(each for each in packaged().units if each.env == "cartpole")
    plan = read_plan(zeroed / "plan.json")
    key = next(each.key for each in plan.units if each.run == unit.number)
    seeds = seeding.seeds(plan.seed, plan.rollouts, "intervene", *key, "returns")
    env = gymnasium.make("CartPole-v1")

    def returned(params, seed):
        weights, bias = np.array(params[:-2], dtype=float).reshape(4, 2), np.array(params[-2:], dtype=float)
        state, _ = env.reset(seed=seed)
        total, over = 0.0, False
        while not over:
            state, reward, terminated, truncated, _ = env.step(int(np.argmax(state.astype(float) @ weights + bias)))
            total, over = total + float(reward), terminated or truncated
        return total

    own = unit.episode.initial.params
    gains = [returned([0.0] * len(own), seed) - returned(own, seed) for seed in seeds]
    expected = max(-1, np.mean(gains) / (450 - packaged().spans["cartpole"].random))
    [row] = [each for each in card.units if each.number == unit.number]
    assert row.values["gain"] == pytest.approx(expected, rel=1e-5)
    near = [each for each in card.units if each.env == "cartpole" and each.quality == "near"]
    assert near
    assert all(each.values["near-optimal breaks"] == 1 for each in near)
    assert found["made worse", "model"].value > 0.6
    assert any("It harms" in sentence for sentence in card.findings)
    assert found["names the worst", "model"].value == 1


def test_a_random_edit_of_a_revision_out_of_range_is_another(tmp_path):
    """All values 20 higher: a random edit has random signs, though the range ends closer below."""
    server = Scripted(lambda prompt: in_words([value + 20 for value in policy_of(prompt)]))
    try:
        audit.critic(out=tmp_path / "far", units=UNITS, **server.options())
    finally:
        server.close()
    found = numbers(tmp_path / "far")
    assert found["in range", "model"].value == 0
    assert found["gain over a random edit", "model"].value != 0
    assert found["gain", "random edit"].value != found["gain", "model"].value


def test_a_model_that_answers_nothing_readable_has_a_card_that_says_so(tmp_path):
    server = Scripted(silent)
    try:
        audit.critic(out=tmp_path / "silent", units=UNITS, **server.options())
    finally:
        server.close()
    card = read_card(tmp_path / "silent")
    assert card.number("readable").value == 0
    assert all(each.value is None for each in card.numbers if each.name != "readable")
    assert card.findings[-1] == "Nothing else is known of this model: none of its answers can be read."
    assert "Nothing else is known" in (tmp_path / "silent" / "index.html").read_text()


def test_each_metric_by_hand(examined):
    """Means over units of means over answers, from the file of answers and what the card says of units."""
    card, found = read_card(examined), numbers(examined)
    lines = [json.loads(line) for line in (examined / "plan.answers.jsonl").read_text().splitlines()]
    own = [line for line in lines if line["arm"] == "A0"]
    by_unit = {}
    for line in own:
        by_unit.setdefault(line["run"], []).append(line["params"] is not None)
    assert found["readable", "model"].value == pytest.approx(np.mean([np.mean(each) for each in by_unit.values()]))
    assert found["readable", "model"].answers == len(own) == 3 * UNITS
    gains = [each.values["gain"] for each in card.units]
    assert found["gain", "model"].value == pytest.approx(np.mean(gains), abs=1e-5)
    poor = [each.values["gain"] for each in card.units if each.quality == "poor"]
    assert found["gain, poor policies", "model"].value == pytest.approx(np.mean(poor), abs=1e-5)
    for each in card.units:
        difference = each.values["gain"] - each.values["gain without evidence"]
        assert each.values["gain from evidence"] == pytest.approx(difference, abs=1e-4)
    assert card.simulated
    assert card.moves is None


def test_every_number_of_the_page_leads_to_answers_as_many_as_it_counts(examined):
    """Of shares, the answers with the mark of a number, over all that count, are nearly its value: units have three."""
    page = (examined / "index.html").read_text()
    answers = (examined / "answers-A0.html").read_text()
    marks = re.findall(r'<details class="([^"]*)">', answers)
    assert len(marks) == 3 * UNITS
    links = dict(re.findall(r'href="answers-A0.html#([^"]+)">([^<]+)<', page))
    assert {"readable", "made-worse", "near-optimal-breaks", "names-the-worst"} <= set(links)
    readable = [mark.split() for mark in marks]
    assert sum("readable" in each for each in readable) == round(
        numbers(examined)["readable", "model"].value * len(marks)
    )
    worse = sum("made-worse" in each for each in readable)
    assert worse / len(marks) == pytest.approx(numbers(examined)["made worse", "model"].value, abs=1e-5)
    for number in read_card(examined).numbers:
        if number.value is not None:
            assert f"answers-{number.arm}.html" in page
    assert "no language model" in page
    assert {metric.arm for metric in METRICS} == {"A0", "E0"}


@pytest.mark.slow
def test_cards_rank_critics_by_how_often_they_follow_the_label(tmp_path):
    """Critics behind a server, over 36 prompts; the whole suite is asked by the benchmark."""
    from benchmarks.critics import ranked, share_of

    cards = ranked([0.1, 0.9], tmp_path, units=36)
    shares = [share_of(card) for card in cards]
    assert shares == sorted(shares)
    assert shares[1] - shares[0] > 0.4
    assert cards[1].moves is not None
    verdicts = {each.name: each.verdict for each in cards[1].moves}
    assert verdicts["called worst"] == "moves it"
    assert {name for name, verdict in verdicts.items() if verdict == "moves it"} == {"called worst"}
