"""`audit calibrate`: confusion tables against counts by hand, and the four personalities as they are."""

from __future__ import annotations

import json
import shutil

import pytest
from typer.testing import CliRunner

from audit.cli import app
from collector.llm.simulated import SimulatedModel
from tests.audit.samples import revision, write_run
from tests.collector.helpers import collect, lines, spec
from tests.shared import made

pytestmark = pytest.mark.usefixtures("opened_once")

PERSONALITIES = ("salient", "balanced", "silent", "talker")


def search(folder):
    """Two runs of each personality."""
    for personality in PERSONALITIES:
        model = SimulatedModel(personality)
        for run in (1, 2):
            collect(spec("cartpole", "threetraj", model=model, iterations=40, rollouts=8, runs=run), folder, model)


@pytest.fixture(scope="module")
def data():
    return made("calibration", search)


def calibrate(*arguments):
    result = CliRunner().invoke(app, ["calibrate", *map(str, arguments), "--format", "json"])
    assert result.exit_code == 0, result.stderr
    rows = json.loads(result.stdout, parse_constant=lambda name: pytest.fail(f"{name} in JSON"))
    keyed = {(row["personality"], row["quantity"], row["detector"]): row for row in rows if row["code"] is None}
    return keyed, result.stderr


@pytest.fixture(scope="module")
def rows(data):
    return calibrate(data)[0]


@pytest.mark.parametrize("personality", PERSONALITIES)
def test_the_word_is_counted_against_the_truth_as_by_hand(data, rows, personality):
    table = {"tp": 0, "fp": 0, "fn": 0, "tn": 0}
    for path in sorted(data.glob(f"*{personality}*/cartpole/threetraj/*/episodes.jsonl")):
        # A critic that was asked again has several lines: the last one is of the answer that could be read.
        truth = {line["iteration"]: line for line in lines(path.with_name("truth.jsonl"))}
        for line in lines(path):
            returns = line["initial"]["returns"]
            if line["revised"] is None or max(returns) == min(returns):
                continue
            shown = {each["label"]: each["rollout"] for each in line["evidence"]["shown"]}
            driven = shown.get(truth[line["iteration"]]["driver"]) == returns.index(min(returns))
            found = "worst" in line["revised"]["answer"].lower()
            table[("t" if driven == found else "f") + ("p" if found else "n")] += 1
    row = rows[personality, "driven_by_worst", "word"]
    assert {name: row[name] for name in table} == table
    assert row["n"] == sum(table.values())
    assert row["false_positives_pct"] == pytest.approx(100 * table["fp"] / (table["fp"] + table["tn"]))


def test_the_personalities_come_out_as_they_are(rows):
    driven = {each: rows[each, "driven_by_worst", "resolved"] for each in PERSONALITIES}
    # The silent critic is driven by the worst rollout and hardly says so; the talker names it whatever drove it.
    assert driven["silent"]["recall"] < 0.3
    assert driven["salient"]["recall"] > 0.7
    assert driven["talker"]["false_positives_pct"] > 75
    assert driven["talker"]["false_positives_pct"] > driven["balanced"]["false_positives_pct"]
    assert driven["talker"]["kappa"] < 0.3
    # What is named is found, whoever names it.
    for personality in PERSONALITIES:
        assert rows[personality, "names_worst", "resolved"]["recall"] > 0.95


def test_without_any_truth_it_says_so(tmp_path):
    write_run(tmp_path / "real", [revision([1, 5, 9], [2, 2, 2], answer="The worst rollout fell.")])
    result = CliRunner().invoke(app, ["calibrate", str(tmp_path)])
    assert result.exit_code == 1
    assert result.stderr.startswith("audit: it is not known what drove these revisions")


def test_lines_of_truth_that_cannot_be_read_are_named(data, tmp_path):
    [run, *_] = sorted(data.glob("*salient*/cartpole/threetraj/run-01"))
    copy = shutil.copytree(run, tmp_path / "run")
    first, *others = (copy / "truth.jsonl").read_text().splitlines()
    odd = json.loads(first) | {"driver": "wurst"}
    (copy / "truth.jsonl").write_text("\n".join([json.dumps(odd), *others, '{"torn']))
    _, told = calibrate(copy)
    assert f"truth.jsonl:{len(others) + 2}: not a truth record" in told
    assert "truth.jsonl:1: not a truth record (Invalid enum value 'wurst' - at `$.driver`); left out" in told


def test_a_driver_that_was_not_shown_is_compared_with_nothing(data, tmp_path):
    [run, *_] = sorted(data.glob("*salient*/cartpole/threetraj/run-01"))
    copy = shutil.copytree(run, tmp_path / "run")
    truths = [
        json.loads(line) | {"driver": "representative"} for line in (copy / "truth.jsonl").read_text().splitlines()
    ]
    (copy / "truth.jsonl").write_text("\n".join(map(json.dumps, truths)))
    result = CliRunner().invoke(app, ["calibrate", str(copy)])
    assert (result.exit_code, result.exception.__class__) == (1, SystemExit)
    assert "it is not known what drove these revisions" in result.stderr
