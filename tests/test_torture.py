"""The campaign against every command: a few attempts of each part, and what it goes by."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest
import typer.main

from audit.cli import app as audit_app
from benchmarks.torture import oracle
from benchmarks.torture.campaign import PARTS, Campaign, Part
from benchmarks.torture.disturbing import CUT, KILLED
from benchmarks.torture.drawing import line_of, mutated, sound_line, sound_run
from benchmarks.torture.reading import READING
from stats.cli import app as stats_app

ROOT = Path(__file__).resolve().parents[1]
# By number, so that every command that is killed is killed once, or its power is cut; workers are Ray's and local ones.
ATTEMPTS = {"records": [0], "readers": [0], "lines": [0], "names": [0], "processes": [0, 1], "workers": [0, 1]}
# Cuts of judge alone: what they find of collect and import is in docs/contributing.md.
ATTEMPTS |= {"kills": [0, 1, 2, 3, 5], "cuts": [4]}


@pytest.mark.slow
@pytest.mark.parametrize("part", ATTEMPTS)
def test_a_short_campaign_finds_nothing(part, tmp_path):
    campaign = Campaign(seed=12, jobs=1, keep=tmp_path, patience=120)
    tally = campaign.run(part, tries=ATTEMPTS[part])
    campaign.close()
    assert (tally.attempts, tally.failures) == (len(ATTEMPTS[part]), {})
    assert tally.tried > 0


@pytest.mark.slow
def test_the_command_runs_a_part(tmp_path):
    options = ["--part", "servers", "--seed", "12", "--tries", "1", "--jobs", "1", "--keep", str(tmp_path)]
    command = [sys.executable, "-m", "benchmarks", "torture", *options, "--patience", "120"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, errors="replace", check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_part_is_tried_for_a_moment():
    assert {*ATTEMPTS, "servers"} == set(PARTS)
    tried = {CUT[number % len(CUT)] for number in ATTEMPTS["cuts"]}
    tried |= {KILLED[number % len(KILLED)] for number in ATTEMPTS["kills"]}
    assert tried == {*CUT, *KILLED} - {"figures"}


@pytest.mark.slow
def test_what_fails_hangs_or_dies_is_reported_and_the_rest_continues(tmp_path, monkeypatch):
    monkeypatch.setitem(PARTS, "stub", Part("tests.torture_stub", "attempts that go wrong", "attempts", 1.0, 20))
    campaign = Campaign(seed=1, jobs=2, keep=tmp_path / "kept")
    tally = campaign.run("stub", tries=range(6))
    again = campaign.run("stub", tries=[0])
    campaign.close()
    assert tally.attempts == 6
    kinds = {
        "a hang",
        "the process died: SIGKILL",
        "ValueError in torture_stub.py, stub",
        "something",
        "a large number",
    }
    assert set(tally.failures) == kinds
    _, what, reproduce = tally.failures["something"]
    assert what == "its particulars"
    assert reproduce.startswith("cat ")
    assert (Path(reproduce.removeprefix("cat ")) / "shown.txt").read_text() == "what shows it"
    assert len(tally.failures["a large number"][1]) == 4, "it was made small"
    assert "a large number" in again.failures, "what failed is tried first in the next campaign"


def test_sound_records_pass_the_strict_reading():
    rng = Random(3)
    for _ in range(100):
        run = sound_run(rng, "c")
        assert oracle.read_run(json.dumps(run).encode()).accepted
        verdict = oracle.read_line(line_of(sound_line(rng, run, 4)), run, set())
        assert (verdict.accepted, verdict.why) == (True, "")


RUN = {"condition": "c", "env": "pong", "variant": "threetraj", "run": 1, "rollouts": 2, "options": {}}
LINE = (
    '{"condition":"c","env":"pong","variant":"threetraj","run":1,"iteration":5,"initial":{"params":[1.5],'
    '"out_of_range":false,"source":"search","answer":"","thinking":null,"returns":[3.0,1.0],"lengths":[9,7],"seeds":null,'
    '"ended":["terminated","truncated"],"mean_return":2.0},"revised":null,"revision_status":"unreadable",'
    '"selected":"initial","evidence":{"kind":"three","shown":[{"label":"worst","rollout":1,"return":1.0,"length":7}]},'
    '"seconds":0.25}'
)
NOT_SOUND = {
    "a fraction": ('"iteration":5', '"iteration":5.0', "iteration"),
    "an exponent": ('"iteration":5', '"iteration":5e0', "iteration"),
    "text for a number": ('"iteration":5', '"iteration":"5"', "iteration"),
    "true for a number": ('"run":1', '"run":true', "run"),
    "a word that is none of those": ('"kind":"three"', '"kind":"threee"', "evidence.kind"),
    "a field twice": ('"iteration":5', '"iteration":5,"iteration":5', "iteration"),
    "a field twice, once escaped": ('"iteration":5', '"iteration":5,"\\u0069teration":5', "iteration"),
    "a field twice in what nobody reads": ('"iteration":5', '"iteration":5,"x":{"a":1,"a":1}', "a"),
    "NaN in what nobody reads": ('"iteration":5', '"iteration":5,"x":NaN', ""),
    "a comma at the end": ('"seconds":0.25}', '"seconds":0.25,}', ""),
    "a form feed": ('{"condition"', '\x0c{"condition"', ""),
    "half a surrogate pair": ('"condition":"c"', '"condition":"c","x":"\\ud83d"', ""),
    "a field missing": ('"seconds":0.25', '"second":0.25', "seconds"),
    "another run's": ('"run":1', '"run":2', "run"),
    "a rollout beyond the last": ('"rollout":1', '"rollout":2', "rollout"),
    "a mean that is off": ('"mean_return":2.0', '"mean_return":2.00000001', "initial.mean_return"),
    "as many lengths as returns": ('"lengths":[9,7]', '"lengths":[9]', "initial.lengths"),
}


def test_the_strict_reading_is_strict():
    for case, (old, new, field) in NOT_SOUND.items():
        assert old in LINE, case
        verdict = oracle.read_line(LINE.replace(old, new).encode(), RUN, set())
        assert (verdict.accepted, verdict.is_open, verdict.field) == (False, False, field), case


def test_an_iteration_counts_once():
    earlier: set[int] = set()
    assert oracle.read_line(LINE.encode(), RUN, earlier).accepted
    assert oracle.read_line(LINE.encode(), RUN, earlier).why == "is in an earlier line"


def test_the_same_seed_draws_the_same_mutations():
    record = json.loads(LINE)
    drawn = [[mutated(Random(seed), record) for seed in range(300)] for _ in range(2)]
    assert drawn[0] == drawn[1]
    assert len(set(drawn[0])) > 250


def test_every_command_that_reads_records_is_tried():
    for program, app in (("audit", audit_app), ("stats", stats_app)):
        tried = {template.split()[0] for template in READING[program]}
        commands = typer.main.get_command(app).commands.items()
        takes = {name for name, each in commands if {"paths", "path", "arguments"} & {one.name for one in each.params}}
        assert takes - tried == set()
