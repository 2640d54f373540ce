"""Critics' prompts are taken apart and put together again, whatever is in them."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from collector.prompt_parts import Block, CriticPrompt, UnknownPromptError
from tests.audit.interventions.planned import PROMPT

RELEASED = """\
You are an expert.

# What actually happened during the test
Below are three representative rollouts from the 20 evaluation episodes: the worst one, one near the median, and the \
best one.

Worst rollout (rollout 3, reward=1.00):
step 1

Median rollout (rollout 1, reward=2.00):
step 1

Best rollout (rollout 2, reward=3.00):
step 1

# History
Warmup trial 1: params=a f(params)=1
Training trial 1: params=b f(params)=2

# Guidance
1. Compare the worst, median, and best rollouts: what do they share?
- Keep edits small.
- Do not overfit to the worst rollout.
Answer by referencing specific rollouts.
"""

LINES = st.text(st.characters(exclude_characters="\n", exclude_categories=("Cs",)), min_size=1).filter(
    lambda line: line.strip(" \t") != "" and not line.endswith(":")
)
STEPS = st.lists(LINES, min_size=1, max_size=4).map("\n".join)


@pytest.mark.parametrize(
    ("text", "dialect", "trials", "blocks"),
    [
        (PROMPT, "project", 3, [("worst", 4, 1.5, 2), ("median", 0, 5.0, 2), ("best", 7, 9.0, 2)]),
        (RELEASED, "released", 2, [("worst", 3, 1.0, None), ("median", 1, 2.0, None), ("best", 2, 3.0, None)]),
    ],
)
def test_the_parts_of_a_prompt(text, dialect, trials, blocks):
    read = CriticPrompt.read(text)
    assert (read.dialect.id, read.trials, read.between) == (dialect, trials, "\n\n")
    assert [(block.label, block.rollout, block.value, block.steps) for block in read.blocks] == blocks
    assert read.blocks[1].text == ("t=1 stood\nt=2 sat" if text == PROMPT else "step 1")


@pytest.mark.parametrize("text", [PROMPT, RELEASED])
@given(
    names=st.permutations(["Worst rollout", "Median rollout", "Best rollout", "Rollout A", "Rollout B"]),
    steps=st.lists(STEPS, min_size=1, max_size=5),
    hidden=st.booleans(),
)
@example(names=["Best rollout", "Rollout A"], steps=["(rollout 3, return 1.0):", "## Evidence"], hidden=True)
def test_any_blocks_are_read_as_they_were_written(text, names, steps, hidden):
    frame = CriticPrompt.read(text)
    number = "" if hidden else frame.blocks[0].number
    blocks = tuple(
        Block(name, place, number, None if hidden else frame.blocks[0].value, frame.blocks[0].length, each)
        for place, (name, each) in enumerate(zip(names, steps, strict=False))
    )
    written = str(frame.with_blocks(blocks))
    read = CriticPrompt.read(written)
    assert str(read) == written
    assert read.blocks == blocks
    assert (read.before, read.after) == (frame.before, frame.after)


@given(st.text())
@example("\n## Evidence\n")
@example(PROMPT.replace("return 1.5000", "return 1.5.0"))
@example(PROMPT.replace("return 1.5000", "return -"))
@example(PROMPT.replace("\n\nMedian", "\n\n\n\nMedian"))
@example(PROMPT.replace("Worst rollout", "Worst  rollout").replace("Median", "median").replace("Best", "best"))
@example(PROMPT + PROMPT)
def test_any_text_is_read_whole_or_not_at_all(text):
    with contextlib.suppress(UnknownPromptError):
        assert str(CriticPrompt.read(text)) == text


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "its template is not known"),
        (PROMPT.replace("nearest to the median", "somewhere"), "its template is not known"),
        (PROMPT.replace("(rollout", "(trace"), "no rollouts in it"),
        (PROMPT.replace("\n\nMedian", "\n \nMedian"), "its rollouts are set apart in different ways"),
    ],
)
def test_why_a_prompt_is_not_known(text, reason):
    with pytest.raises(UnknownPromptError, match=f"^{reason}$"):
        CriticPrompt.read(text)


@pytest.mark.parametrize("number", ["1.5.0", ".", "-", "--1", "9" * 400, "nan"])
def test_a_heading_whose_return_is_no_number_is_none(number):
    read = CriticPrompt.read(PROMPT.replace("return 1.5000", f"return {number}"))
    assert [block.label for block in read.blocks] == ["median", "best"]


def test_hiding_and_exchanging_numbers():
    worst, median, _ = CriticPrompt.read(PROMPT).blocks
    assert str(worst.hidden()) == "Worst rollout (rollout 4, length 2):\nt=1 fell\nt=2 lay"
    assert str(worst.with_number_of(median)).startswith("Worst rollout (rollout 4, return 5.0000, length 2):")
    assert worst.hidden().value is None
    assert worst.with_number_of(median).value == 5.0


def changes(before: str, after: str) -> list[tuple[str, str]]:
    """Lines that differ, of texts of as many lines."""
    return [pair for pair in zip(before.splitlines(), after.splitlines(), strict=True) if pair[0] != pair[1]]


def test_the_neutral_frame_states_neither_order_nor_roles_nor_number():
    assert changes(PROMPT, str(CriticPrompt.read(PROMPT).neutral())) == [
        (
            "Three of the 9 rollouts: the one with the lowest return, the one nearest to the median, and the one with "
            "the highest. Steps.",
            "Some of the 9 rollouts, in no particular order. Steps.",
        ),
        (
            "1. Lay the three rollouts side by side: which faults do they share, and which does only one of them show?",
            "1. Lay the rollouts side by side: which faults do they share, and which does only one of them show?",
        ),
    ]
    released = changes(RELEASED, str(CriticPrompt.read(RELEASED).neutral()))
    assert [after for _, after in released] == [
        "Below are some of the 20 evaluation episodes, in no particular order.",
        "1. Compare the rollouts: what do they share?",
    ]


def test_the_placebo_changes_layout_and_one_word():
    changed = changes(PROMPT, str(CriticPrompt.read(PROMPT).placebo("mixed")))
    assert [(before.strip("#-* "), after.strip("#-* ")) for before, after in changed[:-1]] == [
        (same, same)
        for same in (
            "Policy under review",
            "Evidence",
            "Earlier trials",
            "How to proceed",
            "A focused change is better than a sweeping one.",
            "Do not overfit to a fault that only the worst rollout shows: chance may explain it.",
            "Your answer",
        )
    ]
    assert changed[-1][1] == "In this form. Cite specific rollouts and states in your explanation."


@pytest.mark.parametrize(("text", "lost"), [(PROMPT, 2), (RELEASED, 2)])
def test_instructions_that_mention_the_worst_are_left_out_and_nothing_else(text, lost):
    without = str(CriticPrompt.read(text).without_warnings())
    gone = [line for line in text.splitlines() if line not in without.splitlines()]
    assert len(text.splitlines()) - len(without.splitlines()) == len(gone) == lost
    assert all("worst" in line or line.startswith("1. Lay") for line in gone)
    assert without.count("\n\n\n") == 0


def test_trials_are_shuffled_with_their_excerpts_and_numbered_as_before():
    shuffled = CriticPrompt.read(PROMPT).with_trials([1, 2, 0])
    assert (
        "#0 params=(2) mean return 4.00\n    from one of its rollouts: t=0 stood\n#1 params=(3) mean return 5.00\n"
        "#2 params=(1) single return 3.00\n\n" in str(shuffled)
    )
    assert str(shuffled.with_trials([2, 0, 1])) == PROMPT
    assert "Warmup trial 1: params=b f(params)=2\nTraining trial 1: params=a f(params)=1\n" in str(
        CriticPrompt.read(RELEASED).with_trials([1, 0])
    )
