"""The paper's tables as files: every format has the same contents."""

from __future__ import annotations

import csv
import html
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from figures.data import Records
from figures.page.export import export, markdown
from figures.page.latex import latex
from figures.paper.recomputed import findings
from figures.paper.tables import paper_tables
from figures.tables import Table
from tests.figures.paper.paper_grid import MODEL, grid, made, pairs, sample

Cells = list[list[tuple[str, bool, str]]]
"""Text, whether it is the best, and what is printed beside, by row and column."""


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


class Parsed(HTMLParser):
    """The body of a page's table."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: list[list[list[str]]] = []
        self.small = self.inside = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "tr":
            self.rows.append([])
        if tag == "td":
            self.rows[-1].append(["", "best" if "best" in str(dict(attrs).get("class")) else "", ""])
            self.inside = True
        self.small = tag == "small"

    def handle_endtag(self, tag: str) -> None:
        self.inside &= tag != "td"
        self.small &= tag != "small"

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.rows[-1][-1][2 if self.small else 0] += data

    @property
    def cells(self) -> Cells:
        return [[(words, bool(best), beside) for words, best, beside in row] for row in self.rows if row]


def of_markdown(text: str) -> Cells:
    def plain(cell: str) -> str:
        return html.unescape(re.sub(r"\\([\W_])", r"\1", cell))

    lines = [
        line.removeprefix("| ").removesuffix(" |").split(" | ") for line in text.splitlines() if line.startswith("|")
    ][2:]
    found = []
    for line in lines:
        parts = [re.fullmatch(r"(\*\*)?(.*?)(?(1)\*\*)(?: \[(paper .*)\])?", cell) for cell in line]
        found.append([(plain(part[2]), bool(part[1]), plain(part[3] or "")) for part in parts if part])
    return found


def of_latex(text: str) -> Cells:
    def plain(cell: str) -> str:
        for code, character in (
            (r"$\pm$", "±"),
            ("$-$", "-"),
            ("--", "–"),
            (r"\%", "%"),
            (r"\_", "_"),
            (r"$\infty$", "∞"),
            (r"$\Delta$", "Δ"),
        ):
            cell = cell.replace(code, character)
        return cell.replace(r"\textgreater{}", ">").replace(r"\textless{}", "<").replace(r"\&", "&").strip()

    found: Cells = []
    for line in text.split("\\midrule\n")[1].split("\\bottomrule", maxsplit=1)[0].splitlines():
        cells = re.split(r"(?<!\\)&", re.sub(r" \\\\(\[-?2pt\])?$", "", line))
        if any(r"{\tiny" in cell for cell in cells):
            small = [plain(cell.strip().removeprefix(r"{\tiny").removesuffix("}")) for cell in cells]
            found[-1] = [(words, best, beside) for (words, best, _), beside in zip(found[-1], small, strict=True)]
        else:
            shaded = [re.fullmatch(r"\s*(\\bestcell\{)?(.*?)(?(1)\})\s*", cell) for cell in cells]
            found.append([(plain(part[2]), bool(part[1]), "") for part in shaded if part])
    return found


def of(table: Table) -> Cells:
    return [[(c.read(row), c.is_best(row), c.beside(row)) for c in table.columns] for row in table.rows]


def test_every_format_of_every_table_says_the_same(small: Records, tmp_path: Path) -> None:
    tables = paper_tables(small).tables
    assert len(tables) > 8
    for table in tables:
        export(table, small.facts, tmp_path)
        assert of_markdown((tmp_path / f"{table.stem}.md").read_text(encoding="utf-8")) == of(table)
        assert of_latex((tmp_path / f"{table.stem}.tex").read_text(encoding="utf-8")) == of(table)
        assert Parsed((tmp_path / f"{table.stem}.html").read_text(encoding="utf-8")).cells == of(table)
        with (tmp_path / f"{table.stem}.csv").open(encoding="utf-8", newline="") as file:
            lines = list(csv.DictReader(file))
        assert [in_csv(line) for line in lines] == [in_csv(row) for row in table.data or ()]


def in_csv(row: Mapping[str, Any]) -> list[str]:
    """What the CSV file holds of a cell, for comparison."""
    keys = ("condition", "column", "value", "spread", "runs", "published", "published_words", "verdict")
    words = ["" if row[key] is None else str(row[key]) for key in keys]
    return [word.lower() if word in {"True", "False"} else word for word in words]


def test_csv_is_unrounded_and_one_row_a_cell(small: Records, tmp_path: Path) -> None:
    export(made(small, "mean-reward"), small.facts, tmp_path)
    with (tmp_path / "paper-mean-reward.csv").open(encoding="utf-8", newline="") as file:
        lines = {(line["condition"], line["column"]): line for line in csv.DictReader(file)}
    line = lines[MODEL, "R2PO"]
    assert float(line["value"]) == pytest.approx(2.51)
    assert float(line["spread"]) == pytest.approx(0.21)
    assert (line["env"], line["method"], line["records"], line["runs"], line["best"]) == (
        "pong",
        "r2po",
        MODEL,
        "10",
        "true",
    )
    assert (line["published"], line["published_spread"], line["verdict"]) == ("2.51", "0.21", "same")
    assert (line["backend"], line["model"]) == ("ollama", MODEL)
    assert len(lines) == 8


def test_latex_shades_the_best_cell_and_names_its_packages(small: Records) -> None:
    text = latex(made(small, "mean-reward"))
    assert text.startswith("% Needs \\usepackage{booktabs}, \\usepackage{graphicx}, \\usepackage[table]{xcolor}.\n")
    assert r"\bestcell{2.51 $\pm$ 0.21}" in text
    assert r"$-$0.74 $\pm$ 0.63" in text
    assert r"50\%\_off \& more" in text
    assert text.count("{") == text.count("}")


def test_latex_needs_no_font_beyond_the_usual(small: Records) -> None:
    settings = grid({(f"{MODEL}+tau-off", "pong", "r2po"): pairs(sample(2.5, 0.2))})
    tables = [*paper_tables(small).tables, findings(), made(settings, "tau-sensitivity")]
    assert all(latex(table).isascii() for table in tables)
    assert r"$-$$\infty$" in latex(tables[-1])


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="there is no pdflatex here")
def test_latex_is_set_within_the_margins(small: Records, tmp_path: Path) -> None:
    tables = [latex(table) for table in (*paper_tables(small).tables, findings())]
    needed = sorted({package for text in tables for package in text.split("\n")[0][len("% Needs ") : -1].split(", ")})
    page = "\n".join([r"\documentclass{article}", *needed, r"\begin{document}", *tables, r"\end{document}"])
    (tmp_path / "page.tex").write_text(page, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "page.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "Overfull" not in done.stdout


def test_markdown_sets_the_best_cell_in_bold(small: Records) -> None:
    assert "**2.51 ± 0.21** [paper 2.51 ± 0.21: same]" in markdown(made(small, "mean-reward"))


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
