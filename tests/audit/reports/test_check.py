"""`audit check` says of a command what the command does: the table of needs is held to the commands themselves."""

from __future__ import annotations

import csv
import io
import shutil
import tarfile
from pathlib import Path

import pytest
from typer.main import get_command

from audit.cli import app
from audit.reports.check.commands import COMMANDS
from tests.audit.calls import call, json_rows
from tests.audit.samples import THRESHOLDS, candidate, episode, revision, write_run

pytestmark = pytest.mark.usefixtures("opened_once")


def without(record, *fields):
    """A record of an imported log that does not say some things of its candidates."""
    for role in ("initial", "revised"):
        if record[role] is not None:
            record[role].update(dict.fromkeys(fields))
    return record


def nine(number):
    """A regression whose parameters CartPole can be run with."""
    before = [0.1] * 10
    answer = "The worst rollout fell." if number else "Nothing stands out in the worst one."
    return revision([1, 5, 9], [2, 2, 2], before=before, after=[0.5, *before[1:]], answer=answer, iteration=number)


def other(record, **changes):
    return {**record, **changes}


SHOWN = [
    {"label": label, "rollout": place, "return": 1.0 + 4 * place, "length": 10}
    for place, label in enumerate(("worst", "median", "best"))
]
IMPORTED = {"options": {"imported_from": ["log.csv"]}}
LITTLE = ("params", "returns", "lengths", "seeds", "ended", "answer", "out_of_range")

DATA = {
    "collected": ([nine(0), nine(1)], {}),
    "median shown": ([other(nine(0), variant="r2po", evidence={"kind": "median", "shown": []})], {}),
    "a rule": ([other(nine(0), variant="r2po", evidence={"kind": "median", "shown": []})], {"tau_c": 9.0}),
    "one call": ([episode(candidate([1, 2, 3], [0.1] * 10), variant="props", evidence=None)], {}),
    "two search calls": (
        [other(nine(0), variant="puresearch", evidence=None, revised=candidate([2, 2, 2], [0.1] * 10, answer="mine"))],
        {},
    ),
    "own task": ([other(nine(0), env="docking")], {"thresholds": THRESHOLDS}),
    "items shown": ([other(nine(0), evidence={"kind": "three", "shown": SHOWN})], {}),
    "no seeds": ([without(nine(0), "seeds")], IMPORTED),
    "no single returns": ([without(nine(0), "returns", "lengths", "seeds", "ended")], IMPORTED),
    "no parameters": ([without(nine(0), "params")], IMPORTED),
    "no answers": ([without(nine(0), "answer")], IMPORTED),
    "means alone": ([without(nine(0), *LITTLE)], IMPORTED),
    "means and answers": ([without(nine(0), *(name for name in LITTLE if name != "answer"))], IMPORTED),
}


HELD = (
    *("summary", "runs", "revisions", "show", "patterns", "agreement", "salience", "rates", "severity", "noise"),
    *("positions", "sensitivity", "rescore", "verify", "replay"),
)


@pytest.fixture(scope="module")
def every_case(tmp_path_factory):
    """All cases in one data set, a condition each: a command runs once for all of them."""
    root = tmp_path_factory.mktemp("cases")
    for number, (case, (records, run)) in enumerate(DATA.items()):
        write_run(root / f"run-{number:02d}", [{**record, "condition": case} for record in records], **run)
    return root


@pytest.fixture(scope="module")
def said(every_case):
    """What `audit check` says: by case and command, in the order printed."""
    rows = json_rows("check", every_case)
    return {(row["condition"], row["command"]): row for row in rows}


@pytest.fixture(scope="module")
def rows_given(every_case):
    """The rows of each command that prints rows, by case."""
    given = {}
    for command in set(HELD) - {"show", "replay", "verify"}:
        for row in json_rows(command, every_case, *(["--rollouts", 2] if command == "rescore" else [])):
            given.setdefault((row["condition"], command), []).append(row)
    return given


REASONS = {
    ("median shown", "salience"): "no critic saw worst, median and best rollout, or a batch of scored items",
    ("one call", "revisions"): "no revisions: no iteration has two candidates",
    ("two search calls", "judge"): "no critic's answers",
    ("own task", "replay"): "not one of the ten tasks (--task-module)",
    ("no seeds", "replay"): "no seeds",
    ("no single returns", "noise"): "no returns of single rollouts",
    ("no parameters", "rescore"): "no parameters",
    ("no answers", "judge"): "no critic's answers",
    ("collected", "calibrate"): "no truth.jsonl, which the simulated backend alone writes",
}


def does_something(command, case, folder, rows_given):
    """Whether a command gives a result on a case: rows, or for those that report one thing an exit status of 0."""
    [record, *_] = DATA[case][0]
    place = (record["env"], record["variant"], 1, 0)
    if command == "show":
        return call("show", folder, *place, "--condition", case).exit_code == 0
    if command == "replay":
        # The return is made up, so the rollout comes out otherwise: exit status 1 after the result.
        return call("replay", folder, *place, 0, "--condition", case, "--format", "json").stdout != ""
    if command == "verify":
        # These rollouts are made up and differ; with nothing to hold against anything, no candidate counts.
        return any(candidate["returns"] for candidate in (record["initial"], record["revised"]) if candidate)
    rows = rows_given.get((case, command), [])
    return any(row["tested"] for row in rows) if command == "noise" else rows != []


def test_what_is_said_of_a_command_is_what_it_does(every_case, said, rows_given):
    assert set(HELD) <= {*get_command(app).commands} & set(COMMANDS)
    for case in DATA:
        assert [command for condition, command in said if condition == case] == list(COMMANDS)
        does = {command: does_something(command, case, every_case, rows_given) for command in HELD}
        assert {command: said[case, command]["supported"] for command in HELD} == does, case
    assert all(row["supported"] or row["reason"] for row in said.values())
    assert {key: said[key]["reason"] for key in REASONS} == REASONS
    assert not any(said[key]["supported"] for key in REASONS)


@pytest.fixture(scope="module")
def mixed(tmp_path_factory):
    """Two methods of one task; half of one's revisions have no answer; a run with calls and truth, and one without."""
    root = tmp_path_factory.mktemp("mixed")
    write_run(root / "a", [nine(0), without(nine(1), "answer")], **IMPORTED)
    first = write_run(root / "b", [other(nine(0), variant="r2po", evidence={"kind": "median", "shown": []})])
    write_run(root / "c", [other(nine(0), variant="r2po", run=2, evidence={"kind": "median", "shown": []})])
    for name in ("calls.jsonl", "truth.jsonl"):
        (first / name).write_bytes(b"\xff never opened")
    return root


def test_facts_are_counts_and_a_part_is_said_to_be_one(mixed):
    wanted = {
        "r2po": {"source": "native", "runs": 2, "three": 0, "calls": 1, "truth": 1, "seeds": 4, "known_task": True},
        "threetraj": {"source": "imported", "runs": 1, "iterations": 2, "revisions": 2, "candidates": 4, "answers": 1},
    }
    rows = {row["variant"]: row for row in json_rows("check", mixed, "--facts")}
    assert {name: {key: rows[name][key] for key in of} for name, of in wanted.items()} == wanted
    assert list(rows) == list(wanted)
    said = {(row["variant"], row["command"]): (row["supported"], row["reason"]) for row in json_rows("check", mixed)}
    assert said["threetraj", "judge"] == (True, "answers in 1 of 2")
    assert said["r2po", "calibrate"] == (True, "truth in 1 of 2")


def test_the_table_for_people_merges_what_is_the_same(mixed):
    result = call("check", mixed)
    lines = [line.split() for line in result.stdout.splitlines()]
    assert ["salience", "no", "r2po", "no", "critic", "saw"] in [line[:6] for line in lines]
    assert ["runs", "yes", "all"] in lines
    assert ["CartPole", "ThreeTraj", *["all"] * 5, "1/2", "none", "all", "none", "none"] in lines
    assert ["CartPole", "R2PO", "native", "other", "2", "2", "2", "authors", "yes", "1/2", "1/2"] in lines
    assert call("check", mixed, "--variant", "r2po").stdout.count("threetraj") == 0


def test_every_format_has_the_same_rows(mixed):
    rows = json_rows("check", mixed)
    table = list(csv.DictReader(io.StringIO(call("check", mixed, "--format", "csv").stdout)))
    assert [row["reason"] or "" for row in rows] == [row["reason"] for row in table]
    assert len(call("check", mixed, "--format", "markdown").stdout.splitlines()) == len(rows) + 2
    assert call("check", mixed, "--format", "latex").stdout.count("\\\\\n") == len(rows) + 1


def test_archives_and_packs_are_checked_too(mixed, tmp_path):
    data, archive = shutil.copytree(mixed, tmp_path / "data"), tmp_path / "data.tar.gz"
    with tarfile.open(archive, "w:gz") as stream:
        stream.add(data, "data")
    assert call("pack", data).exit_code == 0
    folder, tar, pack = (
        json_rows("check", path, "--facts") for path in (data, archive, tmp_path / "data.pack.parquet")
    )
    assert tar == folder
    assert pack == [{**row, "calls": 0, "truth": 0} for row in folder]


def test_of_programs_it_is_said_that_there_is_no_worst_item():
    told = call("check", Path(__file__).resolve().parents[2] / "data" / "tools" / "openevolve").stderr
    assert "saw other candidates, not items of one: salience is not defined there" in told
