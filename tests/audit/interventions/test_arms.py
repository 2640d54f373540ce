"""Each arm against what it should show, written by hand."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

from audit.interventions.arms import ARMS, ask
from audit.interventions.showing import NEUTRAL_FRAMES, ROLES, Evidence
from collector.prompt_parts import LETTERS, Block, CriticPrompt
from tests.audit.interventions.planned import PROMPT

RECORDED = CriticPrompt.read(PROMPT)
WORST, MEDIAN, BEST = RECORDED.blocks
OTHER = Block("Median rollout", 2, ", return 4.5000", 4.5, ", length 2", "t=1 walked\nt=2 slept")
DOSES = {
    f"q{quantile}": Block(
        "Median rollout", rollout, f", return {value:.4f}", value, ", length 2", f"t=1 dose {quantile}"
    )
    for quantile, rollout, value in (("0", 4, 1.5), ("0.1", 5, 2.0), ("0.25", 6, 3.0), ("0.5", 2, 4.5))
}
FRESH = [
    {
        role: replace(block, rollout=10 * draw + place, text=f"t=1 draw {draw}")
        for place, (role, block) in enumerate(zip(ROLES, RECORDED.blocks, strict=True))
    }
    for draw in range(2)
]
EVIDENCE = Evidence(
    RECORDED, {"worst": WORST, "median": MEDIAN, "best": BEST, "other": OTHER, **DOSES}, FRESH, number_readable=False
)
READABLE = replace(EVIDENCE, number_readable=True)
HEADINGS = tuple(block.name for block in RECORDED.blocks)


def asked(arm, *, seed=0, evidence=EVIDENCE, replicate=0):
    return ask(arm, evidence, np.random.default_rng(seed), replicate)


def shown(arm, **more):
    """Content, heading and whose number, of each rollout in order."""
    return [(each.content, each.block.name, each.number) for each in asked(arm, **more).shown]


PLAIN = list(zip(ROLES, HEADINGS, ROLES, strict=True))

EXPECTED = {
    "A0": PLAIN,
    "N0": PLAIN,
    "N0h": [("worst", "Worst rollout", None), ("median", "Median rollout", None), ("best", "Best rollout", None)],
    **dict.fromkeys(("P1", "P3", "P4", "P5", "P6"), PLAIN),
    "P2": [(f"fresh {role}", heading, f"fresh {role}") for role, heading in zip(ROLES, HEADINGS, strict=True)],
    "XL": [("worst", "Best rollout", None), ("median", "Median rollout", None), ("best", "Worst rollout", None)],
    "XWM": [("worst", "Median rollout", None), ("median", "Worst rollout", None), ("best", "Best rollout", None)],
    "XMB": [("worst", "Worst rollout", None), ("median", "Best rollout", None), ("best", "Median rollout", None)],
    "XC": [("best", "Rollout A", "best"), ("median", "Rollout B", "median"), ("worst", "Rollout C", "worst")],
    "XA": [(role, name, role) for role, name in zip(ROLES, LETTERS, strict=True)],
    "XP": PLAIN[::-1],
    "XN": [("worst", "Worst rollout", "best"), PLAIN[1], ("best", "Best rollout", "worst")],
    "D0": [("q0", "Worst rollout", "q0"), *PLAIN[1:]],
    "D0.1": [("q0.1", "Worst rollout", "q0.1"), *PLAIN[1:]],
    "D0.25": [("q0.25", "Worst rollout", "q0.25"), *PLAIN[1:]],
    "D0.5": [("q0.5", "Worst rollout", "q0.5"), *PLAIN[1:]],
    "DW": PLAIN[1:],
    "DM": [PLAIN[0], PLAIN[2]],
    "DB": PLAIN[:2],
    "E0": [],
    "S_w": [("worst", "Rollout A", "worst")],
    "S_m": [("median", "Rollout A", "median")],
    "S_b": [("best", "Rollout A", "best")],
    "I": PLAIN,
    "H": PLAIN,
}  # fmt: skip
NEUTRAL = "in no particular order"
DRAWN = {"C", "R0", "RW", "RM", "RB"}


def test_what_every_arm_shows():
    assert EXPECTED.keys() | DRAWN == ARMS.keys()
    assert {arm: shown(arm) for arm in EXPECTED} == EXPECTED
    assert asked("A0").prompt == PROMPT
    assert {arm.control for arm in ARMS.values()} <= {None, *ARMS}


@pytest.mark.parametrize("arm", ARMS)
def test_what_is_stated_to_be_shown_is_what_the_prompt_holds(arm):
    made = asked(arm, seed=3)
    frame = CriticPrompt.read(PROMPT).neutral()
    assert made.prompt.count("(rollout ") == len(made.shown)
    places = [made.prompt.index(str(each.block)) for each in made.shown]
    assert places == sorted(places)
    contents = EVIDENCE.contents | {f"fresh {role}": block for role, block in FRESH[0].items()}
    for each in made.shown:
        assert each.block.text == contents[each.content].text
        assert each.block.rollout == contents[each.content].rollout
        assert each.block.value == (None if each.number is None else contents[each.number].value)
    assert ("the one with the lowest return" in made.prompt) == (arm in {"A0", "I", "H"})
    if arm not in {"A0", "P1", "P3", "P4", "P5", "P6", "C", "E0", "I", "H"}:
        assert made.prompt.startswith(frame.before)
        assert made.prompt.endswith(frame.after)


def test_a_prompt_of_the_swapped_labels_in_full():
    expected = (
        PROMPT.replace("Three of the 9 rollouts: ", "Some of the 9 rollouts, ")
        .replace("the one with the lowest return, the one nearest to the median, and the one with the highest", NEUTRAL)
        .replace("Lay the three rollouts", "Lay the rollouts")
        .replace("Worst rollout (rollout 4, return 1.5000, length 2)", "Best rollout (rollout 4, length 2)")
        .replace("Median rollout (rollout 0, return 5.0000, length 2)", "Median rollout (rollout 0, length 2)")
        .replace("Best rollout (rollout 7, return 9.0000, length 2)", "Worst rollout (rollout 7, length 2)")
    )  # fmt: skip
    assert asked("XL").prompt == expected


def test_the_replaced_ones_share_one_other_rollout_and_all_else():
    for arm, gone in (("RW", "worst"), ("RM", "median"), ("RB", "best")):
        made = asked(arm)
        assert {each.content for each in made.shown} == {*ROLES, "other"} - {gone}
        assert {each.block.rollout for each in made.shown if each.content == "other"} == {2}
        assert [each.block.name for each in made.shown] == list(LETTERS)
        assert all(each.number == each.content for each in made.shown)


@pytest.mark.parametrize("arm", ["R0", "RW", "RM", "RB"])
def test_replaced_rollouts_come_in_every_order_equally_often(arm):
    orders = Counter(tuple(each.content for each in asked(arm, seed=seed).shown) for seed in range(600))
    assert len(orders) == 6
    assert max(abs(number - 100) for number in orders.values()) < 40  # 4.4 standard errors


def conjoint(evidence, number=1200):
    return [asked("C", seed=seed, evidence=evidence).shown for seed in range(number)]


def test_conjoint_draws_are_uniform_and_independent_where_numbers_are_free():
    cells = Counter()
    for each in conjoint(EVIDENCE):
        by_content = {one.content: one for one in each}
        order = tuple(one.content for one in each)
        labels = tuple(by_content[role].block.label for role in ROLES)
        numbers = tuple(by_content[role].number for role in ROLES)
        cells["order", order] += 1
        cells["labels", labels] += 1
        cells["numbers", numbers] += 1
        cells["together", order.index("worst"), labels.index("worst"), numbers.index("worst")] += 1
    for what in ("order", "labels", "numbers"):
        found = {key[1]: number for key, number in cells.items() if key[0] == what}
        assert found.keys() == set(permutations(ROLES))
        assert max(abs(number - 200) for number in found.values()) < 60  # 4.6 standard errors
    together = [number for key, number in cells.items() if key[0] == "together"]
    assert len(together) == 27
    assert max(abs(number - 1200 / 27) for number in together) < 32  # 4.9 standard errors


def test_conjoint_numbers_that_can_be_read_off_are_true_or_hidden_together():
    hidden = 0
    for each in conjoint(READABLE, 400):
        numbers = {one.number for one in each}
        assert numbers == {None} or all(one.number == one.content for one in each)
        hidden += numbers == {None}
    assert abs(hidden - 200) < 50


def test_an_arm_draws_the_same_for_the_same_key_only_and_fresh_evidence_for_every_replicate():
    prompts = [asked("C", seed=seed).prompt for seed in (1, 1, 2)]
    assert prompts[0] == prompts[1] != prompts[2]
    fresh = [asked("P2", replicate=replicate).shown[0].block.text for replicate in range(3)]
    assert fresh == ["t=1 draw 0", "t=1 draw 1", "t=1 draw 0"]


def test_shuffled_trials_change_nothing_else():
    prompts = {asked("H", seed=seed).prompt for seed in range(30)}
    assert len(prompts) == 6
    frame = CriticPrompt.read(PROMPT)
    assert {sorted(prompt.split()) == sorted(PROMPT.split()) for prompt in prompts} == {True}
    assert all(CriticPrompt.read(prompt).blocks == frame.blocks for prompt in prompts)


@pytest.mark.parametrize("arm", ["A0", "C", "RW", "H"])
def test_without_trials_and_other_rollouts_an_arm_needs_only_what_it_states(arm):
    bare = CriticPrompt.read(PROMPT.split("## Earlier trials")[0])
    contents = {"worst": WORST, "median": MEDIAN, "best": BEST, **({"other": OTHER} if arm == "RW" else {})}
    assert len(asked(arm, evidence=Evidence(bare, contents)).shown) == 3


def test_frames_of_one_meaning_change_words_layout_or_length_and_no_rollout():
    base = asked("N0").prompt
    frames = {arm: asked(arm).prompt for arm in NEUTRAL_FRAMES}
    assert len(set(frames.values())) == 6
    blocks = "\n\n".join(map(str, RECORDED.blocks))
    assert all(blocks in frame and "params[0]: 1" in frame and "params=(3)" in frame for frame in frames.values())
    assert len(frames["P5"]) > len(base) + 400 > len(frames["P6"]) + 450
    assert re.sub(r"[^A-Za-z]", "", frames["P4"]) == re.sub(r"[^A-Za-z]", "", base)
    assert frames["P4"] != base


def test_without_rollouts_the_prompt_says_so_and_no_instruction_is_about_them():
    prompt = asked("E0").prompt
    assert "None of the 9 rollouts is shown.\n\n## Earlier trials\n" in prompt
    assert "Refer to specific trials in your explanation." in prompt
    assert not re.search(r"\bworst\b|\(rollout |rollouts side by side", prompt)


def test_conjoint_frames_are_drawn_uniformly_after_all_else():
    """A plan of schema 1, which draws no frame, has the same draws of order, labels and numbers."""
    old = replace(EVIDENCE, frames=("N0",))
    made = [(asked("C", seed=seed), asked("C", seed=seed, evidence=old)) for seed in range(600)]
    assert all(new.shown == before.shown and before.frame == "N0" for new, before in made)
    frames = Counter(new.frame for new, _ in made)
    assert frames.keys() == set(NEUTRAL_FRAMES)
    assert max(abs(number - 100) for number in frames.values()) < 42  # 4.6 standard errors
    for new, before in made[:50]:
        blocks = "\n\n".join(str(each.block) for each in new.shown)
        assert new.prompt == asked(new.frame).prompt.replace("\n\n".join(map(str, RECORDED.blocks)), blocks)
        assert before.prompt == asked("N0").prompt.replace("\n\n".join(map(str, RECORDED.blocks)), blocks)
