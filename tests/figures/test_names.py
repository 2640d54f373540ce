"""Names in records are anybody's: they are text in figures, files, pages and on the terminal, whatever is in them."""

from __future__ import annotations

import re
import sys
import unicodedata
import warnings
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from matplotlib.text import Text

import figures.data
import figures.page.build
from audit.output.escaping import in_line
from figures.cli import main
from figures.data import ROWS, Records
from figures.names import LONGEST, NARROW, label, name, narrow
from figures.page.build import build
from figures.page.drawings import drawings_of
from figures.provenance import origin
from tests.figures.conftest import SALIENT, chosen

NAMES = {
    "one dollar": "a$b",
    "unfinished mathematics": r"$\frac{",
    "mathematics": r"$\frac{a}{b}$ x_1^2",
    "terminal": "x\x1b[31mred\x1b]0;title\x07",
    "markup": "<b>&\"'</b><script>alert(1)</script>",
    "typesetting": "_^{}%#~",
    "several lines": "two\nlines\tand\ra tab",
    "direction of writing": "a\u202egnp.exe\u202c\u200f b",
    "long": "gpt-" * 1000,
    "long without a place to break": "x" * 4000,
}


TAU = r"$\tau_c$"


def renamed(records: Records, text: str) -> Records:
    """The records with another condition, task, method and model."""
    to = {"condition": {SALIENT: text}, "env": {"cartpole": text}, "variant": {"threetraj": text}}

    def frame(old: pd.DataFrame) -> pd.DataFrame:
        return old.replace({column: names for column, names in to.items() if column in old})

    def rows(old: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [{key: to[key].get(value, value) if key in to else value for key, value in row.items()} for row in old]

    return replace(
        records,
        **{key: frame(getattr(records, key)) for key in ("iterations", "runs", "revisions")},
        **{key: rows(getattr(records, key)) for key in ROWS},
        facts=frame(records.facts).assign(backend="other", model=text),
        unfinished=[f"{text}: 1 of 2 runs unfinished"],
    )


def controls(text: str) -> set[str]:
    return {each for each in text if unicodedata.category(each)[0] == "C" and each not in "\n\t"}


QUICK = ("mathematics", "terminal", "direction of writing", "long without a place to break")


@pytest.mark.parametrize(
    "case", [pytest.param(case, marks=[] if case in QUICK else pytest.mark.slow) for case in NAMES]
)
def test_a_name_is_drawn_as_it_is_written(case: str, records: Records) -> None:
    text = NAMES[case]
    few = chosen(records, condition=[SALIENT], env=["cartpole"], variant=["threetraj", "r2po"])
    drawings = list(drawings_of(renamed(few, text), text))
    drawn = [artist for each in drawings for artist in each.figure.findobj(Text) if artist.get_text()]
    for artist in drawn:
        words = artist.get_text()
        # The one piece of mathematics is ours; a name's dollar signs beside it are escaped.
        assert artist.get_parse_math() == (TAU in words)
        assert not artist.get_parse_math() or "$" not in words.replace(TAU, "").replace(r"\$", "")
    assert {each for artist in drawn for each in controls(artist.get_text())} == set()
    assert max(len(line) for artist in drawn for line in artist.get_text().splitlines()) < 2 * LONGEST
    titles = {ax.get_title(loc="left") for each in drawings for ax in each.figure.axes}
    assert narrow(text) in titles
    labels = {entry.get_text() for each in drawings for ax in each.figure.axes for entry in ax.texts}
    assert narrow(text) in labels


@pytest.mark.slow
def test_a_name_is_text_in_every_file_and_page(records: Records, tmp_path: Path) -> None:
    text = "".join(NAMES[case] for case in ("unfinished mathematics", "terminal", "markup", "typesetting", "long"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # such as that glyphs are missing, or that a name leaves no room for the axes
        index = build(renamed(records, text), tmp_path, f"python -m figures {text}")
    for path in tmp_path.iterdir():
        assert re.fullmatch(r"[A-Za-z0-9.+-]{1,150}", path.name)
        if path.suffix not in {".png", ".pdf"}:
            assert controls(path.read_text(encoding="utf-8")) == set(), path.name
    page = index.read_text(encoding="utf-8")
    assert label(text) in unescape(page)
    assert re.findall("<script.*?>", page) == ['<script src="tables.js" defer>']
    assert "<b>" not in page


def test_a_name_is_shortened_in_the_middle_where_it_is_long() -> None:
    text = "model-" + "x" * 300 + "-instruct"
    assert (len(label(text)), len(narrow(text))) == (LONGEST, NARROW)
    for shortened in (label(text), narrow(text), name(text)):
        assert shortened.startswith("model-")
        assert shortened.endswith("-instruct")
    assert label("x" * LONGEST) == "x" * LONGEST
    assert [narrow("cartpole"), name("cartpole"), narrow("my-task")] == ["CartPole", "CartPole", "my-task"]
    facts = pd.DataFrame([{"condition": "x", "backend": "b\x1b[0m", "model": "m\n" * 500}])
    message = origin(facts, "x")
    assert controls(message) == set()
    assert "\n" not in message
    assert len(message) < 3 * LONGEST


def test_what_is_said_beside_the_page_is_text_too(
    records: Records, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Names, paths, and warnings of Matplotlib, such as for each character that its font lacks."""

    def draw(*_: object, **__: object) -> Path:
        for _figure in range(3):
            warnings.warn("Glyph 27169 missing\nfrom font(s)", stacklevel=1)
        return tmp_path / "out\x1b[0m"

    monkeypatch.setattr(figures.data, "load", lambda *_, **__: renamed(records, NAMES["terminal"]))
    monkeypatch.setattr(figures.page.build, "build", draw)
    monkeypatch.setattr(sys, "argv", ["figures", str(tmp_path)])
    with pytest.raises(SystemExit) as stopped:
        main()
    out, err = capsys.readouterr()
    assert (stopped.value.code or 0, out) == (0, f"{tmp_path}/out\\x1b[0m\n")
    assert err.splitlines() == [
        f"figures: {records.problems[0]}",
        f"figures: {in_line(NAMES['terminal'])}: 1 of 2 runs unfinished",
        "figures: Glyph 27169 missing from font(s)",
    ]
