"""`audit calibrate --interventions`: effects of experiments beside what answers show by themselves."""

from __future__ import annotations

import json
import shutil

import pytest
from typer.testing import CliRunner

from audit.cli import app
from audit.output.errors import AuditError
from audit.validation.calibration.asked_again import read_critic, separations
from collector.llm.simulated import SimulatedModel
from tests.audit.interventions.planned import CONTRASTS
from tests.collector.helpers import collect, spec

CRITICS = ("number@1-silent", "uniform-talker")


def audit(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("asked_again")
    model = SimulatedModel("salient")
    for run in (1, 2):
        collect(spec("cartpole", "threetraj", model=model, iterations=12, runs=run), folder / "data", model)
    arms = [*CONTRASTS, "--arm", "RW=4", "--arm", "RM=4", "--arm", "C=0", "--units", 12, "--rollouts", 0]
    for critic in CRITICS:
        plan = folder / f"{critic}.json"
        asked = ("--backend", "simulated", "--personality", critic)
        made = audit("intervene", "plan", folder / "data", "--out", plan, *asked, *arms)
        assert made.exit_code == 0, made.stderr
        assert audit("intervene", "run", plan).exit_code == 0
    return folder


@pytest.fixture(scope="module")
def critics(folder):
    return [read_critic(folder / f"{critic}.json") for critic in CRITICS]


def test_what_drives_a_critic_is_counted_in_its_own_account(folder, critics):
    made_for = []
    for line in (folder / f"{CRITICS[0]}.answers.jsonl").read_text().splitlines():
        answer = json.loads(line)
        if answer["arm"] in {"A0", "N0"} and answer["truth"]["driver"] not in {"history", "none"}:
            made_for.append(answer["truth"]["anchor"])
    assert set(made_for) == {"worst"}
    assert critics[0].driven == 1.0
    assert 0.1 < critics[1].driven < 0.6


def test_texts_separate_critics_the_wrong_way(critics):
    found = {measure: (sides, units, area) for sides, measure, units, _, area in separations(critics)}
    sides, units, area = found["driver, asked again"]
    assert sides == "number@1-silent against uniform-talker"
    assert units == 24
    assert area < 0.2
    assert {area for *_, area in separations(critics[:1])} == {None}
    assert found["resolved, asked again"][2] < 0.2
    assert found["presence, RW against RM"][2] > found["driver, asked again"][2] + 0.2


def test_the_command_prints_them_beside_the_others(folder):
    plans = [part for critic in CRITICS for part in ("--interventions", folder / f"{critic}.json")]
    result = audit("calibrate", folder / "data", "--no-behaviour", "--bootstrap", 100, *plans, "--format", "json")
    assert result.exit_code == 0, result.stderr
    rows = [row for row in json.loads(result.stdout) if row["condition"] == "asked again"]
    assert {row["detector"] for row in rows} >= {"driver, asked again", "presence, RW against RM"}
    assert all(row["n"] == 24 and 0 <= row["auc"] <= 1 for row in rows)
    assert "number@1-silent: 100% of its changes for a rollout are made for the worst" in result.stderr


def test_a_plan_that_is_not_finished_is_refused(folder):
    plan = folder / "unfinished.json"
    answers = folder / "unfinished.answers.jsonl"
    plan.write_bytes((folder / f"{CRITICS[0]}.json").read_bytes())
    answers.write_text((folder / f"{CRITICS[0]}.answers.jsonl").read_text().split("\n", 1)[1])
    result = audit("calibrate", folder / "data", "--no-behaviour", "--interventions", plan)
    assert result.exit_code == 1
    assert "unfinished.json: 1 call without an answer; go on with: audit intervene run" in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_truth_that_is_none_is_named(folder, tmp_path):
    answers = (folder / f"{CRITICS[0]}.answers.jsonl").read_text().splitlines()
    shutil.copy(folder / f"{CRITICS[0]}.json", tmp_path / "plan.json")
    for truth in ({"driver": 7, "position": 0}, {}, *({"driver": "worst", "position": at} for at in (9, -1))):
        changed = [json.dumps(json.loads(line) | {"truth": truth}) + "\n" for line in answers]
        (tmp_path / "plan.answers.jsonl").write_text("".join(changed))
        with pytest.raises(AuditError, match=r"plan\.json: the truth of the answer to .*cartpole/threetraj"):
            read_critic(tmp_path / "plan.json")
