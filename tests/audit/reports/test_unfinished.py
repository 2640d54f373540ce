"""Runs that are shorter than they were to be, or than the others, are told."""

from __future__ import annotations

import json
import math

import pytest
from typer.testing import CliRunner

from audit.reports.unfinished import unfinished
from stats.cli import app
from tests.audit.samples import revision, write_run


def fact(run, finished, planned=None, variant="r2po", skipped=0):
    cell = {"condition": "c", "env": "pong", "variant": variant, "run": run}
    return cell | {"iterations_finished": finished, "iterations_planned": planned, "iterations_skipped": skipped}


@pytest.mark.parametrize(
    ("facts", "told"),
    [
        ([], []),
        ([fact(1, 5, 5), fact(2, 5, 5)], []),
        ([fact(1, 5, 5), fact(2, 3, 5)], ["c, pong, r2po: 1 of 2 runs unfinished, 3 of 5 iterations"]),
        (
            [fact(1, 4, 5), fact(2, 0, 8), fact(3, 5, 5)],
            ["c, pong, r2po: 2 of 3 runs unfinished, 0 to 4 of 5 to 8 iterations; 1 without any, left out"],
        ),
        # Without a plan the longest run of the cell is the measure, and the cells are apart.
        (
            [fact(1, 7), fact(2, 4), fact(1, 20, variant="props")],
            ["c, pong, r2po: 1 of 2 runs unfinished, 4 of 7 iterations"],
        ),
        ([fact(1, 7, math.nan), fact(2, 7, math.nan)], []),
        # An iteration that proposed nothing is over, and has no return.
        (
            [fact(1, 3, 5, skipped=2), fact(2, 0, 5, skipped=5), fact(3, 1, 5, skipped=1)],
            [
                "c, pong, r2po: 1 of 3 runs unfinished, 2 of 5 iterations; 8 of 12 iterations proposed nothing; "
                "1 of 3 runs proposed nothing at all, left out"
            ],
        ),
    ],
)
def test_who_is_unfinished(facts, told):
    assert unfinished(facts) == told


def test_stats_says_so_and_counts_what_there_is(tmp_path):
    episodes = [revision([5, 9, 9], [1, 1, 1], iteration=i) for i in range(3)]
    write_run(tmp_path / "run-01", [{**episode, "run": 1} for episode in episodes])
    write_run(tmp_path / "run-02", [{**episode, "run": 2} for episode in episodes[:1]])
    for command in (["metrics"], ["compare", "--reference", "threetraj"], ["aggregate"]):
        result = CliRunner().invoke(app, [*command, str(tmp_path), "--format", "json"])
        assert result.exit_code == 0
        assert "threetraj: 2 of 2 runs unfinished, 1 to 3 of 100 iterations" in result.stderr
    rows = json.loads(CliRunner().invoke(app, ["metrics", str(tmp_path), "--format", "json"]).stdout)
    assert [row["runs"] for row in rows] == [2]
