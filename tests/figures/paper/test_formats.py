"""The paper's tables as files: every format has the same contents."""

from __future__ import annotations

import csv
import html
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from figures.data import Records
from figures.page.export import export, latex, markdown
from figures.paper.tables import paper_tables
from tests.figures.paper.paper_grid import MODEL, grid, made, pairs, sample


@pytest.fixture(scope="module")
def small() -> Records:
    returns = {
        (MODEL, "pong", "r2po"): pairs(sample(2.51, 0.21)),
        (MODEL, "pong", "props"): pairs(sample(-0.74, 0.63)),
        (MODEL, "pong", "propsplus"): pairs([1.0]),
        ("50%_off & more", "mine", "r2po"): pairs([1.0, 1.0]),
        ("50%_off & more", "mine", "props"): pairs([1.0, 1.0]),
    }
    revision = {"condition": MODEL, "env": "pong", "run": 1, "variant": "r2po", "pattern": "fine_tune"}
    return grid(returns, revisions=[revision | {"direction": "improvement", "delta": 0.5}])


LATEX = {
    r"$\pm$": "±",
    "$-$": "-",
    "--": "–",
    r"\%": "%",
    r"\_": "_",
    r"$\infty$": "∞",
    r"$\Delta$": "Δ",
    r"\&": "&",
    r"\textgreater{}": ">",
    r"\textless{}": "<",
}


def of_markdown(text: str) -> str:
    return html.unescape(re.sub(r"\\([\W_])", r"\1", text))


def of_latex(text: str) -> str:
    for code, character in LATEX.items():
        text = text.replace(code, character)
    return text.split("\\midrule\n")[1].split("\\bottomrule", maxsplit=1)[0]


def of_html(text: str) -> str:
    return html.unescape(text[text.index("<tbody>") : text.index("</tbody>")])


def missing(words: Iterable[str], text: str) -> list[str]:
    """Which of some words do not follow one another in a text."""
    place, lost = 0, []
    for word in words:
        found = text.find(word, place)
        lost += [word] * (found < 0)
        place = max(place, found + len(word))
    return lost


def test_every_format_of_every_table_has_the_same(small: Records, tmp_path: Path) -> None:
    tables = paper_tables(small).tables
    assert len(tables) > 8
    for table in tables:
        export(table, small.facts, tmp_path)
        texts = {
            kind: (tmp_path / f"{table.stem}.{kind}").read_text(encoding="utf-8") for kind in ("md", "tex", "html")
        }
        rows = [[(c.read(row), c.beside(row)) for c in table.columns] for row in table.rows]
        mixed = [words for row in rows for pair in row for words in pair if words]
        # In LaTeX what is beside the cells of a row is a row of its own below.
        below = [words for row in rows for each in zip(*row, strict=True) for words in each if words]
        assert missing(mixed, of_markdown(texts["md"])) == []
        assert missing(below, of_latex(texts["tex"])) == []
        assert missing(mixed, of_html(texts["html"])) == []
        best = sum(column.is_best(row) for row in table.rows for column in table.columns)
        marks = (
            texts["md"].count("| **"),
            texts["tex"].count(r"\bestcell{"),
            len(re.findall('class="[^"]*best', of_html(texts["html"]))),
        )
        assert marks == (best, best, best)
        with (tmp_path / f"{table.stem}.csv").open(encoding="utf-8", newline="") as file:
            lines = list(csv.DictReader(file))
        assert [in_csv(line) for line in lines] == [in_csv(row) for row in table.data or ()]
        assert {line["model"] for line in lines if line["records"]} <= {MODEL, "50%_off & more"}
        assert {line["backend"] for line in lines if line["records"]} == {"ollama"}


def in_csv(row: Mapping[str, Any]) -> list[str]:
    """What the CSV file holds of a cell, for comparison."""
    keys = ("condition", "column", "value", "spread", "runs", "published", "published_words", "verdict")
    words = ["" if row[key] is None else str(row[key]) for key in keys]
    return [word.lower() if word in {"True", "False"} else word for word in words]


def test_latex_and_markdown_mark_the_best_cell_and_name_what_they_need(small: Records) -> None:
    text = latex(made(small, "mean-reward"))
    assert text.startswith("% Needs \\usepackage{booktabs}, \\usepackage{graphicx}, \\usepackage[table]{xcolor}.\n")
    for words in (r"\bestcell{2.51 $\pm$ 0.21}", r"$-$0.74 $\pm$ 0.63", r"50\%\_off \& more"):
        assert words in text
    assert text.count("{") == text.count("}")
    assert "**2.51 ± 0.21** [paper 2.51 ± 0.21: same]" in markdown(made(small, "mean-reward"))
    settings = grid({(f"{MODEL}+tau-off", "pong", "r2po"): pairs(sample(2.5, 0.2))})
    tables = [*paper_tables(small).tables, made(settings, "tau-sensitivity")]
    assert all(latex(table).isascii() for table in tables)
    assert r"$-$$\infty$" in latex(tables[-1])


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="there is no pdflatex here")
def test_latex_is_set_within_the_margins(small: Records, tmp_path: Path) -> None:
    tables = [latex(table) for table in paper_tables(small).tables]
    needed = sorted({package for text in tables for package in text.split("\n")[0][len("% Needs ") : -1].split(", ")})
    page = "\n".join([r"\documentclass{article}", *needed, r"\begin{document}", *tables, r"\end{document}"])
    (tmp_path / "page.tex").write_text(page, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "page.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "Overfull" not in done.stdout


def test_the_page_shows_the_tables_and_names_those_without_numbers(index: Path) -> None:
    text = index.read_text(encoding="utf-8")
    assert '<section id="paper">' in text
    needs = "needs runs of R2PO under another setting of τ<sub>c</sub>, as from collect --tau-c half"
    assert f"Threshold sensitivity ({needs})" in text
    assert "<small>paper 474.67 ± 16.90</small>" in text
    assert not (index.parent / "paper-tau-sensitivity.md").exists()
    assert (index.parent / "paper-mean-reward.tex").exists()


def test_a_caption_says_what_made_the_records_that_it_shows(records: Records) -> None:
    table = made(records, "mean-reward")
    assert "Simulated model, personality salient" in table.note
    assert "gpt-oss:20b" not in table.note
    both = made(records, "variants-mean-reward")
    assert "Simulated model, personality salient" in both.note
    assert "gpt-oss:20b" in both.note


def test_no_records_give_no_tables(small: Records) -> None:
    frames = ("iterations", "runs", "facts", "revisions")
    empty = replace(small, **{name: getattr(small, name).iloc[:0] for name in frames})
    assert paper_tables(empty).tables == []
