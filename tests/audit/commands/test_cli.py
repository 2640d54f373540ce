"""The command line: rows on standard output, everything else on standard error, exit status 0, 1, 2 or 130."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command
from typer.testing import CliRunner

import stats.cli
from audit.cli import Commands, app
from tests.audit.samples import candidate, episode, revision, write_run

pytestmark = pytest.mark.usefixtures("opened_once")

COMMANDS = {
    "summary": (
        "condition env variant runs revisions mean_delta mean_edit_distance accepted accepted_pct regressions "
        "regressions_pct improvements no_change"
    ),
    "salience": (
        "condition env variant detector revisions regressions regressions_pct strict strict_pct permissive "
        "permissive_pct worst_below_median worst_below_best citing_regressions_pct citing_improvements_pct "
        "citing_no_change_pct risk_ratio risk_ratio_low risk_ratio_high odds_ratio odds_ratio_low odds_ratio_high "
        "about strict_untied_pct permissive_untied_pct"
    ),
    "agreement": "condition env variant structure revisions mean_delta",
    "patterns": "condition env variant pattern revisions pct",
    "revisions": (
        "condition env variant run iteration r0 r1 delta direction edit_distance l2_distance max_change changed "
        "accepted worst median best severity structure references_worst strict permissive pattern "
        "tau_c restrained about cites changed_components components edit_ratio token_change length_ratio"
    ),
    "runs": "condition env variant run iterations mean_return best_return final_return",
}
FORMATS = ("table", "json", "csv", "markdown", "latex")
ANSWER = "The worst rollout fell.\n\nSo I changed params[1], and " + "explained it at length " * 12


def audit(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Two conditions, one of them simulated; three methods; a regression, an improvement, a tie."""
    root = tmp_path_factory.mktemp("data")
    rows = [
        revision([1, 5, 9], [2, 2, 2], after=(1, 2.5, 3), answer=ANSWER, iteration=0),
        revision([1, 5, 9], [6, 6, 6], iteration=1),
        revision([4, 4, 4], [4, 4, 4], iteration=2),
    ]
    write_run(root / "a", rows)
    write_run(root / "b", [{**row, "condition": "50%_of & more"} for row in rows], backend="simulated")
    write_run(root / "c", [episode(candidate([1, 2, 3]), variant="props", evidence=None)])
    return root


@pytest.mark.parametrize("command", COMMANDS)
def test_json_has_the_documented_keys_in_order(data, command):
    result = audit(command, data, "--format", "json")
    assert result.exit_code == 0
    rows = json.loads(result.stdout, parse_constant=lambda name: pytest.fail(f"{name} in JSON"))
    assert rows
    assert all(list(row) == COMMANDS[command].split() for row in rows)


@pytest.mark.parametrize("command", COMMANDS)
def test_csv_says_the_same_as_json(data, command):
    rows = json.loads(audit(command, data, "--format", "json").stdout)
    table = list(csv.DictReader(io.StringIO(audit(command, data, "--format", "csv").stdout)))
    assert len(table) == len(rows)
    for written, row in zip(table, rows, strict=True):
        for key, value in row.items():
            if isinstance(value, bool):
                assert written[key] == str(value).lower()
            elif isinstance(value, int | float):
                assert float(written[key]) == value
            elif isinstance(value, list):
                assert [int(item) for item in written[key].split()] == value
            else:
                assert written[key] == (value or "")


@pytest.mark.parametrize("command", COMMANDS)
def test_markdown_is_one_table_of_equal_rows(data, command):
    lines = audit(command, data, "--format", "markdown", "--condition", "hand").stdout.splitlines()
    assert lines[0] == "| " + " | ".join(COMMANDS[command].split()) + " |"
    assert {line.count("|") for line in lines} == {len(COMMANDS[command].split()) + 1}


@pytest.mark.parametrize("command", COMMANDS)
def test_latex_escapes_what_latex_would_read(data, command):
    text = audit(command, data, "--format", "latex").stdout
    body = text[text.index("\\begin{tabular}") :]
    assert "50\\%\\_of \\& more" in body
    assert body.count("\\toprule") == body.count("\\midrule") == body.count("\\bottomrule") == 1
    rows = [line for line in body.splitlines() if line.endswith("\\\\")]
    assert len({line.replace("\\&", "").count("&") for line in rows}) == 1
    assert rows[0].startswith("Condition & Task & Method & ")
    assert "_" not in re.sub(r"\\_|\$r_[01]\$", "", body)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_table_for_people_is_readable_at_100_columns_and_marks_the_simulated(data, command):
    result = audit(command, data)
    assert result.exit_code == 0
    assert "Backend: simulated in 50%_of & more" in result.stdout
    real = audit(command, data, "--condition", "hand").stdout
    assert "simulated" not in real
    assert max(len(line.rstrip()) for line in real.splitlines()) <= 100
    assert "…" not in real


def test_what_tables_leave_out_is_named_in_full_as_columns_takes_it(data, monkeypatch):
    assert "Left out: direction, l2_distance, " in audit("revisions", data).stdout
    monkeypatch.setenv("COLUMNS", "80")
    found = {}
    for command in ("salience", "rates", "noise", "revisions"):
        result = audit(command, data)
        assert max(len(line.rstrip()) for line in result.stdout.splitlines()) <= 80
        text = " ".join(result.stdout.partition("Left out: ")[2].split())
        found[command] = re.findall(r"[^, ]+", text.removesuffix("; --columns has them."))
        chosen = audit(command, data, "--columns", ",".join(found[command]), "--format", "csv")
        assert chosen.stdout.splitlines()[0].split(",") == found[command]
    assert {"citing_no_change_pct", "worst_below_median"} <= set(found["salience"])


def test_columns_and_rows_are_chosen(data):
    options = ["--columns", "iteration,delta", "--columns", "env", "--sort", "-delta,env", "--limit", "2"]
    result = audit("revisions", data, *options, "--format", "csv")
    header, *rows = csv.reader(io.StringIO(result.stdout))
    every = list(csv.DictReader(io.StringIO(audit("revisions", data, "--format", "csv").stdout)))
    assert header == ["iteration", "delta", "env"]
    assert [float(delta) for _, delta, _ in rows] == sorted((float(row["delta"]) for row in every), reverse=True)[:2]
    assert f"audit: first 2 of {len(every)} rows" in result.stderr


def leaves(command, path=()):
    if not hasattr(command, "commands"):
        return {path: command}
    return {leaf: each for name, sub in command.commands.items() for leaf, each in leaves(sub, (*path, name)).items()}


TABLES = {
    (program, *path): command
    for program, module in {"audit": app, "stats": stats.cli.app}.items()
    for path, command in leaves(get_command(module)).items()
    if any(
        "latex" in str(parameter.type_descriptor.annotation)
        for parameter in command.params
        if parameter.name == "output"
    )
}


def test_every_command_that_prints_a_table_lets_users_choose_columns_and_rows():
    assert len(TABLES) > 30
    assert not {("audit", "intervene", "report"), ("audit", "verify"), ("stats", "paper")} - TABLES.keys()
    for path, command in TABLES.items():
        options = {option for parameter in command.params for option in parameter.opts}
        assert options >= {"--columns", "--sort", "--limit"}, path


@pytest.mark.parametrize("command", ["check", "sensitivity", "find", "sql", "verify", "patterns"])
def test_a_table_with_a_layout_of_its_own_is_plain_rows_where_columns_are_chosen(data, command):
    query = ["select env, variant from revisions"] if command == "sql" else []
    case = ["--where", "true"] if command == "find" else []
    result = audit(command, data, *query, *case, "--columns", "variant,env", "--sort", "-variant")
    assert result.exit_code == (command == "verify"), result.stderr  # these records are made up
    assert [line.split() for line in result.stdout.splitlines() if "variant" in line][:1] == [["variant", "env"]]
    wrong = audit(command, data, *query, *case, "--columns", "varient")
    assert (wrong.exit_code, wrong.stdout) == (2, "")
    assert wrong.stderr.splitlines()[-1] == "audit: --columns varient: no such column; did you mean variant?"


def test_help_groups_every_command_and_cuts_no_summary():
    result = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "80"}, terminal_width=80)
    lines = result.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert "..." not in result.stdout.partition("Read records")[2]
    grouped = [name for names in Commands.groups.values() for name in names]
    assert len(grouped) == len(set(grouped))
    assert set(get_command(app).commands) <= set(grouped)
    assert [line for line in lines if line.rstrip(":") in Commands.groups] == [f"{name}:" for name in Commands.groups]
    assert "This command alone" not in result.stdout


def test_numbers_by_hand(data):
    [row] = json.loads(audit("salience", data, "--condition", "hand", "--format", "json").stdout)
    wanted = {"revisions": 3, "regressions": 1, "strict": 1, "strict_pct": 100.0, "worst_below_median": 1}
    assert {key: row[key] for key in wanted} == wanted
    assert row["regressions_pct"] == 100 / 3


def test_patterns_of_methods_stand_side_by_side(data, tmp_path):
    """CartPole: high 450, meaningful 0.1. Of two revisions of threetraj one breaks a policy that is nearly optimal."""
    rows = [revision([480] * 3, [300] * 3, after=(1, 2.5, 3)), revision([480] * 3, [480] * 3, iteration=1)]
    write_run(tmp_path / "a", rows)
    write_run(tmp_path / "b", [revision([480] * 3, [300] * 3, variant="alwayscritic")])
    table = json.loads(audit("patterns", tmp_path, "--wide", "--format", "json").stdout)
    shares = {row["pattern"]: (row["alwayscritic"], row["threetraj"]) for row in table}
    assert len(table) == 10
    assert shares["near_optimal_break"] == (0, 50)
    assert shares["pure_stochasticity"] == (100, 0)
    assert shares["fine_tune"] == (0, 0)
    assert {row["failure"] for row in table if row["pattern"] == "near_optimal_break"} == {"compulsive revision"}
    assert "compulsive" in audit("patterns", data, "--wide").stdout


def test_filters_repeat_and_combine(data):
    def groups(*options):
        rows = json.loads(audit("summary", data, "--format", "json", *options).stdout)
        return [(row["condition"], row["variant"]) for row in rows]

    assert groups("--variant", "props") == [("hand", "props")]
    assert groups("--variant", "props", "--variant", "threetraj", "--condition", "hand") == [
        ("hand", "props"),
        ("hand", "threetraj"),
    ]
    assert groups("--variant", "props", "--condition", "50%_of & more") == []


@pytest.mark.parametrize("command", ["salience", "agreement"])
def test_data_without_three_rollouts_is_an_empty_list_and_a_note(tmp_path, command):
    write_run(tmp_path, [episode(variant="props", evidence=None)])
    result = audit(command, tmp_path, "--format", "json")
    assert (result.exit_code, json.loads(result.stdout)) == (0, [])
    assert "no revisions of threetraj" in result.stderr


@pytest.fixture(scope="module")
def with_garbage(tmp_path_factory):
    return write_run(tmp_path_factory.mktemp("garbage"), [revision([1, 5, 9], [2, 2, 2])], tail=b"garbage\n" * 12)


@pytest.mark.parametrize("output", FORMATS)
def test_problems_go_to_standard_error_and_are_counted(with_garbage, output):
    result = audit("summary", with_garbage, "--format", output)
    assert result.exit_code == 0
    assert "garbage" not in result.stdout
    assert "not JSON" not in result.stdout
    lines = result.stderr.splitlines()
    assert lines[0] == "audit: 12 problems in the records, left out:"
    assert len(lines) == 12
    assert "episodes.jsonl:2: not JSON" in lines[1]
    assert lines[-1].endswith("... and 2 more")


def test_strict_exits_with_1(tmp_path):
    write_run(tmp_path, [revision([1, 5, 9], [2, 2, 2])], tail=b"garbage\n")
    result = audit("summary", tmp_path, "--strict", "--format", "json")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "1 problem" in result.stderr
    assert "episodes.jsonl:2" in result.stderr


USAGE = {
    "no folder": ["summary"],
    "no such command": ["sumary", "."],
    "no such format": ["summary", ".", "--format", "yaml"],
    "detector that nobody knows": ["salience", ".", "--detector", "sentiment"],
    "setting without a value": ["patterns", ".", "--set", "cartpole.high"],
    "setting of no task": ["patterns", ".", "--set", "chess.high=1"],
    "setting of no threshold": ["patterns", ".", "--set", "cartpole.height=1"],
    "setting that is no number": ["patterns", ".", "--set", "cartpole.high=tall"],
    "run is no number": ["show", ".", "cartpole", "threetraj", "one", "2"],
}


@pytest.mark.parametrize("case", USAGE)
def test_usage_errors_exit_with_2(case, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = audit(*USAGE[case])
    assert (result.exit_code, result.stdout) == (2, "")
    assert "Traceback" not in result.stderr


def test_a_folder_without_records_exits_with_1_and_one_line(tmp_path):
    result = audit("summary", tmp_path)
    assert (result.exit_code, result.stdout) == (1, "")
    assert len(result.stderr.splitlines()) == 1
    assert "looked for run.json with episodes.jsonl" in result.stderr


def test_settings_change_the_patterns(data):
    def patterns(*options):
        rows = json.loads(audit("patterns", data, "--condition", "hand", "--format", "json", *options).stdout)
        return {row["pattern"]: row["revisions"] for row in rows}

    assert patterns() == {"other_regression": 1, "other_improvement": 1}
    assert patterns("--set", "cartpole.high=4", "--set", "cartpole.meaningful=2") == {
        "near_optimal_break": 1,
        "other_improvement": 1,
    }


def test_show_tells_a_revision_in_full(data):
    result = audit("show", data, "cartpole", "threetraj", 1, 0, "--condition", "hand")
    assert result.exit_code == 0
    for part in (
        "initial 5 = mean of 1 5 9",
        "worst   rollout 0   return 1",
        "best    rollout 2   return 9",
        "params[1]: 2 -> 2.5",
        "regression: delta -3; not accepted",
        "other_regression",
        "the answer refers to the worst rollout (detector word)",
        "strict yes, permissive yes",
        "The [worst rollout]{worst 0} fell.",
    ):
        assert part in result.stdout
    assert max(len(line) for line in result.stdout.splitlines()) <= 120
    marked = ANSWER.replace("worst rollout", "[worst rollout]{worst 0}")
    assert " ".join(marked.split()) in " ".join(result.stdout.split())


def test_show_as_json_is_one_object(data):
    result = audit("show", data, "cartpole", "threetraj", 1, 0, "--condition", "hand", "--format", "json")
    shown = json.loads(result.stdout)
    assert shown["edits"] == [{"index": 1, "before": 2.0, "after": 2.5}]
    assert shown["revised"]["answer"] == ANSWER
    assert shown["evidence"][0] == {"label": "worst", "rollout": 0, "return": 1.0, "name": None}


def test_show_names_the_rule_and_its_thresholds(tmp_path):
    write_run(tmp_path, [revision([460, 460], [455, 455])])
    text = audit("show", tmp_path, "cartpole", "threetraj", 1, 0, "--set", "cartpole.partial=100").stdout
    assert "edit pattern: pure_stochasticity (edit distance 0 = 0; thresholds: user)" in text


def test_show_asks_for_the_condition_where_several_match(data):
    result = audit("show", data, "cartpole", "threetraj", 1, 0)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == (
        "audit: revision cartpole threetraj 1 0 exists under several conditions; choose one with --condition: "
        "50%_of & more, hand\n"
    )


def test_show_of_what_is_not_there_exits_with_1(data):
    result = audit("show", data, "cartpole", "threetraj", 1, 77)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "no revision cartpole threetraj 1 77" in result.stderr


SCRIPT = [sys.executable, "-c", "from audit.cli import main; main()"]


def test_a_reader_that_stops_early_is_no_error(tmp_path):
    rows = [revision([1, 5, 9], [2, 2, 2], iteration=number) for number in range(2_000)]
    write_run(tmp_path, rows)
    writer = subprocess.Popen(
        [*SCRIPT, "revisions", str(tmp_path), "--format", "csv"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert writer.stdout.readline().startswith(b"condition,env")
    writer.stdout.close()
    errors = writer.stderr.read()
    writer.stderr.close()
    assert (writer.wait(), errors) == (0, b"")


def test_an_interrupt_is_told_tidily(data, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("audit.reports.tables.relation_table", interrupted)
    result = audit("summary", data)
    assert (result.exit_code, result.stderr) == (130, "audit: interrupted\n")


def test_help_waits_for_nothing_that_is_slow_to_import():
    script = """
import sys
from audit.cli import app
try:
    app(["--help"])
except SystemExit:
    slow = {"collector.records", "collector.tasks", "duckdb", "numba", "numpy", "pandas", "rich", "scipy"}
    sys.exit(" ".join(slow & sys.modules.keys()))
"""
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert "salience" in result.stdout
    assert result.stderr.strip() == ""


PROBE = """
import sys
opened = []
sys.addaudithook(lambda event, details: opened.append(str(details[0])) if event == "open" else None)
from typer.testing import CliRunner
from audit.cli import app
for command in ({commands}):
    result = CliRunner().invoke(app, [*command.split(), "--format", "json"])
    assert result.exit_code == 0, result.output
    sys.stdout.write(result.stdout)
heavy = {{"mujoco", "gymnasium", "ollama", "openai", "jinja2", "scipy", "matplotlib", "pandas"}}
forbidden = heavy & sys.modules.keys()
system = ("cores", "lazy_names", "memory", "progress", "regular_files", "secrets", "stopping", "streams")
system = {{"collector.system." + name for name in system}}
records = {{name for name in sys.modules if name.startswith("collector.records")}}
light = records | {{"collector.system", "collector.command_line", "collector.model_options"}} | system
ours = {{name for name in sys.modules if name.startswith("collector.")}} - light
assert not forbidden, forbidden
assert not ours, ours
assert not [path for path in opened if path.endswith(("truth.jsonl", "calls.jsonl"))], opened
"""


@pytest.mark.slow
def test_an_audit_imports_no_simulator_and_opens_neither_truth_nor_calls(tmp_path):
    """Files of the truth and of the calls may be missing, garbage, or not even files: the output is the same."""
    rows = [revision([1, 5, 9], [2, 2, 2], answer=ANSWER)]
    commands = [f"{command} {{path}}" for command in COMMANDS] + ["show {path} cartpole threetraj 1 0"]

    def output(path):
        results = [audit(*command.format(path=path).split(), "--format", "json") for command in commands]
        assert [result.exit_code for result in results] == [0] * len(results)
        return "".join(result.stdout for result in results).replace(str(path), "")

    clean = output(write_run(tmp_path / "clean", rows))
    for name in ("garbage", "folders"):
        folder = write_run(tmp_path / name, rows)
        for file in ("truth.jsonl", "calls.jsonl"):
            if name == "garbage":
                (folder / file).write_bytes(b"\xff not a record\n")
            else:
                (folder / file).mkdir()
        assert output(folder) == clean
    given = ", ".join(repr(command.format(path=tmp_path / "garbage")) for command in commands)
    probe = [sys.executable, "-c", PROBE.format(commands=given)]
    result = subprocess.run(probe, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert result.stdout.replace(str(tmp_path / "garbage"), "") == clean


def test_duckdb_is_not_given_the_truth_either(tmp_path):
    """What DuckDB opens no Python hook sees: so the list of files that it is pointed at is looked at."""
    from audit.store import open_store

    folder = write_run(tmp_path / "run-01", [revision([1, 5, 9], [2, 2, 2])])
    (folder / "truth.jsonl").write_text((folder / "episodes.jsonl").read_text())
    with open_store([tmp_path]) as store:
        assert [Path(row["file"]).name for row in store.rows("record_files")] == ["episodes.jsonl"]
        assert {Path(row["file"]).name for row in store.rows("lines")} == {"episodes.jsonl"}
