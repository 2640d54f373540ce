"""Steps in prompts, and which an answer names, by hand."""

from __future__ import annotations

import re

import pytest

from audit.references.steps import MOST, laid_out, mentioned, trajectories

PROMPT = """## Evidence
Three rollouts. Each step reads state->action->next state.

Worst rollout (rollout 11, return 3.0000, length 3):
[0.1, 0.2]->0->[0.3, -0.4] | [0.3, -0.4]->1->[0.5, 0.6] | (14 steps left out) | [0.5, 0.6]->1->[0.7, 0.8]

Median rollout (rollout 4, return 9.0000, length 2):
s1->up->s2 | s2->down->s3

Best rollout (rollout 4, return 9.0000, length 2):
s1->up->s2 | s2->down->s3

## How to proceed
1. Think->act->check.
"""
STEPS = {
    11: {
        1: ("[0.1, 0.2]", "0", "[0.3, -0.4]"),
        2: ("[0.3, -0.4]", "1", "[0.5, 0.6]"),
        17: ("[0.5, 0.6]", "1", "[0.7, 0.8]"),
    },
    4: {1: ("s1", "up", "s2"), 2: ("s2", "down", "s3")},
}
LISTED = """Trajectory 0 (length=67, step_reward_sum=1.00):
  step 0: state=0 -> action=0 -> reward=0
  step 1: state=4 -> action=1 -> reward=0.5
"""

ROLES = {"worst": 1, "median": 2, "best": 3}
SHOWN = {
    1: {number: (f"[0.{number:02}14, 1]", "0", "x") for number in range(1, 21)},
    2: {number: (str(number % 5), "0", "[END]" if number == 29 else str((number + 1) % 5)) for number in range(1, 31)},
    3: {number: (f"[8, 1, 0.{number:03}, 0]", "0", f"[8, 1, 0.{number + 1:03}, 0]") for number in range(1, 100)}
    | {100: ("[8, 2, 2, 2]", "0", "[8, 1, 99, 99]")},
}


def test_steps_of_a_prompt_are_numbered_as_they_were() -> None:
    assert trajectories(PROMPT) == STEPS
    assert trajectories("no steps here") == {}
    assert trajectories("Worst (rollout 2):\na->0->b | b->1->c | ... 7 omitted steps ... | d->[0]->[END]") == {
        2: {1: ("a", "0", "b"), 2: ("b", "1", "c"), 10: ("d", "[0]", "[END]")}
    }
    plain = "Of (rollout 3):\nstate [1, 2] action 0 reward 1\n... 5 omitted steps ...\nstate [3, 4] action 1 reward 0"
    assert trajectories(plain) == {3: {1: ("[1, 2]", "0", "reward 1"), 7: ("[3, 4]", "1", "reward 0")}}
    assert trajectories(LISTED) == {0: {0: ("0", "0", "reward=0"), 1: ("4", "1", "reward=0.5")}}


def named(answer: str) -> dict[str, list[int]]:
    """The steps that an answer names, where a role that is not said not to be meant is a mention of its rollout."""
    mentions = []
    for role, number in ROLES.items():
        for found in re.finditer(role, answer, re.IGNORECASE):
            negated = answer[: found.start()].lower().endswith(("not the ", "unlike the "))
            mentions.append({"start": found.start(), "end": found.end(), "rollouts": [number], "negated": negated})
    mentions.sort(key=lambda each: each["start"])
    marked = mentioned(answer, SHOWN, mentions)
    return {role: sorted(marked[number]) for role, number in ROLES.items() if marked[number]}


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("The worst falls at step 12.", {"worst": [12]}),
        ("The worst falls at timestep 12, time step 14 or time-step 16.", {"worst": [12, 14, 16]}),
        ("In the worst, Step #12, step number 13 and step **15** matter.", {"worst": [12, 13, 15]}),
        ("The worst drifts at t=12, t = 13 and t_14.", {"worst": [12, 13, 14]}),
        ("At the 12th step the worst falls.", {"worst": [12]}),
        ("The worst drifts in steps 12-14, 16–17 and 19 to 20.", {"worst": [12, 13, 14, 16, 17, 19, 20]}),
        ("The worst drifts in steps 12, 14 and 16.", {"worst": [12, 14, 16]}),
        ("The worst drifts in steps 12 & 13.", {"worst": [12, 13]}),
        ("The worst drifts between steps 10 and 13.", {"worst": [10, 11, 12, 13]}),
        ("The worst drifts from step 12 to step 14.", {"worst": [12, 13, 14]}),
        ("In its last three steps the worst drifts, and in the first 2 steps.", {"worst": [1, 2, 18, 19, 20]}),
        ("The worst falls in the last step.", {"worst": [20]}),
        ("In the worst, steps 2…4, 6..8, 10/11/12 and then 14.", {"worst": [2, 3, 4, 6, 7, 8, 10, 11, 12, 14]}),
        ("Worst: steps {2, 4}; median: steps [3, 4].", {"worst": [2, 4], "median": [3, 4]}),
        ("The worst drifts at t≈12, step ~13, timestep $14$, step `15` and frame 16.", {"worst": [12, 13, 14, 15, 16]}),
        ("The worst rollout's first step, and the first step of the median.", {"worst": [1], "median": [1]}),
        ("### Worst rollout\n\nStep 12: left.\n\nStep 13: right.\n", {"worst": [12, 13]}),
        # Numbers of nothing that was shown.
        ("The worst falls at step 600, step 0 or step 21.", {}),
        ("The worst has a return of 12, 12 steps, a 12-step rollout, a step size of 12, and a gain of 12.", {}),
        ("In the worst I take a step 12 times, step 12 fold, step 12.5 and step 1,200.", {}),
        ("The worst falls at step 12 (not step 13).", {"worst": [12]}),
        ("Step 1: compute the error.\nStep 2: adjust it.\n- **Step 3:** look.", {}),
        ("Step 2 of the plan is for the worst, and in step 3 of this optimization.", {}),
        ("The second-to-last step of the worst.", {}),
        ("As a first step, and as a final step, look at the worst.", {}),
        # Of whose rollout.
        ("The median drifts at step 12 and the best at step 20.", {"median": [12], "best": [20]}),
        ("Unlike the best rollout, the worst falls at step 12.", {"worst": [12]}),
        ("The worst, unlike the best rollout, falls at step 12.", {"worst": [12]}),
        ("The worst and the median both fall at step 12.", {"worst": [12], "median": [12]}),
        ("The worst rollout fails. At step 12 it tips.", {"worst": [12]}),
        ("The worst rollout fails. So it is. All tip at step 12.", {"worst": [12], "median": [12], "best": [12]}),
        ("Compare step 5 of the worst rollout with step 7 of the best rollout.", {"worst": [5], "best": [7]}),
        ("See step 12 (median) vs. step 9 (best).", {"median": [12], "best": [9]}),
        (
            "Step 4 in the worst, 9 in none, step 50 in the best.",
            {"worst": [4], "best": [50]},
        ),
        ("At step 6 the worst rollout leans; at step 9 the median one does.", {"worst": [6], "median": [9]}),
        # States: of several numbers as written or rounded, or of one number.
        ("It chose 0 in (0.0314, 1.0).", {"worst": [3]}),
        ("The median is at [0.0314, 1].", {"worst": [3]}),
        ("It chose 0 in (0.03, 1.0).", {"worst": [3]}),
        ("It chose 0 in (0.0, 1.0) or (0.03, 1).", {}),
        ("The best is cut to [8, 1, ...] and [8, 1, 0.004].", {"best": [4]}),
        ("It chose 0 in state (4), and in state 3 it goes on.", {"median": [4, 9, 14, 19, 24, 29]}),
        ("State 3 is dangerous, states 0 to 3 are the top row, and for states 1, 2 and 3 I keep it.", {}),
        ("The worst went 1->0->2.", {}),
        ("The median went 1->0->2 | 2->1->3, and then 4→0→[END].", {"median": [1, 6, 11, 16, 21, 26, 29]}),
        ("It did not go 1->0->2->0->3, nor 1 -> 2 -> 3.", {}),
        (
            "The transition [8, 1, 0.002, 0]->0->[8, 1, 0.003, 0] is wrong; it ends in [8, 1, 99, 99].",
            {"best": [2, 100]},
        ),
    ],
)
def test_steps_are_named_in_many_ways(answer: str, expected: dict[str, list[int]]) -> None:
    assert named(answer) == expected


def test_a_number_of_a_rollout_that_was_not_shown_marks_nothing() -> None:
    mention = {"start": 0, "end": 9, "rollouts": [7], "negated": False}
    assert mentioned("Rollout 7 drifts at step 2.", SHOWN, [mention]) == {1: set(), 2: set(), 3: set()}


def test_a_long_rollout_is_cut() -> None:
    steps = dict.fromkeys(range(5, MOST + 10), ("s", "a", "s"))
    shown = laid_out(steps, {7, MOST + 6})
    assert (len(shown["steps"]), shown["total"], shown["marked"]) == (MOST, MOST + 5, [7])
    assert shown["steps"][0] == [5, "s", "a", "s"]
