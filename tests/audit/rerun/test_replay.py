"""`audit replay`: the steps of a recorded rollout, as they were."""

from __future__ import annotations

import csv
import io
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from audit.cli import app
from tests.audit.samples import candidate, episode, write_run
from tests.audit.sources.released import critic_episode
from tests.collector.helpers import collect, lines, spec

ENVS = {
    "frozenlake": ["state", "action"],
    "pong": ["paddle centre y", "ball x", "ball y", "ball vx", "ball vy", "action"],
    "mountaincarcontinuous": ["position", "velocity", "force"],
    "invertedpendulum": None,
}


def replay(*arguments):
    return CliRunner().invoke(app, ["replay", *map(str, arguments)])


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    root = tmp_path_factory.mktemp("data")
    for env in ENVS:
        collect(spec(env, "threetraj", iterations=2, rollouts=2, warmup=1), root)
    return root


def steps_of(data, env, place=0):
    return json.loads(replay(data, env, "threetraj", 1, 0, place, "--format", "json").stdout)


def records(data, env):
    [path] = data.rglob(f"{env}/*/*/episodes.jsonl")
    return lines(path)


def copied(data, folder, change):
    """A copy of the records in which every FrozenLake iteration went through `change`."""
    root = Path(shutil.copytree(data, folder / "copy"))
    [path] = root.rglob("frozenlake/*/*/episodes.jsonl")
    episodes = lines(path)
    for line in episodes:
        change(line)
    path.write_text("".join(json.dumps(line) + "\n" for line in episodes))
    return root


@pytest.mark.parametrize("env", ENVS)
@pytest.mark.parametrize("role", ["initial", "revised"])
def test_the_steps_add_up_to_what_is_recorded(data, env, role):
    options = ["--revised"] if role == "revised" else []
    result = replay(data, env, "threetraj", 1, 1, 1, *options, "--format", "json")
    assert (result.exit_code, result.stderr) == (0, "")
    told, recorded = json.loads(result.stdout), records(data, env)[1][role]
    total = 0.0
    for step in told["steps"]:
        total += step["reward"]
    assert total == told["return"] == told["recorded_return"] == recorded["returns"][1]
    assert len(told["steps"]) == told["length"] == told["recorded_length"] == recorded["lengths"][1]
    assert told["ended"] == told["recorded_ended"] == recorded["ended"][1]
    assert (told["seed"], told["params"], told["agrees"]) == (recorded["seeds"][1], recorded["params"], True)
    assert (told["candidate"], told["iteration"], told["rollout"]) == (role, 1, 1)
    assert [step["step"] for step in told["steps"]] == list(range(told["length"]))


def test_actions_are_the_policys_and_observations_what_follows_from_them(data):
    """In Pong the paddle moves by 5 as the action says, and stays on the field."""
    told = steps_of(data, "pong")
    matrix = np.array(told["params"]).reshape(6, 3)
    for step in told["steps"]:
        outputs = np.array(step["observation"]) @ matrix[:5] + matrix[5]
        assert outputs[step["action"]] == pytest.approx(outputs.max())
    paddles = [step["observation"][0] for step in told["steps"]] + [told["last_observation"][0]]
    for step, before, after in zip(told["steps"], paddles, paddles[1:], strict=False):
        assert after == np.clip(before + {0: -5, 1: 5, 2: 0}[step["action"]], 40, 560)
    table = steps_of(data, "frozenlake")
    assert all(step["action"] == table["params"][step["observation"]] for step in table["steps"])


@pytest.mark.parametrize("env", [env for env, columns in ENVS.items() if columns])
def test_csv_has_a_line_per_step_and_a_column_per_number(data, env):
    told = steps_of(data, env)
    table = list(csv.DictReader(io.StringIO(replay(data, env, "threetraj", 1, 0, 0, "--format", "csv").stdout)))
    assert list(table[0]) == ["step", *ENVS[env], "reward", "ended"]
    assert len(table) == told["length"]
    first = ENVS[env][0]
    for line, step in zip(table, told["steps"], strict=True):
        assert float(line["reward"]) == step["reward"]
        assert float(line[first]) == np.atleast_1d(step["observation"])[0]
    assert [line["ended"] for line in table] == [""] * (len(table) - 1) + [told["ended"]]


def test_the_table_for_people_names_observations_and_actions(data):
    told = steps_of(data, "pong", 1)
    text = replay(data, "pong", "threetraj", 1, 0, 1).stdout
    head, rows = text.split("------", 1)[0], text.splitlines()
    for word in ("paddle", "centre", "ball", "vx", "action", "reward", "initial candidate, rollout 1"):
        assert word in head
    body = [line.split() for line in rows if line.split()[:1] and line.split()[0].isdigit()]
    names = ("up", "down", "stay")
    assert [line[-2] for line in body] == [names[step["action"]] for step in told["steps"]]
    assert rows[-1] == f"{told['ended']} after {told['length']} steps with return {told['return']}"


def test_a_file_holds_what_would_be_printed_and_is_overwritten_only_by_force(data, tmp_path):
    given = (data, "frozenlake", "threetraj", 1, 0, 0)
    for output in ("json", "csv"):
        for named in (True, False):
            file = tmp_path / f"steps-{named}.{output}"
            result = replay(*given, "--out", file, *(["--format", output] if named else []))
            assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")
            assert file.read_text() == replay(*given, "--format", output).stdout
    file.write_text("mine")
    result = replay(*given, "--out", file)
    assert (result.exit_code, file.read_text()) == (2, "mine")
    assert "--force" in result.stderr
    assert replay(*given, "--out", file, "--force").exit_code == 0
    assert file.read_text().startswith("step,state,action,reward")


@pytest.mark.parametrize("field", ["returns", "lengths"])
def test_a_replay_that_differs_is_told_with_the_versions_and_exits_with_1(data, tmp_path, field):
    def change(line):
        line["initial"][field][1] += 3

    result = replay(copied(data, tmp_path, change), "frozenlake", "threetraj", 1, 0, 1, "--format", "json")
    told, before = json.loads(result.stdout), records(data, "frozenlake")[0]["initial"][field][1]
    assert (result.exit_code, told["agrees"]) == (1, False)
    assert f"{field.removesuffix('s')} {before + 3} recorded, {before} replayed" in result.stderr
    assert "recorded with the versions that are installed here" in result.stderr


def test_versions_that_differ_are_named(data, tmp_path):
    root = copied(data, tmp_path, lambda line: line["initial"]["lengths"].__setitem__(0, 999))
    [path] = root.rglob("frozenlake/*/*/run.json")
    run = json.loads(path.read_text())
    run["versions"]["numpy"] = "1.0"
    path.write_text(json.dumps(run))
    [line] = replay(root, "frozenlake", "threetraj", 1, 0, 0).stderr.splitlines()
    assert f"numpy 1.0, here {np.__version__}" in line


NOT_THERE = (
    (["frozenlake", "threetraj", 1, 9, 0], 2, "no iteration 9"),
    (["frozenlake", "threetraj", 1, 0, 2], 2, "the candidate has rollouts 0 to 1"),
    (["frozenlake", "threetraj", 1, 0, "--", -1], 2, "ROLLOUT"),
    (["frozenlake", "threetraj", 2, 0, 0], 1, "no run 2 in the records; they hold 1"),
    (["frozenlake", "threetraj", 1, 0, 0, "--condition", "x"], 1, "no condition x in the records"),
    (["frozenlake", "threetraj", 1, 0, 0, "--out", "a.txt"], 2, "--format json or csv"),
    (["frozenlake", "threetraj", 1, 0, 0, "--task-module", "none.py"], 2, "none.py"),
)


def test_what_is_not_there_is_told_in_words(data):
    for arguments, status, text in NOT_THERE:
        result = replay(data, *arguments)
        assert (result.exit_code, result.stdout) == (status, ""), arguments
        assert text in result.stderr
        assert "Traceback" not in result.stderr


def test_the_condition_is_asked_for_where_several_match(data, tmp_path):
    settings = {"iterations": 1, "rollouts": 2, "warmup": 1}
    collect(spec("frozenlake", "threetraj", condition="other", **settings), tmp_path)
    shutil.copytree(data, tmp_path / "more")
    result = replay(tmp_path, "frozenlake", "threetraj", 1, 0, 0)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "choose one with --condition: other, simulated-salient" in result.stderr
    assert replay(tmp_path, "frozenlake", "threetraj", 1, 0, 0, "--condition", "other").exit_code == 0


CANNOT = (
    ("released", "cartpole", "threetraj", "no seeds are recorded"),
    ("seedless", "cartpole", "props", "no seeds are recorded"),
    ("baseline", "cartpole", "sb3-ppo", "a baseline's policy is a network"),
    ("misfit", "maze", "props", "3 parameters given, 9 needed"),
)


def test_what_cannot_be_run_again_is_said_in_one_line(tmp_path):
    critic_episode(tmp_path / "released" / "cartpole_three_traj" / "run_1", 0, [1.0, 5.0], [2.0, 2.0])
    write_run(tmp_path / "seedless", [episode(candidate([1, 2], seeds=None), variant="props", evidence=None)])
    write_run(tmp_path / "baseline", [episode(candidate([1, 2]), variant="sb3-ppo", evidence=None)])
    write_run(tmp_path / "misfit", [episode(candidate([1, 2]), env="maze", variant="props", evidence=None)])
    for folder, env, variant, reason in CANNOT:
        result = replay(tmp_path / folder, env, variant, 1, 0, 0)
        assert (result.exit_code, result.stdout) == (1, "")
        [line] = result.stderr.splitlines()
        assert line.startswith("audit: the rollout cannot be run again: ")
        assert reason in line
    result = replay(tmp_path / "seedless", "cartpole", "props", 1, 0, 0, "--revised")
    assert (result.exit_code, result.stderr) == (1, "audit: iteration 0 has no revised candidate\n")
