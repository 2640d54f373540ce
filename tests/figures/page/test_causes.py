"""The section of the page on experiments."""

from __future__ import annotations

import csv
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from figures.data import Records
from figures.page import causes
from figures.page.build import build
from tests.figures.conftest import REAL, chosen
from tests.figures.experiment import EFFECTS, PLAN, units


@pytest.fixture
def experiment(records: Records, monkeypatch: pytest.MonkeyPatch) -> Records:
    lines = [
        "6 prompts <b>",
        "",
        "Primary hypotheses:",
        "- labels do.",
        "- places do not.",
        "",
        "Validity: all is well.",
    ]
    plan = SimpleNamespace(model="simulated-label", backend="simulated")
    report = SimpleNamespace(plan=plan, lines=lambda: iter(lines))
    monkeypatch.setattr("audit.interventions.relations.finished", lambda _: report)
    few = chosen(records, condition=[REAL])
    return replace(few, effects=EFFECTS, units=units(REAL), plans=[Path("plan.json")])


def test_reports_are_paragraphs_with_points_after_a_warning(experiment: Records) -> None:
    assert causes.paragraphs(experiment.plans) == [
        ("Backend: simulated. The answers are not a language model's.", []),
        ("6 prompts <b>", []),
        ("Primary hypotheses:", ["labels do.", "places do not."]),
        ("Validity: all is well.", []),
    ]


@pytest.mark.usefixtures("sketched")
def test_the_page_shows_sentences_table_and_figure(experiment: Records, tmp_path: Path) -> None:
    page = build(experiment, tmp_path).read_text(encoding="utf-8")
    section = page[page.index('<section id="causes">') : page.index('<section id="revisions">')]
    assert "<p>6 prompts &lt;b&gt;</p>" in section
    assert re.search(r"<ul>\s*<li>labels do\.</li>\s*<li>places do not\.</li>\s*</ul>", section)
    assert section.count("data:image/png;base64,") == 1
    assert "gain, CartPole" in section
    assert "0.4 [0.2, 0.6]" in section
    assert PLAN in page[page.index('<section id="provenance">') :]
    with (tmp_path / "causes.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [(row["name"], row["model"]) for row in rows] == [(row["name"], "simulated-label") for row in EFFECTS]
