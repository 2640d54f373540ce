"""Logs with a row per candidate: a row revises the one that it names, or the previous one that was kept."""

from __future__ import annotations

import csv

import pytest

import audit
from tests.tools.running import run_tool

HEADER = ("id", "parent", "prompt", "scores", "why")
MAPPING = """
[fields]
iteration = "id"
{fields}
"revised.text" = "prompt"
"revised.returns" = "scores"
"revised.answer" = "why"

[constants]
condition = "c"
env = "e"
variant = "v"
run = 1

[run]
selection_rule = "{rule}"
{run}
"""
NAMED = 'candidate = "id"\nparent = "parent"'


def imported(folder, rows, *, fields=NAMED, rule="better", run=""):
    """Records of rows, as (iteration, r0, r1, accepted), and the import's notes."""
    log, mapping = folder / "log.csv", folder / "map.toml"
    with log.open("w", newline="") as file:
        csv.writer(file).writerows([HEADER, *rows])
    mapping.write_text(MAPPING.format(fields=fields, rule=rule, run=run))
    made = audit.import_logs(log, mapping, folder / "out", force=True)
    table = audit.revisions(folder / "out")
    return [tuple(row[name] for name in ("iteration", "r0", "r1", "accepted")) for row in table], made.table().notes


def test_a_row_revises_the_one_that_it_names_wherever_that_is(tmp_path):
    rows = [
        (0, "", "Be brief.", "[0, 1]", ""),
        (2, "1.0", "Be.", "[0, 0]", "Shorter."),
        (1, "0.0", "Be brief. Cite.", "[1, 1]", "The first example lacks a page."),
        (3, "0.0", "Cite.", "[0, 1]", "A page."),
    ]
    found, notes = imported(tmp_path, rows)
    assert found == [(1, 0.5, 1.0, True), (2, 1.0, 0.0, False), (3, 0.5, 0.5, True)]
    assert not any("left out" in note for note in notes)
    blamed = list(audit.lineage(tmp_path / "out", blame="1"))
    assert [(row["sentence"], row["iteration"]) for row in blamed] == [("Be brief.", None), ("Cite.", 1)]


def test_cycles_and_parents_that_are_missing_are_named_and_the_rest_is_read(tmp_path):
    rows = [
        (0, "", "a", "[0]", ""),
        (1, 0, "b", "[1]", ""),
        (2, 9, "c", "[1]", ""),
        (3, 3, "d", "[1]", ""),
        (4, 5, "e", "[1]", ""),
        (5, 4, "f", "[1]", ""),
        (6, 5, "g", "[1]", ""),
    ]
    found, notes = imported(tmp_path, rows)
    assert found == [(1, 0.0, 1.0, True)]
    told = [note.split(": ", 1)[1] for note in notes if "its parent" in note]
    assert told == [
        "its parent '9' is in no row of the run",
        *(f"its parent '{name}' is its own descendant, or comes of one" for name in (3, 5, 4, 5)),
    ]


def test_a_faulty_row_is_named_and_the_others_are_read(tmp_path):
    rows = [(0, "", "a", "[0]", ""), (1, 0, "b", '["x"]', ""), (2, 0, "c", "[1]", "")]
    found, notes = imported(tmp_path, rows)
    assert found == [(2, 0.0, 1.0, True)]
    assert sum("revised.returns" in note for note in notes) == 1


def test_the_previous_kept_row_is_the_parent(tmp_path):
    rows = [(0, "", "a", "[3]", ""), (1, "", "b", "[2]", ""), (2, "", "c", "[4]", ""), (3, "", "d", "[4]", "")]
    found, _ = imported(tmp_path, rows, fields="", rule="strict", run='parent = "previous"')
    assert found == [(1, 3.0, 2.0, False), (2, 3.0, 4.0, True), (3, 4.0, 4.0, False)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fields": 'parent = "parent"'}, "candidate is missing"),
        ({"fields": f'{NAMED}\n"initial.returns" = "scores"'}, "initial.returns is of the parent"),
        ({"run": 'parent = "previous"'}, "both there"),
        ({"fields": "", "run": 'parent = "id"'}, r"\[run\] parent should be 'previous'"),
    ],
)
def test_mappings_that_make_no_sense(tmp_path, options, message):
    with pytest.raises(audit.UsageError, match=message):
        imported(tmp_path, [(0, "", "a", "[0]", "")], **options)


@pytest.mark.slow
def test_trials_of_optuna(tmp_path):
    run_tool("optuna", "run_optuna.py", tmp_path / "trials.csv")
    audit.import_logs(tmp_path / "trials.csv", "optuna", tmp_path / "out")
    with (tmp_path / "trials.csv").open() as file:
        values = {int(row["number"]): float(row["value"]) for row in csv.DictReader(file) if row["state"] == "COMPLETE"}
    best, expected = values.pop(0), []
    for number, value in values.items():
        expected.append((number, best, value, value > best))
        best = max(best, value)
    rows = audit.revisions(tmp_path / "out")
    assert [tuple(row[name] for name in ("iteration", "r0", "r1", "accepted")) for row in rows] == expected
    assert 5 not in values


@pytest.mark.slow
def test_runs_of_mlflow(tmp_path):
    run_tool("mlflow", "run_mlflow.py", tmp_path, tmp_path / "runs.csv")
    audit.import_logs(tmp_path / "runs.csv", "mlflow", tmp_path / "out")
    rows = audit.revisions(tmp_path / "out")
    # The table has the newest run first, and both revise the first one.
    assert [(row["r0"], row["r1"]) for row in rows] == [(0.25, 0.75), (0.25, 0.5)]
    assert list(audit.salience(tmp_path / "out")) == []


@pytest.mark.slow
def test_steps_of_weights_and_biases(tmp_path):
    run_tool("wandb", "run_wandb.py", tmp_path, tmp_path / "history.csv")
    audit.import_logs(tmp_path / "history.csv", "wandb", tmp_path / "out")
    # The third step revises the second, which was kept.
    assert [(row["r0"], row["r1"]) for row in audit.revisions(tmp_path / "out")] == [(0.25, 0.75), (0.75, 0.5)]


@pytest.mark.slow
def test_steps_of_promptolution(tmp_path):
    run_tool("promptolution", "run_promptolution.py", tmp_path)
    audit.import_logs(tmp_path / "step_results.csv", "promptolution", tmp_path / "out")
    rows = audit.revisions(tmp_path / "out")
    # Two prompts of the first step, and one new one in each of two more, against the best of the steps before.
    assert [(row["r0"], row["r1"]) for row in rows] == [(0.5, 0.75), (0.75, 1)]
