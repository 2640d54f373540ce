"""What labels, indices and numbers mean against what was shown."""

from __future__ import annotations

import pytest

from audit.references import Shown, Target, resolve
from audit.references.quantities import Quantity
from audit.vocabulary.evidence import ShownRollout
from tests.audit.references.evidence import EXAMPLE, LAKE, MEDIAN, POLE, PONG, SAME, SWIM, UNNUMBERED


def test_one_rollout_has_every_label_that_it_was_shown_under():
    assert LAKE.labelled("worst") == LAKE.labelled("median") == Target(("worst", "median"), (4,))
    assert SAME.labelled("best") == Target(("worst", "median", "best"), (0,))


def test_without_indices_equal_return_and_length_make_one_rollout():
    shown = Shown.of(
        [
            {"label": "worst", "return": 0.0, "length": 9},
            {"label": "median", "return": 0.0, "length": 9},
            {"label": "best", "return": 1.0, "length": 9},
        ]
    )
    assert shown.labelled("worst") == Target(("worst", "median"))
    assert shown.labelled("best") == Target(("best",))
    assert UNNUMBERED.labelled("worst") == Target(("worst",))


def test_indices_that_a_log_leaves_out_follow_from_the_returns():
    shown = Shown.of([{"label": "worst", "return": 0.0}, {"label": "best", "return": 2.0}], returns=[1.0, 0.0, 2.0])
    assert shown.labelled("worst") == Target(("worst",), (1,))
    assert shown.numbered(2) == Target(("best",), (2,))


def test_odd_records_are_taken_as_they_are():
    shown = Shown.of(None, returns=[], lengths=[])
    assert shown.labelled("worst") == Target(("worst",))
    assert Shown.of([{"label": "worst"}], returns=[]).labelled("worst") == Target(("worst",))
    assert Shown.of([], returns=[2.0, 1.0], lengths=[5]).lasted(Quantity.read("5")).rollouts == (0,)


def test_an_index_is_resolved_where_it_is_known():
    assert POLE.numbered(17) == Target(("worst",), (17,))
    assert POLE.numbered(11) == Target()
    assert UNNUMBERED.numbered(0) == Target()
    assert EXAMPLE.numbered(3) == Target((), (3,))
    assert EXAMPLE.numbered(7) == Target()


def test_returns_tell_of_rollouts_that_were_not_shown():
    # Of 9, 30, 24, 25, 18, 26, 21 the smallest is the first, the largest the second, the median 24 the third.
    assert EXAMPLE.labelled("worst") == Target(("worst",), (0,))
    assert EXAMPLE.labelled("best") == Target(("best",), (1,))
    assert EXAMPLE.labelled("median") == Target(("median",), (2,))
    assert EXAMPLE.labelled("representative") == Target(("representative",), (6,))


def test_statistics_tell_of_the_extremes():
    assert MEDIAN.returned(Quantity.read("303")) == Target(("worst",))
    # The median rollout reached the maximum, so it is a best one.
    assert MEDIAN.labelled("best") == Target(("median", "best"), (0,))


@pytest.mark.parametrize(
    ("shown", "printed", "labels"),
    [
        (POLE, "446", ("worst",)),
        (POLE, "446.0", ("worst",)),
        (POLE, "446.0000", ("worst",)),
        (POLE, "446.1", ()),
        (POLE, "447", ()),
        (PONG, "-1", ("worst",)),
        (PONG, "1", ("median",)),
        (SWIM, "-3.7", ("worst",)),
        (SWIM, "-3.73", ("worst",)),
        (SWIM, "-3.7261", ("worst",)),
        (SWIM, "-3.74", ()),
        (SWIM, "-4", ("worst",)),
        (SWIM, "22", ("median",)),
        (SWIM, "2.15e+01", ("median",)),
    ],
)
def test_a_return_is_recognised_however_it_is_rounded(shown, printed, labels):
    assert shown.returned(Quantity.read(printed)).labels == labels


def test_of_two_roundings_the_nearer_one_is_meant():
    shown = Shown((ShownRollout("worst", 1, 9.8, 5), ShownRollout("best", 2, 10.1, 6)))
    assert shown.returned(Quantity.read("10")).labels == ("best",)


def test_rollouts_shown_go_before_others_with_the_same_return():
    shown = Shown.of([{"label": "best", "rollout": 3, "return": 1.0, "length": 8}], returns=[0.0, 1.0, 1.0, 1.0, 2.0])
    assert shown.returned(Quantity.read("1")).rollouts == (3,)
    assert shown.returned(Quantity.read("0")).rollouts == (0,)


def test_among_rollouts_not_shown_all_with_that_return_are_meant():
    shown = Shown.of([], returns=[5.0, 1.0, 5.0, 9.0, 4.0])
    # The median of 1, 4, 5, 5, 9 is the first 5, which has a name; a name goes first.
    assert shown.returned(Quantity.read("5")) == Target(("median",), (0,))
    shown = Shown.of([], returns=[5.0, 1.0, 7.0, 9.0, 7.0, 0.0, 2.0])
    assert shown.returned(Quantity.read("7")) == Target((), (2, 4))


def test_the_failing_run_is_the_only_one_shown_unless_that_did_best():
    failing = resolve("The failing run leans left.", EXAMPLE)
    assert failing[0].labels == ("representative",)
    assert resolve("The failing run leans left.", MEDIAN)[0].labels == ("worst",)


def test_the_rollout_is_a_mention_only_where_one_was_shown():
    text = "At the end of the rollout the cart stands still."
    assert [mention.labels for mention in resolve(text, MEDIAN)] == [("median", "best")]
    assert resolve(text, POLE) == []
