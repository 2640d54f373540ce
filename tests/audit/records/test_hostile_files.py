"""Files that are broken, huge or made to mislead: named or counted, never executed, never slow beyond linear."""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from audit.cli import app
from audit.sources.r2po_rollouts import FormatError, read_log, read_outcome, read_params, read_rollouts
from audit.store import open_store
from tests.audit.samples import THRESHOLDS, revision, write_run
from tests.audit.sources.released import critic_episode, log, rollout_file
from tests.irregular import impatiently

MEGA = 2**20
NOT_A_NAME = os.fsdecode(b"\xff\x1b[31m")


def details(path, **options):
    with open_store([path], **options) as store:
        return store.rows("revisions"), [str(problem) for problem in store.problems], store.notes


@pytest.fixture
def released(tmp_path):
    """A run of the released layout with two sound iterations, and the folder of the second."""
    run = tmp_path / "pong_three_traj" / "run_1"
    critic_episode(run, 0, [1.0, 2.0], [0.0, 0.0])
    return run, critic_episode(run, 1, [1.0, 2.0], [0.0, 0.0])


def rewrite(path, change):
    path.write_bytes(change(path.read_bytes()))


def test_windows_line_ends_change_nothing(released, tmp_path):
    run, _ = released
    log(run, [1.5, 1.5])
    before = details(run)
    for path in run.rglob("*.txt"):
        rewrite(path, lambda content: content.replace(b"\n", b"\r\n"))
    assert details(run) == before
    folder = write_run(tmp_path / "native", [revision([1, 5, 9], [2, 2, 2], iteration=number) for number in (0, 1)])
    before = details(folder)
    rewrite(folder / "episodes.jsonl", lambda content: content.replace(b"\n", b"\r\n"))
    rewrite(folder / "run.json", lambda content: content.replace(b", ", b",\r\n"))
    assert details(folder) == before


def test_bytes_that_are_no_text_in_a_released_answer_are_told_and_the_answer_is_read(released):
    run, folder = released
    rewrite(folder / "parameters_reasoning.txt", lambda content: content + b"\xff\xfe\n")
    rows, problems, notes = details(run)
    assert [row["references_worst"] for row in rows] == [True, True]
    assert problems == []
    [note] = notes
    assert f"1 file of answers, the first {folder / 'parameters_reasoning.txt'}" in note


@pytest.mark.skipif(sys.platform == "darwin", reason="its file names are UTF-8")
def test_folder_names_that_are_no_text_are_named(tmp_path):
    write_run(tmp_path / "good", [revision([1, 5, 9], [2, 2, 2])])
    write_run(tmp_path / NOT_A_NAME, [revision([1, 5, 9], [2, 2, 2], run=2)])
    critic_episode(tmp_path / NOT_A_NAME / "pong_three_traj" / "run_1", 0, [1.0], [2.0])
    rows, problems, _ = details(tmp_path)
    assert len(rows) == 1
    assert len(problems) == 6
    assert all("/\\udcff\\x1b[31m/" in each and "is not UTF-8; rename it" in each for each in problems)


def test_numbers_of_runs_and_iterations_beyond_counting_are_named(released):
    run, folder = released
    for digits in (30, 200):
        critic_episode(run.with_name("run_" + "9" * digits), 0, [1.0], [2.0])
    folder.rename(run / f"episode_{'9' * 30}")
    (run / "overall_log.txt").write_text(f"header\n{'9' * 30}, 0, 0, 0, 0, 2.0\n{'9' * 5000}, 0, 0, 0, 0, 2.0\n")
    rows, problems, _ = details(run.parent)
    assert len(rows) == 1
    assert len(problems) == 8  # two runs, four files of the iteration, two lines of the log
    assert sum(each.endswith("9: the number of the run is too large; left out") for each in problems) == 2
    assert sum("overall_log.txt" in each for each in problems) == 2


def test_two_runs_of_one_identity_count_once_with_their_own_logs(tmp_path):
    """The second folder's copy of an iteration is named; what its log says is said of its own iterations."""
    for name, iterations, logged in (("a", 2, 10.0), ("b", 3, 20.0)):
        run = tmp_path / name / "pong_three_traj" / "run_1"
        for iteration in range(iterations):
            critic_episode(run, iteration, [1.0], [2.0])
        log(run, [logged] * iterations)
    with open_store([tmp_path]) as store:
        kept = {row["iteration"]: row["kept_return"] for row in store.rows("iterations")}
        problems = [str(problem) for problem in store.problems]
    assert kept == {0: 10.0, 1: 10.0, 2: 20.0}
    assert [("/b/" in each, "is in an earlier line too" in each) for each in problems] == [(True, True)] * 2


def test_a_prompt_may_be_of_any_length_and_an_answer_of_16_mib(released):
    run, folder = released
    bomb = b"The worst rollout, (((( {{{{ not not not 1.1.1.1 " * (17 * MEGA // 48)
    path = folder / "parameters_reasoning.txt"
    sound = path.read_bytes()
    path.write_bytes(bomb + b"\n" + sound)
    rows, problems, _ = details(run, detector="resolved")
    assert ([row["iteration"] for row in rows], problems) == ([0, 1], [])
    path.write_bytes(sound + bomb)
    rows, problems, _ = details(run)
    assert [row["iteration"] for row in rows] == [0]
    assert problems == [f"{folder}: the iteration's answers are longer than 16 MiB; left out"]


LONG = 5_000_000
"""So long that anything quadratic in it would take hours."""
BOMBS = {
    "blanks behind a total": (read_rollouts, b"Total reward: 1" + b" " * LONG + b"x\n"),
    "blank lines behind a total": (read_rollouts, b"Total reward: 1\n" + b"\n" * LONG),
    "many totals": (read_rollouts, b"Total reward: \n" * (LONG // 15)),
    "a number of many digits": (read_rollouts, rollout_file([1]).replace("1.0", "1" * 100_000, 1).encode()),
    "many parameter lines": (read_rollouts, b"1\nparameter ends\n" * (LONG // 17) + b"Total reward: 1\n"),
    "many equals signs": (read_outcome, b"=" * LONG),
    "many commas": (read_log, b"header\n" + b"," * LONG),
    "blanks behind a parameter": (read_params, "params[0]:" + " " * LONG),
    "a parameter of many digits": (read_params, "params[" + "9" * LONG + "]: 1"),
    "a value of many digits": (read_params, "params[0]: " + "9" * LONG),
    "many parameters": (read_params, "params[0]: " * (LONG // 11)),
    "many beginnings": (read_params, "params[" * (LONG // 7)),
}


@pytest.mark.parametrize("case", BOMBS)
def test_no_file_takes_longer_than_its_length_warrants(case):
    read, content = BOMBS[case]
    with impatiently(), contextlib.suppress(FormatError):
        read(content)


@pytest.mark.parametrize("detector", ["word", "phrase", "resolved"])
def test_bombs_for_regular_expressions_are_read_by_every_detector(tmp_path, detector):
    texts = [
        "worst" + " " * 200_000 + "x",
        "worst " * 40_000,
        "(" * 200_000 + "a+)+$",
        "a" * 200_000 + "!",
        "\\" * 99_999,
    ]
    write_run(tmp_path, [revision([1, 5, 9], [0, 0, 0], answer=text, iteration=n) for n, text in enumerate(texts)])
    rows, problems, _ = details(tmp_path, detector=detector)
    assert problems == []
    assert [row["references_worst"] for row in rows][2:] == [False, False, False]


SQL = "x'; drop table episodes; select getvariable('run_file') --"


def test_sql_in_names_filters_and_paths_is_text(tmp_path):
    folder = tmp_path / SQL
    write_run(folder, [revision([1, 5, 9], [2, 2, 2], condition=SQL, env=SQL, answer=SQL)], thresholds=THRESHOLDS)
    for command in ("summary", "revisions", "rates"):
        result = CliRunner().invoke(app, [command, str(folder), "--format", "json", "--condition", SQL, "--env", SQL])
        assert result.exit_code == 0
        assert {row["condition"] for row in json.loads(result.stdout)} <= {SQL}
    assert CliRunner().invoke(app, ["show", str(folder), SQL, "threetraj", "1", "0"]).exit_code == 0


def test_a_folder_that_may_only_be_read_is_left_as_it_is(tmp_path):
    run = tmp_path / "data" / "pong_three_traj" / "run_1"
    critic_episode(run, 0, [1.0], [2.0])
    write_run(tmp_path / "data" / "native", [revision([1, 5, 9], [2, 2, 2])], tail=b"garbage\n")
    paths = [tmp_path / "data", *sorted((tmp_path / "data").rglob("*"))]
    expected = details(tmp_path / "data")
    for path in reversed(paths):
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        before = {path: path.stat().st_mtime_ns for path in paths}
        assert details(tmp_path / "data") == expected
        assert {path: path.stat().st_mtime_ns for path in [paths[0], *Path(paths[0]).rglob("*")]} == before
    finally:
        for path in paths:
            path.chmod(0o755)


def test_an_unfinished_run_counts_with_what_it_has_finished(tmp_path):
    run = tmp_path / "pong_three_traj" / "run_1"
    critic_episode(run, 0, [1.0], [2.0])
    (critic_episode(run, 1, [1.0], [2.0]) / "reflection_outcome.txt").unlink()
    (run / "episode_2").mkdir()
    result = CliRunner().invoke(app, ["runs", str(tmp_path), "--format", "json"])
    assert [row["iterations"] for row in json.loads(result.stdout)] == [1]
    assert re.search("1 problem in the records.*incomplete", result.stderr, re.DOTALL)
