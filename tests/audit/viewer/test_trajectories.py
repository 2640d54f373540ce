"""Steps in prompts, and which an answer names, by hand."""

from __future__ import annotations

from audit.viewer.trajectories import MOST, laid_out, mentioned, trajectories

PROMPT = """## Evidence
Three rollouts. Each step reads state->action->next state.

Worst rollout (rollout 11, return 3.0000, length 3):
[0.1, 0.2]->0->[0.3, -0.4] | [0.3, -0.4]->1->[0.5, 0.6] | [0.5, 0.6]->1->[0.7, 0.8]

Best rollout (rollout 4, return 9.0000, length 2):
s1->up->s2 | s2->down->s3

## How to proceed
1. Think->act->check.
"""
STEPS = {
    11: [("[0.1, 0.2]", "0", "[0.3, -0.4]"), ("[0.3, -0.4]", "1", "[0.5, 0.6]"), ("[0.5, 0.6]", "1", "[0.7, 0.8]")],
    4: [("s1", "up", "s2"), ("s2", "down", "s3")],
}


def test_steps_of_a_prompt() -> None:
    assert trajectories(PROMPT) == STEPS
    assert trajectories("no steps here") == {}


def test_a_number_is_of_the_rollout_of_its_sentence() -> None:
    answer = "All went well. The worst rollout failed at step 2. Later, steps 1-2 matter."
    worst = [{"start": answer.index("The worst"), "rollouts": [11]}]
    assert mentioned(answer[:50], STEPS, worst) == {11: {1}, 4: set()}
    assert mentioned(answer, STEPS, worst) == {11: {0, 1}, 4: {0, 1}}


def test_a_state_is_found_wherever_it_is() -> None:
    assert mentioned("It chose 1 in state (0.30, -0.4), wrongly.", STEPS, []) == {11: {1}, 4: set()}
    assert mentioned("params (0.3, -0.5) and step 99, step 0", STEPS, []) == {11: set(), 4: set()}


def test_a_long_rollout_is_cut() -> None:
    steps = [("s", "a", "s")] * (MOST + 5)
    shown = laid_out(steps, {3, MOST + 1})
    assert (len(shown["steps"]), shown["total"], shown["marked"]) == (MOST, MOST + 5, [3])
