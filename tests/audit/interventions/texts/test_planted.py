"""Reports on reflectors behind a server: the planted cause, and no other."""

from __future__ import annotations

import random
import re
from types import SimpleNamespace

import pytest

import audit
from audit.interventions.texts.effects import Followed, Share
from audit.interventions.texts.sentences import following
from benchmarks import reflectors
from tests.audit.interventions.planned import audit as command
from tests.audit.interventions.planned import last_line
from tests.audit.interventions.texts.reflectors import Reflector, record

FOUND = {
    "first": "shown first",
    "last": "shown last",
    "lowest": "lowest printed score",
    "longest": "longest feedback",
}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return record(tmp_path_factory.mktemp("texts") / "printed")


@pytest.fixture(scope="module")
def unprinted(tmp_path_factory):
    return record(tmp_path_factory.mktemp("texts") / "unprinted", prints_scores=False)


@pytest.fixture
def asked(tmp_path, monkeypatch):
    """Asks a reflector all calls of a plan; gives the plan's path."""
    monkeypatch.setenv("OPENAI_API_KEY", "none")

    def ask(data, reflector, *options):
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.json"
        try:
            made = command(
                "intervene", "plan", data, "--out", path, "--permutations", 999, *options, *reflector.options()
            )
            assert made.exit_code == 0, made.stderr
            result = command("intervene", "run", path, "--concurrency", 8)
            assert result.exit_code == 0, result.stderr
        finally:
            reflector.close()
        return path

    return ask


def moving(path):
    return {row["name"] for row in audit.intervene_report(path) if row["verdict"] == "moves it"}


def test_small_plan_finds_what_a_reflector_follows(asked, data):
    path = asked(data, Reflector("lowest", 0.6), "--units", 12)
    report = audit.intervene_report(path)
    assert moving(path) == {"lowest printed score"}
    share = next(row for row in report if row["name"] == "lowest printed score")
    assert share["low"] < 0.6 < share["high"]
    shown = command("intervene", "show", path, 1)
    assert shown.exit_code == 0
    assert "as Example 1" in shown.stdout


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.3, 0.6, 1.0])
@pytest.mark.parametrize("rule", FOUND)
def test_planted_causes_are_found_and_no_others(rule, share, asked, data):
    assert moving(asked(data, Reflector(rule, share))) == {FOUND[rule]}


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["any", "alphabet", "nothing"])
def test_no_cause_is_found_where_none_was_drawn(rule, asked, data):
    path = asked(data, Reflector(rule))
    assert not moving(path) & {*FOUND.values()}


@pytest.mark.slow
def test_a_reflector_that_follows_nothing_is_said_to(asked, data):
    text = str(audit.intervene_report(asked(data, Reflector("nothing"))))
    assert "It follows none of the examples" in text or "Cannot be told" in text


@pytest.mark.slow
def test_what_is_worst_without_a_printed_score_is_a_description(asked, unprinted):
    path = asked(unprinted, Reflector("poorest", 0.8))
    assert moving(path) == {"lowest score"}
    assert "That score was not drawn" in str(audit.intervene_report(path))


@pytest.mark.slow
def test_replacing_the_lowest_is_missed_by_who_follows_it(asked, unprinted):
    path = asked(unprinted, Reflector("poorest"), "--preset", "presence")
    assert "presence of the lowest score" in moving(path)
    assert not moving(asked(unprinted, Reflector("any"), "--preset", "presence"))


@pytest.mark.slow
def test_contrasts_count_above_placebos(asked, data):
    arms = [each for arm in ("N", "L", "F", *(f"P{k}" for k in range(1, 7))) for each in ("--arm", f"{arm}=4")]
    path = asked(data, Reflector("lowest"), "--arm", "A0=6", *arms)
    assert "scores hidden" in moving(path)
    assert not moving(path) & {"letters for numbers"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("reflector", "why"),
    [
        (lambda: Reflector("first", caches=True), "may come from a cache"),
        (
            lambda: Reflector("first", fails=lambda text: "That is all" not in text and "Hello" not in text),
            "what is found depends on how they count",
        ),
    ],
    ids=["cache", "refusals"],
)
def test_a_problem_ends_the_verdict(reflector, why, asked, data):
    report = audit.intervene_report(asked(data, reflector(), "--units", 12))
    assert "No verdict" in str(report)
    assert why in str(report)
    assert not [row for row in report if row["verdict"] == "moves it"]


@pytest.mark.slow
def test_an_arm_that_is_refused_ends_no_verdict_that_does_not_depend_on_it(asked, data):
    refuses = Reflector("first", fails=lambda text: "# Example" not in text)
    report = audit.intervene_report(asked(data, refuses, "--units", 12))
    assert "more under E0 (" in str(report)
    assert {row["name"] for row in report if row["verdict"] == "moves it"} == {"shown first"}


PLAN = SimpleNamespace(alpha=0.05, smallest=0.15, units=[SimpleNamespace(scores=[0, 1, 2])])
SHARES = {
    "first": Share("shown first", 0.8, 0.7, 0.9, 0.001, 0.005, "moves it"),
    "little": Share("shown first", 0.06, 0.03, 0.08, 0.001, 0.005, "moves it"),
    "not first": Share("shown first", -0.47, -0.51, -0.43, 0.0, 0.001, "moves it away"),
    "not last": Share("shown last", -0.8, -0.9, -0.7, 0.0, 0.001, "moves it away"),
    "unknown": Share("shown first", 0.3, -0.1, 0.7, 0.001, 0.005, "cannot be told"),
    "none": Share("shown first", 0.1, -0.4, 0.5, 0.3, 0.9, "cannot be told"),
}


@pytest.mark.parametrize(
    ("shares", "signal", "expected"),
    [
        (["first"], (0.03, 0.01, 0.05), "80% of its texts follow the example that is shown first, "),
        (["little"], (1.0, 0.8, 1.2), "(3% to 8%), less than 15%."),
        (
            ["not first"],
            (1.0, 0.8, 1.2),
            "turn away from the example that is shown first, because it is first: -47%",
        ),
        (["not first", "not last"], (1.0, 0.8, 1.2), "So they follow the one that is shown second."),
        (["none"], (0.01, -0.01, 0.03), "It follows none of the examples: "),
        (["none"], (0.01, 0.005, 0.03), "Nothing that was drawn was found to decide"),
        (["unknown"], (0.01, -0.01, 0.03), "What it follows is not known: its texts depend on shown first"),
        (["unknown"], (1.0, 0.8, 1.2), "What it follows is not known: its texts depend on shown first."),
        (["none"], (0.05, -0.1, 0.2), "Cannot be told: texts for different examples can hardly be told apart"),
    ],
)
def test_sentences_claim_what_tests_and_the_signal_show(shares, signal, expected):
    found = Followed([SHARES[each] for each in shares], *signal, 1.0, 24, 6, 0.0)
    text = "\n".join(following(PLAN, found, [], {}))
    assert expected in text
    assert ("follows none" in text) == ("follows none" in expected)


def test_a_whole_rewriting_reflector_has_a_small_signal_and_follows_the_first(tmp_path):
    plan = reflectors.planned(record(tmp_path / "data"), tmp_path / "plan.json")

    def rewrite(prompt, seed):
        draw = random.Random(seed)
        words = [f"word{draw.randrange(3000)}" for _ in range(40)]
        shown = re.findall(r"The (\w+) desk is (\w+)", prompt)
        chosen = shown[:1] if draw.random() < 0.8 else draw.sample(shown, 1) if shown else []
        return "```\n" + " ".join([*words, *(f"{topic} goes to {team}" for topic, team in chosen)]) + "\n```"

    assert reflectors.judged(plan, tmp_path / "plan.json", rewrite)["shown first"] == "moves it"


def test_bad_input_is_one_line(data, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    server = Reflector("first")
    try:
        plan = ["intervene", "plan", data, "--out", tmp_path / "plan.json", "--units", 2]
        assert "unknown preset 'foreign'" in last_line(command(*plan, *server.options(), "--preset", "foreign"), 2)
        assert "unknown arm 'XP'" in last_line(command(*plan, *server.options(), "--arm", "XP=2"), 2)
        assert "policies alone" in last_line(command(*plan, "--backend", "simulated"), 2)
        assert command(*plan, *server.options()).exit_code == 0
        report = last_line(command("intervene", "report", tmp_path / "plan.json"))
        assert "no answers yet" in report
        assert "no unit 9" in last_line(command("intervene", "show", tmp_path / "plan.json", 9), 2)
        two = command("intervene", "report", tmp_path / "plan.json", tmp_path / "other.json")
        assert "one at a time" in last_line(two, 2)
    finally:
        server.close()


def test_the_benchmark_counts_what_is_found(capsys):
    assert reflectors.verdicts("first", 1.0, 0, "small")["shown first"] == "moves it"
    reflectors.main(["--sets", "0"])
    assert "another cause than the planted one: 0 of 0" in capsys.readouterr().out
