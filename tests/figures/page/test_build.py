"""The folder of figures and tables, and its page."""

from __future__ import annotations

import math
import re
from base64 import b64encode
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pytest

from figures.data import Records
from figures.page.build import build, slugs
from figures.paper.tables import paper_tables
from figures.provenance import digest, origin, simulated, versions
from tests.figures.conftest import COMMAND, REAL, chosen

KINDS = ("salience", "citing", "patterns", "noise", "revisions", "edits", "agreement", "curves-variants", "stability")
COMPARING = ("aggregate", "profile")
"""Kinds that want several methods, which one condition has."""


class Links(HTMLParser):
    """Everything that a page would fetch or lead to, and its open tags."""

    def __init__(self) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.anchors: set[str] = set()
        self.images_without_words = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.targets += [value for key, value in attrs if key in ("src", "href", "srcset", "data") and value]
        self.anchors |= {value for key, value in attrs if key == "id" and value}
        self.images_without_words += tag == "img" and not found.get("alt")


def test_the_folder_holds_every_figure_and_table_in_every_format(records: Records, index: Path) -> None:
    figures = {f"{kind}-{c}" for kind in KINDS for c in records.conditions}
    figures |= {f"{kind}-simulated-salient" for kind in COMPARING}
    tables = {"salience", "summary", "patterns", "agreement", "metrics", "aggregate"}
    tables |= {made.stem for made in paper_tables(records).tables}
    expected = {f"{stem}.{kind}" for stem in figures for kind in ("png", "pdf", "svg")}
    expected |= {f"{stem}.{kind}" for stem in tables for kind in ("md", "csv", "tex", "html")}
    assert {path.name for path in index.parent.iterdir()} == expected | {"index.html", "tables.js"}


def shuffled(records: Records) -> Records:
    return replace(records, iterations=records.iterations.sample(frac=1, random_state=0))


@pytest.mark.usefixtures("sketched")
def test_the_same_records_give_the_same_bytes(records: Records, index: Path, tmp_path: Path) -> None:
    build(shuffled(records), tmp_path, COMMAND)
    assert not [
        each.name for each in index.parent.iterdir() if each.read_bytes() != (tmp_path / each.name).read_bytes()
    ]


def test_the_page_stands_alone_and_its_links_lead_somewhere(index: Path) -> None:
    text = index.read_text(encoding="utf-8")
    links = Links()
    links.feed(text)
    for target in links.targets:
        if target.startswith("#"):
            assert target[1:] in links.anchors
        elif not target.startswith("data:image/png;base64,"):
            assert (index.parent / target).is_file(), target
    assert sum(target.startswith("data:") for target in links.targets) == 2 * len(KINDS) + len(COMPARING)
    assert links.images_without_words == 0
    assert not re.search(r"@import|url\(", text)
    # The only script is a file beside the page.
    for page in index.parent.glob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert re.findall("<script.*?</script>", text, re.DOTALL) == ['<script src="tables.js" defer></script>']
        assert "script-src 'self' file:" in text
        assert not re.search(r"\son[a-z]+=", text)


def test_what_the_page_states(records: Records, index: Path) -> None:
    page = index.read_text(encoding="utf-8")
    for words in (
        "python -m figures data/runs --out &#39;my figures&#39;",
        "9 runs, 51 iterations, 51 revisions",
        records.digest,
        "runs/episodes.jsonl:7: a torn line; left out",
        f"matplotlib {versions()['matplotlib']}",
        "The records of simulated-salient were made with a simulated stand-in.",
    ):
        assert words in page
    # What made the records is stated once.
    body, provenance = page.split('<section id="provenance">')
    assert body.count("simulated stand-in") == 1
    assert body.count("Model gpt-oss:20b (ollama).") == 1
    assert "a simulated stand-in, not a language model." in provenance
    # The figures that it lacks are named.
    returns = page[page.index('<section id="returns">') : page.index('<section id="over-tasks">')]
    assert "Sensitivity to τ<sub>c</sub> (needs R2PO under two settings of τ<sub>c</sub>)." in returns
    over_tasks = page[page.index('<section id="over-tasks">') : page.index('<section id="paper">')]
    assert "Not shown" not in over_tasks


@pytest.mark.usefixtures("sketched")
def test_the_page_says_that_patterns_and_edits_need_parameters(records: Records, tmp_path: Path) -> None:
    records = chosen(records, condition=[REAL])
    lacking = replace(records, revisions=records.revisions.assign(edit_distance=math.nan, pattern=None))
    page = build(lacking, tmp_path, COMMAND).read_text(encoding="utf-8")
    assert "Edit patterns (needs revisions with parameters, or texts); Size of edits (needs revisions" in page
    assert not [*tmp_path.glob("patterns-*"), *tmp_path.glob("edits-*")]


def test_wide_things_scroll_on_a_narrow_screen_and_are_whole_in_print(index: Path) -> None:
    page = index.read_text(encoding="utf-8")
    before_wide_things = re.findall(
        r'<div class="scroll" tabindex="0" role="region" aria-label="[^"]+">\s*<(?:img|table)', page
    )
    assert len(before_wide_things) == page.count("<img ") + page.count("<table>")
    style, printed = page[page.index("<style>") : page.index("</style>")].split("@media print")
    # A later rule of the same weight wins, and what is cut off cannot be scrolled to on paper.
    assert ".scroll { overflow-x: auto; }" in style
    assert ".scroll { overflow: visible; }" in printed


@pytest.mark.usefixtures("sketched")
def test_a_page_without_simulated_records_has_no_warning_of_them(records: Records, tmp_path: Path) -> None:
    real = replace(chosen(records, condition=[REAL]), problems=[])
    text = build(real, tmp_path, COMMAND).read_text(encoding="utf-8")
    assert "stand-in" not in text
    assert "None were found." in text


@pytest.mark.slow
def test_untidy_records_are_drawn_all_the_same(records: Records, tmp_path: Path) -> None:
    iterations, revisions = records.iterations.copy(), records.revisions.copy()
    iterations.loc[iterations["env"] == "frozenlake", "kept_return"] = math.nan
    iterations.loc[0, "env"] = revisions.loc[0, "env"] = "brand-new"
    revisions.loc[1, "pattern"] = "novel"
    revisions.loc[2:4, ["r0", "delta"]] = math.nan
    untidy = replace(records, iterations=iterations, revisions=revisions, facts=records.facts.iloc[1:])
    text = build(untidy, tmp_path, COMMAND).read_text(encoding="utf-8")
    assert "Iterations without a return: 18." in text


@pytest.mark.slow
def test_one_call_methods_alone_give_curves_and_no_revisions(records: Records, tmp_path: Path) -> None:
    """The one page among quick tests with real pictures."""
    records = chosen(records, condition=[REAL])
    props = replace(
        records,
        iterations=records.iterations.assign(variant="props"),
        runs=records.runs.assign(variant="props"),
        revisions=records.revisions.iloc[:0],
        summary=[],
        salience=[],
        agreement=[],
        rates=[],
        noise=[],
    )
    page = build(props, tmp_path, COMMAND).read_text(encoding="utf-8")
    pictures = {path.stem.split("-")[0]: path.read_bytes() for path in tmp_path.glob("*.png")}
    assert set(pictures) == {"curves", "stability"}
    for picture in pictures.values():
        assert picture.startswith(b"\x89PNG")
        assert b64encode(picture).decode() in page
    assert [path.read_bytes()[:5] for path in tmp_path.glob("*.pdf")] == [b"%PDF-"] * len(pictures)


@pytest.mark.usefixtures("without_figures")
def test_what_other_records_left_in_the_folder_is_not_taken_for_theirs(records: Records, tmp_path: Path) -> None:
    others = ("paper-tau-sensitivity.tex", "causes.csv", "revisions-other.png", "paper-mine.md")
    for name in others:
        (tmp_path / name).write_text("of other records")
    records = chosen(records, condition=[REAL])
    assert 'id="causes"' not in build(records, tmp_path, COMMAND).read_text(encoding="utf-8")
    assert "paper-tau-sensitivity" not in {made.stem for made in paper_tables(records).tables}
    assert [name for name in others if (tmp_path / name).exists()] == ["revisions-other.png", "paper-mine.md"]


def test_conditions_get_file_names_that_are_safe_and_distinct() -> None:
    made = slugs(["gpt-oss-20b+tau-half", "../../etc", "a b", "a-b", "A/B", "–"])
    assert list(made.values()) == ["gpt-oss-20b+tau-half", "etc", "a-b", "a-b-2", "A-B-3", "condition"]
    made = slugs(["x" * 4000, "x" * 4001, "X" * 4002])
    assert len(set(map(str.casefold, made.values()))) == 3
    assert max(map(len, made.values())) < 120


def facts(*runs: tuple[str | None, str | None]) -> pd.DataFrame:
    return pd.DataFrame([{"condition": "x", "backend": backend, "model": model} for backend, model in runs])


def test_what_made_the_records() -> None:
    stand_in = "a simulated stand-in, not a language model."
    cases: list[tuple[list[tuple[str | None, str | None]], str]] = [
        ([("simulated", "salient")], f"Simulated model, personality salient: {stand_in}"),
        ([("simulated", "simulated-silent")], f"Simulated model, personality silent: {stand_in}"),
        ([("ollama", "gpt-oss:20b")] * 2, "Model gpt-oss:20b (ollama)."),
        ([("openai", "b"), ("ollama", "a")], "Model a (ollama). Model b (openai)."),
        ([("sb3", "b"), ("sb3", "a")], "Models a, b (sb3)."),
        ([("sb3", "b"), ("sb3", "a"), ("sb3", None)], "Models a, b (sb3). Made with sb3."),
        ([("sb3", None)], "Made with sb3."),
        ([(None, None)], "The model was not recorded."),
        ([("other", None)], "The model was not recorded."),
        ([], "The model was not recorded."),
    ]
    for runs, sentence in cases:
        frame = facts(*runs) if runs else facts((None, None)).iloc[:0]
        assert origin(frame, "x") == sentence
        assert simulated(frame, "x") == ("Simulated" in sentence)


def test_digests_are_of_what_happened_whatever_its_order(records: Records) -> None:
    assert replace(records, facts=records.facts.assign(model="other")).digest == records.digest
    assert replace(records, revisions=records.revisions.assign(r0=0.0)).digest != records.digest
    assert replace(records, iterations=records.iterations.assign(kept_return=0.0)).digest != records.digest
    frame = pd.DataFrame({"a": [1.0, math.nan], "b": ["x", "y"]})
    assert digest([frame]) == digest([frame.iloc[::-1][["b", "a"]]])
    assert digest([frame]) != digest([frame.assign(a=[1.0, 0.0])])
    assert digest([frame]) != digest([frame.rename(columns={"b": "c"})])
    assert digest([frame, frame.iloc[:0]]) != digest([frame])


@pytest.mark.usefixtures("without_figures")
def test_the_page_leads_to_a_viewers_export_beside_it(records: Records, tmp_path: Path) -> None:
    (tmp_path / "view").mkdir()
    (tmp_path / "view/index.html").touch()
    assert '<a href="view/index.html">All revisions</a>' in build(records, tmp_path).read_text(encoding="utf-8")
    (tmp_path / "view/index.html").unlink()
    assert "All revisions" not in build(records, tmp_path).read_text(encoding="utf-8")
