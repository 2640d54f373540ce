"""A sweep divided into shards: every run in one of them, evenly."""

from __future__ import annotations

from collections import Counter

import pytest

from collector.grid.parts import PARTS
from collector.plan import Request, plan
from collector.sharding import Shard


def specs(**settings):
    settings = {"envs": ["nim", "cartpole"], "variants": ["threetraj", "props"], "runs": 3} | settings
    return plan(Request(backend="simulated", model="simulated-salient", options={}, **settings))


def dealt(runs, shards):
    """The folders of each shard, each as its own process finds them."""
    return [Shard(number, shards).folders(runs) for number in range(1, shards + 1)]


@pytest.mark.parametrize(
    "settings",
    [{}, {"envs": ["all"], "variants": ["props"], "runs": 4}, {"variants": ["all", "sb3-all"], "runs": 2}, {"runs": 1}],
)
def test_every_run_is_in_one_shard_whatever_their_number(settings):
    runs = specs(**settings)
    most = len(runs) + 2
    for shards in range(1, most + 1) if most < 20 else [*range(1, 17), most // 2, *range(most - 3, most + 1)]:
        folders = dealt(runs, shards)
        assert sorted(folder for mine in folders for folder in mine) == sorted(spec.folder for spec in runs)
        sizes = set(map(len, folders))
        assert max(sizes) - min(sizes) <= 1


def test_the_numbering_stays_as_it_is():
    """Shards of one sweep may be collected months and versions apart; the order of options does not matter."""
    for runs in (specs(), specs(envs=["cartpole", "nim", "cartpole"], variants=["props", "threetraj"])):
        names = [
            sorted(folder.relative_to("simulated-salient").as_posix() for folder in mine) for mine in dealt(runs, 4)
        ]
        assert names == [
            ["cartpole/props/run-01", "cartpole/threetraj/run-02", "nim/props/run-03"],
            ["cartpole/props/run-02", "cartpole/threetraj/run-03", "nim/threetraj/run-01"],
            ["cartpole/props/run-03", "nim/props/run-01", "nim/threetraj/run-02"],
            ["cartpole/threetraj/run-01", "nim/props/run-02", "nim/threetraj/run-03"],
        ]


def test_tasks_and_cells_of_the_paper_are_spread_evenly():
    wanted = Request(envs=[], variants=[], backend="b", model="m", options={})
    runs = [spec for part in PARTS for spec in plan(part.request(wanted))]
    for shards in (2, 3, 8, 9, 10, 16, 45, 90, 100):
        shard_of = {folder: number for number, mine in enumerate(dealt(runs, shards)) for folder in mine}
        for group in (lambda spec: (spec.condition, spec.task.id), lambda spec: spec.folder.parent):
            counted: dict[object, Counter[int]] = {}
            for spec in runs:
                counted.setdefault(group(spec), Counter())[shard_of[spec.folder]] += 1
            for counts in counted.values():
                assert max(counts.values()) - min(counts[shard] for shard in range(shards)) <= 1
