"""Packs: one file that every audit reads in place of the records, with the same results."""

from __future__ import annotations

import errno
import shutil
import tarfile
from pathlib import Path

import duckdb
import pytest
from typer.testing import CliRunner

from audit.cli import app
from audit.output.errors import AuditError
from audit.records import packing
from audit.records.locating import locate
from audit.records.packing import pack
from audit.records.reading import gather
from audit.sources.intake import Intake
from audit.store import open_store
from collector.records import Episode, decode
from tests.audit.samples import candidate, episode, revision, write_run
from tests.audit.sources.released import critic_episode
from tests.audit.texts import items, text_candidate, text_revision, text_run
from tests.shared import made

RELATIONS = ("summary", "salience", "agreement_summary", "patterns_summary", "revisions", "runs", "holdings")


def _write(folder):
    for run in (1, 2):
        rows = [
            revision([1, 5, 9], [2, 2, 1e-300], answer="The worst rollout \x00fell.", iteration=0, run=run),
            revision([0.1, 5, 9], [6, 6, 6], answer="ünï\u2028code", iteration=1, run=run),
            episode(candidate([7, 7, 7]), None, iteration=2, run=run),
        ]
        tail = b'{"no": "record"}\n{"torn' if run == 2 else b""
        write_run(folder / "data" / f"run-{run}", rows, tail=tail)
    pack(folder / "data")


@pytest.fixture(scope="module")
def folder():
    return made("packing", _write, of=("audit", "collector", "stats", "tests/audit/samples.py"))


@pytest.fixture
def data(folder, tmp_path):
    return shutil.copytree(folder / "data", tmp_path / "data")


@pytest.fixture
def packed(folder, data):
    """A pack of the data, beside them."""
    return shutil.copy(folder / "data.pack.parquet", data.parent / "data.pack.parquet")


@pytest.fixture(scope="module")
def expected(folder):
    """What is made of the records themselves."""
    return relations(folder / "data")


def audit(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def relations(path, names=RELATIONS):
    """What the commands print."""
    with open_store([path]) as store:
        return {name: store.rows(name) for name in names}


def lines_of(packed, directory):
    """The lines of a pack's records."""
    directory.mkdir()
    intake = Intake(directory)
    gather([locate(packed)], intake)
    assert not intake.problems
    return [line for file in intake.files for line in Path(file.file).read_bytes().splitlines()]


def altered(packed, path, change="*", where="true"):
    """A pack with other columns or rows."""
    query = f"copy (select {change} from read_parquet(?) where {where}) to ? (format parquet)"
    duckdb.execute(query, [str(packed), str(path)])
    return path


def test_a_pack_is_audited_like_the_records(data, expected, tmp_path):
    """Also within an archive, and one that is made of a pack."""
    packed = pack(data).path
    assert packed == tmp_path / "data.pack.parquet"
    with tarfile.open(tmp_path / "all.tar", "w") as archive:
        archive.add(packed, "deep/data.pack.parquet")
    again = pack(packed, tmp_path / "again.pack.parquet").path
    assert [relations(path) for path in (packed, tmp_path / "all.tar", again)] == [expected] * 3
    for command in (("summary",), ("show", "cartpole", "threetraj", 1, 0)):
        printed = [audit(command[0], path, *command[1:], "--format", "json").stdout for path in (data, packed)]
        assert printed[0] == printed[1] != ""
    with open_store([data]) as raw, open_store([packed]) as store:
        told = [[(problem.line, problem.message) for problem in each.problems] for each in (raw, store)]
    assert told[0] == told[1]
    assert len(told[0]) == 2
    with pytest.raises(AuditError, match="--strict"):
        open_store([packed], strict=True)


def test_headings_of_rollouts_shown_are_kept_and_none_is_made_up(tmp_path):
    heading = {"label": "worst", "rollout": 0, "return": 1.0, "length": 10, "name": "Rollout B"}
    plain = {"label": "best", "rollout": 2, "return": 9.0, "length": 10}
    evidence = {"kind": "three", "shown": [heading, plain], "statistics": None}
    write_run(tmp_path / "data", [revision([1, 5, 9], [2, 2, 2], answer=',"name":null', evidence=evidence)])
    written = decode((tmp_path / "data" / "episodes.jsonl").read_bytes(), Episode)
    [line] = lines_of(pack(tmp_path / "data").path, tmp_path / "lines")
    assert decode(line, Episode) == written
    assert line.count(b'"name"') == 1


def test_logs_of_the_released_code_packed(tmp_path):
    critic_episode(tmp_path / "logs" / "pong_three_traj" / "run_1", 0, [1, 2, 3], [2, 3, 4])
    found = [relations(path) for path in (tmp_path / "logs", pack(tmp_path / "logs").path)]
    assert found[0] == found[1]
    assert found[0]["revisions"]


def test_places_that_cannot_be_and_files_that_are_there(data, packed):
    before = packed.read_bytes()
    for options, reason in (
        ([], "overwrite it with --force"),
        (["--out", "x.zip"], "ends in .pack.parquet"),
        (["--out", "nowhere/x.pack.parquet"], "no such folder"),
        (["--out", data / "x.pack.parquet"], "is in the folder"),
    ):
        result = audit("pack", data, *options)
        assert (result.exit_code, reason in result.stderr, len(result.stderr.strip().splitlines())) == (2, True, 1)
    assert packed.read_bytes() == before
    assert audit("pack", data, "--force").exit_code == 0
    named = data.rename(data.with_name("y.pack.parquet"))
    result = audit("pack", f"{named}/")
    assert result.exit_code == 2
    assert f"{named}: its pack, named like it, is in the folder" in result.stderr
    assert audit("pack", named, "--out", data.with_name("z.pack.parquet")).exit_code == 0


def test_records_beside_a_pack_of_them_count_once(data, packed, expected, tmp_path):
    shutil.copytree(data, tmp_path / "both" / "raw")
    shutil.copy(packed, tmp_path / "both")
    with open_store([tmp_path / "both"]) as store:
        assert store.rows("runs") == expected["runs"]


def test_records_of_texts_packed(tmp_path):
    nameless = [{"label": "item", "rollout": None, "return": None, "name": None}, *items([0, 1, 1], list("abc"))]
    rows = [
        text_revision([0, 1, 1], [1, 1, 0], evidence={"kind": "batch", "shown": nameless}),
        text_revision([0, 1], [1, 1], iteration=1),
        text_revision([1, 1], [0, 1], iteration=2, revised=text_candidate([0, 1], text=',"name":null', answer=None)),
    ]
    rows[1]["initial"] |= {"text": {"b": "\0 é", 'a"': "", "": "x"}, "returns": None, "example_ids": None}
    data = tmp_path / "data"
    write_run(data, rows, **text_run())
    packed = pack(data).path
    names = (*RELATIONS, "candidates", "text_edits", "evidence", "critic_answers")
    with open_store([data]) as raw:
        expected = {name: sorted(raw.rows(name), key=repr) for name in names}
        assert not raw.problems
        assert len(expected["candidates"]) == 6
    with open_store([packed]) as store:
        assert {name: sorted(store.rows(name), key=repr) for name in names} == expected
        assert not store.problems


def test_a_full_disk_leaves_what_was_there(data, packed, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    before = packed.read_bytes()
    monkeypatch.setattr(packing, "write_parquet", full)
    with pytest.raises(AuditError, match=r"^cannot write .*: No space left on device$"):
        pack(data, force=True)
    assert [each.name for each in data.parent.iterdir() if each.is_file()] == [packed.name]
    assert packed.read_bytes() == before


@pytest.mark.parametrize(
    ("change", "where", "words"),
    [
        ("* exclude (about), 1 as place, 2 as number", "true", "packed by another version; pack its records again"),
        ("* replace (replace(about, '\"format\":2', '\"format\":3') as about)", "true", "packed by another version"),
        ("*", "about is null", "packed by another version"),
        ("* exclude (evidence)", "true", "cannot be read as a pack"),
        ("* replace (if(run = 2, 7, run) as run)", "true", "a run that it does not describe"),
        ("* replace (-tau_c as tau_c, seconds::varchar as seconds)", "true", "seconds"),
    ],
)
def test_what_another_program_has_changed_is_judged_or_named(packed, tmp_path, change, where, words):
    result = audit("summary", altered(packed, tmp_path / "other.pack.parquet", change, where))
    assert words in result.stderr
    packed.write_bytes(packed.read_bytes()[:-100])
    result = audit("summary", packed)
    assert (result.exit_code, "cannot be read as a pack" in result.stderr) == (1, True)


def test_a_pack_that_unpacks_to_far_more_than_its_size_is_left_out(packed, monkeypatch):
    monkeypatch.setattr("audit.records.packs.UNPACKED", 500)
    monkeypatch.setattr("audit.records.packs.RATIO", 0)
    assert "it unpacks to far more than its size" in audit("summary", packed).stderr
