"""Control edits: as many changes as a revision makes, of the same sizes, at places drawn evenly."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.rerun.edits import control_edit
from collector.tasks import TASKS

decimals = st.integers(-60, 60).map(lambda number: number / 10)


@given(st.lists(decimals, min_size=10, max_size=10), st.lists(decimals, min_size=10, max_size=10), st.integers(0, 99))
def test_a_control_edit_of_a_linear_policy_has_the_revisions_number_and_size(before, after, seed):
    edit = control_edit(TASKS["cartpole"].space, before, after, np.random.default_rng(seed))
    sizes = sorted(abs(a - b) for a, b in zip(after, before, strict=True) if abs(a - b) > 0.05)
    assert sorted(abs(edit - before)[abs(edit - before) > 1e-9]) == pytest.approx(sizes)
    # The range is [-6, 6]; a change of more than 6 to 12 may have no way to stay in it either way.
    if max(sizes, default=0) <= 6:
        assert np.abs(edit).max() <= 6 + 1e-9


@given(st.lists(st.integers(0, 3), min_size=16, max_size=16), st.integers(0, 16), st.integers(0, 99))
def test_a_control_edit_of_a_table_changes_as_many_states(before, number, seed):
    after = [(action + 1) % 4 if state < number else action for state, action in enumerate(before)]
    edit = control_edit(TASKS["frozenlake"].space, before, after, np.random.default_rng(seed))
    assert np.count_nonzero(edit != before) == number
    assert set(edit.tolist()) <= {0, 1, 2, 3}


def test_control_edits_are_drawn_evenly():
    rng = np.random.default_rng(0)
    edits = [control_edit(TASKS["cartpole"].space, [0.0] * 10, [1.0, 2.0, *[0.0] * 8], rng) for _ in range(3000)]
    touched = (np.array(edits) != 0).mean(axis=0)
    assert touched == pytest.approx(np.full(10, 0.2), abs=0.03)
    assert np.sign(edits).sum() == pytest.approx(0, abs=4 * 6000**0.5)
