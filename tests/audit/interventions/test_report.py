"""The report of an experiment: only when it is finished, and honest about what it cannot conclude."""

from __future__ import annotations

import csv
import io
import json
import math
import shutil
from types import SimpleNamespace

import numpy as np
import pytest

from audit.interventions.answers import read_answers
from audit.interventions.effects.results import Effect
from audit.interventions.making import tasks_of
from audit.interventions.outcomes import read_experiment
from audit.interventions.plan import read_plan
from audit.interventions.report import Report, sentence
from collector.switches import Switches
from tests.audit.interventions.planned import NO_SHARES, answers_of, arms, audit, lines, one_line, plan, recorded
from tests.collector.helpers import collect, spec

SMALL = NO_SHARES + arms("N0=3", "N0h=2", "XL=2", "XP=3", "P1=3", "C=2")


@pytest.fixture(scope="module")
def finished(records, tmp_path_factory):
    path = tmp_path_factory.mktemp("finished") / "plan.json"
    plan(records, path, "--units", 4, *SMALL)
    assert audit("intervene", "run", path).exit_code == 0
    return path


@pytest.fixture
def copy(finished, tmp_path):
    """The same experiment, whose answers may be changed; its records are not there."""
    shutil.copy(finished, tmp_path)
    shutil.copy(answers_of(finished), tmp_path)
    return tmp_path / finished.name


def report(path, *options):
    return audit("intervene", "report", path, *options)


def rewrite(path, change):
    rows = lines(answers_of(path))
    for row in rows:
        change(row)
    answers_of(path).write_text("".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows))


def experiment(path, workers=None):
    read = read_plan(path)
    answers, _ = read_answers(read, path)
    return read_experiment(read, answers, tasks_of(read, path), cache=False, workers=workers)


def test_an_experiment_without_all_answers_is_not_tested(copy):
    whole = answers_of(copy).read_text().splitlines(keepends=True)
    answers_of(copy).write_text("".join(whole[:-2]))
    line = one_line(report(copy))
    assert line.startswith(f"audit: 2 of {len(whole)} calls have no answer yet")
    answers_of(copy).unlink()
    assert "no answers yet" in one_line(report(copy))


def test_the_report_states_plan_validity_and_hypotheses(finished):
    result = report(finished)
    assert result.exit_code == 0, result.stderr
    assert read_plan(finished).sha256 in result.stdout
    parts = ("Validity:", "Primary hypotheses", "What answers name", "All effects")
    places = [result.stdout.index(each) for each in parts]
    assert places == sorted(places)
    assert "Backend: simulated. The answers are not a language model's." in result.stderr
    assert result.stderr.count("Warning") == 0


def test_every_format_holds_the_same_effects(finished):
    rows = json.loads(report(finished, "--format", "json").stdout)
    table = list(csv.DictReader(io.StringIO(report(finished, "--format", "csv").stdout)))
    assert [row["name"] for row in rows] == [row["name"] for row in table]
    assert [row["p"] for row in rows] == [float(row["p"]) if row["p"] else None for row in table]
    markdown = report(finished, "--format", "markdown").stdout
    latex = report(finished, "--format", "latex").stdout
    assert markdown.count("\n|") >= len(rows)
    assert latex.count(r"\\") >= len(rows)
    assert {row["name"] for row in rows if row["primary"]} == {"label", "position"}


def test_effects_on_one_outcome_and_the_same_twice(finished):
    first, again = (report(finished, "--outcome", "edits", "--format", "json").stdout for _ in range(2))
    rows = json.loads(first)
    assert first == again
    assert {row["outcome"] for row in rows} == {"edits"}
    assert "there are those on edits; text" in one_line(report(finished, "--outcome", "nothing"), status=2)


def test_answers_are_read_by_intention_to_treat(copy):
    def change(row):
        if row["arm"] == "XP":
            row |= {"params": None, "error": "nothing", "completion": "The worst rollout fell."}

    rewrite(copy, change)
    found = experiment(copy)
    for answer in found.answers:
        if answer.arm == "XP":
            assert not answer.readable
            assert (answer.driver, answer.mentioned, answer.changed) == (None, frozenset(), 0)
            assert not answer.edit.any()
    result = report(copy)
    assert result.exit_code == 0, result.stderr
    assert "XP 12 of 12" in result.stdout
    assert "more under XP (12 of 12) than under other arms" in result.stdout


def test_what_an_answer_follows_is_counted_by_what_was_shown(copy):
    names = {"worst": "Worst", "median": "Median", "best": "Best"}

    def change(row):
        heading = next(each["name"] for each in row["shown"] if each["content"] == "worst")
        row["completion"] = f"params\nThe {heading.lower()} fell over at once, so I raised params[0]."
        row["params"] = [value + 1 for value in planned[row["run"], row["iteration"]]]

    planned = {(unit.run, unit.iteration): unit.params for unit in read_plan(copy).units}
    rewrite(copy, change)
    found = experiment(copy)
    assert {answer.driver for answer in found.answers} == {"worst"}
    assert {answer.changed for answer in found.answers} == {10}
    assert all(np.allclose(answer.edit, 1.0) for answer in found.answers)
    assert {answer.says_worst for answer in found.answers if answer.arm == "XL"} == {False}
    assert {answer.says_worst for answer in found.answers if answer.arm == "N0"} == {True}
    assert set(names) == {place.content for place in found.answers[0].shown}


NOWHERE = dict.fromkeys(("label", "number", "return", "length"))
MISFITS = (
    {"params": [1.0]},
    {"params": []},
    {"shown": []},
    {"shown": [{"content": "x", "name": "X", "rollout": 0, **NOWHERE}] * 9},
)


def test_answers_that_cannot_be_ones_to_their_call_are_refused(copy):
    whole = answers_of(copy).read_bytes()
    for changes in MISFITS:
        answers_of(copy).write_bytes(whole)
        rewrite(copy, lambda row, changes=changes: row.update(changes))
        assert "does not fit its call" in one_line(report(copy))


def test_odd_answers_are_read(copy):
    for completion in ("", "\ud800", "worst " * 500, "\x1b[31m", "params[0]: " + "9" * 5000):
        rewrite(copy, lambda row, text=completion: row.update(completion=text.encode("utf-8", "replace").decode()))
        result = report(copy)
        assert result.exit_code == 0, result.stderr
        assert "\x1b" not in result.stdout
        assert "PROBLEM: " in result.stdout  # all answers are the same


@pytest.mark.parametrize("runs", [0, 1, 2])
def test_with_few_runs_or_one_unit_there_is_a_report_that_says_what_it_cannot_conclude(records, tmp_path, runs):
    path = tmp_path / "plan.json"
    plan(records, path, "--units", 2 if runs else 1, *SMALL, *(["--run", 1] if runs == 1 else []))
    assert audit("intervene", "run", path).exit_code == 0
    result = report(path, "--format", "json")
    assert result.exit_code == 0, result.stderr
    rows = json.loads(result.stdout)
    assert {row["runs"] for row in rows if row["units"]} <= set(range(max(runs, 1) + 1))
    if runs < 2:
        assert {row["low"] for row in rows} == {None}  # no interval of one run
    text = report(path)
    assert text.exit_code == 0
    assert "nan" not in text.stdout


def test_gains_are_those_of_policies_on_shared_seeds(records, tmp_path):
    path = tmp_path / "plan.json"
    asked = [*NO_SHARES, *arms("A0=1", "N0=2", "C=0", "DW=1", "DM=1")]
    plan(records, path, "--units", 2, *asked, "--rollouts", 5)
    assert audit("intervene", "run", path).exit_code == 0
    found = experiment(path)
    assert [answer.gain for answer in found.answers] == [answer.gain for answer in experiment(path).answers]
    for answer in found.answers:
        assert np.isfinite(answer.gain)
        assert answer.changed or answer.gain == 0.0
    result = report(path)
    assert result.exit_code == 0, result.stderr
    assert "Warning" not in result.stderr


def test_policies_are_run_under_the_switches_of_their_own_runs(tmp_path):
    data = recorded(tmp_path / "data", runs=1)
    collect(spec("cartpole", "threetraj", iterations=3, rollouts=8, warmup=2, switches=Switches(step_size=0.25)), data)
    path = tmp_path / "plan.json"
    made = plan(data, path, *SMALL)
    tasks = tasks_of(made, path)
    steps = {cluster: task.space.step_size for cluster, task in tasks.items()}
    assert sorted(steps.values()) == [0.25, 1.0]
    assert all(("step" in cluster.condition) == (step == 0.25) for cluster, step in steps.items())
    assert audit("intervene", "run", path).exit_code == 0
    found = experiment(path)
    answers, _ = read_answers(made, path)
    for answer, (call, given) in zip(found.answers, sorted(answers.items(), key=lambda e: e[1].order), strict=True):
        if given.params is not None:
            unit = made.units[call.unit]
            assert answer.edit == pytest.approx(np.subtract(given.params, unit.params) / steps[unit.cluster])


def test_a_rounding_error_is_reported_as_zero():
    effects = [Effect("label", "text", "XL", "N0h", estimate=value) for value in (-2.8e-17, 1e-6, math.nan)]
    found = Report(None, None, SimpleNamespace(effects=effects), [])
    assert [row["estimate"] for row in found.rows()] == [0.0, 1e-6, None]


def test_a_difference_is_reported_with_both_arms_and_a_wrong_option_with_its_help(finished):
    assert one_line(audit("intervene", "plan", finished.parent), status=2).endswith("intervene plan --help")
    effect = Effect("seeing the worst", "size", "N0", "RW", estimate=0.7, p=0.02, verdict="found")
    assert sentence(effect) == "seeing the worst on size, N0 minus RW: 0.70; p 0.02: found."


def test_returns_do_not_depend_on_the_workers(records, tmp_path):
    path = tmp_path / "plan.json"
    plan(records, path, "--units", 3, "--rollouts", 6, *SMALL)
    assert audit("intervene", "run", path).exit_code == 0
    expected, *others = [[each.gain for each in experiment(path, workers=each).answers] for each in (None, 1, 2)]
    assert others == [expected] * 2
    assert sum(gain != 0 for gain in expected) > len(expected) / 2
    first, second = [report(path, "--no-cache", *workers) for workers in ([], ["--workers", 2])]
    assert (first.exit_code, first.stdout) == (second.exit_code, second.stdout) == (0, first.stdout)


def test_a_report_says_what_was_not_asked_of_shares_and_why(records, tmp_path):
    path = tmp_path / "plan.json"
    plan(records, path, "--units", 2, *SMALL)
    assert audit("intervene", "run", path).exit_code == 0
    text = report(path).stdout
    wanted = "- not asked: which share of revisions follows a label, a place or a printed return, which needs C, and "
    assert wanted + "S_w, S_m, S_b twice: S_w, S_m, S_b have no answers\n" in text
    path = tmp_path / "other.json"
    asked = [*NO_SHARES, *arms("A0=0", "C=0", "R0=2", "RW=2", "RM=2", "RB=2")]
    made = plan(records, path, "--units", 2, *asked)
    assert made.family == []
    assert audit("intervene", "run", path).exit_code == 0
    text = report(path).stdout
    assert text.index("What moves this critic:") < text.index("cannot be told: worst content; median content; best")
    assert wanted + "S_w, S_m, S_b twice: C, S_w, S_m, S_b have no answers\n" in text
