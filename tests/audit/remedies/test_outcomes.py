"""What remedies keep, by hand: acceptance, the medoid, the best of three, and losses and benefits."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from audit.interventions.experiment import Experiment
from audit.interventions.outcomes import Gain
from audit.interventions.plan import Call
from audit.remedies import outcomes as rooms
from audit.remedies.outcomes import GREEDY, RECORDED, Kept, Outcomes, by_unit, outcomes
from audit.remedies.report import ADDS_NOTHING, AVOIDS, CANNOT_TELL, DOES_NOT, HARMS, _findings, judged
from audit.remedies.trials import Trial
from collector.tasks import get_task

TASK = get_task("cartpole")
BEFORE = [0.0] * 10


def kept(unit, gain, **more):
    usual = {"worse": gain < 0, "accepted": True, "false": gain < 0, "calls": 1, "tokens": None, "rollouts": 0}
    return Kept(unit=unit, gain=gain, **{**usual, **more})


def policy(value):
    return [value, *BEFORE[1:]]


@pytest.fixture
def found(monkeypatch):
    """Six answers: the first parameter changed by 1, 2 and 9, twice nothing changed, and one that cannot be read."""
    unit = SimpleNamespace(params=BEFORE, cluster="run", env="cartpole", key=("a",))
    plan = SimpleNamespace(units=[unit])
    params = [policy(1.0), policy(2.0), policy(9.0), BEFORE, BEFORE, None]
    answers = {
        Call(0, RECORDED, place): SimpleNamespace(params=each, prompt_tokens=10, completion_tokens=5)
        for place, each in enumerate(params)
    }
    answers |= {Call(0, "letters", 0): SimpleNamespace(params=policy(2.0), prompt_tokens=20, completion_tokens=5)}
    gains = {1.0: Gain(-90.0, 1.0), 2.0: Gain(45.0, 1.0), 9.0: Gain(-450.0, 1.0)}
    selection = {1.0: Gain(5.0, 1.0), 2.0: Gain(1.0, 1.0), 9.0: Gain(-9.0, 1.0)}

    def gains_of(_, policies, __, *, purpose="returns", **___):
        table = gains if purpose == "returns" else selection
        return {(place, each): table[each[0]] for place, each in policies}

    def trials_of(_, revisions, __, **___):
        pairs = {1.0: [-1.0, -2.0] * 20, 2.0: [1.0, 2.0] * 20, 9.0: [0.5, -0.5] * 20}
        return {call: Trial(1.0, -1.0, pairs[each[0]]) for call, each in revisions.items()}

    monkeypatch.setattr(rooms, "gains_of", gains_of)
    monkeypatch.setattr(rooms, "trials_of", trials_of)
    return outcomes(plan, answers, {"run": TASK}, {"cartpole": 450.0}, cache=False).kept


def test_answers_as_they_are(found):
    assert [each.gain for each in found[RECORDED]] == pytest.approx([-0.2, 0.1, -1.0, 0, 0, 0])
    assert [each.accepted for each in found[RECORDED]] == [True, True, True, False, False, False]
    assert [each.tokens for each in found["letters"]] == [25]


def test_acceptance(found):
    assert [each.accepted for each in found[GREEDY]] == [True, True, True, False, False, False]
    assert [each.gain for each in found["gate"]] == pytest.approx([0, 0.1, 0, 0, 0, 0])
    assert [each.rollouts for each in found["gate"]] == [80, 80, 80, 0, 0, 0]
    assert [each.accepted for each in found["recheck"]] == [False] * 6
    assert [each.gain for each in found["gate-sequential"]] == pytest.approx([0, 0.1, 0, 0, 0, 0])


def test_of_three_answers(found):
    """Of 1, 2, 9 the medoid is 2 (1 + 7 < 1 + 8 < 7 + 8); by the seeds of selection 1 is best, which loses in truth."""
    assert [each.gain for each in found["medoid"]] == pytest.approx([0.1, 0])
    assert [each.gain for each in found["best-of-three"]] == pytest.approx([-0.2, 0])
    assert {each.calls for each in found["medoid"]} == {3}
    assert [each.tokens for each in found["medoid"]] == [45, 45]
    assert {each.rollouts for each in found["best-of-three"]} == {40}


def test_losses_and_benefits_are_the_parts_of_gains_below_and_above_nothing():
    rows = [kept(0, -0.4), kept(0, 0.2), kept(1, 0.1)]
    assert by_unit(rows, "loss") == pytest.approx({0: 0.2, 1: 0.0})
    assert by_unit(rows, "benefit") == pytest.approx({0: 0.1, 1: 0.1})


def experiment(units):
    return Experiment([SimpleNamespace(cluster=f"run {number}") for number in range(units)], [])


def outcomes_of(**by_remedy):
    return Outcomes({RECORDED: by_remedy["base"], GREEDY: by_remedy["base"], **by_remedy})


HARM = [-0.3 + 0.01 * number for number in range(20)]
HALF = [each / 2 for each in HARM]
NO_HARM = [0.0] * 20
NOT_FOUND = "was not found to take away harm (0% (0% to 0%) of the way)"


@pytest.mark.parametrize(
    ("unseen", "greedy", "gate", "verdict", "said"),
    [
        (HARM, NO_HARM, NO_HARM, ADDS_NOTHING, "by the mean takes away all the harm; beyond that, gate adds nothing"),
        (
            HARM,
            HALF,
            NO_HARM,
            AVOIDS,
            "takes away harm of 10% (8.9% to 12%) of the way; beyond that, gate takes away",
        ),
        (HARM, HARM, NO_HARM, AVOIDS, f"{NOT_FOUND}; beyond that, gate takes away more, 20% (18% to 23%)"),
        (HARM, HARM, HARM, DOES_NOT, f"{NOT_FOUND}; beyond that, gate adds nothing"),
        (NO_HARM, NO_HARM, NO_HARM, ADDS_NOTHING, f"{NOT_FOUND}; beyond that, gate adds nothing"),
    ],
    ids=["the mean", "both", "gate", "neither", "no harm"],
)
def test_what_does_the_work_is_said_of_acceptance(unseen, greedy, gate, verdict, said):
    """Mean losses by hand: 0.205 unseen, of which half is 0.1025."""
    by_rule = {RECORDED: unseen, GREEDY: greedy, "gate": gate}
    found = {rule: [kept(place, each) for place, each in enumerate(gains)] for rule, gains in by_rule.items()}
    rows = judged(experiment(20), Outcomes(found), ["gate"])
    assert rows[-1].verdict == verdict
    assert rows[-1].unseen == pytest.approx(np.mean(gate) - np.mean(unseen))
    report = SimpleNamespace(analysis=SimpleNamespace(validity=SimpleNamespace(problems=[], remarks=[])))
    assert any(said in line for line in _findings(report, rows))


def test_a_remedy_is_judged_by_a_paired_t_interval_over_runs_and_holm():
    rng = np.random.default_rng(0)
    base = [-0.3 + 0.1 * rng.normal() for _ in range(20)]
    better = [each + 0.2 + 0.02 * rng.normal() for each in base]
    worse = [each - 0.2 + 0.02 * rng.normal() for each in base]
    rows = judged(
        experiment(20),
        outcomes_of(
            base=[kept(place, each) for place, each in enumerate(base)],
            letters=[kept(place, each) for place, each in enumerate(better)],
            hidden=[kept(place, each) for place, each in enumerate(worse)],
            shuffled=[kept(place, each) for place, each in enumerate(base)],
        ),
        ["letters", "hidden", "shuffled"],
    )
    by_name = {each.remedy: each for each in rows}
    loss = np.maximum(0, -np.array(base)) - np.maximum(0, -np.array(better))
    expected = stats.ttest_1samp(loss, 0)
    letters = by_name["letters"]
    assert letters.harm_avoided == pytest.approx(loss.mean())
    assert (letters.low, letters.high) == pytest.approx(tuple(expected.confidence_interval()))
    assert letters.p == pytest.approx(expected.pvalue)
    assert letters.p_adjusted >= letters.p
    assert (letters.verdict, by_name["hidden"].verdict, by_name["shuffled"].verdict) == (AVOIDS, HARMS, DOES_NOT)
    assert by_name[RECORDED].verdict == "base"
    assert letters.best
    assert not by_name["hidden"].best


def test_few_units_leave_a_large_effect_open():
    base = [kept(place, -0.5 if place else 0.0) for place in range(3)]
    rows = judged(experiment(3), outcomes_of(base=base, letters=[kept(place, 0.0) for place in range(3)]), ["letters"])
    assert {each.verdict for each in rows if each.remedy == "letters"} == {CANNOT_TELL}


def test_cost_is_what_is_beyond_a_search_without_remedy():
    base = [kept(place, -0.2, tokens=1000) for place in range(8)]
    dear = [kept(place, -0.1 - 0.01 * place, tokens=3000, rollouts=40, calls=3) for place in range(8)]
    rows = judged(experiment(8), outcomes_of(base=base, medoid=dear), ["medoid"])
    [row] = [each for each in rows if each.remedy == "medoid"]
    assert row.harm_avoided == pytest.approx(0.2 - (0.1 + 0.035))
    assert row.per_1000_tokens == pytest.approx(row.harm_avoided / 2)
    assert row.per_1000_rollouts == pytest.approx(row.harm_avoided * 25)
    assert (row.calls, row.tokens, row.rollouts) == (3, 3000, 40)
