"""The commands over several tasks, on small folders of records."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from collector.records import Thresholds
from collector.tasks import TASKS
from stats.cli import main
from stats.measures.scores import known_scales
from tests.stats.conftest import writer

WriteRun = Callable[..., Path]
# Of a task that is none of the ten; its floor is 0.
OWN = Thresholds(
    partial=1.0, high=3.0, near_zero=0.1, meaningful=0.1, surgical_max=3, redesign_min=8, multi_state_min=4
)
COMMANDS = ["aggregate", "profile", "efficiency", "ranks"]


pytestmark = pytest.mark.usefixtures("opened_once")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs of four rollouts on CartPole, whose floor is 0 and whose optimum is 500."""
    return two_methods(writer(tmp_path_factory.mktemp("records")))


def two_methods(write_run: WriteRun) -> Path:
    for run, returns in enumerate(([100.0, 300.0], [200.0, 400.0], [500.0, 500.0]), start=1):
        write_run("r2po", run, returns)
    write_run("props", 1, [100.0, 100.0])
    return write_run("props", 2, [50.0, 150.0])


def run(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str, str]:
    """Exit status, standard output and standard error of a command."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["stats", *map(str, arguments)])
        with pytest.raises(SystemExit) as exit_:
            main()
    out, err = capsys.readouterr()
    return int(exit_.value.code or 0), out, err


def rows(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> list[dict]:
    status, out, err = run(capsys, *arguments, "--format", "json")
    assert (status, err) == (0, "")
    return json.loads(out)


def test_aggregates_by_hand(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    props, r2po = rows(capsys, "aggregate", data)
    # Means of the runs: 200, 300, 500 of 500; 100, 100. No quarter of three runs is a whole one.
    assert (r2po["iqm"], r2po["mean"], r2po["optimality_gap"]) == pytest.approx((2 / 3, 2 / 3, 1 / 3))
    assert (props["iqm"], props["iqm_low"], props["iqm_high"]) == pytest.approx((0.2, 0.2, 0.2))
    assert (props["probability_of_improvement"], props["mean_rank"], r2po["mean_rank"]) == (1, 2, 1)
    props, r2po = rows(capsys, "aggregate", data, "--metric", "best_return", "--reference", "props")
    assert r2po["iqm"] == pytest.approx((0.6 + 0.8 + 1) / 3)
    assert (r2po["probability_of_improvement"], r2po["reference"], r2po["metric"]) == (0, "props", "best_return")


def test_a_profile_by_hand(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = {(r["variant"], r["tau"]): r["share"] for r in rows(capsys, "profile", data, "--steps", "5")}
    assert [found["r2po", tau] for tau in (0, 0.2, 0.4, 0.6, 0.8, 1)] == pytest.approx([1, 1, 2 / 3, 1 / 3, 1 / 3, 0])
    assert found["props", 0.2] == 0


def test_a_curve_by_hand_ends_with_the_aggregate(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = {(r["variant"], r["rollouts"]): r["iqm"] for r in rows(capsys, "efficiency", data, "--points", "2")}
    assert found == pytest.approx({("r2po", 2): 1.6 / 3, ("r2po", 4): 0.8, ("props", 2): 0.15, ("props", 4): 0.25})
    for metric in ("mean_return", "best_return"):
        whole = {r["variant"]: r["iqm"] for r in rows(capsys, "aggregate", data, "--metric", metric)}
        last = {r["variant"]: r["iqm"] for r in rows(capsys, "efficiency", data, "--metric", metric, "--points", "1")}
        assert last == pytest.approx(whole)


def test_ranks_by_hand(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = {(r["variant"], r["rank"]): (r["share"], r["kendall_w"]) for r in rows(capsys, "ranks", data)}
    # Each of r2po's runs beats each of props', whatever is drawn. One task agrees with no other.
    assert found["r2po", 1] == found["props", 2] == (1, None)


def test_groups_can_be_chosen(write_run: WriteRun, capsys: pytest.CaptureFixture[str]) -> None:
    data = two_methods(write_run)
    for number in (1, 2):
        write_run("r2po", number, [0.5, 0.6], env="frozenlake", optimum=1.0)
    both = rows(capsys, "aggregate", data)
    assert {row["note"] for row in both} == {"left out frozenlake (no runs of props)"}
    (alone,) = rows(capsys, "aggregate", data, "--variant", "r2po")
    assert (alone["tasks"], alone["note"]) == (2, "2 to 3 runs a task")
    assert {row["tasks"] for row in rows(capsys, "aggregate", data, "--env", "cartpole")} == {1}


def test_what_a_reader_must_know_stands_once_below_a_table_for_people(
    write_run: WriteRun, capsys: pytest.CaptureFixture[str]
) -> None:
    data = two_methods(write_run)
    write_run("r2po", 1, [0.5], env="frozenlake", optimum=1.0)
    _, out, _ = run(capsys, "aggregate", data)
    assert " ".join(out.split()).count("left out frozenlake (no runs of props)") == 1


@pytest.mark.parametrize("scale", ["cartpole=0:1000", "cartpole=-500:500"])
def test_a_scale_can_be_given(scale: str, data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    props, _ = rows(capsys, "aggregate", data, "--scale", scale)
    assert props["iqm"] == pytest.approx(0.1 if "1000" in scale else 0.6)


def test_tasks_that_are_their_owners_need_a_scale(write_run: WriteRun, capsys: pytest.CaptureFixture[str]) -> None:
    for number in (1, 2):
        data = write_run("r2po", number, [3.0], env="mine", optimum=None, thresholds=OWN)
    (row,) = rows(capsys, "aggregate", data)
    assert (row["tasks"], row["iqm"], row["note"]) == (0, None, "left out mine (no optimum known); no task is left")
    (row,) = rows(capsys, "aggregate", data, "--scale", "mine=0:4")
    assert row["iqm"] == pytest.approx(0.75)


def test_records_without_an_optimum_take_the_tasks_own_and_say_so(
    write_run: WriteRun, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in (1, 2):
        data = write_run("r2po", number, [250.0], optimum=None)
    status, out, err = run(capsys, "aggregate", data, "--format", "json")
    assert (status, json.loads(out)[0]["iqm"]) == (0, 0.5)
    assert "the tasks' own are taken: cartpole 500" in err


def test_the_known_scales_are_those_of_the_tasks() -> None:
    assert known_scales() == {name: (task.floor, task.optimum) for name, task in TASKS.items()}


def test_no_reference_is_said_and_a_wrong_one_refused(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "aggregate", data, "--variant", "props", "--format", "json")
    assert (status, json.loads(out)[0]["note"]) == (0, "no runs of r2po")
    assert err.startswith("stats: no runs of r2po")
    status, out, err = run(capsys, "aggregate", data, "--reference", "sac")
    assert (status, out) == (1, "")
    assert "methods here: props, r2po" in err


def test_names_in_records_do_nothing_to_a_terminal(write_run: WriteRun, capsys: pytest.CaptureFixture[str]) -> None:
    data = write_run("r2po", 1, [3.0], env="mi\x1b[31mne", optimum=None, thresholds=OWN)
    _, out, _ = run(capsys, "aggregate", data)
    assert "left out mi\\x1b[31mne (no optimum known)" in out
    _, _, err = run(capsys, "aggregate", data, "--scale", "mine=0:1")
    assert "they hold mi\\x1b[31mne" in err


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("form", ["table", "json", "csv", "markdown", "latex"])
def test_every_format_has_every_method(command: str, form: str, data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, command, data, "--format", form)
    assert status == 0
    assert {"props", "r2po"} <= {word.strip('|,&"') for word in out.lower().replace(",", " ").split()}


@pytest.mark.parametrize("command", COMMANDS)
def test_the_same_records_give_the_same_bytes(command: str, data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, again = (run(capsys, command, data, "--format", "csv")[1] for _ in range(2))
    assert first == again
    assert len(list(csv.DictReader(io.StringIO(first)))) >= 2


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        ([], 2, "DIR"),
        (["DATA", "--metric", "regressions_pct"], 2, "regressions_pct"),
        (["DATA", "--scale", "cartpole"], 2, "TASK=FLOOR:OPTIMUM"),
        (["DATA", "--scale", "cartpole=1:2:3"], 2, "TASK=FLOOR:OPTIMUM"),
        (["DATA", "--scale", "cartpole=5:1"], 2, "an optimum above it"),
        (["DATA", "--scale", "cartpole=0:nan"], 2, "an optimum above it"),
        (["DATA", "--scale", "pong=0:3"], 1, "no such task in the records; they hold cartpole"),
        (["DATA", "--variant", "sac"], 1, "no variant sac in the records; they hold props, r2po"),
        (["NOWHERE"], 1, "NOWHERE"),
    ],
)
def test_mistakes_are_told_in_one_line(
    command: str, arguments: list[str], status: int, words: str, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    places = {"DATA": str(data), "NOWHERE": str(data / "NOWHERE")}
    found, out, err = run(capsys, command, *(places.get(argument, argument) for argument in arguments))
    assert (found, out) == (status, "")
    assert words in err
    assert err.count("\n") == 1
    assert err.startswith("stats: ")


@pytest.mark.parametrize(("command", "option"), [("profile", "--steps"), ("efficiency", "--points")])
@pytest.mark.parametrize("value", ["0", "-1", "1001", "many"])
def test_numbers_out_of_range_are_refused(
    command: str, option: str, value: str, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, err = run(capsys, command, data, option, value)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert option in err
