"""Logs of trackers and tuners: what did not finish, is carried over or is missing, and which scores are better."""

from __future__ import annotations

import csv
import gzip

import pytest

import audit

OWN = """
[fields]
iteration = "n"
"revised.mean_return" = "score"
"revised.text" = "prompt"
[constants]
condition = "c"
env = "e"
variant = "v"
run = 1
[run]
selection_rule = "strict"
parent = "previous"
"""


@pytest.fixture
def imported(tmp_path):
    """Import lines of CSV; the result is each revision as (iteration, r0, r1), and the notes of the import."""

    def run(lines, mapping, **options):
        log, out = tmp_path / "log.csv", tmp_path / "out"
        with log.open("w", newline="") as file:
            csv.writer(file).writerows(lines)
        if "\n" in mapping:
            (tmp_path / "map.toml").write_text(mapping)
            mapping = tmp_path / "map.toml"
        notes = "\n".join(audit.import_logs(log, mapping, out, force=True, **options).table().notes)
        return [(row["iteration"], row["r0"], row["r1"]) for row in audit.revisions(out)], notes

    return run


def paired(fields, constants=""):
    """A mapping of rows with both candidates."""
    mapping = OWN.replace('parent = "previous"\n', "").replace("[constants]", f"{fields}\n[constants]\n{constants}")
    return mapping.replace('selection_rule = "strict"\n', "") if "selected" in fields else mapping


@pytest.mark.parametrize(
    ("complete", "pruned", "failed"),
    [("COMPLETE", "PRUNED", "FAIL"), ("TrialState.COMPLETE", "TrialState.PRUNED", "TrialState.FAIL"), (1, 2, 3.0)],
)
def test_trials_that_did_not_complete_are_left_out_in_one_line(imported, complete, pruned, failed):
    rows = [(0, 0.5, "a", complete), (1, 0.9, "b", pruned), (2, 0.6, "c", complete), (3, "", "d", failed)]
    found, notes = imported([("number", "value", "params_prompt", "state"), *rows], "optuna")
    assert found == [(2, 0.5, 0.6)]
    assert "left out: 2 of 4 rows, which did not complete (state: 1 PRUNED, 1 FAIL)" in notes
    assert "no direction is stated: higher value" in notes


@pytest.mark.parametrize(
    ("steps", "missing"),
    [
        ([*range(0, 1000, 10), 999], ""),
        ([0, *range(9, 1000, 10)], ""),
        ([0, *range(9, 90, 10), 92], ""),
        ([1, *range(10, 50, 10), *range(60, 100, 10), 99], "1 of 11"),
        ([0, 1, 4, 5], "2 of 6"),
        ([0, 3, 4, 9, 11], "7 of 12"),
    ],
)
def test_an_odd_step_at_an_end_of_a_stride_is_none_that_is_missing(imported, steps, missing):
    _, notes = imported([("_step", "score", "prompt", "answer"), *((n, n, f"p{n}", "") for n in steps)], "wandb")
    assert f"steps are missing: {missing} by" in notes if missing else "missing" not in notes
    assert "is not known here" not in notes


def test_rows_are_called_reordered_only_where_they_are(imported):
    times = ["31 Jan 2026", "1 Feb 2026", "2 Feb 2026"]
    found, notes = imported([("n", "score", "prompt"), *((t, n, f"p{n}") for n, t in enumerate(times))], OWN)
    assert found == [(0, 0, 1), (1, 1, 2)]
    assert "iterations of 'n' are no numbers or ISO times; rows are taken in their order in the file" in notes
    assert "the order of 'n'" not in notes


def test_a_study_with_several_objectives_needs_a_mapping_that_names_one(imported):
    with pytest.raises(
        audit.UsageError, match="no column 'value': the study has several objectives, and a mapping has"
    ):
        imported([("number", "values_0", "values_1", "params_prompt", "state"), (0, 1, 2, "a", "COMPLETE")], "optuna")


def test_a_table_of_trials_without_states_is_refused(imported):
    with pytest.raises(audit.UsageError, match="no column 'state'"):
        imported([("number", "value", "params_prompt"), (0, 0.5, "a")], "optuna")


def test_runs_that_failed_are_neither_candidates_nor_parents(imported):
    columns = ("run_id", "status", "start_time", "metrics.score", "params.prompt", "tags.parent", "tags.answer")
    rows = [
        ("d", "FINISHED", "2026-01-01 10:03", 0.9, "d", "b", ""),
        ("c", "KILLED", "2026-01-01 10:02", 0.1, "c", "a", ""),
        ("b", "FAILED", "2026-01-01 10:01", 0.2, "b", "a", ""),
        ("e", "FINISHED", "2026-01-01 10:04", 0.7, "e", "a", ""),
        ("a", "FINISHED", "2026-01-01 10:00", 0.5, "a", "", ""),
    ]
    found, notes = imported([columns, *rows], "mlflow")
    assert [pair for _, *pair in found] == [[0.5, 0.7]]
    assert "left out: 2 of 5 rows, which did not complete (status: 1 KILLED, 1 FAILED)" in notes
    assert "its parent 'b' did not complete" in notes


def test_the_usual_column_of_a_state_counts_where_a_mapping_is_silent(imported):
    rows = [("n", "score", "prompt", "State"), (0, 1, "a", "finished"), (1, 3, "b", "crashed"), (2, 2, "c", "finished")]
    found, notes = imported(rows, OWN)
    assert found == [(2, 1, 2)]
    assert "left out: 1 of 3 rows, which did not complete (State: 1 CRASHED); [constants] state" in notes
    assert len(imported(rows, OWN.replace("run = 1", "run = 1\nstate = 'COMPLETE'"))[0]) == 2


@pytest.mark.parametrize("options", [{}, {"direction": "minimize"}])
def test_lower_scores_are_better_where_that_is_stated(imported, options):
    rows = [("n", "score", "prompt"), (0, 0.5, "a"), (1, 0.25, "b"), (2, 0.75, "c"), (3, 0.0, "d")]
    found, notes = imported(rows, OWN if options else f"{OWN}direction = 'minimize'\n", **options)
    assert found == [(1, -0.5, -0.25), (2, -0.25, -0.75), (3, -0.25, 0.0)]
    assert "lower scores are better: records have their negatives" in notes


def test_scores_that_only_fall_and_choices_of_the_worse_are_suspicious(imported):
    rows = [("n", "score", "prompt"), *((n, 1 - n / 10, f"p{n}") for n in range(5))]
    assert "scores fall from the first candidate on in 1 run" in imported(rows, OWN)[1]
    mapping = paired('"initial.mean_return" = "before"\nselected = "kept"')
    rows = [("n", "before", "score", "prompt", "kept")]
    rows += [(n, 2, 1 + 2 * (n == 1), "p", "initial" if n == 1 else "revised") for n in range(4)]
    assert "the worse candidate was kept in 4 of 4 rows" in imported(rows, mapping)[1]


def test_a_population_that_is_repeated_counts_once_against_the_best_of_the_steps_before(imported):
    step = {
        1: [(0.7, "Name the topic."), (0.6, "Which topic?")],
        2: [(0.65, "Which topic?"), (0.8, "The topic:"), (0.9, "Topic in a word.")],
        3: [(0.9, "Topic in a word."), (0.5, "Word:"), (0.8, "The topic:")],
    }
    rows = [(number, score, prompt) for number, members in step.items() for score, prompt in members]
    for lines in (rows, rows[5:] + rows[:5]):
        found, notes = imported([("step", "score", "prompt"), *lines], "promptolution")
        # The first step's prompts revise none; both of the second were made from the first, whose best has 0.7.
        assert sorted(pair for _, *pair in found) == [[0.7, 0.8], [0.7, 0.9], [0.9, 0.5]]
        assert "left out: 3 of 8 rows, carried over" in notes
        assert "1 row carried over with another score" in notes
    assert "the rows of 1 run are not in the order of 'step'" in notes


def test_candidates_that_occur_again_are_named_and_stay_where_no_mapping_asks(imported):
    rows = [("n", "score", "prompt"), (0, 1, "a"), (1, 2, "b"), (2, 2, "b")]
    found, notes = imported(rows, OWN)
    assert len(found) == 2
    assert "1 row with the candidate of an earlier row of the run: a population?" in notes


@pytest.mark.parametrize(
    ("mapping", "column", "hint"),
    [("wandb", "_step", "; history() of W&B is a sample, and scan_history() gives all"), (OWN, "n", "")],
)
def test_steps_that_are_missing_out_of_order_or_repeated_are_a_line_each(imported, mapping, column, hint):
    header = (column, "score", "prompt", "answer")
    # Every second step is logged; the sixth and the eighth are missing, the tenth is there twice.
    rows = [(n, n, f"p{n}", "") for n in (10, 0, 2, 12, 4, 10)]
    found, notes = imported([header, *rows], mapping)
    assert [iteration for iteration, *_ in found] == [2, 4, 10, 12]
    assert all(after > before for _, before, after in found)
    assert f"steps are missing: 2 of 7 by {column!r}{hint}" in notes
    assert f"the rows of 1 run are not in the order of {column!r}" in notes
    assert "iteration 10 of the run is in an earlier row; of several runs in one log, [fields] run names" in notes
    assert "missing" not in imported([header, *((n, n, f"p{n}", "") for n in (0, 10, 20))], mapping)[1]


def test_a_compressed_log_is_refused_by_name(tmp_path):
    (tmp_path / "log.csv.gz").write_bytes(gzip.compress(b"n,score,prompt\n0,1,a\n"))
    for read in (lambda log: audit.import_logs(log, "wandb", tmp_path / "out"), audit.guess_mapping):
        with pytest.raises(audit.AuditError, match=r"log\.csv\.gz: compressed with gzip; unpack it first"):
            read(tmp_path / "log.csv.gz")


def test_a_rollout_called_worst_that_is_not_the_lowest_is_named(imported):
    mapping = paired('"initial.returns" = "r"\nevidence.worst = "w"', 'evidence.kind = "three"')
    rows = [("n", "score", "prompt", "r", "w"), (0, 1, "a", "[1, 2]", 0), (1, 1, "b", "[1, 2]", 1)]
    assert "the rollout called worst has not the lowest return in 1 of 2 rows" in imported(rows, mapping)[1]
