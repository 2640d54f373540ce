"""Steps in prompts, and which an answer names, by hand."""

from __future__ import annotations

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
    2: {number: (str(number % 5), "0", "x") for number in range(1, 31)},
    3: {number: (f"[9, 0.{number}]", "0", "x") for number in range(1, 101)},
}


def test_steps_of_a_prompt_are_numbered_as_they_were() -> None:
    assert trajectories(PROMPT) == STEPS
    assert trajectories("no steps here") == {}
    assert trajectories("Worst (rollout 2):\na->0->b | b->1->c | ... 7 omitted steps ... | d->[0]->[END]") == {
        2: {1: ("a", "0", "b"), 2: ("b", "1", "c"), 10: ("d", "[0]", "[END]")}
    }
    assert trajectories(LISTED) == {0: {0: ("0", "0", "reward=0"), 1: ("4", "1", "reward=0.5")}}


def named(answer: str) -> dict[str, list[int]]:
    """The steps that an answer names, where a role that is not said not to be meant is a mention of its rollout."""
    mentions = []
    for role, number in ROLES.items():
        start = answer.lower().find(role)
        if start >= 0:
            negated = answer[:start].lower().endswith(("not the ", "unlike the "))
            mentions.append({"start": start, "end": start + len(role), "rollouts": [number], "negated": negated})
    mentions.sort(key=lambda each: each["start"])
    found = mentioned(answer, SHOWN, mentions)
    return {role: sorted(found[number]) for role, number in ROLES.items() if found[number]}


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
        # Numbers of nothing that was shown.
        ("The worst falls at step 600, step 0 or step 21.", {}),
        ("The worst has a return of 12, 12 steps, a 12-step rollout, a step size of 12, and a gain of 12.", {}),
        ("In the worst I take a step 12 times, step 12 fold, step 12.5 and step 1,200.", {}),
        ("The worst falls at step 12 (not step 13).", {"worst": [12]}),
        ("Step 1: compute the error.\nStep 2: adjust it.\n- **Step 3:** look.", {}),
        ("As a first step, and as a final step, look at the worst.", {}),
        # Of whose rollout.
        ("The median drifts at step 12 and the best at step 20.", {"median": [12], "best": [20]}),
        ("Unlike the best rollout, the worst falls at step 12.", {"worst": [12]}),
        ("The worst, unlike the best rollout, falls at step 12.", {"worst": [12]}),
        ("The worst and the median both fall at step 12.", {"worst": [12], "median": [12]}),
        ("The worst rollout fails. At step 12 it tips.", {"worst": [12]}),
        ("The worst rollout fails. So it is. All tip at step 12.", {"worst": [12], "median": [12], "best": [12]}),
        # States: of several numbers as written or rounded, or of one number.
        ("It chose 0 in (0.0314, 1.0).", {"worst": [3]}),
        ("The median is at [0.0314, 1].", {"worst": [3]}),
        ("It chose 0 in (0.03, 1.0).", {"worst": [3]}),
        ("It chose 0 in (0.0, 1.0) or (0.03, 1).", {}),
        ("After state (4) in the median, states 0 and 7.", {"median": [4, 5, 9, 10, 14, 15, 19, 20, 24, 25, 29, 30]}),
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
