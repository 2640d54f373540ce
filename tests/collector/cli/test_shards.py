"""`--shard` as users give it: shards that are copied together are the records of one process."""

from __future__ import annotations

import shutil
from itertools import product

import pytest

import collector.cli
import collector.grid.cli
from collector import run_folder
from collector.run_folder import RunFolder
from tests.collector.helpers import in_process, timeless

SMALL = ["--env", "nim", "--env", "frozenlake", "--variant", "threetraj", "--variant", "props"]
SIZE = ["--runs", "2", "--iterations", "2", "--rollouts", "3", "--warmup", "3"]
COMMANDS = {
    "collect": (collector.cli.main, ["--env", "nim", "--variant", "props"]),
    "paper": (collector.grid.cli.main, ["--part", "tau-off"]),
}


def collect(*arguments):
    return in_process(collector.cli.main, *arguments)


def test_shards_copied_together_are_the_records_of_one_process(tmp_path):
    assert collect(*SMALL, *SIZE, "--out", tmp_path / "whole", "--quiet").returncode == 0
    for number in (1, 2, 3):
        folder = tmp_path / str(number)
        result = collect(*SMALL, *SIZE, "--shard", f"{number}/3", "--out", folder, "--quiet")
        assert (result.returncode, result.stderr) == (0, "")
        shutil.copytree(folder, tmp_path / "merged", dirs_exist_ok=True)
    runs = [
        path.parent.relative_to(tmp_path / number) for number in "123" for path in (tmp_path / number).rglob("run.json")
    ]
    assert len(runs) == len(set(runs)), "shards share a run"
    assert timeless(tmp_path / "whole") == timeless(tmp_path / "merged")


@pytest.mark.slow
def test_shards_in_one_folder_and_a_later_sweep_without_any(tmp_path):
    sweep = [*SMALL, *SIZE, "--out", tmp_path]
    assert collect(*sweep, "--shard", "2/2").returncode == 0
    result = collect(*sweep, "--shard", "1/2")
    assert result.stderr.splitlines()[0] == "shard 1 of 2: 4 of 8 runs"
    assert "8 of 8 runs are complete already" in collect(*sweep).stderr


WRONG = ["0/3", "4/3", "a/b", "3", "", "1/0", "-1/3", "1/3/3", "1/3 ", "1.0/3", "٣/٣", "1/1000001", f"1/{'9' * 5000}"]
WRONG += ["1/2\x07", "\x1b[31m1/2\n", "1/\u202e2", "\udcff"]


def test_a_wrong_shard_is_a_line_that_acts_on_no_terminal(tmp_path):
    for (program, (main, arguments)), value in product(COMMANDS.items(), WRONG):
        result = in_process(main, *arguments, f"--shard={value}", "--out", tmp_path / "out")
        assert result.returncode == 2
        [line] = result.stderr.splitlines()
        assert line.startswith(f"{program}: Invalid value for '--shard': '")
        assert "is not I/N with I from 1 to N, such as 3/16; see " in line
        assert line.isprintable()
        assert not (tmp_path / "out").exists()


def test_the_plan_of_a_shard(tmp_path):
    result = collect(*SMALL, *SIZE, "--shard", "2/3", "--dry-run", "--out", tmp_path / "out")
    assert result.stderr == "shard 2 of 3: 3 of 8 runs\n"
    [total] = [line.split() for line in result.stdout.splitlines() if line.startswith("all")]
    assert total[1] == "3"
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("program", COMMANDS)
def test_an_empty_shard_ends_at_once(program, tmp_path):
    main, arguments = COMMANDS[program]
    arguments = [*arguments, "--runs", "1", "--iterations", "1", "--rollouts", "2", "--shard", "3000/3000"]
    for more in ([], ["--dry-run"]):
        result = in_process(main, *arguments, *more, "--out", tmp_path / program)
        assert result.returncode == 0
        [line] = (result.stdout + result.stderr).splitlines()
        assert line.startswith("shard 3000 of 3000: none of ")
    assert not list(tmp_path.rglob("run.json"))


@pytest.mark.slow
def test_shards_of_parts_are_those_of_the_whole_paper(tmp_path):
    """A shard that leaves a part out has the same runs of the others."""
    size = ["--runs", "2", "--iterations", "1", "--rollouts", "2", "--shard", "2/3"]
    both = ["--part", "tau-half", "--part", "tau-off"]
    for name, parts in (("both", both), ("one", both[:2])):
        result = in_process(collector.grid.cli.main, *size, *parts, "--out", tmp_path / name, "--quiet")
        assert result.returncode == 0, result.stderr
    found = {
        name: {path.parent.relative_to(tmp_path / name) for path in (tmp_path / name).rglob("run.json")}
        for name in ("both", "one")
    }
    assert found["one"] == {folder for folder in found["both"] if "tau-half" in folder.parts[0]}


@pytest.mark.slow
@pytest.mark.parametrize("error", ["ENOSYS", "ENOLCK", "EOPNOTSUPP"])
def test_a_file_system_without_locks(error, tmp_path, monkeypatch):
    """As NFS and Lustre may be mounted: shards share no run, so collecting goes on, and one line states the fact."""
    fcntl = pytest.importorskip("fcntl")
    code = getattr(run_folder.errno, error)

    def flock(*_):
        raise OSError(code, "no locks")

    monkeypatch.setattr(fcntl, "flock", flock)
    result = collect(*SMALL, *SIZE, "--shard", "1/2", "--out", tmp_path)
    assert result.returncode == 0, result.stderr
    assert result.stderr.count("the file system of the records keeps no locks") == 1
    with RunFolder(tmp_path / "x") as folder:
        assert len(folder.notes) == 1
    # What a killed process has left does not stand in the way.
    assert collect(*SMALL, *SIZE, "--shard", "1/2", "--out", tmp_path).returncode == 0
