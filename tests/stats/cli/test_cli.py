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

from collector.tasks import TASKS
from stats.measures.scores import known_scales
from tests.audit.samples import THRESHOLDS
from tests.stats.comparing import refused, rows, run
from tests.stats.conftest import writer

WriteRun = Callable[..., Path]
Capture = pytest.CaptureFixture[str]

OVER_TASKS = ("aggregate", "profile", "efficiency", "ranks")
COMMANDS = ("metrics", "compare", *OVER_TASKS)
pytestmark = pytest.mark.usefixtures("opened_once")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs of four rollouts on CartPole, whose floor is 0 and whose optimum is 500."""
    return two_methods(writer(tmp_path_factory.mktemp("records")))


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same, and one of the methods on FrozenLake too."""
    write_run = writer(tmp_path_factory.mktemp("records"))
    for number in (1, 2):
        write_run("r2po", number, [0.5, 0.6], env="frozenlake", optimum=1.0)
    return two_methods(write_run)


def two_methods(write_run: WriteRun) -> Path:
    for number, returns in enumerate(([100.0, 300.0], [200.0, 400.0], [500.0, 500.0]), start=1):
        write_run("r2po", number, returns)
    write_run("props", 1, [100.0, 100.0])
    return write_run("props", 2, [50.0, 150.0])


def test_metrics_by_hand(data: Path, capsys: Capture) -> None:
    props, r2po = rows(capsys, "metrics", data)
    keys = ("condition", "env", "variant", "runs", "missing")
    assert [r2po[key] for key in keys] == ["x", "cartpole", "r2po", 3, 0]
    # Means of the runs 200, 300, 500; bests 300, 400, 500; gaps 100, 100, 0. Bests of the others: 100, 150.
    assert (r2po["mean_return"], r2po["best_return"], r2po["stability_gap"]) == pytest.approx((1000 / 3, 400, 200 / 3))
    assert props["best_return_std"] == pytest.approx(50 / 2**0.5)


def test_compare_as_csv_agrees_with_scipy(data: Path, capsys: Capture) -> None:
    _, out, _ = run(capsys, "compare", data, "--metric", "best_return", "--format", "csv")
    (row,) = csv.DictReader(io.StringIO(out))
    assert (row["reference"], row["baseline"], row["metric"]) == ("r2po", "props", "best_return")
    expected = scipy_stats.ttest_ind([300, 400, 500], [100, 150], equal_var=False)
    assert float(row["welch_t"]) == pytest.approx(expected.statistic)
    assert float(row["holm_p"]) == float(row["raw_p"]) == pytest.approx(expected.pvalue)


def test_conditions_of_a_method_are_compared_as_methods_are(tmp_path: Path, capsys: Capture) -> None:
    write = writer(tmp_path)
    for number, (plain, gated) in enumerate(zip([100.0, 300.0, 200.0], [250.0, 400.0, 500.0], strict=True), start=1):
        write("r2po", number, [plain], condition="plain")
        data = write("r2po", number, [gated], condition="gate")
    names = ("compare", data, "--conditions", "--reference", "plain")
    [row] = rows(capsys, *names)
    expected = scipy_stats.ttest_ind([100, 300, 200], [250, 400, 500], equal_var=False)
    assert [row[key] for key in ("variant", "reference", "baseline")] == ["r2po", "plain", "gate"]
    assert (row["welch_t"], row["raw_p"]) == pytest.approx((expected.statistic, expected.pvalue))
    assert run(capsys, *names)[0] == 0
    assert not refused(
        capsys, 1, "no runs of that condition; conditions here: gate, plain", *names[:3], "--reference", "no"
    )


def test_what_has_no_number_is_null_and_noted(write_run: WriteRun, capsys: Capture) -> None:
    for number in (1, 2):
        write_run("r2po", number, [500.0])
        write_run("props", number, [400.0])
    found = {row["baseline"]: row for row in rows(capsys, "compare", write_run("criticonly", 1, [3.0]))}
    assert (found["props"]["welch_t"], found["props"]["raw_p"]) == (None, 0.0)
    assert found["props"]["note"] == "neither varies; t is infinite"
    assert (found["criticonly"]["raw_p"], found["criticonly"]["note"]) == (None, "fewer than two runs")


def test_over_tasks_by_hand(data: Path, capsys: Capture) -> None:
    props, r2po = rows(capsys, "aggregate", data)
    # Means of the runs: 200, 300, 500 of 500; 100, 100. No quarter of three runs is a whole one.
    assert (r2po["iqm"], r2po["mean"], r2po["optimality_gap"]) == pytest.approx((2 / 3, 2 / 3, 1 / 3))
    assert (props["iqm"], props["iqm_low"], props["iqm_high"]) == pytest.approx((0.2, 0.2, 0.2))
    assert (props["probability_of_improvement"], props["mean_rank"], r2po["mean_rank"]) == (1, 2, 1)
    props, r2po = rows(capsys, "aggregate", data, "--metric", "best_return", "--reference", "ProPS")
    assert r2po["iqm"] == pytest.approx((0.6 + 0.8 + 1) / 3)
    assert (r2po["probability_of_improvement"], r2po["reference"], r2po["metric"]) == (0, "props", "best_return")
    shares = {(r["variant"], r["tau"]): r["share"] for r in rows(capsys, "profile", data, "--steps", "5")}
    assert [shares["r2po", tau] for tau in (0, 0.2, 0.4, 0.6, 0.8, 1)] == pytest.approx([1, 1, 2 / 3, 1 / 3, 1 / 3, 0])
    assert shares["props", 0.2] == 0
    places = {(r["variant"], r["rank"]): (r["share"], r["kendall_w"]) for r in rows(capsys, "ranks", data)}
    # Each of r2po's runs beats each of props', whatever is drawn. One task agrees with no other.
    assert places["r2po", 1] == places["props", 2] == (1, None)


def test_a_curve_by_hand_ends_with_the_aggregate(data: Path, capsys: Capture) -> None:
    found = {(r["variant"], r["rollouts"]): r["iqm"] for r in rows(capsys, "efficiency", data, "--points", "2")}
    assert found == pytest.approx({("r2po", 2): 1.6 / 3, ("r2po", 4): 0.8, ("props", 2): 0.15, ("props", 4): 0.25})
    for metric in ("mean_return", "best_return"):
        whole = {r["variant"]: r["iqm"] for r in rows(capsys, "aggregate", data, "--metric", metric)}
        last = {r["variant"]: r["iqm"] for r in rows(capsys, "efficiency", data, "--metric", metric, "--points", "1")}
        assert last == pytest.approx(whole)


def test_groups_can_be_chosen(wide: Path, capsys: Capture) -> None:
    both = rows(capsys, "aggregate", wide)
    assert {row["note"] for row in both} == {"left out frozenlake (no runs of props)"}
    # For people it stands once, below.
    _, out, _ = run(capsys, "aggregate", wide)
    assert " ".join(out.split()).count("left out frozenlake (no runs of props)") == 1
    (alone,) = rows(capsys, "aggregate", wide, "--variant", "r2po")
    assert (alone["tasks"], alone["note"]) == (2, "2 to 3 runs a task")
    assert {row["tasks"] for row in rows(capsys, "aggregate", wide, "--env", "cartpole")} == {1}
    for command in ("metrics", "compare"):
        every, some = rows(capsys, command, wide), rows(capsys, command, wide, "--env", "cartpole")
        assert {row["env"] for row in every} == {"cartpole", "frozenlake"}
        assert some == [row for row in every if row["env"] == "cartpole"]
    chosen = ("ranks", wide, "--env", "cartpole", "--format", "csv")
    assert run(capsys, *chosen, "--scale", "frozenlake=0:2")[:2] == run(capsys, *chosen)[:2]


def test_names_that_no_run_has_together_give_an_empty_table_and_a_note(wide: Path, capsys: Capture) -> None:
    for command in COMMANDS:
        chosen = (command, wide, "--env", "frozenlake", "--variant", "props")
        status, out, err = run(capsys, *chosen, "--format", "json")
        assert (status, json.loads(out)) == (0, []), command
        assert "nothing to show: no such runs in the records" in err
        assert run(capsys, *chosen)[0] == 0
    for command in ("compare", "aggregate"):
        status, _, err = run(capsys, command, wide, "--env", "frozenlake", "--reference", "props")
        assert (status, "props" in err) == (0, True), command


def test_scales(data: Path, write_run: WriteRun, capsys: Capture) -> None:
    assert known_scales() == {name: (task.floor, task.optimum) for name, task in TASKS.items()}
    for scale, expected in (("cartpole=0:1000", 0.1), ("cartpole=-500:500", 0.6)):
        assert rows(capsys, "aggregate", data, "--scale", scale)[0]["iqm"] == pytest.approx(expected)
    for number in (1, 2):
        own = write_run("r2po", number, [3.0], env="mine", optimum=None, thresholds=THRESHOLDS)
    (row,) = rows(capsys, "aggregate", own)
    assert (row["tasks"], row["iqm"], row["note"]) == (0, None, "left out mine (no optimum known); no task is left")
    (row,) = rows(capsys, "aggregate", own, "--scale", "mine=0:4")
    assert row["iqm"] == pytest.approx(0.75)
    for number in (1, 2):
        write_run("r2po", number, [250.0], optimum=None)
    status, out, err = run(capsys, "aggregate", own, "--env", "cartpole", "--format", "json")
    assert (status, json.loads(out)[0]["iqm"]) == (0, 0.5)
    assert "the tasks' own are taken: cartpole 500" in err


def test_no_reference_is_noted(data: Path, capsys: Capture) -> None:
    status, out, err = run(capsys, "aggregate", data, "--variant", "props", "--format", "json")
    assert (status, json.loads(out)[0]["note"]) == (0, "no runs of r2po")
    assert err.startswith("stats: no runs of r2po")
    status, out, err = run(capsys, "compare", data, "--variant", "r2po", "--format", "json")
    assert (status, json.loads(out)) == (0, [])
    assert "no method but r2po" in err


def test_names_in_records_do_nothing_to_a_terminal(write_run: WriteRun, capsys: Capture) -> None:
    data = write_run("r2po", 1, [3.0], env="mi\x1b[31mne", optimum=None, thresholds=THRESHOLDS)
    _, out, _ = run(capsys, "aggregate", data)
    assert "left out mi\\x1b[31mne (no optimum known)" in out
    assert refused(capsys, 1, "they hold mi\\x1b[31mne", "aggregate", data, "--scale", "mine=0:1") == ""


def test_every_format_has_every_method_to_the_byte_the_same_again(data: Path, capsys: Capture) -> None:
    for command in COMMANDS:
        for form in ("table", "json", "csv", "markdown", "latex"):
            status, out, _ = run(capsys, command, data, "--format", form)
            words = {word.strip('|,&"') for word in out.lower().replace(",", " ").split()}
            assert (status, words >= ({"props"} if command == "compare" else {"props", "r2po"})) == (0, True), command
            assert not {"nan", "infinity"} & words
        again = (run(capsys, command, data, "--format", "csv")[1] for _ in range(2))
        assert len(set(again)) == 1, command


def test_problems_and_simulated_models_are_reported_beside_the_output(write_run: WriteRun, capsys: Capture) -> None:
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


MISTAKES: list[tuple[tuple[str, ...], str, int, str]] = [
    *(
        (COMMANDS, arguments, status, words)
        for arguments, status, words in (
            ("", 2, "DIR"),
            ("NOWHERE", 1, "NOWHERE"),
            ("EMPTY", 1, "no finished iteration"),
            ("DATA --format xml", 2, "xml"),
            ("DATA --env nosuch", 1, "no env nosuch in the records; they hold cartpole\n"),
            ("DATA --variant sac", 1, "no variant sac in the records; they hold props, r2po\n"),
            ("DATA --condition nosuch", 1, "no condition nosuch in the records; they hold x\n"),
        )
    ),
    *(
        (OVER_TASKS, arguments, status, words)
        for arguments, status, words in (
            ("DATA --metric regressions_pct", 2, "regressions_pct"),
            ("DATA --scale cartpole", 2, "TASK=FLOOR:OPTIMUM"),
            ("DATA --scale cartpole=1:2:3", 2, "TASK=FLOOR:OPTIMUM"),
            ("DATA --scale cartpole=5:1", 2, "an optimum above it"),
            ("DATA --scale cartpole=0:nan", 2, "an optimum above it"),
            ("DATA --scale pong=0:3", 1, "no such task in the records; they hold cartpole"),
        )
    ),
    (("compare", "aggregate"), "DATA --reference sac", 1, "sac: no runs of that method; methods here: props, r2po\n"),
    (("compare",), "DATA --alpha 0", 2, "between 0 and 1"),
    (("compare",), "DATA --metric median", 2, "median"),
    *((("profile",), f"DATA --steps {value}", 2, "--steps") for value in ("0", "-1", "1001", "many")),
    *((("efficiency",), f"DATA --points {value}", 2, "--points") for value in ("0", "-1", "1001", "many")),
    (("",), "", 2, "command"),
    (("nonsense",), "", 2, "nonsense"),
]


def test_mistakes_are_reported_in_one_line(data: Path, write_run: WriteRun, capsys: Capture) -> None:
    empty = write_run("r2po", 1, [])
    places = {"DATA": str(data), "NOWHERE": str(data / "NOWHERE"), "EMPTY": str(empty)}
    wrong = [
        refused(capsys, status, words, *command.split(), *(places.get(word, word) for word in arguments.split()))
        for commands, arguments, status, words in MISTAKES
        for command in commands
    ]
    assert list(filter(None, wrong)) == []


def test_the_library_opens_no_records() -> None:
    program = (
        "import importlib, sys\n"
        "for module in sys.argv[1:]:\n"
        "    importlib.import_module(f'stats.{module}')\n"
        "    if ours := sys.modules.keys() & {'audit.store', 'collector.records', 'duckdb', 'figures'}:\n"
        "        sys.exit(f'{module}: {ours}')"
    )
    pure = ["measures.effects", "measures.scores", "tables.metrics", "tables.aggregates", "tables.efficiency"]
    done = subprocess.run([sys.executable, "-c", program, *pure], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_equal_cost_by_hand(tmp_path: Path, capsys: Capture) -> None:
    """Of two rollouts and a call an iteration costs 22, after a warm-up of one: props has spent 1 + 2 · 22 = 45 in all.

    With two iterations of 22 r2po has spent as much, and its third no longer counts. Where a test of its second
    revision took 80 rollouts, that does not count either. At 0 to a call all of its first two count again.
    """
    write = writer(tmp_path)
    warmup = [{"params": [0.0], "return": 1.0, "seed": 1}]
    for run_ in (1, 2):
        write("props", run_, [100.0, 150.0], warmup=warmup)
        data = write("r2po", run_, [100.0, 300.0, 500.0], warmup=warmup, method={"first": "search"})
    names = ("compare", data, "--metric", "best_return")
    assert rows_of(capsys, *names)["reference_mean"] == 500
    assert rows_of(capsys, *names, "--equal-cost")["reference_mean"] == 300
    file = data / "x" / "cartpole" / "r2po" / "run-01" / "episodes.jsonl"
    first, second, third = file.read_text().splitlines()
    test = {"rule": "gate", "pairs": 40, "accepted": False, "value": 0.5, "rollouts": 80}
    file.write_text("\n".join([first, json.dumps({**json.loads(second), "acceptance": test}), third]) + "\n")
    assert rows_of(capsys, *names, "--equal-cost")["reference_mean"] == (100 + 300) / 2
    assert rows_of(capsys, *names, "--equal-cost", "--call-cost", "1000")["reference_mean"] == (100 + 300) / 2
    [mean] = [
        row["best_return"]
        for row in json.loads(run(capsys, "metrics", data, "--equal-cost", "--format", "json")[1])
        if row["variant"] == "r2po"
    ]
    assert mean == (100 + 300) / 2
    note = run(capsys, *names, "--equal-cost")[2]
    assert "runs are cut at the cost of the cheapest one, in rollouts with 20 to a call: cartpole 45" in note
    assert not refused(
        capsys,
        2,
        "--equal-cost: a share of revisions has no cost",
        *("compare", data, "--metric", "citing_pct", "--equal-cost"),
    )


def rows_of(capsys: Capture, *arguments: str | Path) -> dict[str, float]:
    [row] = json.loads(run(capsys, *arguments, "--format", "json")[1])
    return dict(row)
