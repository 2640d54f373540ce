"""What is read off an answer: the rollout it goes by, its edit, and what its policy returns."""

from __future__ import annotations

import math

import numpy as np
import pytest

from audit.interventions.answers import ShownLine
from audit.interventions.outcomes import changed_of, edit_of, read_text
from audit.output.errors import AuditError
from collector.tasks import LinearSpace, TabularSpace, get_task


def line(content, label, rollout, number=None, value=None, name=None):
    heading = name or f"{label.capitalize()} rollout"
    return ShownLine(
        content=content, name=heading, label=label, rollout=rollout, number=number, return_=value, length=10
    )


PLAIN = [
    line("worst", "worst", 4, "worst", 1.5),
    line("median", "median", 0, "median", 5.0),
    line("best", "best", 7, "best", 9.0),
]
EXCHANGED = [line("worst", "best", 4), line("median", "median", 0), line("best", "worst", 7)]
LETTERED = [
    line("other", None, 2, "other", 4.5, "Rollout A"),
    line("best", None, 7, "best", 9.0, "Rollout B"),
    line("worst", None, 4, "worst", 1.5, "Rollout C"),
]


@pytest.mark.parametrize(
    ("shown", "text", "driver", "mentioned"),
    [
        (PLAIN, "The worst rollout fell over at once, so I raised params[0].", "worst", {"worst"}),
        (PLAIN, "The median rollout fell over at once, so I raised params[0].", "median", {"median"}),
        (PLAIN, "Rollout 7 went well and I keep to it: I raised params[0] because of rollout 7.", "best", {"best"}),
        (PLAIN, "I raised params[0], which seemed low.", None, set()),
        (PLAIN, "I went by earlier trials, towards the one with the highest return.", None, set()),
        (EXCHANGED, "The worst rollout fell over at once, so I raised params[0].", "best", {"best"}),
        (EXCHANGED, "The best rollout fell over at once, so I raised params[0].", "worst", {"worst"}),
        (EXCHANGED, "Rollout 4 fell over at once, so I raised params[0].", "worst", {"worst"}),
        (LETTERED, "Rollout C fell over at once, so I raised params[0].", "worst", {"worst"}),
        (LETTERED, "Rollout A fell over at once, so I raised params[0].", "other", {"other"}),
        (LETTERED, "The worst rollout fell over at once, so I raised params[0].", "worst", {"worst"}),
        (LETTERED[1:], "Rollout C fell over at once, so I raised params[0].", "worst", {"worst"}),
        ([LETTERED[2], LETTERED[0]], "Rollout A fell over at once, so I raised params[0].", "other", {"other"}),
    ],
)
def test_a_rollout_is_what_the_prompt_called_it(shown, text, driver, mentioned):
    read = read_text(text, shown, [0])
    assert (read.driver, read.mentioned) == (driver, mentioned)


def test_a_rollout_alone_is_mentioned_and_a_return_names_the_rollout_that_it_was_printed_with():
    assert read_text("Rollout A fell over at once.", LETTERED[:1], [0]).mentioned == {"other"}
    shown = [line("worst", "worst", 4, "best", 9.0), PLAIN[1], line("best", "best", 7, "worst", 1.5)]
    read = read_text("The rollout with a return of 1.5 fell over at once, so I raised params[0].", shown, [0])
    assert read.mentioned == {"best"}


def test_a_rollout_is_named_by_its_content_where_a_reason_is_given():
    text = "The worst rollout fell over at once, so I raised params[0]. The median one is slow."
    assert read_text(text, PLAIN, [0]).named == {"worst"}
    assert read_text(text, EXCHANGED, [0]).named == {"best"}
    assert read_text("Rollout A fell over, so I raised params[0].", LETTERED, [0]).named == {"other"}
    assert read_text("Rollout A fell over, so I raised params[0].", LETTERED[:1], [0]).named == {"other"}
    assert read_text("Rollout A fell over, as it must.", LETTERED, []).named == set()


LINEAR = LinearSpace(observations=("x",), actions=("left", "right"), discrete=True, step_size=0.5)


def test_an_edit_of_a_linear_policy_is_in_units_of_the_search_step():
    before, after = [1.0, 2.0, -3.0, 0.0], [1.5, 2.0, -4.0, 0.1]
    assert edit_of(LINEAR, before, after) == pytest.approx([1.0, 0.0, -2.0, 0.2])
    assert changed_of(LINEAR, before, after) == [0, 2, 3]


def test_an_edit_of_a_table_is_a_one_for_each_entry_and_action_that_it_was_changed_to():
    space = get_task("maze").space
    assert isinstance(space, TabularSpace)
    actions = len(space.actions)
    before = [float(space.actions[0])] * space.size
    after = list(before)
    after[1], after[3] = float(space.actions[2]), float(space.actions[1])
    edit = edit_of(space, before, after).reshape(space.size, actions)
    assert np.argwhere(edit).tolist() == [[1, 2], [3, 1]]
    assert edit.sum() == 2
    assert changed_of(space, before, after) == [1, 3]
    # Two answers that change one entry to different actions differ.
    other = [*before[:1], float(space.actions[1]), *before[2:]]
    assert np.linalg.norm(edit_of(space, before, other) - edit.ravel()) == pytest.approx(math.sqrt(3))


def test_an_unreadable_answer_leaves_the_policy_as_it_was_and_what_is_no_action_is_no_edit():
    space = get_task("maze").space
    for value in (99.0, -1.0, 0.5):
        with pytest.raises(AuditError, match="is not an action"):
            edit_of(space, [0.0] * space.size, [value] * space.size)
    assert edit_of(LINEAR, [1.0] * 4, None).tolist() == [0.0] * 4
    assert edit_of(space, [0.0] * space.size, None).tolist() == [0.0] * (space.size * len(space.actions))
