"""What an experiment shows, in sentences: from analyses made by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest

from audit.interventions.effects.results import Analysis, Carriers, Ceiling, Effect, Naming, Share, Validity
from audit.interventions.intervene import _short
from audit.interventions.report import Report
from audit.interventions.sentences import RELATIVE, carried, headline, moving, verdict_lines

CALLED_WORST = Share("called worst", 0.8, 0.68, 0.89, 0.0002, 0.003, "moves it", None, 0.09, 0.08, 0.11)


SHOWN_FIRST = Share("shown first", 0.01, -0.09, 0.11, 0.06, 0.9, "does not move it")
WORST = Share("worst content", 0.2, -0.1, 0.5, 0.06, 0.9, "cannot be told", 9_000)


def analysis(*shares: Share, problems: Sequence[str] = (), carriers: dict[str, Carriers] | None = None) -> Analysis:
    validity = Validity(0.6, 0.9, 0.0, 0.0, [], 0, 0.5, problems)
    naming = Naming(math.nan, math.nan, math.nan, math.nan)
    ceiling = Ceiling(0.45, 0.57)
    return Analysis(validity, [], naming, 0.05, shares=shares, ceiling=ceiling, carriers=carriers or {})


def test_a_problem_is_in_place_of_the_verdict_wherever_a_share_has_a_sentence() -> None:
    found = analysis(CALLED_WORST._replace(verdict="cannot be told"), problems=["25% are repeated.", "cut"])
    assert list(moving(found)) == ["No verdict: 25% are repeated."]
    report = Report(None, None, found, [])
    share = Effect("called worst", "share", "C", None, estimate=0.8, verdict="cannot be told")
    assert report.sentence(share) == "No verdict: 25% are repeated."
    edits = Effect("label", "edits", "XL", "N0h", estimate=0.8, p=0.001, verdict="found")
    assert report.sentence(edits).startswith("exchanging the labels")
    assert Report(None, None, analysis(), []).sentence(share).startswith("Being called worst: 80% of its revisions")


AVOIDS_WORST = Share("called worst", -0.47, -0.51, -0.43, 0.0, 0.001, "moves it away", None, 0.98, 0.97, 0.99)
WITH_BEST = Share("called best", -0.4, -0.5, -0.3, 1.0, 1.0, "goes with another", None, 0.9, 0.88, 0.92)


@pytest.mark.parametrize(
    ("shares", "expected"),
    [
        (
            [SHOWN_FIRST, CALLED_WORST],
            [
                "Being called worst moves this critic: 80% (68% to 89%) of its revisions are as if the rollout that is "
                "called worst were shown alone."
            ],
        ),
        (
            [Share("shown first", 0.05, 0.03, 0.08, 0.0002, 0.003, "moves it")],
            [
                "Being shown first moves this critic, but by less than 15%: 5% (3% to 8%) of its revisions are as if "
                "the rollout that is shown first were shown alone."
            ],
        ),
        (
            [AVOIDS_WORST],
            [
                "Being called worst moves this critic away from that rollout: -47% (-51% to -43%), as its revisions "
                "follow the rollout that is called worst less than the others.",
                "It names the rollout that is called worst in 98% (97% to 99%) of its answers, and follows it no more "
                "than the others.",
            ],
        ),
        (
            [CALLED_WORST, WITH_BEST],
            [
                "Being called worst moves this critic: 80% (68% to 89%) of its revisions are as if the rollout that is "
                "called worst were shown alone.",
                "It names the rollout that is called best in 90% (88% to 92%) of its answers, and follows it no more "
                "than the others.",
            ],
        ),
        (
            [SHOWN_FIRST, WORST._replace(p_adjusted=0.01)],
            [
                "What this critic follows is not known: its edits depend on what the worst rollout shows; in how many "
                "cannot be told."
            ],
        ),
    ],
    ids=["follows", "little", "away", "names another", "a test rejects"],
)
def test_the_headline_is_what_moves_the_critic_by_how_much_and_which_way(
    shares: list[Share], expected: list[str]
) -> None:
    assert list(moving(analysis(*shares))) == expected
    assert headline(analysis(*shares)) == expected[0]


@pytest.mark.parametrize(
    ("shares", "words"),
    [
        ([SHOWN_FIRST], "Nothing that was asked moves this critic by as much as is of interest."),
        (
            [SHOWN_FIRST, WORST],
            "Nothing was found to move this critic; of 1 of 2 possible causes it cannot be told, of "
            "which worst content may be the largest, 20% (-10% to 50%).",
        ),
        ([WORST], "What moves this critic cannot be told."),
    ],
)
def test_that_nothing_moves_a_critic_and_that_it_is_not_known_are_two_sentences(
    shares: list[Share], words: str
) -> None:
    assert list(moving(analysis(*shares))) == [words]


def test_who_goes_by_all_rollouts_alike_is_not_said_to_be_moved_by_nothing() -> None:
    def first(low: float, *shares: Share, **asked: int) -> str:
        found = replace(analysis(Share("any rollout", 0.9, low, 1.1), SHOWN_FIRST, *shares), counts=asked)
        return next(iter(moving(found)))

    alike = "This critic goes by the rollouts that it is shown; what decides by which was not found"
    assert first(0.66, E0=9) == f"{alike}."
    assert first(0.66, WORST, E0=9).startswith(f"{alike}; of 1 of 2 possible causes it cannot be told, of which worst")
    assert first(0.1, E0=9).startswith("Nothing that was asked moves")
    # What revisions are without evidence is not known.
    assert first(0.66).startswith("Nothing that was asked moves")


def test_what_does_not_move_it_has_its_margin_and_what_is_open_its_calls() -> None:
    wording = Share("wording", 0.1, 0.0, 0.42, 0.5, 1.0, "cannot be told")
    not_asked = Share("best content", verdict="not asked")
    small, beside, opened, equivalent, relative, missing = verdict_lines(
        analysis(CALLED_WORST, WITH_BEST, SHOWN_FIRST, WORST, wording, not_asked)
    )
    assert beside == "goes with another of its kind, since those of a kind sum to zero: called best -40% (-50% to -30%)"
    assert small == (
        "does not move it (or by less than 15% of revisions; 25% for contents and printed returns): "
        "shown first (-9% to 11%)"
    )
    assert opened == ("cannot be told: worst content (-10% to 50%), about 9,000 calls would tell; wording (0% to 42%)")
    assert equivalent.startswith("wording, length and order of headings have no rollout to follow")
    assert relative == RELATIVE
    assert missing == "not asked: best content"
    assert len(list(verdict_lines(analysis(SHOWN_FIRST, WORST)))) == 3


def test_what_the_rest_follows_is_given_only_where_something_is_known_of_it() -> None:
    known = [Share("any rollout", 0.89, 0.66, 1.12), Share("no evidence", 0.07, -0.05, 0.2)]
    assert list(verdict_lines(analysis(*known))) == [
        "89% (66% to 100%) of revisions are made for a rollout, whichever it is, or for an average of all",
        "7% (-5% to 20%) of revisions are as they would be without evidence",
    ]
    unknown = [Share("any rollout", 11.4, -14.0, 37.0), Share("no evidence", -19.2, -68.0, 29.0)]
    assert list(verdict_lines(analysis(*unknown))) == [
        "how many revisions are made for a rollout, whichever it is, or for an average of all, cannot be told",
        "how many revisions are as they would be without evidence, cannot be told",
    ]


def test_no_end_of_an_interval_is_beyond_what_a_share_can_be() -> None:
    beyond = CALLED_WORST._replace(estimate=1.05, low=1.02, high=1.1)
    [first] = moving(analysis(beyond))
    assert "100% (100% to 100%) of its revisions" in first
    [line] = carried({"called worst": Carriers(runs=12, without_low=1.01, without_high=1.05)})
    assert "leaving out any one of 12 runs, it is 100% to 100%" in line
    row = {"outcome": "share", "name": "called worst", "estimate": 1.05, "low": 1.02, "high": None}
    assert _short(row) == {**row, "estimate": "1", "low": "1"}
    assert _short({**row, "name": "wording"})["estimate"] == "1.05"


def test_that_nothing_changes_is_said_where_it_is_much() -> None:
    found = analysis(WORST)
    unchanged = [replace(found, validity=replace(found.validity, unchanged=share)) for share in (0.05, 0.5)]
    assert [len(list(moving(each))) for each in unchanged] == [1, 2]
    assert list(moving(unchanged[1]))[1] == "It changes nothing in 50% of its answers."


def test_who_carries_it_is_in_words() -> None:
    carriers = {
        "called worst": Carriers(0.99, 0.9, 1.0, 0.4, 12, 0.78, 0.82, 0.00024),
        "called best": Carriers(0.2, 0.1, 0.3, 0.0001, 4, 0.1, 0.3),
        "shown first": Carriers(runs=12, without_low=-0.03, without_high=-0.03, one_run="c/pong/threetraj/3"),
    }
    assert list(carried(carriers)) == [
        "called worst: no sign that it holds for some prompts only: about 99% (90% to 100%) of those whose edits can "
        "be told apart carry it; leaving out any one of 12 runs, it is 78% to 82%; that runs agree by chance: "
        "p 0.00024",
        "called best: prompts differ: about 20% (10% to 30%) of those whose edits can be told apart carry it; leaving "
        "out any one of 4 runs, it is 10% to 30%; too few runs to say that it holds for others",
        "shown first: one run alone follows it, c/pong/threetraj/3; without that run it is -3%",
    ]
