"""Tables as people and programs read them."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from figures.names import worded
from figures.page.build import Contents
from figures.page.export import export, latex, markdown
from figures.page.page import render_table
from figures.tables import Table, table

ROW = {
    "condition": "a",
    "env": "cartpole",
    "variant": "threetraj",
    "detector": "word",
    "revisions": 90,
    "regressions": 27,
    "regressions_pct": 30.0,
    "strict": 0,
    "strict_pct": None,
    "permissive": 9,
    "permissive_pct": 100 / 3,
    "worst_below_median": 1,
    "worst_below_best": float("nan"),
    "risk_ratio": 1.2345,
    "risk_ratio_low": 0.5,
    "risk_ratio_high": None,
}


def read(made: Table) -> dict[str, str]:
    (row,) = made.displayed()
    return row


def test_numbers_are_rounded_for_people_and_dashes_stand_for_what_is_missing() -> None:
    assert read(table("salience", [ROW], "")) == {
        "Task": "CartPole",
        "Method": "ThreeTraj",
        "Detector": "word",
        "Revisions": "90",
        "Regressions (of revisions)": "27 (30.0%)",
        "Strict (of regressions)": "0",
        "Permissive (of regressions)": "9 (33.3%)",
        "Worst < median": "1",
        "Worst < best": "–",
        "Risk ratio": "1.23 [0.50, –]",
    }


def test_rows_and_their_order() -> None:
    row = {"condition": "a", "env": "maze", "variant": "threetraj", "structure": "identical", "revisions": 3}
    for value, shown in ((-0.0001, "0.000"), (-0.001, "-0.001"), (12.0, "12.000"), (None, "–")):
        assert read(table("agreement", [row | {"mean_delta": value}], ""))["Mean Δ"] == shown
    made = table("salience", [ROW | {"condition": "b"}, ROW], "")
    assert [row["Condition"] for row in made.displayed()] == ["a", "b"]
    cells = [("maze", "r2po"), ("cartpole", "props"), ("novel", "r2po"), ("cartpole", "r2po")]
    rows = [ROW | {"env": env, "variant": variant} for env, variant in cells]
    found = [(row["Task"], row["Method"]) for row in table("salience", rows, "").displayed()]
    assert found == [("CartPole", "R2PO"), ("CartPole", "ProPS"), ("Maze", "R2PO"), ("novel", "R2PO")]


def test_each_format_escapes_what_it_would_obey() -> None:
    made = table("salience", [ROW, ROW | {"condition": "x|y"}, ROW | {"variant": "<script>"}], "A $note$ {of} #1 & b.")
    lines = markdown(made).splitlines()
    assert lines[0].startswith("**Salience-problem regressions.**")
    assert lines[2].startswith("| Condition | Task | Method |")
    assert lines[3].startswith("| --- | --- | --- | --- | ---: |")
    assert len(lines) == 4 + 3
    assert any(line.startswith(r"| x\|y | CartPole |") for line in lines)
    assert r"A \$note\$ \{of\} \#1 \& b." in latex(made)
    page = render_table(made)
    assert ("<script>" in page, "&lt;script&gt;" in page, "#1 &amp; b." in page) == (False, True, True)


def test_a_table_without_rows_is_still_a_table(tmp_path: Path) -> None:
    for key in ("salience", "summary", "agreement", "metrics"):
        export(table(key, [], ""), pd.DataFrame(columns=["condition", "backend", "model"]), tmp_path)
        assert "No rows" in (tmp_path / f"{key}.html").read_text()
        assert {path.suffix for path in tmp_path.glob(f"{key}.*")} == {".md", ".tex", ".html", ".csv"}


def test_captions_of_the_page_say_what_made_the_records(everything: Contents) -> None:
    for key in ("salience", "summary", "agreement", "metrics"):
        made = everything.tables[key]
        for text in (markdown(made), latex(made), render_table(made)):
            assert "Simulated model, personality salient" in text
            assert "gpt-oss:20b" in text


def test_rollouts_are_examples_where_texts_are_revised() -> None:
    words = "Rollouts returned less; a policy's worst rollout, its return, and no rollouts_spent."
    assert worded(words, of_texts=False) == words
    assert worded(words, of_texts=True) == (
        "Examples scored less; a text's worst example, its score, and no rollouts_spent."
    )
