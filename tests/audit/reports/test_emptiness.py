"""What an empty table of texts gives as its reason."""

from __future__ import annotations

from pathlib import Path

import pytest

import audit

ROOT = Path(__file__).resolve().parents[3]
TOOLS = ROOT / "tests" / "data" / "tools"


@pytest.mark.parametrize(
    ("run", "about", "reason"),
    [
        (ROOT / "data" / "gepa-planted", "label:Foo", "no evidence here has the item Foo"),
        (TOOLS / "openevolve", "label:Foo", "the models here saw other candidates"),
        # Answers are recorded, and DSPy asks for no more than the instruction.
        (TOOLS / "recorded" / "dspy-gepa-stub", "worst", "no answer holds anything besides the text"),
        (TOOLS / "gepa", "worst", "these logs hold no answers of the model"),
    ],
    ids=["another item", "programs", "no rationale", "no answers"],
)
def test_why_there_are_no_rates_of_texts(run: Path, about: str, reason: str) -> None:
    rates = audit.rates(run, about=about, detector="resolved", cache=False)
    assert list(rates.rows) == []
    assert any(note.startswith(reason) for note in rates.notes)
