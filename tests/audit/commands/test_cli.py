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

from audit.cli import Commands, app
from tests.audit.calls import call, json_rows
from tests.audit.samples import candidate, episode, revision, write_run
from tests.test_programs import PROGRAMS, leaves

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
        "about strict_untied_pct permissive_untied_pct runs strict_low strict_high permissive_low permissive_high "
        "gap gap_low gap_high rough"
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
def test_every_format_has_the_documented_columns_and_says_the_same(data, command):
    keys = COMMANDS[command].split()
    rows = json.loads(call(command, data, "--format=json").stdout, parse_constant=pytest.fail)
    assert rows
    assert all(list(row) == keys for row in rows)
    table = list(csv.DictReader(io.StringIO(call(command, data, "--format", "csv").stdout)))
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
    lines = call(command, data, "--format", "markdown", "--condition", "hand").stdout.splitlines()
    assert lines[0] == "| " + " | ".join(keys) + " |"
    assert {line.count("|") for line in lines} == {len(keys) + 1}
    text = call(command, data, "--format", "latex").stdout
    body = text[text.index("\\begin{tabular}") :]
    assert "50\\%\\_of \\& more" in body
    assert body.count("\\toprule") == body.count("\\midrule") == body.count("\\bottomrule") == 1
    lines = [line for line in body.splitlines() if line.endswith("\\\\")]
    assert len({line.replace("\\&", "").count("&") for line in lines}) == 1
    assert lines[0].startswith("Condition & Task & Method & ")
    assert "_" not in re.sub(r"\\_|\$r_[01]\$", "", body)
    assert "Backend: simulated in 50%_of & more" in call(command, data).stdout
    real = call(command, data, "--condition", "hand").stdout
    assert "simulated" not in real
    assert max(len(line.rstrip()) for line in real.splitlines()) <= 100
    assert "…" not in real


def test_what_tables_leave_out_is_named_in_full_as_columns_takes_it(data, monkeypatch):
    assert "Left out: direction, l2_distance, " in call("revisions", data).stdout
    monkeypatch.setenv("COLUMNS", "80")
    found = {}
    for command in ("salience", "rates", "noise", "revisions"):
        result = call(command, data)
        assert max(len(line.rstrip()) for line in result.stdout.splitlines()) <= 80
        text = " ".join(result.stdout.partition("Left out: ")[2].split())
        found[command] = re.findall(r"[^, ]+", text.removesuffix("; --columns has them."))
        chosen = call(command, data, "--columns", ",".join(found[command]), "--format", "csv")
        assert chosen.stdout.splitlines()[0].split(",") == found[command]
    assert {"about", "worst_below_median"} <= set(found["salience"])
    decisive = {"strict", "risk_ratio", "holm_p", "beyond_noise", "strict_beyond_noise", "delta"}
    assert not decisive & set().union(*found.values())


def test_columns_and_rows_are_chosen(data):
    options = ["--columns", "iteration,delta", "--columns", "env", "--sort", "-delta,env", "--limit", "2"]
    result = call("revisions", data, *options, "--format", "csv")
    header, *rows = csv.reader(io.StringIO(result.stdout))
    every = list(csv.DictReader(io.StringIO(call("revisions", data, "--format", "csv").stdout)))
    assert header == ["iteration", "delta", "env"]
    assert [float(delta) for _, delta, _ in rows] == sorted((float(row["delta"]) for row in every), reverse=True)[:2]
    assert f"audit: first 2 of {len(every)} rows" in result.stderr


def test_every_command_that_prints_a_table_lets_users_choose_columns_and_rows():
    every = [leaf for name in ("audit", "stats") for leaf in leaves(get_command(PROGRAMS[name].app), [name])]
    tables = {
        tuple(path): {option for each in command.params for option in each.opts}
        for path, command in every
        if any(each.name == "output" and "latex" in str(each.type_descriptor.annotation) for each in command.params)
    }
    assert len(tables) > 30
    assert not {("audit", "intervene", "report"), ("audit", "verify"), ("stats", "check")} - tables.keys()
    assert [path for path, options in tables.items() if not options >= {"--columns", "--sort", "--limit"}] == []


@pytest.mark.parametrize("command", ["check", "sensitivity", "find", "sql", "verify", "patterns"])
def test_a_table_with_a_layout_of_its_own_is_plain_rows_where_columns_are_chosen(data, command):
    query = ["select env, variant from revisions"] if command == "sql" else []
    case = ["--where", "true"] if command == "find" else []
    result = call(command, data, *query, *case, "--columns", "variant,env", "--sort", "-variant")
    assert result.exit_code == (command == "verify"), result.stderr  # these records are made up
    assert [line.split() for line in result.stdout.splitlines() if "variant" in line][:1] == [["variant", "env"]]
    wrong = call(command, data, *query, *case, "--columns", "varient")
    assert (wrong.exit_code, wrong.stdout) == (2, "")
    assert wrong.stderr.splitlines()[-1] == "audit: --columns varient: no such column; did you mean variant?"


def test_help_groups_every_command():
    grouped = [name for names in Commands.groups.values() for name in names]
    assert len(grouped) == len({*grouped})
    assert {*get_command(app).commands} <= {*grouped}
    shown = call("--help").stdout
    assert [line for line in shown.splitlines() if line[:-1] in Commands.groups] == [
        f"{name}:" for name in Commands.groups
    ]
    assert "This command alone" not in shown


def test_patterns_of_methods_stand_side_by_side(data, tmp_path):
    """CartPole: high 450, meaningful 0.1. Of two revisions of threetraj one breaks a policy that is nearly optimal."""
    rows = [revision([480] * 3, [300] * 3, after=(1, 2.5, 3)), revision([480] * 3, [480] * 3, iteration=1)]
    write_run(tmp_path / "a", rows)
    write_run(tmp_path / "b", [revision([480] * 3, [300] * 3, variant="alwayscritic")])
    table = json_rows("patterns", tmp_path, "--wide")
    shares = {row["pattern"]: (row["alwayscritic"], row["threetraj"]) for row in table}
    assert len(table) == 10
    assert shares["near_optimal_break"] == (0, 50)
    assert shares["pure_stochasticity"] == (100, 0)
    assert shares["fine_tune"] == (0, 0)
    assert {row["failure"] for row in table if row["pattern"] == "near_optimal_break"} == {"compulsive revision"}
    assert "compulsive" in call("patterns", data, "--wide").stdout


def test_data_without_three_rollouts_is_an_empty_list_and_a_note(tmp_path):
    write_run(tmp_path, [episode(variant="props", evidence=None)])
    for command in ("salience", "agreement"):
        result = call(command, tmp_path, "--format", "json")
        assert (result.exit_code, json.loads(result.stdout)) == (0, [])
        assert "no revisions of threetraj" in result.stderr


def test_problems_go_to_standard_error_and_are_counted_or_refused(tmp_path):
    write_run(tmp_path, [revision([1, 5, 9], [2, 2, 2])], tail=b"garbage\n" * 12)
    for output in FORMATS:
        result = call("summary", tmp_path, "--format", output)
        assert result.exit_code == 0
        assert not re.search("garbage|not JSON", result.stdout)
        first, second, *_, last = lines = result.stderr.splitlines()
        assert (first, len(lines)) == ("audit: 12 problems in the records, left out:", 12)
        assert "episodes.jsonl:2: not JSON" in second
        assert last.endswith("... and 2 more")
    strict = call("summary", tmp_path, "--strict", "--format", "json")
    assert (strict.exit_code, strict.stdout) == (1, "")
    assert "12 problems" in strict.stderr
    assert "episodes.jsonl:2" in strict.stderr


def test_usage_errors_exit_with_2_and_a_folder_without_records_with_1(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for words in (
        ["summary"],
        ["sumary", "."],
        ["summary", ".", "--format", "yaml"],
        ["salience", ".", "--detector", "sentiment"],
        *(["patterns", ".", "--set", f"{wrong}"] for wrong in ("cartpole.high", "chess.high=1", "cartpole.height=1")),
        ["patterns", ".", "--set", "cartpole.high=tall"],
        ["show", ".", "cartpole", "threetraj", "one", "2"],
    ):
        result = call(*words)
        assert (result.exit_code, result.stdout, "Traceback" in result.stderr) == (2, "", False), words
    result = call("summary", tmp_path)
    assert (result.exit_code, result.stdout, len(result.stderr.splitlines())) == (1, "", 1)
    assert "looked for run.json with episodes.jsonl" in result.stderr


def test_show_tells_a_revision_in_full(data):
    result = call("show", data, "cartpole", "threetraj", 1, 0, "--condition", "hand")
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


def test_show_as_json_is_one_object_and_names_rule_and_thresholds(data, tmp_path):
    [shown] = [json_rows("show", data, "cartpole", "threetraj", 1, 0, "--condition", "hand")]
    assert shown["edits"] == [{"index": 1, "before": 2.0, "after": 2.5}]
    assert shown["revised"]["answer"] == ANSWER
    assert shown["evidence"][0] == {"label": "worst", "rollout": 0, "return": 1.0, "name": None}
    write_run(tmp_path, [revision([460, 460], [455, 455])])
    text = call("show", tmp_path, "cartpole", "threetraj", 1, 0, "--set", "cartpole.partial=100").stdout
    assert "edit pattern: pure_stochasticity (edit distance 0 = 0; thresholds: user)" in text


def test_show_asks_for_the_condition_where_several_match_and_finds_nothing_else(data):
    result = call("show", data, "cartpole", "threetraj", 1, 0)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == (
        "audit: revision cartpole threetraj 1 0 exists under several conditions; choose one with --condition: "
        "50%_of & more, hand\n"
    )
    result = call("show", data, "cartpole", "threetraj", 1, 77)
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
    result = call("summary", data)
    assert (result.exit_code, result.stderr) == (130, "audit: interrupted\n")


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
assert not [path for path in opened if path.endswith(("truth.jsonl", "calls.jsonl"))], opened
"""


@pytest.mark.slow
def test_an_audit_opens_neither_truth_nor_calls(tmp_path):
    """Files of the truth and of the calls may be missing, garbage, or not even files: the output is the same."""
    rows = [revision([1, 5, 9], [2, 2, 2], answer=ANSWER)]
    commands = [f"{command} {{path}}" for command in COMMANDS] + ["show {path} cartpole threetraj 1 0"]

    def output(path):
        results = [call(*command.format(path=path).split(), "--format", "json") for command in commands]
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


def test_records_are_read_from_no_other_file(tmp_path):
    from audit.store import open_store

    folder = write_run(tmp_path / "run-01", [revision([1, 5, 9], [2, 2, 2])])
    (folder / "truth.jsonl").write_text((folder / "episodes.jsonl").read_text())
    with open_store([tmp_path]) as store:
        assert {Path(row["file"]).name for row in store.rows("records")} == {"episodes.jsonl"}
