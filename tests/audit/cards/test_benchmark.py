"""The benchmark of planted critics and the script that makes suites, small; the whole takes half an hour."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from audit.cards import making
from audit.cards.suite import packaged, read_file, read_suite, written
from benchmarks import critics, suite


@pytest.mark.slow
def test_remedies_of_planted_critics_small():
    """Of 20 experiments each: what helps is found in nearly all, nothing else in more than a few."""
    made = critics.bank(packaged(), 36)
    assert made.gains.shape == (36, critics.EDITS)
    assert made.gains.mean() < -0.05
    for name, helped in critics.CRITICS.items():
        rates = critics.rates(made, helped, 20)
        assert all(rates[each] >= 0.8 for each in helped), name
        assert max(rate for each, rate in rates.items() if each not in helped) <= 0.15, name


def test_a_share_of_a_card_without_shares_is_not_known(examined):
    from audit.cards.card import read_card

    assert np.isnan(critics.share_of(read_card(examined)))


def test_the_script_writes_a_suite_and_compares_it(monkeypatch, tmp_path, capsys):
    units = packaged().units[:2]
    monkeypatch.setattr(
        suite, "make_suite", lambda seed, workers=None: written("mine", seed, list(packaged().spans.values()), units)
    )
    out = tmp_path / "mine.xz"
    monkeypatch.setattr(sys, "argv", ["suite", "--suite-seed", "7", "--out", str(out), "--check"])
    with pytest.raises(SystemExit) as ended:
        suite.main()
    assert ended.value.code == 1
    assert capsys.readouterr().out == "not the same\n"
    assert (read_file(out).seed, len(read_file(out).units)) == (7, 2)


def test_all_units_of_a_suite_are_made_from_its_seed(monkeypatch):
    """Two processes make one unit of each of two kinds."""
    monkeypatch.setattr(making, "OF_EACH", {"full": 1})
    monkeypatch.setattr(making, "CELLS", making.CELLS[:2])
    made = read_suite(making.make_suite(1, workers=2))
    assert [unit.number for unit in made.units] == [1, 2]
    assert list(made.units) == list(packaged().units[:2])
