"""The `figures` command on collected records."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest

import audit
import figures
from audit.options import Options
from audit.output.progress import Progress
from figures.cli import main
from figures.data import FRAMES, ROWS, load
from tests.figures.examined import write_cards
from tests.shared import made

pytestmark = pytest.mark.usefixtures("opened_once")


def collect(folder: Path) -> None:
    grid = ["--env", "cartpole", "--variant", "threetraj", "--variant", "r2po", "--runs", "2", "--iterations", "5"]
    program = "from collector.cli import main; main()"
    command = [sys.executable, "-c", program, *grid, "--backend", "simulated", "--quiet", "--out", str(folder)]
    subprocess.run(command, check=True)


@pytest.fixture(scope="module")
def data() -> Path:
    """Two short simulated runs of two methods on CartPole."""
    return made("simulated-cartpole-for-figures", collect)


def run(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str, str]:
    """Exit status, standard output and standard error of a command."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["figures", *map(str, arguments)])
        with pytest.raises(SystemExit) as exit_:
            main()
    out, err = capsys.readouterr()
    return int(exit_.value.code or 0), out, err


@pytest.mark.usefixtures("sketched")
def test_figures_from_records_say_that_they_are_simulated(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, err = run(capsys, data, "--out", tmp_path / "out")
    assert (status, out) == (0, f"{tmp_path / 'out' / 'index.html'}\n")
    assert err.startswith("figures: 11 figures to draw\n")  # on a slow machine lines of progress follow
    text = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert "4 runs, 20 iterations, " in text
    assert "Simulated model, personality salient: a simulated stand-in, not a language model." in text
    assert len(list((tmp_path / "out").glob("*.png"))) == 11
    # ThreeTraj alone is shown the worst rollout: a heading, a rule and one row.
    table = (tmp_path / "out" / "salience.md").read_text(encoding="utf-8").splitlines()
    assert len([line for line in table if line.startswith("|")]) == 3


def test_records_in_another_folder_have_the_same_digest(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def digest(*paths: Path) -> str:
        return load(Options(paths=paths)).digest

    moved = tmp_path / "elsewhere"
    moved.mkdir()
    for i, folder in enumerate(sorted(path.parent for path in data.rglob("run.json"))):
        (moved / str(i)).symlink_to(folder)
    assert digest(*sorted(moved.iterdir())) == digest(data)
    assert len({digest(moved / str(i)) for i in range(4)}) == 4
    with audit.open(data) as store:
        records = figures.records_of(store)
        assert records.digest == digest(data)
        assert records.problems == records.unfinished == []
        assert len(figures.plot_patterns(store)) == 1
        assert figures.records_of(store) is records


@pytest.mark.usefixtures("without_figures")
def test_filters_choose_what_is_drawn(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, _, _ = run(capsys, data, "--variant", "r2po", "--out", tmp_path / "out")
    assert status == 0
    text = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert "2 runs, 10 iterations, " in text
    assert "ThreeTraj" not in (tmp_path / "out" / "metrics.md").read_text(encoding="utf-8")
    found = load(Options(paths=[data], env=["cartpole"], variant=["r2po"]))
    for rows in (found.summary, found.metrics, found.facts["variant"], found.revisions["variant"]):
        assert {row if isinstance(row, str) else row["variant"] for row in rows} == {"r2po"}


def test_the_command_on_the_page_has_no_secret_of_a_url(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    commands: list[str] = []

    def keep(_records: object, _out: Path, command: str, **_: object) -> Path:
        commands.append(command)
        return tmp_path

    monkeypatch.setattr("figures.data.load", lambda *_, **__: SimpleNamespace(problems=[], unfinished=[]))
    monkeypatch.setattr("figures.page.build.build", keep)
    status, out, err = run(capsys, "https://user:secret@host/x.tar?sig=secret", "--out", tmp_path)
    assert (status, out, err) == (0, f"{tmp_path}\n", "")
    assert commands == [f"figures https://host/x.tar --out {tmp_path}"]


@pytest.mark.usefixtures("sketched")
def test_cards_need_no_records(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    [card] = write_cards(tmp_path, "salient")
    status, out, err = run(capsys, "--card", card, "--out", tmp_path / "out")
    assert (status, out, err) == (0, f"{tmp_path / 'out' / 'index.html'}\n", "figures: 1 figure to draw\n")
    assert f"figures --card {card}" in (tmp_path / "out" / "index.html").read_text(encoding="utf-8")


@pytest.mark.usefixtures("without_figures")
def test_on_a_terminal_it_reports_that_it_reads(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    status, _, err = run(capsys, data, "--variant", "r2po", "--out", tmp_path)
    assert (status, err.startswith("figures: reading records\n")) == (0, True)


def test_reading_reports_every_relation(data: Path) -> None:
    followed = MagicMock(spec=Progress)
    load(Options(paths=[data]), followed)
    relations = len(FRAMES) + len(ROWS)
    followed.begin.assert_called_once_with(relations, "records read", counted=False)
    assert followed.advance.call_count == relations


@pytest.mark.usefixtures("without_figures")
def test_mistakes_are_reported_in_one_line(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "FILE").write_text("")
    (tmp_path / "EMPTY").mkdir()
    places = {name: str(tmp_path / name) for name in ("NOWHERE", "EMPTY", "FILE")} | {"DATA": str(data)}
    for arguments, status, words in (
        ("", 2, "DIR"),
        ("DATA --detector nonsense", 2, "nonsense"),
        ("NOWHERE", 1, "NOWHERE"),
        ("EMPTY", 1, "no records"),
        ("DATA --env maze", 1, "no env maze in the records; they hold cartpole"),
        ("DATA --out FILE", 1, "cannot write "),
        ("--card EMPTY --plan plan.json", 2, "name records"),
        ("--card EMPTY", 1, "card.json"),
        ("DATA --card NOWHERE", 1, "NOWHERE"),
    ):
        found, out, err = run(capsys, *(places.get(argument, argument) for argument in arguments.split()))
        assert (found, out, err.count("\n"), words in err) == (status, "", 1, True), arguments


@pytest.mark.usefixtures("without_figures")
def test_unfinished_runs_are_told_on_the_page_and_beside_it(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(data, tmp_path / "data")
    first = sorted((tmp_path / "data").rglob("episodes.jsonl"))[0]
    first.write_text(first.read_text(encoding="utf-8").splitlines()[0] + "\n", encoding="utf-8")
    status, _, err = run(capsys, tmp_path / "data", "--out", tmp_path / "out")
    assert status == 0
    assert re.search(r"1 of \d runs? unfinished, 1 of 5 iterations", err)
    assert err.splitlines()[-1].removeprefix("figures: ") in (tmp_path / "out" / "index.html").read_text(
        encoding="utf-8"
    )
