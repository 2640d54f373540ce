"""Which rows `--env`, `--variant`, `--condition` and `--run` choose, alike for every command that has them."""

from __future__ import annotations

import json

import pytest

from tests.audit.calls import call
from tests.audit.samples import revision, write_run

pytestmark = pytest.mark.usefixtures("opened_once")

OPTIONS = {
    **dict.fromkeys(("summary", "salience", "rates", "noise", "controls", "severity", "agreement"), ()),
    **dict.fromkeys(("patterns", "sensitivity", "revisions", "runs", "check"), ()),
    **dict.fromkeys(("verify", "rescore"), ()),
    "find": ("--where", "true"),
    "patterns --wide": ("--wide",),
}
EVERY = OPTIONS | {"sample": (), "calibrate": (), "validate": ()}
EVERY |= {"judge": ("--backend", "ollama", "--plan")}
WITH_RUN = ("revisions", "runs", "verify", "rescore", "find", "sample", "judge")
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
    return call(name, *before, data, *EVERY[command], *options)


def refused(result, column, value):
    reported = f"audit: no {column} {value} in the records; they hold {HELD[column]}\n"
    return (result.exit_code, result.stdout, result.stderr) == (1, "", reported)


def test_a_name_that_no_record_has_is_an_error_that_lists_those_there_are(data):
    asked = [(command, column, "no\nsuch") for command in EVERY for column in ("env", "variant", "condition")]
    asked += [(command, "run", 7) for command in WITH_RUN]
    for command, column, value in asked:
        result = audit(command, data, f"--{column}", HELD[column].split(", ")[0], f"--{column}", value)
        assert refused(result, column, str(value).replace("\n", " ")), (command, result)
    assert {audit(command, data, "--run", 0).exit_code for command in WITH_RUN} == {2}


def test_names_that_no_run_has_together_give_an_empty_table_and_a_note(data):
    for command in OPTIONS:
        result = audit(command, data, "--env", "pong", "--variant", "threetraj", "--format", "json")
        assert (result.exit_code, json.loads(result.stdout)) == (0, []), command
        assert result.stderr.count("audit: no") == 1, command
        assert audit(command, data, "--env", "pong", "--variant", "threetraj").exit_code == 0, command


def test_names_and_numbers_of_runs_choose_rows(data):
    for command in ("revisions", "runs", "find"):
        every = json.loads(audit(command, data, "--format", "json").stdout)
        for wanted in ([1], [2], [1, 2]):
            options = [word for run in wanted for word in ("--run", run)]
            rows = json.loads(audit(command, data, "--format", "json", *options).stdout)
            assert {row["run"] for row in rows} == set(wanted)
            kept = [row for row in every if row["run"] in wanted]
            assert [{**row, "rank": 0} for row in rows] == [{**row, "rank": 0} for row in kept]
    both = json.loads(audit("summary", data, "--variant", "r2po", "--variant", "threetraj", "--format", "json").stdout)
    assert [row["variant"] for row in both] == ["threetraj", "r2po"]


def test_names_are_taken_as_tables_print_them(data):
    ids = ("--env", "cartpole", "--variant", "threetraj", "--condition", "hand")
    printed = ("--env", "CartPole", "--variant", "Three-Traj", "--condition", "Hand")
    for command in ("summary", "check", "patterns --wide", "find", "sensitivity"):
        rows = [json.loads(audit(command, data, *names, "--format", "json").stdout) for names in (ids, printed)]
        assert rows[0] == rows[1] != [], command
    for command, rollout in (("show", ()), ("replay", (0,))):
        results = [call(command, data, *names[1:4:2], 1, 0, *rollout) for names in (ids, printed)]
        assert results[0].stdout + results[0].stderr == results[1].stdout + results[1].stderr, command
    options = ("--columns", "Edit Distance,env", "--sort", "-Delta", "--format", "csv")
    assert audit("revisions", data, *options).stdout.splitlines()[0] == "edit_distance,env"
    assert audit("rates", data, "--columns", "regr. if citing %", "--format", "csv").stdout.startswith(
        "regressions_citing"
    )
    assert call("find", data, "--case", "Salience", "--format", "json").exit_code == 0
    assert call("patterns", data, "--set", "CartPole.High=2").exit_code == 0


def test_what_is_run_again_is_chosen_likewise(data):
    lines = audit("verify", data, "--run", 2).stdout
    assert "4 candidates of 1 run read" in lines


def test_the_place_of_a_revision_is_checked_likewise(data):
    places = {"env": ("nosuch", "threetraj", 1), "variant": ("pong", "nosuch", 1), "run": ("pong", "r2po", 7)}
    for column, place in places.items():
        for command, rollout in (("show", ()), ("replay", (0,))):
            value = 7 if column == "run" else "nosuch"
            assert refused(call(command, data, *place, 0, *rollout), column, value), (command, column)


def test_problems_are_told_beside_a_name_that_is_missing(tmp_path):
    write_run(tmp_path / "a", [revision([1, 5, 9], [2, 2, 2])], tail=b"garbage\n")
    result = call("summary", tmp_path, "--env", "pong")
    assert "no env pong" in result.stderr
    assert "episodes.jsonl:2: not JSON" in result.stderr
