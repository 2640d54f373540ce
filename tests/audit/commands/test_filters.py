"""Which rows `--env`, `--variant`, `--condition` and `--run` choose, alike for every command that has them."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from audit.cli import app
from tests.audit.samples import revision, write_run

pytestmark = pytest.mark.usefixtures("opened_once")

TABLES = ("summary", "salience", "rates", "noise", "controls", "severity", "agreement", "patterns", "sensitivity")
BY_REVISION = ("revisions", "runs", "mentions")
ON_RUNS = ("verify", "rescore", "anchor")
OTHERS = {"find": ["--where", "true"], "check": [], "patterns --wide": ["--wide"]}
EMPTY = {name: [] for name in (*TABLES, *BY_REVISION, *ON_RUNS)} | OTHERS
EVERY = EMPTY | {
    "sample": [],
    "calibrate": ["--no-behaviour"],
    "validate": [],
    "judge": ["--backend", "ollama", "--plan"],
}
WITH_RUN = (*BY_REVISION, *ON_RUNS, "find", "sample", "judge")
LABELS = "condition,env,variant,run,iteration,coder,references_worst,driver\nhand,cartpole,threetraj,1,0,A,yes,worst\n"

HELD = {
    "env": "cartpole, pong",
    "variant": "r2po, threetraj",
    "condition": "hand, other",
    "run": "1, 2",
}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Two runs of threetraj on cartpole; of r2po one on pong, under another condition."""
    root = tmp_path_factory.mktemp("filters")
    episodes = [
        revision([1, 5, 9], [2, 2, 2], after=(1, 2.5, 3), answer="The worst rollout fell.", iteration=0),
        revision([1, 5, 9], [6, 6, 6], answer="The worst rollout fell.", iteration=1),
    ]
    for run in (1, 2):
        write_run(root / "data" / f"cartpole-{run}", [{**each, "run": run} for each in episodes])
    elsewhere = {"env": "pong", "variant": "r2po", "condition": "other"}
    write_run(root / "data" / "pong", [{**each, **elsewhere} for each in episodes])
    (root / "labels.csv").write_text(LABELS)
    return root / "data"


def audit(command, data, *options):
    name = command.split()[0]
    before = [data.parent / "labels.csv"] if name == "validate" else []
    arguments = [name, *before, data, *EVERY[command], *options]
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.mark.parametrize("column", ["env", "variant", "condition"])
@pytest.mark.parametrize("command", EVERY)
def test_a_name_that_no_record_has_is_an_error_that_lists_those_there_are(command, column, data):
    result = audit(command, data, f"--{column}", HELD[column].split(", ")[0], f"--{column}", "no\nsuch")
    told = f"audit: no {column} no such in the records; they hold {HELD[column]}\n"
    assert (result.exit_code, result.stdout, result.stderr) == (1, "", told)


@pytest.mark.parametrize("command", WITH_RUN)
def test_so_is_the_number_of_a_run(command, data):
    result = audit(command, data, "--run", 7)
    told = "audit: no run 7 in the records; they hold 1, 2\n"
    assert (result.exit_code, result.stdout, result.stderr) == (1, "", told)
    assert audit(command, data, "--run", 0).exit_code == 2


@pytest.mark.parametrize("command", EMPTY)
def test_names_that_no_run_has_together_give_an_empty_table_and_a_note(command, data):
    result = audit(command, data, "--env", "pong", "--variant", "threetraj", "--format", "json")
    assert (result.exit_code, json.loads(result.stdout)) == (0, [])
    assert result.stderr.count("audit: no") == 1
    assert audit(command, data, "--env", "pong", "--variant", "threetraj").exit_code == 0


@pytest.mark.parametrize("command", ["revisions", "runs", "mentions", "find"])
def test_the_number_of_a_run_chooses_rows(command, data):
    every = json.loads(audit(command, data, "--format", "json").stdout)
    for wanted in ([1], [2], [1, 2]):
        options = [word for run in wanted for word in ("--run", run)]
        rows = json.loads(audit(command, data, "--format", "json", *options).stdout)
        assert {row["run"] for row in rows} == set(wanted)
        kept = [row for row in every if row["run"] in wanted]
        assert [{**row, "rank": 0} for row in rows] == [{**row, "rank": 0} for row in kept]


def test_what_is_run_again_is_chosen_likewise(data):
    lines = audit("verify", data, "--run", 2).stdout
    assert "4 candidates of 1 run read" in lines


@pytest.mark.parametrize(
    ("place", "column"),
    [(("nosuch", "threetraj", 1), "env"), (("pong", "nosuch", 1), "variant"), (("pong", "r2po", 7), "run")],
)
@pytest.mark.parametrize("command", ["show", "replay"])
def test_the_place_of_a_revision_is_checked_likewise(command, place, column, data):
    rollout = [0] if command == "replay" else []
    result = CliRunner().invoke(app, [command, str(data), *map(str, [*place, 0, *rollout])])
    value = "7" if column == "run" else "nosuch"
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == f"audit: no {column} {value} in the records; they hold {HELD[column]}\n"


def test_problems_are_told_beside_a_name_that_is_missing(tmp_path):
    write_run(tmp_path / "a", [revision([1, 5, 9], [2, 2, 2])], tail=b"garbage\n")
    result = CliRunner().invoke(app, ["summary", str(tmp_path), "--env", "pong"])
    assert "no env pong" in result.stderr
    assert "episodes.jsonl:2: not JSON" in result.stderr
