"""The suite: made again byte for byte, with truths that fresh rollouts bear out."""

from __future__ import annotations

import math
from collections import Counter

import msgspec
import numpy as np
import pytest

from audit.cards.making import Wanted, make_unit, random_return
from audit.cards.suite import CELLS, OF_EACH, QUALITIES, TASKS, compressed, packaged, quality_of, read_file, written
from audit.interventions.units import eligible
from audit.output.errors import AuditError
from audit.records.lines import open_records
from collector.prompt_parts import CriticPrompt
from collector.rollouts.evaluate import evaluate
from collector.tasks import get_task

DIGEST = "c2651b7c98fb38ea49e3e51a53a9cfbbaa2bb67b34b6db0e38667bb67aec8a17"
"""The suite is frozen: cards name this digest."""
QUICK = (1, 2, 32)
"""Numbers of units that are made in a second or so."""


def made_again(number: int) -> bool:
    unit = packaged().units[number - 1]
    cell = CELLS[(number - 1) % len(CELLS)]
    again = make_unit(number, Wanted(*cell, (number - 1) // len(CELLS)), packaged().seed)
    return msgspec.json.encode(again) == msgspec.json.encode(unit)


def test_it_is_frozen_and_has_as_many_units_of_each_task_and_of_most_qualities():
    suite = packaged()
    assert (suite.name, suite.sha256) == ("suite-1", DIGEST)
    assert [unit.number for unit in suite.units] == list(range(1, len(suite.units) + 1))
    for size, number in (("quick", 72), ("full", 126)):
        units = suite.of_size(size)
        assert len(units) == number
        assert Counter(unit.env for unit in units) == dict.fromkeys(TASKS, number // len(TASKS))
        assert min(Counter(unit.quality for unit in units).values()) >= 0.2 * number
    assert OF_EACH["quick"] * len(CELLS) == 72


@pytest.mark.parametrize("number", QUICK)
def test_units_are_made_again_byte_for_byte(number):
    assert made_again(number)


@pytest.mark.slow
@pytest.mark.parametrize("number", [3, 5, 7, 9, 14, 15, 16, 17, 45, 68])
def test_units_that_take_longer_are_made_again_byte_for_byte(number):
    assert made_again(number)


def test_truths_hold_on_fresh_rollouts_and_qualities_follow_from_them():
    """Of 40 units whose rollouts are quick, no mean of 300 fresh rollouts is farther off than five standard errors."""
    suite = packaged()
    chosen = [unit for unit in suite.units if unit.env != "inverteddoublependulum"][:40]
    apart = []
    for unit in chosen:
        task = get_task(unit.env)
        returns = evaluate(
            task, unit.episode.initial.params, [10_000 * unit.number + seed for seed in range(300)]
        ).returns
        error = math.hypot(unit.truth.sd / math.sqrt(unit.truth.rollouts), np.std(returns, ddof=1) / math.sqrt(300))
        apart.append(abs(np.mean(returns) - unit.truth.mean) / error)
        assert quality_of(task, unit.truth.mean) == unit.quality
    assert max(apart) < 5
    assert 0.5 < np.sqrt(np.mean(np.square(apart))) < 1.5


def test_gains_are_measured_by_the_way_from_random_policies_to_high_returns():
    span = packaged().spans["cartpole"]
    assert span.random == random_return(get_task("cartpole"), packaged().seed)
    assert span.high == 450  # the task's threshold for high returns
    assert span.length == span.high - span.random


def test_prompts_are_those_that_their_records_give(tmp_path):
    """A program that did not write them makes each again from the record, byte for byte, and finds three rollouts."""
    from audit.cards.suite import write_records

    units = packaged().of_size("quick")[:12]
    write_records(units, tmp_path / "records")
    with open_records([tmp_path / "records"]) as records:
        found = eligible(records, records.runs, spliced=False, needs=frozenset({"rollouts"}))
    assert len(found.units) == 12
    assert not found.left_out
    for unit in units:
        assert str(CriticPrompt.read(unit.prompt)) == unit.prompt
        assert len(CriticPrompt.read(unit.prompt).blocks) == 3


def test_a_suite_of_another_seed_is_another_and_a_damaged_file_is_reported(tmp_path):
    suite = packaged()
    text = written("suite-1-seed-7", 7, list(suite.spans.values()), suite.units[:2])
    file = tmp_path / "suite.jsonl.xz"
    file.write_bytes(compressed(text))
    read = read_file(file)
    assert (read.seed, len(read.units)) == (7, 2)
    assert read.sha256 != suite.sha256
    file.write_bytes(file.read_bytes()[:100])
    with pytest.raises(AuditError, match="cannot read"):
        read_file(file)
    assert set(QUALITIES) == {"poor", "middling", "near"}
