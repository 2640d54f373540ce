"""Why tables of texts are empty, what `audit check` says of them, topics counted by hand, and unfinished runs."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from typer.testing import CliRunner

import audit
from audit.reports.unfinished import unfinished
from stats.cli import app
from tests.audit.samples import revision, write_run
from tests.audit.texts import text_revision, text_run

ROOT = Path(__file__).resolve().parents[3]
TOOLS = ROOT / "tests" / "data" / "tools"
GERMAN = "Das zweite Beispiel war falsch, weil die Einheit fehlt."
ENGLISH = "Example 2 was wrong because its unit is missing."


def test_why_there_are_no_rates_of_texts() -> None:
    for run, about, reason in (
        (ROOT / "data" / "gepa-planted", "label:Foo", "no evidence here has the item Foo"),
        (TOOLS / "openevolve", "label:Foo", "the models here saw other candidates"),
        # Answers are recorded, and DSPy asks for no more than the instruction.
        (TOOLS / "recorded" / "dspy-gepa-stub", "worst", "no answer holds anything besides the text"),
        (TOOLS / "gepa", "worst", "these logs hold no answers of the model"),
    ):
        rates = audit.rates(run, about=about, detector="resolved", cache=False)
        assert list(rates.rows) == []
        assert any(note.startswith(reason) for note in rates.notes), reason


@pytest.mark.parametrize(("answers", "found"), [((GERMAN, GERMAN, ENGLISH), True), ((ENGLISH, ENGLISH, GERMAN), False)])
def test_answers_that_detectors_cannot_read_are_counted(tmp_path, answers, found):
    rows = [text_revision([1, 0], [1, 1], answer=answer, iteration=i) for i, answer in enumerate(answers)]
    write_run(tmp_path, rows, **text_run())
    remarks = "\n".join(audit.check(tmp_path, cache=False).notes)
    assert ("2 of 3 rationales hold no common English word" in remarks) is found


def test_topics_are_counted_by_answers(tmp_path):
    shown = [{"label": "worst", "rollout": 0, "return": 1.0, "length": 10, "name": "Rollout Zebra"}]
    answers = (
        "The worst rollout fell; the sign is wrong. In Rollout 2 the worst part is late.",
        'The worst rollout fell. It says `keep left` and "keep left", the second rollout too.',
        "Poor balance control, as rollout 2 shows. In rollout zebra it fell.",
        "params[1]: wrong term\n```\nthe worst\n```\nOnly this.",
    )
    rows = [
        revision([1, 5, 9], [2, 2, 2], after=(1, 2.5, 3), answer=answer, iteration=number)
        for number, answer in enumerate(answers)
    ]
    rows[2]["evidence"]["shown"] = shown
    write_run(tmp_path, rows)
    with audit.sql(tmp_path, "from topics") as table:
        found = {(row["kind"], row["topic"]): (row["answers"], row["occurrences"]) for row in table}
    assert found["label", "worst"] == (2, 3)
    assert found["label", "rollout zebra"] == (1, 1)  # a heading of what was shown
    assert found["number", "rollout 2"] == (2, 2)
    assert found["ordinal", "second rollout"] == (1, 1)
    assert found["quoted", "keep left"] == (1, 2)
    assert found["phrase", "balance control"] == (1, 1)
    assert ("phrase", "sign") in found
    assert not any("term" in topic for _, topic in found)
    with audit.sql(tmp_path, "from topics where rank = 1") as table:
        rows = list(table)
    assert [(row["kind"], row["rank"]) for row in rows] == [
        (kind, 1) for kind in ("label", "number", "ordinal", "phrase", "quoted")
    ]
    assert (rows[0]["topic"], rows[0]["answers_pct"], rows[0]["of_answers"]) == ("worst", 50.0, 4)


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
    for command in (["aggregate"], ["compare", "--reference", "threetraj"], ["metrics"]):
        result = CliRunner().invoke(app, [*command, str(tmp_path), "--format", "json"])
        assert result.exit_code == 0
        assert "threetraj: 2 of 2 runs unfinished, 1 to 3 of 100 iterations" in result.stderr
    assert [row["runs"] for row in json.loads(result.stdout)] == [2]
