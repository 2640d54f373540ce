"""The sections of the page on critics and on remedies, beside records and without any."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from figures.data import Records
from figures.errors import FiguresError
from figures.page import critics, remedies
from figures.page.build import build
from figures.plots.critics import read
from tests.figures.conftest import REAL, chosen
from tests.figures.examined import REMEDIES, write_cards

pytestmark = pytest.mark.usefixtures("sketched")


@pytest.fixture
def reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("figures.plots.remedies.read", lambda _: REMEDIES)


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.usefixtures("reported")
def test_without_records_the_page_has_these_sections_alone(tmp_path: Path) -> None:
    cards = write_cards(tmp_path, "salient", "label")
    out = tmp_path / "out"
    page = build(None, out, cards=cards, remedies="plan.json").read_text(encoding="utf-8")
    assert re.findall('<section id="(.*?)"', page) == ["critics", "remedies", "provenance"]
    assert page.count("data:image/png;base64,") == 2
    assert "simulated-label &lt;helps&gt;." in page
    assert "none is better than &lt;medoid&gt;" in page
    assert "simulated-salient minus simulated-label, paired over 4 prompts:" in page
    assert "Backend: simulated. The answers are not a language model" in page
    assert "e" * 64 in page[page.index('<section id="provenance">') :]
    assert "Problems in the records" not in page
    assert {path.name for path in out.iterdir()} == {
        *("index.html", "tables.js"),
        *(
            f"{stem}.{kind}"
            for stem in ("critics", "remedies")
            for kind in ("png", "pdf", "svg", "md", "csv", "tex", "html")
        ),
    }


def test_beside_records_they_come_last_and_go_with_the_next_page(records: Records, tmp_path: Path) -> None:
    few = chosen(records, condition=[REAL])
    out = tmp_path / "out"
    page = build(few, out, cards=write_cards(tmp_path, "gpt")).read_text(encoding="utf-8")
    assert re.findall('<section id="(.*?)"', page)[-2:] == ["critics", "provenance"]
    assert (out / "critics.csv").is_file()
    assert 'id="critics"' not in build(few, out).read_text(encoding="utf-8")
    assert not (out / "critics.csv").exists()
    with pytest.raises(FiguresError, match=r"^nothing to draw: give records, cards"):
        build(None, out)


def test_critics_are_rows_and_their_numbers_are_the_rows_of_the_file(tmp_path: Path) -> None:
    named = read(write_cards(tmp_path, "salient", "label", "mute"))
    table = critics.table_of(named)
    label, salient, mute = table.displayed()
    assert list(label) == [
        *("Critic", "Size", "Readable", "Gain", "Gain with evidence", "Made worse", "Breaks", "Names the worst"),
        *("Follows called worst", "Follows wording"),
    ]
    assert label["Gain"] == "5% [-5%, 15%]"
    assert label["Follows called worst"] == "70% [60%, 80%], moves it"
    assert (salient["Follows called worst"], mute["Gain"]) == ("–", "–")
    [gain] = [column for column in table.columns if column.heading == "Gain"]
    assert [gain.beside(row) for row in table.rows] == ["random -20% [-30%, -10%]"] * 2 + [""]
    build(None, tmp_path / "out", cards=[tmp_path / "label"])
    rows = rows_of(tmp_path / "out" / "critics.csv")
    assert [(row["name"], row["who"], row["value"], row["model"]) for row in rows if row["name"] == "gain"] == [
        *(("gain", "model", "0.05", "simulated-label"), ("gain", "random edit", "-0.2", "simulated-label"))
    ]
    assert [row["verdict"] for row in rows if row["section"] == "moves"][1] == "moves it"


def test_what_differs_is_told_and_what_has_a_problem_is_not_compared(tmp_path: Path) -> None:
    *_, differ, not_compared = critics.paragraphs(read(write_cards(tmp_path, "salient", "label", "mute")))
    assert differ[0] == "simulated-salient minus simulated-label, paired over 4 prompts:"
    assert differ[1][-1].startswith("names the worst: +70% [") or any("names the worst: +70%" in p for p in differ[1])
    assert not_compared == (
        "mute (openai) is not compared with simulated-label: answers of mute (openai) have a problem.",
        [],
    )


def test_remedies_are_rows_with_intervals_and_findings_are_points() -> None:
    table = remedies.table_of(REMEDIES)
    rows = {row["Remedy"]: row for row in table.displayed()}
    assert (rows["hidden"]["Harm avoided"], rows["hidden"]["Gain lost"]) == ("10.0% [5.0%, 15.0%]", "2.0% [1.0%, 3.0%]")
    assert (rows["A0"]["Acts on"], rows["A0"]["Verdict"], rows["gate"]["Rollouts"]) == ("–", "–", "78")
    assert (rows["few"]["Harm avoided"], rows["sample"]["Harm avoided"]) == ("10.0%", "–")
    assert {row["model"] for row in table.rows} == {"simulated-label"}
    assert remedies.paragraphs(REMEDIES) == [
        ("Backend: simulated. The answers are not a language model's.", []),
        ("6 prompts of 3 runs, 36 answers", []),
        ("Remedies:", REMEDIES.findings),
    ]
