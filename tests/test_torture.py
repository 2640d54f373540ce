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
from benchmarks.torture import oracle, samples
from benchmarks.torture.campaign import Campaign
from benchmarks.torture.cuts import ORDER as CUT
from benchmarks.torture.kills import ORDER as KILLED
from benchmarks.torture.mutations import mutate
from benchmarks.torture.parts import PARTS, Part
from benchmarks.torture.readers import COMMANDS
from stats.cli import app as stats_app

ROOT = Path(__file__).resolve().parents[1]
# By number, so that every command that is killed is killed once, or its power is cut.
ATTEMPTS = {
    "records": [0],
    "readers": [0],
    "kills": [1, 3, 5],  # pack; collect, served; cache
    "cuts": [0, 2, 4],  # collect; import; judge
    "lines": [0],
    "names": [0],
    "processes": [0, 1],
    "workers": [0, 1],  # Ray; local
}


@pytest.mark.slow
@pytest.mark.parametrize("part", ATTEMPTS)
def test_a_short_campaign_finds_nothing(part, tmp_path):
    campaign = Campaign(seed=12, jobs=1, keep=tmp_path, patience=120)
    tally = campaign.run(part, tries=ATTEMPTS[part])
    campaign.close()
    assert (tally.attempts, tally.failures) == (len(ATTEMPTS[part]), {})


@pytest.mark.slow
def test_the_command_runs_a_part(tmp_path):
    options = ["--part", "servers", "--seed", "12", "--tries", "1", "--jobs", "1", "--keep", str(tmp_path)]
    command = [sys.executable, "-m", "benchmarks", "torture", *options, "--patience", "120"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, errors="replace", check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_part_is_tried_for_a_moment():
    assert {*ATTEMPTS, "servers"} == set(PARTS)
    assert {CUT[number % len(CUT)] for number in ATTEMPTS["cuts"]} | {
        KILLED[number % len(KILLED)] for number in ATTEMPTS["kills"]
    } == {*CUT, *KILLED} - {"figures"}


@pytest.mark.slow
def test_what_fails_hangs_or_dies_is_reported_and_the_rest_continues(tmp_path, monkeypatch):
    monkeypatch.setitem(PARTS, "stub", Part("tests.torture_stub", "attempts that go wrong", "attempts", 1.0))
    campaign = Campaign(seed=1, jobs=2, keep=tmp_path / "kept")
    tally = campaign.run("stub", tries=range(6))
    campaign.close()
    assert (tally.attempts, tally.tried, tally.failed) == (6, 2, 4)
    kinds = {"a hang", "the process died: SIGKILL", "ValueError in torture_stub.py, attempt", "something"}
    assert set(tally.failures) == kinds
    [kept] = tally.failures["something"]
    assert kept.reproduce.startswith("cat ")
    assert Path(kept.reproduce.removeprefix("cat ")).read_text() == "what shows it"


def test_sound_records_pass_the_strict_reading():
    rng = Random(3)
    for _ in range(200):
        run = samples.run_json(rng, "c")
        assert oracle.read_run(json.dumps(run).encode()).accepted or "imported_from" in run["options"]
        verdict = oracle.read_line(samples.line_of(samples.episode(rng, run, 4)), run, set())
        assert (verdict.accepted or verdict.is_open, verdict.why) == (True, "")


RUN = {
    **samples.run_json(Random(1), "c"),
    "variant": "threetraj",
    "env": "pong",
    "run": 1,
    "rollouts": 2,
    "options": {},
}
LINE = samples.line_of(samples.episode(Random(1), RUN, 5)).decode()
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
}


@pytest.mark.parametrize("case", NOT_SOUND)
def test_the_strict_reading_is_strict(case):
    old, new, field = NOT_SOUND[case]
    assert old in LINE
    verdict = oracle.read_line(LINE.replace(old, new).encode(), RUN, set())
    assert (verdict.accepted, verdict.is_open, verdict.field) == (False, False, field)


def test_an_iteration_counts_once():
    earlier: set[int] = set()
    assert oracle.read_line(LINE.encode(), RUN, earlier).accepted
    assert oracle.read_line(LINE.encode(), RUN, earlier).why == "is in an earlier line"


def test_the_same_seed_draws_the_same_mutations():
    record = samples.episode(Random(2), RUN, 0)
    drawn = [[mutate(Random(seed), record) for seed in range(300)] for _ in range(2)]
    assert drawn[0] == drawn[1]
    assert len(set(drawn[0])) > 250


def test_every_command_that_reads_records_is_tried():
    for program, app in (("audit", audit_app), ("stats", stats_app)):
        tried = {template.split()[0] for name, template in COMMANDS if name == program}
        readers = {
            name
            for name, command in typer.main.get_command(app).commands.items()
            if any(each.name in ("paths", "path", "arguments") for each in command.params)
        }
        assert readers - tried == set()
