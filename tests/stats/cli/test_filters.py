"""Which runs `--env`, `--variant` and `--condition` choose, alike for every command of `stats` that reads records."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from stats.cli import main
from tests.stats.conftest import writer

pytestmark = pytest.mark.usefixtures("opened_once")

COMMANDS = ("metrics", "compare", "aggregate", "profile", "efficiency", "ranks")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two methods on cartpole, and one of them on frozenlake."""
    write_run = writer(tmp_path_factory.mktemp("records"))
    for number in (1, 2):
        write_run("props", number, [1.0 * number, 2.0])
        write_run("r2po", number, [2.0 * number, 5.0])
        folder = write_run("r2po", number, [0.5, 0.1 * number], env="frozenlake", optimum=1.0)
    return folder


def run(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str, str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["stats", *map(str, arguments)])
        with pytest.raises(SystemExit) as exit_:
            main()
    out, err = capsys.readouterr()
    return int(exit_.value.code or 0), out, err


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("column", "held"), [("env", "cartpole, frozenlake"), ("variant", "props, r2po"), ("condition", "x")]
)
def test_a_name_that_no_record_has_is_an_error_that_lists_those_there_are(
    command: str, column: str, held: str, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    message = f"stats: no {column} nosuch in the records; they hold {held}\n"
    assert run(capsys, command, data, f"--{column}", "nosuch") == (1, "", message)


@pytest.mark.parametrize("command", COMMANDS)
def test_names_that_no_run_has_together_give_an_empty_table_and_a_note(
    command: str, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chosen = ("--env", "frozenlake", "--variant", "props")
    status, out, err = run(capsys, command, data, *chosen, "--format", "json")
    assert (status, json.loads(out)) == (0, [])
    assert "nothing to show: no such runs in the records" in err
    assert run(capsys, command, data, *chosen)[0] == 0


@pytest.mark.parametrize("command", ["metrics", "compare"])
def test_tables_of_tasks_are_of_those_asked_for(command: str, data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    every = json.loads(run(capsys, command, data, "--format", "json")[1])
    some = json.loads(run(capsys, command, data, "--env", "cartpole", "--format", "json")[1])
    assert {row["env"] for row in every} == {"cartpole", "frozenlake"}
    assert some == [row for row in every if row["env"] == "cartpole"]


@pytest.mark.parametrize("command", ["compare", "aggregate"])
def test_a_reference_without_runs_among_those_asked_for_is_a_note(
    command: str, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, _, err = run(capsys, command, data, "--env", "frozenlake", "--reference", "props")
    assert status == 0
    assert "props" in err
    status, out, err = run(capsys, command, data, "--reference", "sac")
    assert (status, out) == (1, "")
    assert err == "stats: --reference sac: no runs of that method; methods here: props, r2po\n"


def test_a_scale_of_a_task_that_is_not_asked_for_changes_nothing(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chosen = ("ranks", data, "--env", "cartpole", "--format", "csv")
    assert run(capsys, *chosen, "--scale", "frozenlake=0:2")[:2] == run(capsys, *chosen)[:2]
