"""The `stats` command on small folders of records."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from scipy import stats as scipy_stats

from stats.cli import main
from tests.stats.conftest import writer

WriteRun = Callable[..., Path]

pytestmark = pytest.mark.usefixtures("opened_once")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    write_run = writer(tmp_path_factory.mktemp("records"))
    for run, returns in enumerate(([1.0, 3.0], [2.0, 6.0], [0.0, 5.0]), start=1):
        write_run("r2po", run, returns)
    write_run("props", 1, [1.0, 1.0])
    return write_run("props", 2, [0.0, 1.0])


PURE = [
    *(f"measures.{name}" for name in ("effects", "scores")),
    *(f"tables.{name}" for name in ("metrics", "aggregates", "efficiency")),
]


def run(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str, str]:
    """Exit status, standard output and standard error of a command."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["stats", *map(str, arguments)])
        with pytest.raises(SystemExit) as exit_:
            main()
    out, err = capsys.readouterr()
    return int(exit_.value.code or 0), out, err


def test_metrics_as_json_by_hand(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "metrics", data, "--format", "json")
    props, r2po = json.loads(out)
    assert (status, err) == (0, "")
    assert (r2po["condition"], r2po["env"], r2po["variant"], r2po["runs"], r2po["missing"]) == (
        "x",
        "cartpole",
        "r2po",
        3,
        0,
    )
    # Means of the runs 2, 4, 2.5; bests 3, 6, 5; gaps 1, 2, 2.5.
    assert r2po["mean_return"] == pytest.approx(8.5 / 3)
    assert r2po["best_return"] == pytest.approx(14 / 3)
    assert r2po["stability_gap"] == pytest.approx(5.5 / 3)
    assert props["mean_return_std"] == pytest.approx(0.5**0.5 / 2)


def test_compare_as_csv_agrees_with_scipy(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "compare", data, "--metric", "best_return", "--format", "csv")
    (row,) = csv.DictReader(io.StringIO(out))
    assert (row["reference"], row["baseline"], row["metric"]) == ("r2po", "props", "best_return")
    expected = scipy_stats.ttest_ind_from_stats(14 / 3, 1.5275252316519468, 3, 1.0, 0.0, 2, equal_var=False)
    assert float(row["welch_t"]) == pytest.approx(expected.statistic)
    assert float(row["holm_p"]) == float(row["raw_p"]) == pytest.approx(expected.pvalue)


def test_what_has_no_number_is_null_and_said(write_run: WriteRun, capsys: pytest.CaptureFixture[str]) -> None:
    for run_number in (1, 2):
        write_run("r2po", run_number, [500.0])
        write_run("props", run_number, [400.0])
    _, out, _ = run(capsys, "compare", write_run("criticonly", 1, [3.0]), "--format", "json")
    rows = {row["baseline"]: row for row in json.loads(out)}
    assert not {"NaN", "Infinity"} & set(out.replace(",", " ").split())
    assert (rows["props"]["welch_t"], rows["props"]["raw_p"]) == (None, 0.0)
    assert rows["props"]["note"] == "neither varies; t is infinite"
    assert (rows["criticonly"]["raw_p"], rows["criticonly"]["note"]) == (None, "fewer than two runs")


@pytest.mark.parametrize("command", ["metrics", "compare"])
@pytest.mark.parametrize("form", ["table", "json", "csv", "markdown", "latex"])
def test_every_format_has_every_row(command: str, form: str, data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, command, data, "--format", form)
    assert status == 0
    assert "props" in out.lower()


def test_problems_and_simulated_models_are_told_beside_the_output(
    write_run: WriteRun, capsys: pytest.CaptureFixture[str]
) -> None:
    data = write_run("r2po", 1, [1.0, 2.0], condition="simulated-salient", backend="simulated", model="salient")
    (episodes,) = data.rglob("episodes.jsonl")
    with episodes.open("a") as file:
        file.write('{"torn')
    _, out, err = run(capsys, "metrics", data, "--format", "json")
    assert json.loads(out)[0]["mean_return"] == 1.5
    assert "episodes.jsonl:3" in err
    assert "Simulated model, not a language model: simulated-salient." in err
    status, out, err = run(capsys, "metrics", data, "--strict")
    assert (status, out) == (1, "")


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["metrics"], 2, "DIR"),
        (["metrics", "DATA", "--format", "xml"], 2, "xml"),
        (["compare", "DATA", "--alpha", "0"], 2, "between 0 and 1"),
        (["compare", "DATA", "--metric", "median"], 2, "median"),
        (["nonsense"], 2, "nonsense"),
        ([], 2, "command"),
        (["metrics", "NOWHERE"], 1, "NOWHERE"),
        (["compare", "DATA", "--reference", "sac"], 1, "methods here: props, r2po"),
    ],
)
def test_mistakes_are_told_in_one_line(
    arguments: list[str], status: int, words: str, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    places = {"DATA": str(data), "NOWHERE": str(data / "NOWHERE")}
    found, out, err = run(capsys, *(places.get(argument, argument) for argument in arguments))
    assert (found, out) == (status, "")
    assert words in err
    assert err.count("\n") == 1
    assert err.startswith("stats: ")


@pytest.mark.parametrize("command", ["metrics", "compare"])
def test_runs_without_a_finished_iteration_give_no_table(
    command: str, write_run: WriteRun, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, err = run(capsys, command, write_run("r2po", 1, []))
    assert (status, out) == (1, "")
    assert "no finished iteration" in err


def test_the_reference_alone_has_nobody_to_compare_with(
    write_run: WriteRun, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, err = run(capsys, "compare", write_run("r2po", 1, [1.0]), "--format", "json")
    assert (status, json.loads(out)) == (0, [])
    assert "no method but r2po" in err


def test_the_library_opens_no_records() -> None:
    program = (
        "import importlib, sys\n"
        "for module in sys.argv[1:]:\n"
        "    importlib.import_module(f'stats.{module}')\n"
        "    if ours := sys.modules.keys() & {'audit.store', 'collector.records', 'duckdb', 'figures'}:\n"
        "        sys.exit(f'{module}: {ours}')"
    )
    done = subprocess.run([sys.executable, "-c", program, *PURE], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
