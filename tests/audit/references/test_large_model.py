"""The answers of a large model that the project ships are sound records, and are what they were taken from."""

from __future__ import annotations

import csv
import json

import pytest
from typer.testing import CliRunner

import audit
from audit.cli import app
from tests.audit.samples import REAL, SHARED

pytestmark = pytest.mark.usefixtures("opened_once")
ARMS = ("as_is", "as_is_again", "reversed", "unlabelled")
HANDED_ON = SHARED / "interventions" / "answers.jsonl"


def test_every_record_is_sound_and_each_arm_has_every_prompt():
    with audit.open([REAL], strict=True) as store:
        rows = store.rows("revisions")
    prompts = {
        arm: {(row["env"], row["run"], row["iteration"]) for row in rows if row["condition"] == arm} for arm in ARMS
    }
    assert len(rows) == 54
    assert {len(each) for each in prompts.values()} == {9}
    assert len(set(map(frozenset, prompts.values()))) == 1


def test_the_arms_differ_in_the_place_and_heading_of_the_rollouts():
    with audit.open([REAL / "interventions"], strict=True) as store:
        rows = store.rows("evidence")
    places = {arm: {row["worst_place"] for row in rows if row["condition"] == arm} for arm in ARMS}
    assert places == {"as_is": {1}, "as_is_again": {1}, "reversed": {3}, "unlabelled": {1, 2, 3}}
    for row in rows:
        heading = f"Rollout {' ABC'[row['worst_place']]}" if row["condition"] == "unlabelled" else "worst"
        assert row["worst_name"] == heading


@pytest.mark.parametrize("command", ["salience", "patterns", "revisions", "check"])
def test_every_table_can_be_made_of_them(command):
    result = CliRunner().invoke(app, [command, str(REAL), "--strict"])
    assert result.exit_code == 0, result.stderr


@pytest.mark.parametrize(("folder", "answers"), [("critic_texts", 18), ("interventions", 36)])
def test_both_coders_coded_every_answer(folder, answers):
    with (REAL / folder / "labels.csv").open(newline="") as stream:
        coded = [
            (row["coder"], row["condition"], row["env"], row["run"], row["iteration"]) for row in csv.DictReader(stream)
        ]
    assert len(coded) == len(set(coded)) == 2 * answers
    result = CliRunner().invoke(app, ["validate", str(REAL / folder / "labels.csv"), str(REAL / folder), "--strict"])
    assert result.exit_code == 0, result.stderr


@pytest.mark.skipif(not HANDED_ON.is_file(), reason=f"the answers under five arms are not at {HANDED_ON}")
def test_answers_prompts_and_numbers_are_as_they_were_handed_on():
    records = {}
    for path in (REAL / "interventions").rglob("episodes.jsonl"):
        calls = (path.parent / "calls.jsonl").read_text("utf-8").splitlines()
        for line, call in zip(path.read_text("utf-8").splitlines(), calls, strict=True):
            record = json.loads(line)
            records[tuple(record[key] for key in ("condition", "env", "run", "iteration"))] = record, json.loads(call)
    lines = [line for line in HANDED_ON.read_text("utf-8").splitlines() if '"without_worst"' not in line]
    assert len(lines) == len(records) == 36
    for line in map(json.loads, lines):
        record, call = records[tuple(line[key] for key in ("arm", "env", "run", "iteration"))]
        assert (call["prompt"], call["completion"]) == (line["prompt"], line["answer"])
        assert record["revised"]["answer"] == line["answer"]
        assert record["revised"]["params"] == line["revised"]["params"]
        assert record["revised"]["mean_return"] == line["revised"]["fresh_mean"]
        assert {key: record["initial"][key] for key in ("params", "returns", "seeds")} == {
            key: line["initial"][key] for key in ("params", "returns", "seeds")
        }
        shown = [
            {key: item[key] for key in ("label", "rollout", "return", "length")} for item in record["evidence"]["shown"]
        ]
        assert shown == line["shown"]
