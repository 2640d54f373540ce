"""Files that are broken, huge or made to mislead: named or counted, never executed, never slow beyond linear."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import sys
import tarfile
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


def test_bytes_that_are_no_text_in_a_run_json_are_named(tmp_path):
    write_run(tmp_path / "good", [revision([1, 5, 9], [2, 2, 2])])
    bad = write_run(tmp_path / "bad", [revision([1, 5, 9], [2, 2, 2], condition="HERE")])
    rewrite(bad / "run.json", lambda content: content.replace(b"HERE", b"\xff\xfe"))
    rows, [problem], _ = details(tmp_path)
    assert len(rows) == 1
    assert problem.startswith(f"{bad / 'run.json'}:1: ")


@pytest.mark.skipif(sys.platform == "darwin", reason="its file names are UTF-8")
def test_folder_names_that_are_no_text_are_named(tmp_path):
    write_run(tmp_path / "good", [revision([1, 5, 9], [2, 2, 2])])
    write_run(tmp_path / NOT_A_NAME, [revision([1, 5, 9], [2, 2, 2], run=2)])
    critic_episode(tmp_path / NOT_A_NAME / "pong_three_traj" / "run_1", 0, [1.0], [2.0])
    rows, problems, _ = details(tmp_path)
    assert len(rows) == 1
    assert len(problems) == 6
    assert all("/\\udcff\\x1b[31m/" in each and "is not UTF-8; rename it" in each for each in problems)


TOO_LARGE = {
    "run": {"run": 10**30},
    "iterations": {"iterations": 10**30},
    "rollouts": {"rollouts": 10**30},
    "seed": {"seed": 10**60},
    "threshold": {"thresholds": {**THRESHOLDS, "surgical_max": 10**30}},
}


def test_a_number_beyond_counting_spoils_its_run_alone(tmp_path):
    write_run(tmp_path / "good", [revision([1, 5, 9], [2, 2, 2])])
    for run, (case, changes) in enumerate(TOO_LARGE.items(), start=2):
        write_run(tmp_path / case, [revision([1, 5, 9], [2, 2, 2], run=run)], **changes)
    rows, problems, _ = details(tmp_path)
    assert [row["run"] for row in rows] == [1]
    assert sorted(problems) == [
        f"{tmp_path / case / 'run.json'}:1: a number in it is too large; the run is left out"
        for case in sorted(TOO_LARGE)
    ]


def test_run_numbers_beyond_counting_are_named(released):
    run, _ = released
    names = ["run_" + "9" * 30, "run_" + "9" * 200]
    for name in names:
        critic_episode(run.with_name(name), 0, [1.0], [2.0])
    rows, problems, _ = details(run.parent)
    assert len(rows) == 2
    assert len(problems) == 2
    for name, problem in zip(names, problems, strict=True):
        assert problem.endswith(f"{name}: the number of the run is too large; left out")


def test_iteration_numbers_beyond_counting_are_named(released):
    run, folder = released
    folder.rename(run / f"episode_{'9' * 30}")
    (run / "overall_log.txt").write_text(f"header\n{'9' * 30}, 0, 0, 0, 0, 2.0\n{'9' * 5000}, 0, 0, 0, 0, 2.0\n")
    rows, problems, _ = details(run)
    assert len(rows) == 1
    assert len(problems) == 6  # four files of the iteration, two lines of the log
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


def test_an_answer_too_long_to_be_read_spoils_its_iteration_alone(released):
    run, folder = released
    rewrite(folder / "parameters_reasoning.txt", lambda content: content + b"x" * (16 * MEGA))
    rows, [problem], _ = details(run)
    assert [row["iteration"] for row in rows] == [0]
    assert problem == f"{folder}: the iteration's answers are longer than 16 MiB; left out"


@pytest.mark.slow
@pytest.mark.parametrize("place", ["the critic's answer", "a prompt"])
def test_a_reasoning_file_of_20_mb_is_read(released, place):
    """A prompt is not kept, however long; an answer beyond all reason is named."""
    run, folder = released
    bomb = b"The worst rollout, (((( {{{{ not not not 1.1.1.1 " * (20 * MEGA // 48)
    in_prompt = place == "a prompt"
    rewrite(folder / "parameters_reasoning.txt", lambda text: bomb + b"\n" + text if in_prompt else text + bomb)
    result = CliRunner().invoke(app, ["salience", str(run), "--detector", "resolved", "--format", "json"])
    assert result.exit_code == 0
    [row] = json.loads(result.stdout)
    assert row["revisions"] == (2 if in_prompt else 1)
    assert ("longer than 16 MiB" in result.stderr) is not in_prompt


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


ENOUGH = 60
"""Seconds of this process's own work, however busy the machine: twenty times and more what linear reading takes."""


@pytest.fixture
def patience():
    """Ends what a test does once it has worked for so long that the reader cannot be linear."""

    def give_up(number, frame):
        pytest.fail(f"still at it after {ENOUGH} s")

    before = signal.signal(signal.SIGVTALRM, give_up)
    signal.setitimer(signal.ITIMER_VIRTUAL, ENOUGH)
    yield
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    signal.signal(signal.SIGVTALRM, before)


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("case", BOMBS)
def test_no_file_takes_longer_than_its_length_warrants(case):
    read, content = BOMBS[case]
    ended = False
    with impatiently():
        with contextlib.suppress(FormatError):
            read(content)
        ended = True
    assert ended


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


def test_wildcards_in_folder_names_are_names(tmp_path):
    """Beside each folder there is another that its name would match."""
    names = ("*", "[ab]", "?", "{a,b}", "**")
    for run, place in enumerate(range(len(names)), start=2):
        write_run(tmp_path.joinpath(*names[:place], "a", *names[place + 1 :]), [revision([1, 5], [2, 2], run=run)])
    folder = tmp_path.joinpath(*names)
    write_run(folder, [revision([1, 5, 9], [2, 2, 2])])
    rows, problems, _ = details(folder)
    assert problems == []
    assert [row["run"] for row in rows] == [1]
    packed = CliRunner().invoke(app, ["pack", str(folder)])
    assert packed.exit_code == 0, packed.stderr
    assert details(f"{folder}.pack.parquet") == (rows, [], [])


def test_wildcards_are_names_beside_names_that_begin_with_a_backslash(tmp_path):
    """DuckDB reads a folder to match a wildcard, and takes such a name in it for an absolute path."""
    for run, name in enumerate(("a?b", "\\input{*}", "\\", "[x]"), start=1):
        write_run(tmp_path / name, [revision([1, 5, 9], [2, 2, 2], run=run)])
        write_run(tmp_path / f"pack{run}", [revision([1, 5, 9], [2, 2, 2], run=run)])
        packed = CliRunner().invoke(
            app, ["pack", str(tmp_path / f"pack{run}"), "--out", f"{tmp_path / name}.pack.parquet"]
        )
        assert packed.exit_code == 0, packed.stderr
    for data in (
        [tmp_path / name for name in ("a?b", "\\input{*}", "\\", "[x]")],
        [tmp_path / f"{name}.pack.parquet" for name in ("a?b", "\\input{*}", "\\", "[x]")],
    ):
        with open_store(data) as store:
            store.confine()
            assert store.sql("select run from revisions order by run").fetchall() == [(1,), (2,), (3,), (4,)]
            assert store.problems == []


def test_an_archive_cannot_reach_outside_and_its_links_are_not_followed(tmp_path):
    secret = write_run(tmp_path / "secret", [revision([1, 5, 9], [2, 2, 2], run=2)])
    folder = write_run(tmp_path / "run-01", [revision([1, 5, 9], [2, 2, 2])])
    with tarfile.open(tmp_path / "evil.tar", "w") as archive:
        for path in sorted(folder.iterdir()):
            archive.add(path, f"../../{path.name}")
        link = tarfile.TarInfo("linked/run.json")
        link.type, link.linkname = tarfile.SYMTYPE, str(secret / "run.json")
        archive.addfile(link)
    before = sorted(tmp_path.rglob("*"))
    rows, _, _ = details(tmp_path / "evil.tar")
    assert [row["run"] for row in rows] == [1]
    assert sorted(tmp_path.rglob("*")) == before


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


@pytest.mark.parametrize("layout", ["native", "released"])
def test_an_unfinished_run_counts_with_what_it_has_finished(tmp_path, layout):
    if layout == "native":
        write_run(tmp_path, [revision([1, 5, 9], [2, 2, 2])], tail=b'{"condition": "hand", "en', iterations=100)
    else:
        run = tmp_path / "pong_three_traj" / "run_1"
        critic_episode(run, 0, [1.0], [2.0])
        (critic_episode(run, 1, [1.0], [2.0]) / "reflection_outcome.txt").unlink()
        (run / "episode_2").mkdir()
    result = CliRunner().invoke(app, ["runs", str(tmp_path), "--format", "json"])
    assert [row["iterations"] for row in json.loads(result.stdout)] == [1]
    assert re.search("1 problem in the records.*(torn|incomplete)", result.stderr, re.DOTALL)
