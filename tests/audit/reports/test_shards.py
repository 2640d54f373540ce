"""`audit check` on shards: what is missing, incomplete, in several places, or of no shard."""

from __future__ import annotations

import csv
import io
import json
import shutil
import tarfile

import pytest

import audit
import collector.cli
from audit.output.errors import AuditError, UsageError
from audit.reports.check.shards import COLUMNS, NO_GRIDS
from tests.audit.calls import call, json_rows
from tests.collector.helpers import in_process
from tests.shared import made

pytestmark = pytest.mark.usefixtures("opened_once")

SWEEP = ["--env", "nim", "--env", "cartpole", "--variant", "threetraj", "--runs", "3"]
SIZE = ["--iterations", "2", "--rollouts", "3", "--warmup", "3", "--condition", "small", "--quiet", "--workers", "1"]
# Shard 1 has runs 1 of both tasks, shard 2 their runs 2, shard 3 their runs 3.


def rows(*arguments):
    return json_rows("check", *arguments, "--shards")


def collect(*arguments):
    result = in_process(collector.cli.main, *arguments)
    assert result.returncode == 0, result.stderr


def merged(out, *folders):
    for folder in folders:
        shutil.copytree(folder, out, dirs_exist_ok=True)
    return out


def sweeps(out):
    """Three shards of a sweep, and folders of other sweeps and runs."""
    for number in (1, 2, 3):
        collect(*SWEEP, *SIZE, "--shard", f"{number}/3", "--out", out / f"{number}")
    collect(*SWEEP, *SIZE, "--shard", "1/2", "--out", out / "half")
    collect(*SWEEP, *SIZE, "--seed", "1", "--shard", "3/3", "--out", out / "other seed")
    collect("--env", "nim", "--variant", "props", "--runs", "2", *SIZE, "--shard", "2/2", "--out", out / "props")
    collect("--env", "nim", "--variant", "threetraj", "--runs", "4", *SIZE, "--out", out / "no shard")


@pytest.fixture(scope="module")
def collected():
    return made("sweeps-to-check", sweeps)


@pytest.fixture(scope="module")
def shards(collected):
    """The folders of three shards."""
    return [collected / f"{number}" for number in (1, 2, 3)]


@pytest.fixture
def data(shards, tmp_path):
    return merged(tmp_path / "data", *shards)


def test_complete_shards(data):
    found = rows(data)
    assert [list(row) for row in found] == [list(COLUMNS)] * 3
    [name] = {row["grid"] for row in found}
    assert (data / f"{name}.json").is_file()
    counts = {"runs": 2, "complete": 2, "unfinished": 0, "missing": 0, "iterations": 4, "done": 4}
    lists = {"to_do": [], "overlapping": [], "contradictory": []}
    assert found[1] == {"grid": name, "shard": 2, "shards": 3, "state": "complete"} | counts | lists
    assert "shard" not in call("check", data, "--shards").stderr
    assert call("check", data, "--strict").exit_code == 0


def test_a_missing_shard_and_an_incomplete_one(shards, tmp_path):
    data = merged(tmp_path / "data", shards[0], shards[1])
    (data / "small/nim/threetraj/run-01/episodes.jsonl").unlink()
    shutil.rmtree(data / "small/cartpole/threetraj/run-02")
    lines = data / "small/nim/threetraj/run-02/episodes.jsonl"
    lines.write_bytes(lines.read_bytes().splitlines(keepends=True)[0])
    first, second, third = rows(data)
    assert (first["state"], first["unfinished"], first["missing"]) == ("incomplete", 1, 0)
    assert first["to_do"] == ["small/nim/threetraj/run-01"]
    assert (second["state"], second["unfinished"], second["missing"]) == ("incomplete", 1, 1)
    assert second["to_do"] == ["small/cartpole/threetraj/run-02", "small/nim/threetraj/run-02"]
    assert (second["iterations"], second["done"], second["complete"]) == (4, 1, 0)
    assert (third["state"], third["missing"], third["done"]) == ("missing", 2, 0)
    sentence = (
        f"{first['grid']}: shard 3 of 3 is missing, shards 1, 2 of 3 are incomplete, with small/nim/threetraj/run-01, "
        "small/cartpole/threetraj/run-02, small/nim/threetraj/run-02 to do"
    )
    for arguments in (["--shards"], [], ["--format", "json"]):
        result = call("check", data, *arguments)
        assert result.exit_code == 0
        assert f"audit: {sentence}\n" in result.stderr
    assert [
        len(row["to_do"].split())
        for row in csv.DictReader(io.StringIO(call("check", data, "--shards", "--format", "csv").stdout))
    ] == [1, 2, 2]
    strict = call("check", data, "--strict")
    assert strict.exit_code == 1
    assert strict.stdout == ""
    assert strict.stderr.splitlines()[-2:] == ["audit: 1 fault of shards, and --strict:", sentence]


def test_folders_need_not_be_merged_and_may_be_an_archive(data, shards, tmp_path):
    together = rows(*shards)
    assert {row["state"] for row in together} == {"complete"}
    assert together == rows(data)
    assert [row["state"] for row in rows(shards[0], shards[2])] == ["complete", "missing", "complete"]
    with tarfile.open(tmp_path / "data.tar.gz", "w:gz") as archive:
        archive.add(data, "data")
    assert rows(tmp_path / "data.tar.gz") == together


def test_a_run_in_several_folders(shards, tmp_path):
    data = merged(tmp_path / "data", *shards)
    again = merged(tmp_path / "again", shards[0])
    lines = again / "small/nim/threetraj/run-01/episodes.jsonl"
    # Another clock is no other content, and a copy that is behind contradicts nothing.
    later = [json.loads(line) | {"seconds": 99.0} for line in lines.read_text().splitlines()]
    lines.write_text(json.dumps(later[0]) + "\n")
    other = again / "small/cartpole/threetraj/run-01/episodes.jsonl"
    records = [json.loads(line) for line in other.read_text().splitlines()]
    records[1]["initial"]["answer"] = "Something else."
    other.write_text("".join(json.dumps(record) + "\n" for record in records))
    first, second, _ = rows(data, again)
    both = ["small/cartpole/threetraj/run-01", "small/nim/threetraj/run-01"]
    assert (first["state"], first["overlapping"], first["contradictory"]) == ("complete", both, both[:1])
    assert second["overlapping"] == []
    stderr = call("check", data, again).stderr
    assert f"1 run in more than one folder, with different content: {both[0]}\n" in stderr
    assert f"1 run in more than one folder, with the same content: {both[1]}\n" in stderr
    # Within one folder it is the same.
    shutil.copytree(again, data / "copy")
    assert rows(data)[0] == first
    assert call("check", data, "--strict").exit_code == 1


def test_a_run_of_no_shard(data, collected):
    merged(data, collected / "no shard")
    *known, other = rows(data)
    assert {row["state"] for row in known} == {"complete"}
    wanted = {"grid": None, "shard": None, "state": "no shard", "runs": 1, "done": 2}
    assert {name: other[name] for name in wanted} == wanted
    assert "1 run of no shard: small/nim/threetraj/run-04" in call("check", data).stderr
    # It was collected on its own, which is no fault.
    assert call("check", data, "--strict").exit_code == 0


def test_several_sweeps_in_one_folder(data, shards, collected):
    merged(data, collected / "props")
    found = rows(data)
    assert len({row["grid"] for row in found}) == 2
    assert sorted(row["state"] for row in found) == ["complete"] * 4 + ["missing"]
    assert "shard 1 of 2 is missing" in call("check", data).stderr
    # The same sweep among another number of shards: what is complete is so in both.
    merged(data, collected / "half")
    found = rows(data)
    assert len({row["grid"] for row in found}) == 3
    assert sorted(row["state"] for row in found) == ["complete"] * 6 + ["missing"]
    # A filter concerns the grids too.
    of_props = {row["grid"] for row in rows(data, "--variant", "props")}
    assert len(of_props) == 1
    assert not of_props & {row["grid"] for row in rows(*shards)}


def test_shards_with_different_settings(shards, collected):
    result = call("check", shards[0], shards[1], collected / "other seed", "--shards")
    assert result.exit_code == 0
    [line] = [line for line in result.stderr.splitlines() if "describe the same runs" in line]
    assert line.endswith("describe the same runs with different settings: seed")


DAMAGED = {
    "cut off": lambda data: data[:-9],
    "changed": lambda data: data.replace(b'"shards":3', b'"shards":4'),
    "empty": lambda _: b"",
    "enormous": lambda data: data + b" " * (16 * 2**20),
}


def test_a_damaged_grid_is_left_out_with_a_line(data):
    [path] = data.glob("grid-*.json")
    sound = path.read_bytes()
    for damage in DAMAGED.values():
        path.write_bytes(damage(sound))
        assert rows(data) == []
        result = call("check", data)
        assert result.exit_code == 0
        assert f"audit: {path}: " in result.stderr
        assert "left out" in result.stderr
        assert call("check", data, "--strict").exit_code == 1
    path.unlink()
    path.mkdir()
    assert "left out" in call("check", data).stderr


def test_without_grids(collected):
    alone = collected / "no shard"
    assert rows(alone) == []
    assert NO_GRIDS in call("check", alone, "--shards").stderr
    assert "Shards" not in call("check", alone).stdout


def test_people_see_a_line_for_each_sweep(data):
    for arguments in ([], ["--shards"]):
        lines = call("check", data, *arguments).stdout.splitlines()
        assert "Shards" in lines
        assert lines[-2 if not lines[-1] else -1].split()[1:] == ["3", "3", "0", "0", "6", "6"]


def test_from_python(shards):
    table = audit.check(shards[:2], shards=True)
    assert [row["state"] for row in table] == ["complete", "complete", "missing"]
    assert list(table.df().columns) == list(COLUMNS)
    with pytest.raises(UsageError, match="--facts and --shards exclude each other"):
        audit.check(shards, facts=True, shards=True)
    with pytest.raises(AuditError, match="shard 3 of 3 is missing"):
        audit.check(shards[:2], strict=True)


def test_a_grid_is_no_record(data):
    commands = ("summary", "salience", "runs", "revisions", "check")
    with_grid = [json_rows(name, data) for name in commands]
    [path] = data.glob("grid-*.json")
    path.unlink()
    assert with_grid == [json_rows(name, data) for name in commands]


@pytest.mark.slow
def test_a_pack_is_the_same_with_a_grid(data, tmp_path):
    [path] = data.glob("grid-*.json")
    assert call("pack", data, "--out", tmp_path / "with.pack.parquet").exit_code == 0
    path.unlink()
    assert call("pack", data, "--out", tmp_path / "without.pack.parquet").exit_code == 0
    assert (tmp_path / "with.pack.parquet").read_bytes() == (tmp_path / "without.pack.parquet").read_bytes()
