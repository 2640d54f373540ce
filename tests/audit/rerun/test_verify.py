"""`audit verify`: true records agree to the last bit, and whatever was changed in them is named."""

from __future__ import annotations

import csv
import io
import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from audit.cli import app
from audit.rerun.rollouts import load_tasks
from audit.rerun.verify import COLUMNS, draw
from collector.switches import Switches
from collector.tasks import TASKS
from tests.audit.samples import candidate, episode, write_run
from tests.audit.sources.released import critic_episode
from tests.collector.helpers import ScriptedModel, answer, collect, lines, spec

METHODS = ("threetraj", "r2po", "reptraj", "actorsecondpass", "props")
EXAMPLE = Path(__file__).resolve().parents[3] / "docs/examples/acrobot.py"


def verify(*arguments):
    return CliRunner().invoke(app, ["verify", *map(str, arguments)])


def rows(result):
    return json.loads(result.stdout)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A run of three iterations of four rollouts on FrozenLake, with three warm-up trials: 27 rollouts."""
    return collect(spec("frozenlake", "threetraj"), tmp_path_factory.mktemp("recorded"))


def tampered(recorded, folder, change):
    """A copy of the run whose records went through `change(run, episodes)`."""
    copy = Path(shutil.copytree(recorded, folder / "copy"))
    run, episodes = json.loads((copy / "run.json").read_text()), lines(copy / "episodes.jsonl")
    change(run, episodes)
    (copy / "run.json").write_text(json.dumps(run))
    (copy / "episodes.jsonl").write_text("".join(json.dumps(line) + "\n" for line in episodes))
    return copy


@pytest.mark.parametrize("place", range(len(TASKS)))
def test_what_the_collector_records_is_verified_to_the_last_bit(tmp_path, place):
    env, variant = list(TASKS)[place], METHODS[place % len(METHODS)]
    settings = {"iterations": 2, "rollouts": 2, "warmup": 2}
    if place % 2:
        settings["switches"] = Switches(action_clipping="released", step_cap=90)
    folder = collect(spec(env, variant, **settings), tmp_path)
    result = verify(tmp_path, "--all", "--format", "json")
    assert (result.exit_code, rows(result)) == (0, [])
    candidates = sum(1 + (line["revised"] is not None) for line in lines(folder / "episodes.jsonl"))
    assert f"{2 + 2 * candidates} rollouts run again, 0 differ" in result.stderr
    assert "skipped" not in result.stderr


def test_a_switch_is_a_part_of_the_task_that_a_rollout_is_run_again_on(tmp_path):
    folder = collect(spec("cartpole", "props", switches=Switches(step_cap=5)), tmp_path)
    assert {length for line in lines(folder / "episodes.jsonl") for length in line["initial"]["lengths"]} == {5}
    assert verify(folder, "--all").exit_code == 0
    changed = tampered(folder, tmp_path, lambda run, episodes: run["switches"].clear())
    assert verify(changed, "--all").exit_code == 1


def _set(path, value):
    """A change of one value; `path` leads to it from the list of episodes, or from the run with `run` first."""

    def change(run, episodes):
        *parents, last = path
        holder = run if parents[0] == "run" else episodes
        for parent in parents[parents[0] == "run" :]:
            holder = holder[parent]
        holder[last] = value(holder[last]) if callable(value) else value

    return change


OTHER_ENDING = {"terminated": "truncated", "truncated": "terminated"}


def other_return(value):
    return 1.0 - value


TAMPERED = {
    "a return": (_set((1, "initial", "returns", 2), other_return), 1, "initial", 2, "rollout", "return"),
    "a return by a bit": (_set((1, "initial", "returns", 2), lambda x: x + 2**-52), 1, "initial", 2, "rollout", "e-16"),
    "a length": (_set((2, "revised", "lengths", 0), lambda x: x + 1), 2, "revised", 0, "rollout", "length"),
    "an ending": (_set((0, "initial", "ended", 3), OTHER_ENDING.get), 0, "initial", 3, "rollout", "ended t"),
    "a seed": (_set((0, "initial", "seeds", 1), 4), 0, "initial", 1, "rollout", "replayed"),
    "a parameter": (_set((0, "initial", "params", 0), lambda x: (x + 2) % 4), 0, "initial", 0, "rollout", "replayed"),
    "an action that there is not": (
        _set((0, "initial", "params", 0), 9.0), 0, "initial", 0, "rollout", "cannot be run again",
    ),
    "a parameter too many": (
        _set((0, "revised", "params"), lambda x: [*x, 0.0]), 0, "revised", 0, "rollout", "17 parameters given",
    ),
    "a warm-up return": (_set(("run", "warmup", 1, "return"), other_return), None, "warm-up", 1, "rollout", "return"),
    "a mean": (_set((1, "revised", "mean_return"), lambda x: x + 1e-6), 1, "revised", None, "mean", "mean_return"),
    "the index shown": (
        _set((0, "evidence", "shown", 0, "rollout"), lambda x: (x + 1) % 4), 0, "initial", ..., "evidence", "worst",
    ),
    "an index beyond": (_set((0, "evidence", "shown", 1, "rollout"), 4), 0, "initial", 4, "evidence", "is rollout 4"),
    "the return shown": (_set((2, "evidence", "shown", 2, "return"), 0.5), 2, "initial", ..., "evidence", "return 0.5"),
    "the length shown": (_set((2, "evidence", "shown", 2, "length"), 777), 2, "initial", ..., "evidence", "length 777"),
}  # fmt: skip


@pytest.mark.parametrize("case", TAMPERED)
def test_whatever_was_changed_is_named(recorded, tmp_path, case):
    change, iteration, role, rollout, check, text = TAMPERED[case]
    result = verify(tampered(recorded, tmp_path, change), "--all", "--format", "json")
    assert result.exit_code == 1
    found = [row for row in rows(result) if row["check"] == check]
    assert {(row["iteration"], row["candidate"]) for row in found} == {(iteration, role)}
    assert rollout is ... or rollout in {row["rollout"] for row in found}
    assert any(text in row["difference"] for row in found)
    assert all(tuple(row) == COLUMNS for row in found)


def test_statistics_shown_are_computed_again(tmp_path):
    folder = collect(spec("frozenlake", "r2po"), tmp_path)
    changed = tampered(folder, tmp_path, _set((1, "evidence", "statistics", "successes"), lambda x: x + 1))
    [row] = rows(verify(changed, "--all", "--format", "json"))
    assert (row["iteration"], row["check"], row["rollout"]) == (1, "evidence", None)
    assert "statistics" in row["difference"]


def test_versions_are_told_once_where_something_differs(recorded, tmp_path):
    def change(run, episodes):
        run["versions"]["gymnasium"] = "0.1"
        for line in episodes:
            line["initial"]["lengths"] = [length + 1 for length in line["initial"]["lengths"]]

    changed = tampered(recorded, tmp_path, change)
    assert verify(changed, "--all").stderr.count("gymnasium 0.1, here") == 1
    (tmp_path / "same").mkdir()
    same = tampered(recorded, tmp_path / "same", _set(("run", "versions", "gymnasium"), "0.1"))
    assert "0.1" not in verify(same, "--all").stderr


def test_many_rollouts_in_several_processes_are_verified_alike(tmp_path):
    folder = collect(spec("frozenlake", "props", iterations=2, rollouts=250, warmup=1), tmp_path)
    assert "501 rollouts run again, 0 differ" in verify(folder, "--all").stdout
    changed = tampered(folder, tmp_path, _set((1, "initial", "returns", 249), other_return))
    [row] = [row for row in rows(verify(changed, "--all", "--format", "json")) if row["check"] == "rollout"]
    assert (row["iteration"], row["rollout"]) == (1, 249)


@pytest.mark.parametrize(
    ("sizes", "sample", "shares"),
    [
        ((10, 10, 10), 6, [2, 2, 2]),
        ((10, 10, 10), 8, [2, 3, 3]),
        ((1, 10, 10), 9, [1, 4, 4]),
        ((1, 2, 3), 99, [1, 2, 3]),
        ((9, 9, 9), 1, [0, 0, 1]),
        ((0, 5), 4, [0, 4]),
    ],
)
def test_a_sample_is_drawn_evenly_over_runs(sizes, sample, shares):
    runs = {("c", "env", "method", number): size for number, size in enumerate(sizes, start=1)}
    drawn = draw(runs, sample, seed=3)
    assert sorted(len(places) for places in drawn.values()) == shares
    assert all(place in range(runs[run]) for run, places in drawn.items() for place in places)
    assert drawn == draw(dict(reversed(runs.items())), sample, seed=3)
    assert sample >= sum(sizes) or any(draw(runs, sample, seed=seed) != drawn for seed in range(9))


def test_a_sample_is_of_the_size_asked_for_and_repeats(recorded, tmp_path):
    changed = tampered(
        recorded, tmp_path, lambda _, episodes: [line["initial"].update(lengths=[999] * 4) for line in episodes]
    )
    [first, again, other] = [verify(changed, "--sample", 9, "--seed", seed, "--format", "json") for seed in (1, 1, 2)]
    assert "9 rollouts run again" in first.stderr
    assert first.stdout == again.stdout
    places = [{(row["iteration"], row["rollout"]) for row in rows(result)} for result in (first, other)]
    assert places[0] != places[1]


def test_what_cannot_be_run_again_is_counted_and_named(tmp_path):
    """Released logs, native records without seeds, a baseline, a task that nobody knows: a reason for each."""
    critic_episode(tmp_path / "cartpole_three_traj" / "run_1", 0, [1.0, 5.0, 9.0], [2.0, 2.0, 2.0])
    write_run(tmp_path / "seedless", [episode(candidate([1, 2, 3], seeds=None), variant="props", evidence=None)])
    write_run(tmp_path / "baseline", [episode(candidate([1, 2]), variant="sb3-ppo", evidence=None)])
    thresholds = {"partial": 1, "high": 2, "near_zero": 1, "meaningful": 1}
    thresholds |= {"surgical_max": 1, "redesign_min": 1, "multi_state_min": 1}
    write_run(
        tmp_path / "unknown",
        [episode(candidate([1.0]), env="chess", variant="props", evidence=None)],
        thresholds=thresholds,
        warmup=[{"params": [1.0], "return": 1.0, "seed": 2}],
    )
    result = verify(tmp_path, "--all")
    assert result.exit_code == 0
    said = " ".join(result.stdout.split())
    assert "0 rollouts run again" in said
    assert "9 rollouts skipped, no seeds are recorded: hand cartpole props, released cartpole threetraj." in said
    assert "2 rollouts skipped, a baseline's policy is a network" in said
    assert "hand cartpole sb3-ppo" in said
    assert "2 rollouts skipped, task chess is not known here" in said
    assert "no rollout could be run again" in result.stderr


def test_a_mean_is_checked_even_where_nothing_can_be_run_again(tmp_path):
    write_run(tmp_path, [episode(candidate([1, 2, 3], seeds=None, mean_return=2.5), variant="props", evidence=None)])
    result = verify(tmp_path, "--format", "json")
    assert (result.exit_code, [row["check"] for row in rows(result)]) == (1, ["mean"])


BAD_LINES = {
    "torn": (b'{"condition": "simul', "torn"),
    "not a record": (b'{"role": "critic"}\n', "condition is missing"),
    "of another run": (json.dumps(episode(candidate([1] * 4))).encode() + b"\n", "another run"),
}


@pytest.mark.parametrize("case", BAD_LINES)
def test_an_unreadable_line_is_named_or_refused_but_never_passed_over(recorded, tmp_path, case):
    line, text = BAD_LINES[case]
    copy = Path(shutil.copytree(recorded, tmp_path / "copy"))
    with (copy / "episodes.jsonl").open("ab") as stream:
        stream.write(line)
    result = verify(copy, "--all")
    assert (result.exit_code, result.stderr.count("episodes.jsonl:4")) == (0, 1)
    assert text in result.stderr
    assert verify(copy, "--all", "--strict").exit_code == 1


def test_a_rollout_that_was_taken_out_is_noticed(recorded, tmp_path):
    def change(_, episodes):
        for name in ("returns", "lengths", "seeds", "ended"):
            episodes[0]["initial"][name].pop()

    result = verify(tampered(recorded, tmp_path, change), "--all", "--strict")
    assert result.exit_code == 1
    assert "initial has 3 returns where the run has 4 rollouts" in result.stderr


def test_every_format_says_the_same(recorded, tmp_path):
    before = lines(recorded / "episodes.jsonl")[1]["initial"]
    changed = tampered(recorded, tmp_path, _set((1, "initial", "lengths", 2), 99))
    [row] = [row for row in rows(verify(changed, "--all", "--format", "json")) if row["check"] == "rollout"]
    assert (row["recorded_length"], row["replayed_length"]) == (99, before["lengths"][2])
    assert row["recorded_return"] == row["replayed_return"] == before["returns"][2]
    assert row["recorded_ended"] == row["replayed_ended"] == before["ended"][2]
    [written] = [
        line
        for line in csv.DictReader(io.StringIO(verify(changed, "--all", "--format", "csv").stdout))
        if line["check"] == "rollout"
    ]
    assert {key: str(value) for key, value in row.items()} == written
    for output in ("markdown", "latex"):
        assert "length 99 recorded" in verify(changed, "--all", "--format", output).stdout
    table = verify(changed, "--all")
    assert "1 differ" in table.stdout
    assert "length 99 recorded" in " ".join(table.stdout.split())


def test_a_task_of_the_users_own_is_verified_with_its_module(tmp_path):
    known = dict(TASKS)
    try:
        load_tasks([EXAMPLE])
        model = ScriptedModel(*[answer([1.0] * 21)] * 2)
        collect(spec("acrobot", "props", model=model, iterations=2, rollouts=2, warmup=1), tmp_path, model)
        TASKS.clear()
        TASKS.update(known)
        assert "5 rollouts skipped, task acrobot is not known here" in " ".join(verify(tmp_path).stdout.split())
        assert "5 rollouts run again, 0 differ" in verify(tmp_path, "--task-module", EXAMPLE).stdout
    finally:
        TASKS.clear()
        TASKS.update(known)


def test_counts_of_all_candidates_and_runs(recorded, tmp_path):
    other = collect(spec("maze", "props", iterations=1), tmp_path)
    said = verify(recorded, other, "--all").stdout
    assert "7 candidates of 2 runs read" in " ".join(said.split())
    assert "27 rollouts" in verify(recorded, other, "--all", "--env", "frozenlake").stdout
