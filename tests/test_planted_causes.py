"""Planted causes in small: tests of experiments find them in simulated critics' answers, and find no others."""

from __future__ import annotations

import numpy as np
import pytest

from audit.ingest.runs import open_records
from audit.interventions.arms import ARMS, ask
from audit.interventions.units import eligible
from benchmarks.interventions.__main__ import _done, main
from benchmarks.interventions.cells import DESIGNS, TESTS, Cell, cells
from benchmarks.interventions.datasets import Laboratory
from benchmarks.interventions.measuring import measure
from benchmarks.interventions.pool import Pool, Size, make_pool
from benchmarks.interventions.report import print_report, read_lines
from collector.llm.simulated.model import read_request

pytestmark = pytest.mark.slow

SIZES = {"cartpole": Size(3, 12), "pong": Size(3, 40)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("planted")
    make_pool(folder, SIZES)
    return folder


@pytest.fixture(scope="module")
def laboratory(folder):
    return Laboratory(make_pool(folder))


def found(laboratory, critic, units=24):
    """p-values by test."""
    cell = Cell(critic, "small", units, 6)
    drawn = laboratory.pool.draw(units, 6, 3)
    result = measure(laboratory.experiment(critic, DESIGNS["small"].arms, drawn, 5), cell, permutations=199, seed=7)
    keyed = {(e["name"], e["outcome"], e["arm"]): e.get("p") for e in result["effects"]}
    return {test: keyed[TESTS[test]] for test in cell.tests if TESTS[test] in keyed}, result


def test_the_simulated_critic_reads_every_arm_as_it_is_shown(folder, laboratory):
    """Among them fresh evidence, which the pool does without."""
    with open_records([folder / "runs"], cache=False) as records:
        needs = frozenset({"rollouts", "policy"})
        units = eligible(records, records.runs, spliced=False, needs=needs, further=True, draws=1).units
    assert units.keys() == laboratory.pool.units.keys()
    rng = np.random.default_rng(1)
    for _, evidence in list(units.values())[::9]:
        for arm in ARMS:
            asked = ask(arm, evidence, rng)
            read = read_request(asked.prompt)
            assert [(r.label, r.index, r.value) for r in read.rollouts] == [
                (s.block.label or s.block.name.replace("Rollout", "rollout"), s.block.rollout, s.block.value)
                for s in asked.shown
            ], arm
            assert [r.length for r in read.rollouts] == [s.block.steps for s in asked.shown]


@pytest.mark.parametrize(
    ("critic", "found_tests", "others", "verdict"),
    [
        ("label@1", ["label, text"], ["position, text", "number, text", "position, edits"], None),
        ("first@1", ["position, text", "position, edits"], ["label, text", "number, text", "label, edits"], None),
        ("number@1", ["number, text"], ["label, text", "position, text", "position, edits"], None),
        ("none", [], None, "none found"),
        ("uniform-talker", ["label, text"], ["label, edits", "position, edits"], "talker"),
    ],
)
def test_what_is_planted_is_found_and_nothing_else(laboratory, critic, found_tests, others, verdict):
    """A number where it cannot be read off the rollouts; of a critic that goes by the history, nothing."""
    p, result = found(laboratory, critic)
    assert all(p[test] <= (0.01 if critic == "number@1" else 0.005) for test in found_tests)
    assert min(p[test] for test in (p if others is None else others)) > 0.01
    assert verdict in {None, result["verdict"]}


def test_units_are_of_as_many_runs_as_asked_and_draws_repeat(laboratory):
    pool: Pool = laboratory.pool
    assert len({unit.cluster for unit in pool.draw(12, 2, 4)}) == 2
    assert {unit.env for unit in pool.draw(12, 2, 4)} == set(SIZES)
    assert pool.draw(12, 4, 4) == pool.draw(12, 4, 4)


def test_what_is_planted_follows_from_the_critic():
    def small(critic):
        return Cell(critic, "small", 40, 14)

    assert small("label").planted("label, edits")
    assert small("last").planted("position, edits")
    assert small("label").planted("position, text") is False
    assert small("label-silent").planted("label, text") is None
    assert small("uniform-talker").planted("label, text")
    assert small("uniform-talker").planted("label, edits") is False
    assert small("first").planted("last position, text") is None
    assert [small(critic).planted("presence, edits") for critic in ("none", "uniform")] == [False, None]
    names = [str(cell) for cell in cells()]
    assert len(names) == len(set(names))


def test_it_goes_on_where_it_was_stopped_and_reports(folder, monkeypatch, capsys):
    arguments = ["prog", "--out", str(folder), "--cells", "none/small/20/2", "--sets", "2", "--permutations", "49"]
    monkeypatch.setattr("sys.argv", arguments)
    main()
    path = folder / "results-1-1.jsonl"
    whole = [{k: v for k, v in line.items() if k != "seconds"} for line in read_lines(folder)["none/small/20/2"]]
    first = path.read_bytes().splitlines(keepends=True)[0]
    path.write_bytes(first + b'{"cell": "none/sm')
    assert _done(path) == {("none/small/20/2", 0)}
    main()
    again = [{k: v for k, v in line.items() if k != "seconds"} for line in read_lines(folder)["none/small/20/2"]]
    assert again == whole
    print_report(folder, list(cells()))
    assert "| none | 20 | 2 | label, edits | 2 | 0 (0.0%) | 1.000 | 1.000 |" in capsys.readouterr().out
