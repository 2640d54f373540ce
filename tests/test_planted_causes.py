"""The benchmark of planted causes: critics follow what they are said to, as often, and rates are counted right."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from audit.interventions.arms import ARMS, ask
from audit.interventions.effects.shares import ceiling, unit_calls
from audit.interventions.experiment import Place
from audit.interventions.showing import Call
from audit.interventions.units import eligible
from audit.records.lines import open_records
from benchmarks.interventions.__main__ import _done, main
from benchmarks.interventions.asking import OUTSPOKEN, experiment
from benchmarks.interventions.cells import PRESET, Cell, cells
from benchmarks.interventions.critics import MOTIVES, Critic, followed
from benchmarks.interventions.laboratory import Laboratory
from benchmarks.interventions.measuring import estimates, measure
from benchmarks.interventions.pool import Pool, Size, make_pool
from benchmarks.interventions.report import Rate, findings, print_report, read_lines
from benchmarks.interventions.scores import CHARACTERS, DIMENSIONS, Scores
from collector.llm.simulated import get_personality
from collector.llm.simulated.model import read_request
from collector.llm.simulated.revising import revise_for

SIZES = {"cartpole": Size(3, 12), "inverteddoublependulum": Size(3, 12)}
ARMS_ASKED = PRESET.arms


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("planted")
    make_pool(folder, SIZES)
    return folder


@pytest.fixture(scope="module")
def laboratory(folder):
    return Laboratory(make_pool(folder))


def asked(critic, *, signal=400.0, arms=ARMS_ASKED, units=60, seed=1):
    scores = Scores(units, 6, signal, seed)
    return scores, experiment(scores, critic, scores.units, arms, np.random.default_rng(seed))


def made_for(scores, answer):
    """The content whose mean an edit is nearest to, None for that without evidence: means are far apart.

    That of the rollout that takes another's place is near the median's, and not shown here.
    """
    means = {content: mean for content, mean in scores._means[answer.unit].items() if content != "other"}
    return min(means, key=lambda content: np.linalg.norm(means[content] - answer.edit))


def close_to(share, hits, of):
    return abs(hits / of - share) < 4 * np.sqrt(max(share * (1 - share), 0.01) / of)


HOLDS = {
    "worst content": lambda answer, i: answer.shown[i].content == "worst",
    "median content": lambda answer, i: answer.shown[i].content == "median",
    "best content": lambda answer, i: answer.shown[i].content == "best",
    "called worst": lambda answer, i: answer.shown[i].label == "worst",
    "called median": lambda answer, i: answer.shown[i].label == "median",
    "called best": lambda answer, i: answer.shown[i].label == "best",
    "shown first": lambda answer, i: i == 0,
    "shown second": lambda answer, i: i == 1,
    "shown last": lambda answer, i: i == 2,
    "lowest printed return": lambda answer, i: answer.shown[i].number == "worst",
}


@pytest.mark.parametrize("motive", HOLDS)
@pytest.mark.parametrize("share", [0.3, 1.0])
def test_the_planted_share_is_counted_in_edits(motive, share):
    scores, data = asked(Critic(((motive, share),)), arms={"C": 12})
    answers = [answer for each in data.arm("C").values() for answer in each]
    if motive == "lowest printed return":
        hidden = [each for each in answers if each.shown[0].number is None]
        assert close_to(share, sum(made_for(scores, each) is None for each in hidden), len(hidden))
        assert 0.2 < len(hidden) / len(answers) < 0.3
        answers = [each for each in answers if each.shown[0].number is not None]
    holder = [next(i for i in range(3) if HOLDS[motive](each, i)) for each in answers]
    hits = sum(made_for(scores, each) == each.shown[place].content for each, place in zip(answers, holder, strict=True))
    assert close_to(share + (1 - share) / 3, hits, len(answers))


def test_references_are_edits_for_the_rollout_shown_or_for_none():
    scores, data = asked(Critic((("called worst", 0.6),), rest="no evidence"), units=12)
    for arm, content in {"S_w": "worst", "S_m": "median", "S_b": "best", "E0": None}.items():
        answers = [answer for each in data.arm(arm).values() for answer in each]
        assert {made_for(scores, each) for each in answers} == {content}
        named = sum(bool(each.named) for each in answers)
        assert close_to(OUTSPOKEN if content else 0.0, named, len(answers))


@pytest.mark.parametrize("signal", [0.25, 1.0])
def test_vectors_have_the_signal_to_noise_that_is_asked_for(signal):
    _, data = asked(Critic(), signal=signal, units=240, arms={"C": 1, "S_w": 12, "S_m": 12, "S_b": 12})
    assert ceiling(unit_calls(data)).signal == pytest.approx(signal, rel=0.1)


def test_what_is_followed_where_it_is_not_shown():
    rng = np.random.default_rng(0)
    returns = {"worst": 0.0, "other": 0.9, "median": 1.0, "best": 2.0}
    lettered = [Place(content, None, content) for content in ("best", "other", "median")]
    drawn = {motive: {followed(motive, lettered, returns, rng) for _ in range(60)} for motive in MOTIVES[:10]}
    assert drawn["called worst"] == drawn["worst content"] == {0, 1, 2}
    assert drawn["median content"] == {2}
    assert drawn["best content"] == {0}
    assert drawn["lowest printed return"] == {1}
    assert (drawn["shown first"], drawn["shown second"], drawn["shown last"]) == ({0}, {1}, {2})
    hidden = [Place(each.content, None, None) for each in lettered]
    assert followed("lowest printed return", hidden, returns, rng) is None
    assert followed("no evidence", lettered, returns, rng) is None
    assert followed("called best", [], returns, rng) is None
    assert followed("no evidence", lettered[:1], returns, rng) == 0


def test_the_truth_of_a_mixture():
    """By hand: a level loses half of what another has; hidden numbers leave nothing to go by in half of the calls."""
    label = Critic((("called worst", 0.3),)).truth(hides=True)
    assert [label[name] for name in ("called worst", "called median", "called best")] == [0.3, -0.15, -0.15]
    assert (label["any rollout"], label["no evidence"], label["shown first"]) == (1.0, 0.0, 0.0)
    number = Critic((("lowest printed return", 0.4), ("shown last", 0.2)), rest="no evidence").truth(hides=True)
    assert number["lowest printed return"] == 0.4
    assert number["shown first"] == -0.1
    assert number["any rollout"] == pytest.approx(0.2 + 0.4 / 2)
    assert number["no evidence"] == pytest.approx(0.4 + 0.2)


def test_who_carries_it_and_who_cannot_be_read():
    always = (("called worst", 1.0),)
    scores, data = asked(Critic(always, carried="a fifth of units"), arms={"C": 12})
    follows = [
        [HOLDS["called worst"](each, [p.content for p in each.shown].index(made_for(scores, each))) for each in answers]
        for _, answers in sorted(data.arm("C").items())
    ]
    assert [unit for unit, each in enumerate(follows) if all(each)] == list(range(0, 60, 5))
    _, data = asked(Critic(unreadable=("S_w", 0.5)), arms={"S_w": 20, "C": 4})
    unread = [not each.readable for answers in data.arm("S_w").values() for each in answers]
    assert close_to(0.5, sum(unread), len(unread))
    assert all(each.readable for answers in data.arm("C").values() for each in answers)
    assert {not each.edit.any() for answers in data.arm("S_w").values() for each in answers if not each.readable} == {
        True
    }


@pytest.mark.parametrize("motive", ["wording", "length", "order of headings"])
def test_what_is_no_rollout_moves_edits_whatever_is_shown(motive):
    _, data = asked(Critic(((motive, 1.0),)), arms={"C": 20}, units=60)
    level = {
        "wording": lambda each: each.frame,
        "length": lambda each: each.prompt_characters,
        "order of headings": lambda each: tuple(place.label for place in each.shown),
    }[motive]
    by_level = {}
    for answers in data.arm("C").values():
        for each in answers:
            by_level.setdefault(level(each), []).append(each)
    means = {key: np.mean([each.edit for each in own], axis=0) for key, own in by_level.items()}
    assert len(means) == {"wording": 6, "length": 4, "order of headings": 6}[motive]
    if motive == "length":
        far = means[CHARACTERS + 1000] / 2
        assert means[CHARACTERS - 500] == pytest.approx(-far, abs=0.5)
        assert means[CHARACTERS] == pytest.approx(np.zeros(DIMENSIONS), abs=0.3)
    for key, own in by_level.items():
        first = [each.edit for each in own if each.shown[0].content == "worst"]
        assert np.mean(first, axis=0) == pytest.approx(means[key], abs=1)


def line(headline, *movers, signal=0.25, **more):
    shares = [{"name": each, "verdict": "moves it"} for each in movers]
    return {"headline": headline, "shares": shares, "signal": signal, "carriers": {}, **more}


def test_rates_are_counted_as_the_requirements_have_them(tmp_path, capsys):
    first = Cell("planted", "simulated", Critic((("called worst", 0.3),)))
    length = Cell("no rollout", "simulated", Critic((("length", 1.0),)))
    some = Cell("carried", "simulated", Critic((("called worst", 1.0),), carried="one run"))
    covered = Cell("coverage", "0.25", Critic((("called worst", 0.3),)))
    lines = {
        str(first): [line("called worst", "called worst")] * 18 + [line(None), line("x", "x", "called worst")],
        str(length): [line("wording", "wording", "length"), line(None), line("shown first", "shown first")],
        str(some): [
            line("called worst", "called worst", carriers={"called worst": {"uneven": False, "one_run": run}})
            for run in ("a", "b", None)
        ],
        str(covered): [{"shares": [{"name": "called best", "low": low, "high": 0.0}]} for low in (-0.2, -0.1)],
    }
    by_name = {each.what: each for each in findings([first, length, some, covered], lines)}
    headline = by_name["called worst@0.3: headline"]
    assert (headline.rate, headline.is_met) == (Rate(18, 20), True)
    wrong = by_name["planted: anything else moves it (upper limit 21.6%)"]  # 1 - 0.05 = F(1; 20, 0.216)
    assert (wrong.rate, wrong.is_met) == (Rate(1, 20), False)
    other = next(each for what, each in by_name.items() if what.startswith("no rollout"))
    assert (other.rate, other.is_met) == (Rate(1, 3), False)
    assert by_name["called worst@1, in one run: stated"].rate == Rate(2, 3)
    assert by_name["called worst@1, in one run: moves it, without a remark"].rate == Rate(1, 3)
    coverage = by_name["coverage of called best"]
    assert (coverage.rate, coverage.is_met) == (Rate(1, 2), False)
    text = "".join(
        json.dumps({"cell": str(first), "set": n, **each}) + "\n" for n, each in enumerate(lines[str(first)])
    )
    (tmp_path / "results-1-1.jsonl").write_text(text)
    print_report(tmp_path, [first, length])
    out = capsys.readouterr().out
    assert "| called worst@0.3: headline | simulated | 18 of 20: 90.0% (69.9% to 97.2%) | at least 90% | met |" in out
    assert "| called worst@0.3: x | simulated | 1 |" in out


def test_cells_have_names_of_their_own_and_every_row_is_there():
    names = [str(cell) for cell in cells()]
    assert len(names) == len(set(names))
    planted = [cell for cell in cells() if cell.row == "planted" and cell.source == "simulated"]
    assert len(planted) == 24
    assert {cell.sets for cell in planted} == {40}
    assert sum(cell.sets for cell in cells() if cell.row == "coverage" and cell.source == "0.25") >= 500


def test_a_share_is_found_and_estimated():
    _, data = asked(Critic((("called worst", 0.6),)), signal=1.0)
    result = measure(data, permutations=299, seed=1)
    assert result["headline"] == "called worst"
    share = next(each for each in result["shares"] if each["name"] == "called worst")
    assert share["low"] < 0.6 < share["high"]
    assert share["verdict"] == "moves it"
    alone = next(each for each in estimates(data)["shares"] if each["name"] == "called worst")
    assert {key: alone[key] for key in ("estimate", "low", "high")} == {
        key: share[key] for key in ("estimate", "low", "high")
    }


@pytest.mark.slow
def test_the_simulated_critic_reads_every_arm_as_it_is_shown(folder, laboratory):
    """Among them fresh evidence, which the pool does without."""
    with open_records([folder / "runs"]) as records:
        needs = frozenset({"record", "rollouts", "policy"})
        units = eligible(records, records.runs, spliced=False, needs=needs, further=True, draws=1).units
    assert units.keys() == laboratory.pool.units.keys()
    rng = np.random.default_rng(1)
    for _, evidence in list(units.values())[::9]:
        for arm in ARMS:
            made = ask(arm, evidence, rng)
            read = read_request(made.prompt)
            assert [(r.label, r.index, r.value) for r in read.rollouts] == [
                (s.block.label or s.block.name.replace("Rollout", "rollout"), s.block.rollout, s.block.value)
                for s in made.shown
            ], arm
            assert [r.length for r in read.rollouts] == [s.block.steps for s in made.shown]


@pytest.mark.slow
def test_the_laboratory_edits_as_the_simulated_critic_does_from_the_whole_prompt(laboratory):
    """Prompts are not written out for each call: their length, and revisions for each rollout, are the same."""
    temper = get_personality("uniform")
    compared = 0
    for unit, evidence in list(laboratory.pool.units.values())[::7]:
        for arm in (*ARMS_ASKED, "N0", "N0h", "P1", "P5", "XL", "XP"):
            for seed in range(3):
                made = ask(arm, evidence, np.random.default_rng(seed))
                shown = ARMS[arm].shows(Call(evidence, np.random.default_rng(seed), 0))
                assert shown == list(made.shown)
                assert laboratory.characters(unit, made.frame or arm, shown) == len(made.prompt), arm
                request = read_request(made.prompt)
                for each, anchor in [*zip(shown, request.rollouts, strict=True), (None, None)]:
                    edit = laboratory.for_rollout(unit, each, np.random.default_rng(seed))
                    again = revise_for(request, anchor, temper, np.random.default_rng(seed)).params
                    expected = np.subtract(again, unit.params) / laboratory.read(unit).space.step_size
                    assert np.isnan(edit).all() or edit == pytest.approx(expected), arm
                    compared += 1
    assert compared > 500


@pytest.mark.slow
def test_units_are_of_as_many_runs_as_asked_and_draws_repeat(laboratory):
    pool: Pool = laboratory.pool
    assert len({unit.cluster for unit in pool.draw(12, 2, 4)}) == 2
    assert {unit.env for unit in pool.draw(12, 2, 4)} == set(SIZES)
    assert pool.draw(12, 4, 4) == pool.draw(12, 4, 4)


@pytest.mark.slow
def test_it_goes_on_where_it_was_stopped_and_reports(folder, monkeypatch, capsys):
    monkeypatch.setattr("benchmarks.interventions.__main__.PRESET", replace(PRESET, units=12))
    name = "planted/simulated/called worst@1"
    monkeypatch.setattr(
        "sys.argv", ["prog", "--out", str(folder), "--cells", name, "--sets", "2", "--permutations", "299"]
    )
    main()
    path = folder / "results-1-1.jsonl"
    whole = [{k: v for k, v in line.items() if k != "seconds"} for line in read_lines(folder)[name]]
    first = path.read_bytes().splitlines(keepends=True)[0]
    path.write_bytes(first + b'{"cell": "planted/sim')
    assert _done(path) == {(name, 0)}
    main()
    again = [{k: v for k, v in line.items() if k != "seconds"} for line in read_lines(folder)[name]]
    assert again == whole
    print_report(folder, list(cells()))
    out = capsys.readouterr().out
    assert "| simulated, all prompts of cartpole |" in out
    assert "| called worst@1: headline | simulated |" in out
