"""A sweep divided into shards: every run in one of them, evenly, and one description of the whole."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections import Counter
from functools import cache
from pathlib import Path

import msgspec
import pytest

from collector.errors import StorageError
from collector.grid.parts import PARTS
from collector.plan import Request, plan
from collector.records import RecordError
from collector.records.grids import Grid, decode_grid, encode_grid
from collector.sharding import Division, write_grid


def specs(**settings):
    settings = {"envs": ["nim", "cartpole"], "variants": ["threetraj", "props"], "runs": 3} | settings
    return plan(Request(backend="simulated", model="simulated-salient", options={}, **settings))


@cache
def paper():
    parts = {
        part.name: part.request(Request(envs=[], variants=[], backend="b", model="m", options={})) for part in PARTS
    }
    return {name: plan(request) for name, request in parts.items()}


def parts_of(runs, shards):
    """The runs of each shard, each as its own process finds them."""
    return [Division(runs, number, shards).mine(runs) for number in range(1, shards + 1)]


@pytest.mark.parametrize(
    "settings",
    [{}, {"envs": ["all"], "variants": ["props"], "runs": 4}, {"variants": ["all", "sb3-all"], "runs": 2}, {"runs": 1}],
)
def test_every_run_is_in_one_shard_whatever_their_number(settings):
    runs = specs(**settings)
    place = {spec.folder: number for number, spec in enumerate(runs)}
    most = len(runs) + 2
    for shards in range(1, most + 1) if most < 20 else [*range(1, 17), most // 2, *range(most - 3, most + 1)]:
        dealt = parts_of(runs, shards)
        assert sorted(spec.folder for mine in dealt for spec in mine) == sorted(spec.folder for spec in runs)
        sizes = Counter(map(len, dealt))
        assert max(sizes) - min(sizes) <= 1
        # A shard keeps the plan's order, in which the first run of every cell comes first.
        for mine in dealt:
            places = [place[spec.folder] for spec in mine]
            assert places == sorted(places)


def test_the_numbering_stays_as_it_is():
    """Shards of one sweep may be collected months and versions apart."""
    dealt = Division(specs(), 1, 4).shard_of
    assert {path.as_posix().removeprefix("simulated-salient/"): shard for path, shard in dealt.items()} == {
        "cartpole/props/run-01": 1,
        "cartpole/props/run-02": 2,
        "cartpole/props/run-03": 3,
        "cartpole/threetraj/run-01": 4,
        "cartpole/threetraj/run-02": 1,
        "cartpole/threetraj/run-03": 2,
        "nim/props/run-01": 3,
        "nim/props/run-02": 4,
        "nim/props/run-03": 1,
        "nim/threetraj/run-01": 2,
        "nim/threetraj/run-02": 3,
        "nim/threetraj/run-03": 4,
    }


def test_the_order_of_options_does_not_matter():
    one, other = specs(), specs(envs=["cartpole", "nim", "cartpole"], variants=["props", "threetraj"])
    assert Division(one, 1, 5).shard_of == Division(other, 1, 5).shard_of
    assert encode_grid(Division(one, 1, 5).grid(one)) == encode_grid(Division(other, 1, 5).grid(other))


@pytest.mark.parametrize("shards", [2, 3, 8, 9, 10, 16, 45, 90, 100])
def test_tasks_and_cells_of_the_paper_are_spread_evenly(shards):
    runs = [spec for part in paper().values() for spec in part]
    dealt = Division(runs, 1, shards).shard_of
    for group in (lambda spec: (spec.condition, spec.task.id), lambda spec: spec.folder.parent):
        counted: dict[object, Counter[int]] = {}
        for spec in runs:
            counted.setdefault(group(spec), Counter())[dealt[spec.folder]] += 1
        for counts in counted.values():
            assert max(counts.values()) - min(counts[shard] for shard in range(1, shards + 1)) <= 1


def grid_of_shard(number, folder):
    runs = specs(variants=["all"], envs=["all"])
    return write_grid(Division(runs, number, 3).grid(runs), folder)


def test_the_grid_is_the_same_in_every_shard_and_process(tmp_path):
    program = "from tests.collector.test_sharding import *\nimport sys\nprint(grid_of_shard(2, Path(sys.argv[1])))"
    other = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "2")],
        env={**os.environ, "PYTHONHASHSEED": "2"},
        cwd=Path(__file__).resolve().parents[2],
        capture_output=True,
        text=True,
        check=True,
    )
    files = [*(grid_of_shard(number, tmp_path / str(number)) for number in (1, 3)), Path(other.stdout.strip())]
    assert len({path.name for path in files}) == 1
    [data] = {path.read_bytes() for path in files}
    grid = decode_grid(data)
    assert encode_grid(grid) == data
    assert grid.shards == 3
    assert Counter(shard for cell in grid.cells for shard in cell.shards) == {1: 90, 2: 90, 3: 90}
    [cell] = [cell for cell in grid.cells if (cell.env, cell.variant) == ("nim", "threetraj")]
    assert (cell.iterations, len(cell.shards), cell.seed, cell.rollouts, cell.warmup) == (100, 3, 0, 20, 20)


def test_other_sweeps_have_other_files(tmp_path):
    runs, longer = specs(), specs(iterations=7)
    files = {
        write_grid(Division(every, 1, shards).grid(every), tmp_path).name
        for every, shards in ((runs, 2), (runs, 3), (longer, 2), (specs(seed=1), 2), (runs[:2], 2))
    }
    assert len(files) == 5
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(files)


def test_many_shards_write_at_once(tmp_path):
    runs = specs(runs=40)
    grid = Division(runs, 1, 5).grid(runs)
    found = []
    barrier = threading.Barrier(8)

    def write():
        barrier.wait()
        found.extend(write_grid(grid, tmp_path).read_bytes() for _ in range(20))

    threads = [threading.Thread(target=write) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(found) == {encode_grid(grid)}
    assert len(found) == 160
    assert len(list(tmp_path.iterdir())) == 1


def test_a_file_that_is_there_is_left_alone_and_a_damaged_one_written_again(tmp_path):
    grid = Division(specs(), 1, 2).grid(specs())
    path = write_grid(grid, tmp_path)
    os.utime(path, (1, 1))
    assert write_grid(grid, tmp_path).stat().st_mtime == 1
    path.write_bytes(path.read_bytes()[:50])
    assert write_grid(grid, tmp_path).read_bytes() == encode_grid(grid)
    with pytest.raises(StorageError, match=r"cannot write .*grid-\w+\.json: Not a directory; name another place"):
        write_grid(grid, path / "out")


HOSTILE = {
    "not JSON": (b"grid", "not JSON"),
    "cut off": (encode_grid(Division(specs(), 1, 2).grid(specs()))[:-20], "not JSON"),
    "a list": (b"[]", "not a record"),
    "a newer format": (b'{"format":2}', "format 2 is newer than this version reads"),
    "no shards": (b'{"format":1,"prompts":{},"cells":[],"shards":0}', "shards"),
    "too many shards": (b'{"format":1,"prompts":{},"cells":[],"shards":1000001}', "more than 1000000"),
    "fractional": (b'{"format":1,"prompts":{},"cells":[],"shards":1.5}', "shards"),
    "deep": (b'{"format":1,"shards":' + b"[" * 5000 + b"]" * 5000 + b"}", "nested more than"),
}


def test_a_grid_that_is_hostile_or_contradicts_itself_is_refused():
    for data, message in HOSTILE.values():
        with pytest.raises(RecordError, match=message):
            decode_grid(data)
    grid = Division(specs(), 1, 2).grid(specs())
    twice = {"cells": [*grid.cells, grid.cells[0]]}
    for change, message in (({"shards": 1}, "a shard is above 1"), (twice, "given twice")):
        with pytest.raises(RecordError, match=message):
            decode_grid(encode_grid(Grid(**{**msgspec.structs.asdict(grid), **change})))
    lines = encode_grid(grid).decode().splitlines()  # a line per cell
    assert [json.loads(line.rstrip(","))["env"] for line in lines[1:-1]] == ["cartpole", "cartpole", "nim", "nim"]
