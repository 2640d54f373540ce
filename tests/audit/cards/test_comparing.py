"""Cards side by side: against SciPy and statsmodels, and what cannot be compared."""

from __future__ import annotations

import json
import shutil

import msgspec
import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from audit.cards.card import read_card, written
from audit.cards.comparing import ALIKE, COMPARED, DIFFERS, differences
from tests.audit.interventions.planned import audit as command
from tests.audit.interventions.planned import last_line


def test_differences_are_paired_t_tests_corrected_by_holm(examined, zeroed):
    first, second = read_card(examined), read_card(zeroed)
    [found] = differences([first, second])
    own, other = ({unit.number: unit.values for unit in card.units} for card in (first, second))
    raw = []
    for each in found:
        units = [unit for unit in own if each.name in own[unit] and each.name in other[unit]]
        a, b = ([values[unit][each.name] for unit in units] for values in (own, other))
        assert each.value == pytest.approx(np.mean(b) - np.mean(a))
        if np.std(np.subtract(b, a)) > 0:
            expected = stats.ttest_rel(b, a)
            assert each.p == pytest.approx(expected.pvalue)
            interval = expected.confidence_interval()
            assert (each.low, each.high) == pytest.approx((interval.low, interval.high))
        raw.append(each.p)
    known = [p for p in raw if not np.isnan(p)]
    assert [each.p_adjusted for each in found if not np.isnan(each.p)] == pytest.approx(
        multipletests(known, method="holm")[1].tolist()
    )
    assert {each.name for each in found if each.p_adjusted <= 0.05} == {
        each.name for each in found if each.verdict == DIFFERS
    }
    assert [each.name for each in found] == list(COMPARED)


def test_a_critic_does_not_differ_from_itself(examined):
    card = read_card(examined)
    [found] = differences([card, card])
    assert {each.verdict for each in found} == {ALIKE}
    assert all(each.value == 0 and each.p == 1 for each in found)


def test_all_differences_of_one_sign_have_the_p_of_flipping_signs(examined):
    """Nine units that all differ by the same amount: 2 of 512 arrangements of signs are as far from 0."""
    card = read_card(examined)
    lower = msgspec.structs.replace(
        card,
        units=[msgspec.structs.replace(unit, values={"gain": unit.values["gain"] - 0.25}) for unit in card.units[:9]],
    )
    [found] = differences([card, lower])
    [gain] = [each for each in found if each.name == "gain"]
    assert gain.p <= 2 / 512 + 1e-12
    assert gain.value == pytest.approx(-0.25)


def test_the_command_prints_both_and_rows_say_against_whom(examined, zeroed):
    result = command("critics", examined, zeroed)
    assert result.exit_code == 0
    assert "scripted (openai) minus simulated-salient, paired over 18 prompts" in result.stdout
    rows = json.loads(command("critics", examined, zeroed, "--format", "json").stdout)
    assert {row["critic"] for row in rows if row["against"] is None} == {"simulated-salient", "scripted (openai)"}
    assert {row["against"] for row in rows} == {None, "simulated-salient"}


def test_cards_with_a_problem_are_shown_and_not_compared(examined, tmp_path):
    card = msgspec.structs.replace(read_card(examined), problems=["the model changed meanwhile"], model="other")
    (tmp_path / "card.json").write_bytes(written(card))
    assert differences([read_card(examined), card]) == [[]]
    assert "not compared, since answers of" in command("critics", examined, tmp_path).stdout


def test_what_cannot_be_compared_is_refused_in_one_line(examined, tmp_path):
    assert "two critics or more" in last_line(command("critics", examined), 2)
    assert "is given twice" in last_line(command("critics", examined, examined), 2)
    other = shutil.copytree(examined, tmp_path / "other")
    card = msgspec.structs.replace(read_card(other), suite_sha256="0" * 64)
    (other / "card.json").write_bytes(written(card))
    assert "is of another suite" in last_line(command("critics", examined, other), 2)
    assert "cannot read" in last_line(command("critics", examined, tmp_path / "nowhere"))
    (tmp_path / "card.json").write_text('{"schema": 99}')
    assert "newer version" in last_line(command("critics", examined, tmp_path))
