"""Shares and verdicts on critics whose motives are known: edits about means of each rollout, with noise."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import islice, permutations
from types import SimpleNamespace

import msgspec
import numpy as np
import pytest

from audit.interventions.effects.analysis import analyse
from audit.interventions.effects.named_shares import CONTENTS, LABELS, NUMBERS, PLACES, SHARES, STIMULI
from audit.interventions.effects.results import AWAY, CANNOT_TELL, DOES_NOT, GOES_WITH, MOVES, opposed
from audit.interventions.effects.shares import UnitCalls, ceiling
from audit.interventions.effects.verdicts import Bounds, _unmoved
from audit.interventions.experiment import Answered, Experiment, Place
from audit.interventions.sentences import carried, cell, headline, moving
from audit.interventions.showing import NEUTRAL_FRAMES, ROLES
from audit.interventions.units import Unit

ASKED = {"C": 12, "S_w": 8, "S_m": 8, "S_b": 8, "E0": 8, "R0": 4, "RW": 4, "RM": 4, "RB": 4}
ORDERS = list(permutations(ROLES))
CHARACTERS = dict(zip(NEUTRAL_FRAMES, (4000, 4000, 4000, 4010, 5000, 3500), strict=True))
TESTED = (*CONTENTS, *LABELS, *PLACES, *NUMBERS, *STIMULI)


def shown_in(arm, rng, *, readable):
    if arm == "E0":
        return []
    if arm.startswith("S_"):
        role = ROLES["wmb".index(arm[-1])]
        return [Place(role, None, role)]
    if arm.startswith("R"):
        contents = [role if arm[1] != role[0].upper() else "other" for role in ROLES]
        return [Place(contents[i], None, contents[i]) for i in rng.permutation(3)]
    order, labels, numbers = (rng.permutation(3) for _ in range(3))
    hides = rng.random() < 0.5
    number = lambda i: (None if hides else ROLES[i]) if readable else ROLES[numbers[i]]  # noqa: E731
    return [Place(ROLES[i], ROLES[labels[i]], number(i)) for i in order]


def followed_place(share, shown):
    """The place of the rollout that a share is about."""
    kind, _, what = share.partition(" ")
    if kind == "shown":
        return {"first": 0, "second": 1, "last": len(shown) - 1}[what]
    if kind == "called":
        found = [i for i, place in enumerate(shown) if place.label == what]
    elif share == NUMBERS[0]:
        known = [place.number for place in shown]
        ranked = [number for number in (*ROLES[:1], "other", *ROLES[1:]) if number in known]
        found = [known.index(ranked[0])] if ranked else []
    else:
        found = [i for i, place in enumerate(shown) if place.content == kind]
    return found[0] if found else None


def planted(share=None, p=0.0, *, arms=ASKED, units=120, runs=12, signal=0.25, of=None, rest="any", unreadable=0.0,
            names=None, seed=0):  # fmt: skip
    """An experiment.

    Args:
        share: what is followed.
        p: how often.
        arms: answers of each unit by arm.
        units: how many, of `runs` runs.
        signal: signal to noise.
        of: which units follow; all without.
        rest: what others follow: any rollout, or none.
        unreadable: share of answers in `C` that cannot be read.
        names: the share whose rollout the answers name; none without.
        seed: of everything.
    """
    rng = np.random.default_rng(seed)
    made, answers = [], []
    by_frame = {frame: rng.normal(size=6) for frame in NEUTRAL_FRAMES}
    by_order = {order: rng.normal(size=6) for order in ORDERS}
    for unit in range(units):
        readable = unit % 2 == 0
        made.append(
            Unit(condition="c", env="pong", variant="r2po", run=unit % runs, iteration=unit, prompt_sha256=str(unit),
                 params=[0.0] * 6, rollouts=[1, 2, 3], returns=[0.0, 1.0, 2.0], number_readable=readable)
        )  # fmt: skip
        means = rng.normal(size=(4, 6))
        centred = means[:3] - means[:3].mean(axis=0)
        means *= math.sqrt(signal / ((centred**2).sum() / 2))
        mean_of = {**dict(zip(ROLES, means, strict=False)), "other": means[1], None: means[3]}
        follows = of is None or of(unit, rng)
        for arm, number in arms.items():
            for replicate in range(number):
                shown = shown_in(arm, rng, readable=readable)
                frame = str(rng.choice(NEUTRAL_FRAMES)) if arm == "C" else "N0"
                place = int(rng.integers(len(shown))) if shown and (rest == "any" or len(shown) == 1) else None
                if follows and shown and rng.random() < p and share not in STIMULI:
                    place = 0 if len(shown) == 1 else followed_place(share, shown)
                    if place is None and share != NUMBERS[0]:
                        place = int(rng.integers(len(shown)))
                edit = mean_of[None if place is None else shown[place].content]
                if share == "wording":
                    edit = by_frame[frame]
                elif share == "length":
                    edit = by_frame["N0"] * (CHARACTERS[frame] - 4000) / 500
                elif share == "order of headings":
                    edit = by_order[tuple(str(each.label) for each in shown)] if arm == "C" else by_order[ROLES]
                is_read = not (arm == "C" and rng.random() < unreadable)
                edit = (edit + rng.normal(size=6) / math.sqrt(6)) * is_read
                named = None if names is None or arm != "C" else followed_place(names, shown)
                answers.append(
                    Answered(
                        unit=unit, arm=arm, replicate=replicate, order=int(rng.integers(10**9)), shown=tuple(shown),
                        readable=is_read, driver=None, says_worst=False, edit=edit, changed=6 * is_read, gain=math.nan,
                        mentioned=frozenset() if named is None else frozenset({shown[named].content}),
                        harmful=False, completion=str(len(answers)), words=9, prompt_tokens=None,
                        prompt_characters=CHARACTERS[frame], frame=frame,
                    )
                )  # fmt: skip
    return Experiment(made, answers)


def found(*given, permutations=999, **more):
    analysis = analyse(planted(*given, **more), [], permutations=permutations)
    return analysis, {share.name: share for share in analysis.shares}


@pytest.mark.parametrize(
    "share", ["called worst", "called best", "shown first", "shown last", NUMBERS[0], "worst content"]
)
def test_what_is_followed_moves_the_critic_and_nothing_else_does(share):
    analysis, shares = found(share, 0.6, names=share)
    assert [each.name for each in analysis.movers] == [share]
    error = (shares[share].high - shares[share].low) / 4.4
    assert shares[share].estimate == pytest.approx(0.6, abs=3.5 * error)
    assert error < 0.08
    assert shares[share].named == pytest.approx(1)


@pytest.mark.parametrize("rest", ["any", "none"])
def test_where_nothing_is_planted_labels_and_places_do_not_move_it(rest):
    analysis, shares = found(rest=rest, seed=3)
    assert not analysis.movers
    verdicts = [shares[name].verdict for name in (*LABELS, *PLACES)]
    assert verdicts.count(DOES_NOT) >= 5
    described = {"any": shares["any rollout"], "none": shares["no evidence"]}[rest]
    assert described.estimate == pytest.approx(1, abs=0.25)


def test_who_follows_the_best_does_not_avoid_the_worst():
    """Following one label takes as much from both others: they are compared with each other."""
    _, shares = found("called best", 1.0, seed=1)
    assert shares["called worst"].estimate == pytest.approx(-0.5, abs=0.15)
    assert [shares[name].verdict for name in LABELS] == [GOES_WITH, GOES_WITH, MOVES]


def opposite(share, **more):
    """A critic that does the opposite of what it does for a rollout alone."""
    made = planted(share, 1.0, signal=1.0, **more)
    turned = [replace(each, edit=-each.edit) if each.arm == "C" else each for each in made.answers]
    return Experiment(made.units, turned)


@pytest.mark.parametrize(
    ("share", "kind"), [("called best", "what rollouts are called"), ("shown first", "where rollouts are shown")]
)
def test_who_does_the_opposite_for_one_rollout_does_not_follow_the_others(share, kind):
    analysis = analyse(opposite(share, units=48), [], permutations=499)
    shares = {each.name: each for each in analysis.shares}
    factor = LABELS if share in LABELS else PLACES
    assert shares[share].high < -0.65
    assert {shares[name].verdict for name in factor} == {CANNOT_TELL}
    assert {shares[name].calls for name in factor} == {None}
    assert not analysis.movers
    first, *_ = moving(analysis)
    assert first.startswith("Its edits go against those for the rollout that is ")
    assert f"it goes by {kind}" in first
    assert cell(analysis, shares[share]) == CANNOT_TELL


def test_the_one_that_is_followed_least_is_not_gone_against():
    """Whoever follows one rollout always has one half less than nothing for both others."""
    for seed in range(3):
        analysis = analyse(planted("called best", 1.0, units=24, seed=seed), [], permutations=99)
        assert not opposed(analysis.shares)


@pytest.mark.parametrize("share", STIMULI)
def test_what_is_no_rollout_is_named_and_no_rollout_is(share):
    analysis, shares = found(share, 1.0, signal=0.0, units=60)
    assert analysis.ceiling.signal < 0.1
    moving = {each.name for each in analysis.movers}
    assert share in moving <= ({"wording", "length"} if share in {"wording", "length"} else {share})
    assert {shares[name].verdict for name in (*CONTENTS, *LABELS, *PLACES, *NUMBERS)} == {CANNOT_TELL}


@pytest.mark.parametrize(("moved", "signal"), [(False, 0), (True, 4000 / 3)])
def test_edits_that_are_all_the_same_have_no_signal_and_those_without_noise_a_finite_one(moved, signal):
    rng = np.random.default_rng(1)
    same = rng.normal(size=6)
    same /= np.linalg.norm(same)
    alone = [np.tile(same * (-1 if moved and role == 1 else 1), (8, 1)) for role in range(3)]
    found = ceiling([UnitCalls(0, [], np.zeros((0, 6)), alone)] * 3)
    assert found.signal == pytest.approx(signal)


def test_a_critic_that_changes_nothing_is_no_cache_and_was_asked():
    made = planted(units=12)
    kept = [replace(each, edit=np.zeros(6), changed=0, completion="I keep it.") for each in made.answers]
    analysis = analyse(Experiment(made.units, kept), [], permutations=99)
    assert not analysis.validity.problems
    assert "It changes nothing in 100% of its answers." in list(moving(analysis))
    assert {share.verdict for share in analysis.shares if share.name in CONTENTS} == {CANNOT_TELL}


def test_below_a_signal_of_a_tenth_nothing_is_said_of_rollouts():
    analysis, shares = found("called worst", 1.0, signal=0.02)
    assert analysis.ceiling.signal < 0.1
    assert {shares[name].verdict for name in LABELS} == {CANNOT_TELL}


def test_what_was_not_asked_is_not_guessed():
    without = {arm: number for arm, number in ASKED.items() if arm[0] != "R"}
    _, shares = found("worst content", 0.6, arms=without, units=60)
    assert shares["worst content"].verdict == MOVES
    assert math.isnan(shares["worst content"].replaced_p)
    no_references = {"C": 12, "E0": 8}
    assert analyse(planted(arms=no_references, units=12), [], permutations=99).shares == []
    replaced = {arm: 8 for arm in ASKED if arm[0] == "R"}
    analysis, shares = found("worst content", 1.0, arms=replaced, units=60, signal=1.0)
    assert [each.name for each in analysis.movers] == ["worst content"]
    assert shares.keys() == set(CONTENTS)
    assert not found(arms=replaced, units=60, signal=1.0)[0].movers


@pytest.mark.parametrize(
    ("of", "is_uneven", "run"),
    [
        (lambda unit, _: unit % 5 == 0, True, None),
        (lambda unit, _: unit % 12 == 7, True, "c/pong/r2po/7"),
        (None, False, None),
    ],
    ids=["a fifth of prompts", "one run", "all"],
)
def test_who_carries_it_is_stated(of, is_uneven, run):
    analysis, _ = found("called worst", 1.0 if of else 0.25, of=of, signal=1.0, seed=2)
    carried = analysis.carriers.get("called worst")
    if run is None:
        assert carried.is_uneven == is_uneven
        assert carried.units == pytest.approx(0.2 if is_uneven else 1.0, abs=0.1)
    assert carried.one_run == run


def of_two_tasks(experiment, change=lambda answer: answer):
    """The same, with every second prompt of another task, whose answers may be changed."""
    units = [msgspec.structs.replace(unit, env=("pong", "swimmer")[unit.iteration % 2]) for unit in experiment.units]
    return Experiment(units, [change(each) if each.unit % 2 else each for each in experiment.answers])


def test_of_a_task_whose_edits_ignore_all_evidence_shares_say_nothing():
    rng = np.random.default_rng(1)
    made = planted("called worst", 1.0, units=48, signal=1.0)
    analysis = analyse(of_two_tasks(made, lambda each: replace(each, edit=rng.normal(size=6))), [], permutations=499)
    assert list(analysis.ceiling.blind) == ["swimmer"]
    *_, limits = islice(moving(analysis), 3)
    assert limits.startswith("Shares speak of pong only: edits for different rollouts hardly differ in swimmer (")
    assert headline(analysis).endswith(limits)
    assert "of those whose edits can be told apart carry it" in next(carried(analysis.carriers))
    whole = analyse(of_two_tasks(made), [], permutations=99)
    assert not whole.ceiling.blind
    assert not any(each.startswith("Shares speak") for each in moving(whole))


def test_where_prompts_differ_the_share_is_given_by_task():
    made = planted("called worst", 1.0, units=48, signal=1.0, of=lambda unit, _: unit % 2 == 0)
    analysis = analyse(of_two_tasks(made), [], permutations=499)
    found = analysis.carriers["called worst"].by_task
    assert found == {"pong": pytest.approx(1, abs=0.1), "swimmer": pytest.approx(0, abs=0.1)}
    assert "by task: pong " in next(carried(analysis.carriers))


def test_unreadable_answers_leave_open_what_they_may_have_followed():
    analysis, shares = found(unreadable=0.1, units=60)
    assert not analysis.movers
    assert any("unreadable" in each for each in analysis.validity.problems) or all(
        shares[name].verdict == CANNOT_TELL for name in LABELS
    )
    whole = found(units=60)[1]
    assert all(shares[name].high - whole[name].high > 0.03 for name in LABELS)


def test_every_share_has_its_row_first_in_the_table():
    analysis, _ = found(units=12, permutations=99)
    assert [effect.name for effect in analysis.effects[: len(SHARES) + 3]] == [*SHARES, *STIMULI]
    assert {effect.outcome for effect in analysis.effects[: len(SHARES) + 3]} == {"share"}
    assert set(TESTED) == {effect.name for effect in analysis.effects if effect.primary}


def test_who_carries_it_is_known_where_some_references_have_three_answers():
    experiment = planted(
        "called worst", 1.0, arms={"C": 8, "S_w": 4, "S_m": 4, "S_b": 4, "E0": 2}, units=48, signal=1.0
    )
    kept = [each for each in experiment.answers if (each.arm, each.replicate, each.unit % 2) != ("S_m", 3, 0)]
    found = analyse(Experiment(experiment.units, kept), (), permutations=499)
    assert found.carriers["called worst"].units > 0.8
    few = [each for each in experiment.answers if each.arm[0] != "S" or each.replicate < 3]
    found = analyse(Experiment(experiment.units, few), (), permutations=499)
    assert [share.name for share in found.movers] == ["called worst"]
    assert math.isnan(found.carriers["called worst"].units)


def bounds_of(first, second):
    """Estimates in which two labels are followed, and the third is so far above each of them, with a given error."""
    values, runs = np.zeros(len(SHARES) + 3 * 4), 12
    rows = {
        "called worst": 0.3, "called best": 0.3,
        **{len(SHARES) + 3 + pair: sign * gap for pair, sign, gap in ((0, -1, first), (2, 1, second))},
    }  # fmt: skip
    for row, value in rows.items():
        values[SHARES.index(row) if isinstance(row, str) else row] = value
    return values, runs


@pytest.mark.parametrize(
    ("above", "error", "expected"),
    [(-0.4, 0.05, DOES_NOT), (-0.4, 0.35, CANNOT_TELL), (0.1, 0.1, CANNOT_TELL), (0.0, 0.02, DOES_NOT)],
)
def test_the_third_level_has_bounds_where_two_are_followed(above, error, expected):
    """By hand: at t(11) = 1.796 the upper end is above + 1.796 errors, and the margin 0.15."""
    values, runs = bounds_of(above, above)
    estimates = SimpleNamespace(
        interval=lambda level: (values - 1.796 * error, values + 1.796 * error), without=np.zeros((runs, len(values)))
    )
    assert (above + 1.796 * error < 0.15) == (expected == DOES_NOT)
    judged = {"called worst": MOVES, "called median": CANNOT_TELL, "called best": MOVES}
    followed = SimpleNamespace(estimates=estimates)
    assert _unmoved("called median", judged, followed, Bounds(0.0), 0.05, 0.15) == expected
    # All answers that could not be read may have followed it.
    assert _unmoved("called median", judged, followed, Bounds(0.6), 0.05, 0.15) == CANNOT_TELL


def test_who_follows_two_labels_alike_is_moved_away_from_the_third():
    """It is the critic that never follows the third: neither of the two is a cause by itself."""
    rng = np.random.default_rng(3)
    halves = [planted(share, 1.0, signal=1.0, seed=5) for share in ("called worst", "called best")]
    answers = [one if rng.random() < 0.5 else other for one, other in zip(*(e.answers for e in halves), strict=True)]
    found = {each.name: each for each in analyse(Experiment(halves[0].units, answers), (), permutations=499).shares}
    assert [found[name].verdict for name in LABELS] == [GOES_WITH, AWAY, GOES_WITH]
    away = found["called median"]
    assert -0.6 < away.low < away.estimate < away.high < -0.4
    assert away.p_adjusted <= 0.05


def test_of_two_that_are_followed_the_one_that_is_followed_more_is_a_cause():
    rng = np.random.default_rng(4)
    halves = [planted(share, 1.0, signal=1.0, seed=7) for share in ("called worst", "called best")]
    pairs = zip(*(each.answers for each in halves), strict=True)
    answers = [one if rng.random() < 0.6 else other for one, other in pairs]
    found = {each.name: each for each in analyse(Experiment(halves[0].units, answers), (), permutations=499).shares}
    assert [found[name].verdict for name in LABELS[:2]] == [MOVES, AWAY]
    assert not any(each.verdict == DOES_NOT and each.high < 0 for each in found.values())
