"""What rounding does to scores is no outcome, whoever wrote the record down."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from audit.recorders import Recorder
from audit.store import open_store
from tests.audit.models.test_texts import relation
from tests.audit.samples import revision, write_run
from tests.audit.sources.tool_folders import entry, write_gepa
from tests.audit.texts import text_candidate, text_revision

LARGE = 1e6
"""Scores of which a billionth is beyond all rounding."""


def means(r0, r1, **changes):
    """A revision whose two means are known, and no scores."""
    known = {"returns": None, "example_ids": None}
    sides = {name: text_candidate([0], **known, mean_return=mean) for name, mean in (("initial", r0), ("revised", r1))}
    return text_revision([0], [0], **sides, evidence=None, selected="initial", **changes)


def test_what_lies_within_a_billionth_is_no_change(tmp_path):
    """Of the range of scores where the run states it, else of the larger mean of the revision itself."""
    cases = [
        (0.458, 0.458 - 2.8e-17, "no_change", "no_change"),
        (0.458, 0.458 - 4e-10, "no_change", "no_change"),
        (0.458, 0.458 - 8e-10, "no_change", "regression"),
        (0.458, 0.458 - 2e-9, "regression", "regression"),
        (0.458, 0.458 + 2e-9, "improvement", "improvement"),
        (1e-10, 9e-10, "no_change", "improvement"),
        (-LARGE, -LARGE - 1e-4, "regression", "no_change"),
        (0.0, 0.0, "no_change", "no_change"),
    ]
    records = [means(r0, r1) for r0, r1, *_ in cases]
    stated = relation(tmp_path / "stated", "changes", records, score_range=[0.0, 1.0])
    unstated = relation(tmp_path / "unstated", "changes", records, score_range=None)
    assert [row["direction"] for row in stated] == [of_range for _, _, of_range, _ in cases]
    assert [row["direction"] for row in unstated] == [of_means for *_, of_means in cases]
    # No row changes what another one is.
    alone = [
        relation(tmp_path / f"{place}", "changes", [record], score_range=None) for place, record in enumerate(records)
    ]
    assert [row["direction"] for [row] in alone] == [row["direction"] for row in unstated]


def test_a_mean_near_zero_is_as_exact_as_the_scores_that_cancel(tmp_path):
    """Sums of decimal fractions that are zero, and one that is not; of scores in a stated range as well."""
    cases = [
        ([0.1, 0.2, -0.3], [0.3, -0.1, -0.2], "no_change"),
        ([0.3, -0.1, -0.2], [0.1, 0.2, -0.3], "no_change"),
        ([0.1] * 10 + [-1], [-0.1] * 10 + [1], "no_change"),
        ([1, -1, 0.1, -0.1], [0.7, -0.7, 0.3, -0.3], "no_change"),
        ([0.1, 0.2, -0.3], [0.1, 0.2, -0.3001], "regression"),
        ([1e-12, -1e-12], [1e-12, -0.5e-12], "improvement"),
    ]
    wanted = [direction for *_, direction in cases]
    with Recorder(tmp_path / "recorded", env="signed") as recorder:
        for before, after, _ in cases:
            recorder.shown("a text", before)
            recorder.answered("an answer", "another text")
            recorder.scored(after)
    with open_store([tmp_path / "recorded"]) as store:
        rows = sorted(store.rows("revisions"), key=lambda row: row["iteration"])
    assert [row["direction"] for row in rows] == wanted
    assert [row["accepted"] for row in rows] == [direction != "regression" for direction in wanted]


def test_of_three_returns_a_step_each_within_rounding_is_no_step(tmp_path):
    """Neither neighbour differs, the ends do: `identical` is not permissive."""
    write_run(tmp_path, [revision([1e9 + 0.5, 1e9 + 0.8, 1e9 + 1.7], [0.5] * 3)])
    with open_store([tmp_path]) as store:
        [row] = store.rows("evidence")
    assert (row["structure"], row["worst_below_best"], row["severity"]) == ("identical", False, None)


def test_equal_returns_are_equal_in_evidence(tmp_path):
    """Ties, structure and severity; each case with a change that is not within rounding beside it."""
    cases = [
        ([0.1 + 0.2, 0.3, 0.9], "failure_confirmed", 0.0, False),
        ([0.25, 0.5, 1.25], "all_diverse", 0.25, True),
        ([0.1, 0.1 + 0.2, 0.3], "preservation_favored", 1.0, True),
        ([LARGE, LARGE + 1e-4, LARGE + 5e-4], "identical", None, False),
        ([LARGE, LARGE + 1, LARGE + 2], "all_diverse", 0.5, True),
        ([1e-13, 2e-13, 3e-13], "identical", None, False),  # beside an r1 of 0.5
    ]
    write_run(tmp_path, [revision(returns, [0.5] * 3, iteration=place) for place, (returns, *_) in enumerate(cases)])
    with open_store([tmp_path]) as store:
        rows = sorted(store.rows("evidence"), key=lambda row: row["iteration"])
    assert [(row["structure"], row["severity"], row["worst_unique"]) for row in rows] == [
        tuple(each) for _, *each in cases
    ]


def shuffled(number, examples=7):
    """Scores before and after: of three in four the same ones in another order, by sums of decimal fractions."""
    rng = random.Random(number)
    before = [rng.randrange(100) for _ in range(examples)]
    after = rng.sample(before, examples)
    if number % 4 == 0:
        after[0] += rng.choice((-1, 1))
    elif number % 4 == 1:  # other scores with the same sum
        after[0], after[1] = after[0] - 7, after[1] + 7
    return tuple([score / 100 for score in scores] for scores in (before, after))


def truth(before, after):
    exact = [sum(Fraction(round(score * 100), 100) for score in scores) for scores in (before, after)]
    return "no_change" if exact[0] == exact[1] else "improvement" if exact[1] > exact[0] else "regression"


PLANTED = [shuffled(number) for number in range(200)]


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """A run of GEPA in its folder, and a loop with the same scores that states means alone."""
    folder = tmp_path_factory.mktemp("planted")
    ids = range(len(PLANTED[0][0]))
    entries = [entry(number, *scores, ids=ids) for number, scores in enumerate(PLANTED)]
    write_gepa(folder / "gepa" / "seasons", entries)
    with Recorder(folder / "loop", env="seasons", selection_rule="better") as recorder:
        for before, after in PLANTED:
            recorder.shown("seed", sum(before) / len(before))
            recorder.answered("because", "text")
            recorder.scored(sum(after) / len(after))
    return folder


@pytest.mark.parametrize("kept", ["gepa", "loop"])
def test_lists_of_scores_with_equal_sums_are_no_change(planted, kept):
    with open_store([planted / kept], cache=False) as store:
        assert store.problems == []
        rows = store.rows("changes")
    rows = sorted(rows, key=lambda row: row["iteration"])
    assert [row["direction"] for row in rows] == [truth(*scores) for scores in PLANTED]
    assert {row["direction"] for row in rows} == {"regression", "improvement", "no_change"}
    if kept == "loop":  # where nothing says which was kept, the rule does, by the same tolerance
        assert [row["accepted"] for row in rows] == [truth(*scores) != "regression" for scores in PLANTED]


def test_acceptance_is_what_the_record_says(tmp_path):
    """GEPA compares sums as its loop adds them up: a last digit may decide, and then the record has it."""
    records = [{**means(0.458, 0.458 - 2.8e-17), "selected": selected} for selected in ("initial", "revised")]
    for rule in ("better", "strict"):
        rows = relation(tmp_path / rule, "changes", records, selection_rule=rule)
        assert [(row["direction"], row["accepted"]) for row in rows] == [("no_change", False), ("no_change", True)]


def test_a_mean_does_not_depend_on_the_order_of_its_scores(planted):
    with open_store([planted / "gepa"], cache=False) as store:
        rows = store.rows("changes")
    same = [row for row in rows if sorted(PLANTED[row["iteration"]][0]) == sorted(PLANTED[row["iteration"]][1])]
    assert len(same) > 80
    assert {row["delta"] for row in same} == {0.0}
