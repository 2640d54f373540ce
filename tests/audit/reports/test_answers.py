"""The sentences of `audit salience`, and the intervals that they state: worked out by hand, or by another method."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from scipy.stats import t
from typer.testing import CliRunner

import audit
from audit.cli import app
from audit.output.paragraphs import as_wide_as_shown, first
from audit.reports.answers import answers
from tests.audit.samples import candidate, episode, revision, write_run

CITES, SILENT = "The worst rollout fell.", "I lowered a weight."
DOWN, UP = (0, 0, 0), (9, 9, 9)
TIED = (4, 4, 9)


def records(folder, *runs, before=(4, 5, 9)):
    """Runs whose revisions are given as (returns after, answer)."""
    for number, outcomes in enumerate(runs, start=1):
        rows = [
            revision(before, after, answer=answer, iteration=place, run=number)
            for place, (after, answer) in enumerate(outcomes)
        ]
        write_run(folder / f"run-{number}", rows)
    return folder


def of(citing, silent, improved=1):
    """A run with so many regressions that cite and that do not, and improvements of both kinds."""
    return [(DOWN, CITES)] * citing + [(DOWN, SILENT)] * silent + [(UP, CITES), (UP, SILENT)] * improved


def test_the_interval_of_the_strict_share_is_students_of_runs_that_count_equally(tmp_path):
    """Where every run has as many regressions, CR2 is the t interval of the runs' shares (Imbens and Kolesár 2016)."""
    strict = [1, 2, 3, 3, 4, 2]
    row = audit.salience(records(tmp_path, *(of(each, 4 - each) for each in strict))).rows
    [row] = list(row)
    shares = 100 * np.array(strict) / 4
    reach = t.ppf(0.975, 5) * shares.std(ddof=1) / math.sqrt(6)
    assert row["strict_pct"] == pytest.approx(shares.mean())
    assert [row["strict_low"], row["strict_high"]] == pytest.approx([shares.mean() - reach, shares.mean() + reach])
    assert (row["permissive_low"], row["runs"]) == (row["strict_low"], 6)
    # Of 15 + 6 that cite 15 regress, of 9 + 6 that do not 9 do.
    assert row["gap"] == pytest.approx(100 * (15 / 21 - 9 / 15))
    assert row["gap_low"] < row["gap"] < row["gap_high"]
    assert "strict" not in row["rough"]


@pytest.mark.parametrize(("runs", "is_rough"), [(4, True), (5, False)])
def test_fewer_than_four_degrees_of_freedom_are_rough_in_sentence_and_table(tmp_path, capsys, runs, is_rough):
    """The mean of runs that count equally has one less than runs."""
    found = audit.salience(records(tmp_path, *(of(1 + each % 2, 2 - each % 2) for each in range(runs))))
    assert ("strict" in next(iter(found))["rough"]) == is_rough
    [paragraph] = found.answers
    assert ("rough 95% interval" in paragraph.split("salience problems")[1]) == is_rough
    found.print()
    assert bool(re.search(r"%\)\s\[\d+,\s+\d+\]~", capsys.readouterr().out)) == is_rough


@pytest.mark.parametrize(
    ("runs", "before", "told"),
    [
        (
            [[(UP, CITES), (UP, SILENT)]],
            (4, 5, 9),
            "Citing the worst rollout cannot go with regressing: 0 of 2 revisions",
        ),
        (
            [[(DOWN, CITES), (UP, CITES)]],
            (4, 5, 9),
            "cannot be compared with not citing it: answers always do (2 of 2).",
        ),
        ([[(DOWN, SILENT), (UP, SILENT)]], (4, 5, 9), "not citing it: answers never do (0 of 2)."),
        ([of(1, 1)], (4, 5, 9), "by the strict criterion (50.0%, no interval from 1 run)"),
        ([of(1, 1), of(1, 1)], (4, 5, 9), "(50.0%, no interval, as no two runs differ)"),
        ([of(2, 1)], TIED, "are ruled out, as the worst rollout is below the median one in 0 of 3 regressions"),
        ([of(2, 1)], (4, 4, 4), "ruled out: the worst rollout is below the best one in 0 of 3 regressions."),
        ([of(0, 2)], (4, 5, 9), "There are no strict salience problems, so none can be beyond chance."),
        ([of(1, 1)], (4, 5, 9), "The evidence is 4 revisions in 1 run: too few to rely on."),
    ],
)
def test_what_cannot_be_known_is_said(tmp_path, runs, before, told):
    [paragraph] = audit.salience(records(tmp_path, *runs, before=before)).answers
    assert paragraph.startswith("CartPole, ThreeTraj, detector word: Citing the worst rollout ")
    assert told in paragraph
    assert len(paragraph.split()) <= 100
    assert all(word not in paragraph for word in ("None", "nan", "-"))


def test_strict_regressions_beyond_chance_are_those_of_noise(tmp_path):
    """Of 20 splits of six returns the lowest has p = 1/20; where an old and a new return are equal, it has more."""
    folder = records(tmp_path, [(DOWN, CITES), ((0, 5, 9), CITES), (DOWN, SILENT), (UP, SILENT)])
    [paragraph] = audit.salience(folder).answers
    assert "Strict salience problems beyond chance: 1 of 2 (permutation test, p ≤ 0.05)." in paragraph
    [noise] = list(audit.noise(folder))
    assert (noise["strict"], noise["strict_beyond_noise"]) == (2, 1)


def test_another_item_has_no_salience_problems(tmp_path):
    folder = records(tmp_path, [(DOWN, "The best rollout won."), (DOWN, SILENT), (UP, SILENT)])
    [paragraph] = audit.salience(folder, about="best").answers
    assert "Citing the best rollout is not known to go with" in paragraph
    assert "defined for the worst rollout alone; 1 of 2 regressions cite the best rollout (50.0%)." in paragraph
    assert "Regressions whose answers cite the best rollout beyond chance: 1 of 1 " in paragraph


def test_left_out_revisions_are_counted(tmp_path):
    rows = [revision((4, 5, 9), DOWN, answer=CITES), episode(candidate((4, 5, 9)), candidate(UP), iteration=1)]
    write_run(tmp_path / "one", rows)
    [paragraph] = audit.salience(tmp_path).answers
    assert "The evidence is 1 of 2 revisions in 1 run: too few to rely on; the other revisions" in paragraph


@pytest.mark.parametrize("width", [40, 80, 120])
def test_people_read_them_above_the_table_and_programs_do_not(tmp_path, width):
    folder, run = records(tmp_path, of(2, 1), of(1, 2)), CliRunner()
    said = [
        run.invoke(app, ["salience", str(folder), *options], env={"COLUMNS": str(width)}).stdout
        for options in (
            [],
            [],
            ["--format", "json"],
            ["--format", "csv"],
            ["--format", "markdown"],
            ["--format", "latex"],
        )
    ]
    assert said[0] == said[1]  # the second from what is kept
    above, _, _ = said[0].partition("\n\n")
    assert " ".join(above.split()) == audit.salience(folder).answers[0]
    assert max(map(len, above.splitlines())) <= width
    assert not any("Citing the worst" in each for each in said[2:])


def test_five_at_most_are_printed():
    few, many = [f"{place}" for place in range(5)], [f"{place}" for place in range(7)]
    assert first(few) == few
    assert first(many) == [*few, "… and 2 more: narrow with --condition, --env or --variant"]
    assert as_wide_as_shown([]) == ""


def test_nothing_is_tested_where_no_sentence_is_asked_for(tmp_path, monkeypatch):
    monkeypatch.setattr("audit.models.regressions.no_change_tests", pytest.fail)
    assert len(audit.salience(records(tmp_path, of(1, 1)))) == 1
    assert answers([], None, of_texts=False) == []
