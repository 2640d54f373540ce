"""The cards in the repository: of this suite, and with the numbers that the same critic gets again."""

from __future__ import annotations

import pytest

import audit
from audit.cards.card import read_card, written
from audit.cards.suite import packaged
from tests.shared import ROOT

FOLDER = ROOT / "data" / "critics"
NAMES = sorted(path.name for path in FOLDER.iterdir() if path.is_dir())
TIMED = {"versions", "answers", "cost"}


def test_cards_are_of_this_suite_whole_and_marked():
    assert NAMES == ["simulated-balanced-quick", "simulated-salient-quick"]
    for name in NAMES:
        card = read_card(FOLDER / name)
        assert card.suite_sha256 == packaged().sha256, name
        assert written(card) == (FOLDER / name / "card.json").read_bytes(), name
        assert card.simulated == name.startswith("simulated-"), name
        assert not card.problems, name


def test_they_compare_as_what_they_are():
    """The salient critic names the worst rollout more often than the balanced one; few prompts tell no gains apart."""
    rows = list(audit.critics([FOLDER / f"simulated-{name}-quick" for name in ("balanced", "salient")]))
    verdicts = {row["name"]: row["verdict"] for row in rows if row["against"]}
    assert {name for name, verdict in verdicts.items() if verdict == "differs"} == {"names the worst"}
    assert verdicts["gain"] == "cannot be told"


@pytest.mark.slow
def test_a_card_is_what_the_same_critic_gets_again(tmp_path):
    audit.critic(backend="simulated", personality="balanced", out=tmp_path / "again")
    again, stored = read_card(tmp_path / "again"), read_card(FOLDER / "simulated-balanced-quick")
    for field in sorted(set(stored.__struct_fields__) - TIMED):
        assert getattr(again, field) == getattr(stored, field), field
