"""Reports on reflectors behind a server: the planted cause, and no other."""

from __future__ import annotations

import pytest

import audit
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
            "propose no text",
        ),
        (lambda: Reflector("first", fails=lambda text: "# Example" not in text), "E0 leaves"),
    ],
    ids=["cache", "refusals", "one arm"],
)
def test_a_problem_ends_the_verdict(reflector, why, asked, data):
    report = audit.intervene_report(asked(data, reflector(), "--units", 12))
    assert "No verdict" in str(report)
    assert why in str(report)
    assert not [row for row in report if row["verdict"] == "moves it"]


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
