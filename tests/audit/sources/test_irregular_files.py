"""Pipes, devices, sockets and huge files where an audit reads: named or refused in a line, never waited for."""

from __future__ import annotations

import json

import duckdb
import pytest
from typer.testing import CliRunner

from audit.asking.answer_file import AnswerFile
from audit.cli import app
from audit.output.errors import AuditError
from audit.records.packing import pack
from audit.sources.judgements import JUDGEMENTS
from audit.store import open_store
from stats.cli import app as stats_app
from stats.published.source import PublishedError, read_csv
from tests.audit.importing.foreign import MAPPING
from tests.audit.importing.foreign import lines as log_of
from tests.audit.importing.foreign import row as log_row
from tests.audit.judging.judges import judgement
from tests.audit.samples import revision, write_run
from tests.audit.sources.released import critic_episode
from tests.irregular import IRREGULAR, impatiently

DEEP = "[" * 100_000 + "]" * 100_000


@pytest.fixture(autouse=True)
def _impatience():
    with impatiently():
        yield


def audit(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def replaced(path, kind):
    """Put something that is no regular file in a file's place; what is said of it."""
    make, told = IRREGULAR[kind]
    path.unlink(missing_ok=True)
    make(path)
    return told


def good(folder):
    return write_run(folder, [revision([1, 5, 9], [2, 2, 2], answer="The worst rollout fell.")])


@pytest.mark.parametrize("command", ["summary", "verify"])
def test_in_a_run_it_is_named_and_the_others_are_read(tmp_path, command):
    good(tmp_path / "good")
    told = {}
    for name in ("run.json", "episodes.jsonl"):
        for kind in IRREGULAR:
            run = len(told) + 2
            bad = write_run(tmp_path / f"{run}", [revision([1, 5, 9], [2, 2, 2], run=run)])
            told[bad / name] = replaced(bad / name, kind)
    result = audit(command, tmp_path, "--format", "json")
    assert result.exit_code == 0 or command == "verify", result.stderr
    assert [str(path) for path, said in told.items() if f"{path}: cannot be read ({said}" not in result.stderr] == []
    assert f"{len(told)} problems in the records" in result.stderr
    assert audit(command, tmp_path, "--strict").exit_code in {1, 2}


def test_in_a_released_log_it_is_named(tmp_path):
    run = tmp_path / "pong_three_traj" / "run_1"
    critic_episode(run, 0, [1.0], [2.0])
    told = []
    for name in ("parameters_reasoning.txt", "initial_proposal_rollout.txt", "reflection_outcome.txt"):
        for kind in IRREGULAR:
            folder = critic_episode(run, len(told) + 1, [1.0], [2.0])
            told.append(f"{folder.name}/{name}: cannot be read ({replaced(folder / name, kind)}")
    with open_store([tmp_path]) as store:
        problems = [str(problem) for problem in store.problems]
        assert len(store.rows("revisions")) == 1
    assert [said for said in told if not any(said in problem for problem in problems)] == []
    assert len(problems) == len(told)


@pytest.mark.parametrize("kind", ["pipe", "device", "socket"])
def test_as_a_pack_or_an_archive_it_is_named_or_refused(tmp_path, kind):
    good(tmp_path / "data")
    told = replaced(tmp_path / "data" / "x.pack.parquet", kind)
    with open_store([tmp_path / "data"]) as store:
        [problem] = store.problems
        assert f"x.pack.parquet: cannot be read as a pack ({told}); left out" in str(problem)
    for name in ("x.pack.parquet", "x.tar.gz", "x"):
        replaced(tmp_path / name, kind)
        result = audit("summary", tmp_path / name)
        assert (result.exit_code, result.stdout) == (1, "")
        assert f"{tmp_path / name}: a pipe or device; write what it gives to a file" in result.stderr


@pytest.mark.parametrize("kind", IRREGULAR)
def test_sheets_mappings_logs_judgements_and_tables_are_refused(tmp_path, kind):
    (tmp_path / "log.jsonl").write_bytes(log_of(log_row()))
    (tmp_path / "map.toml").write_text(MAPPING)
    data = good(tmp_path / "data")
    importing = ("import", "--map", tmp_path / "map.toml", tmp_path / "log.jsonl", "--out", tmp_path / "out")
    judged = tmp_path / "judged.jsonl"
    for name, status, arguments in (
        ("labels.csv", 1, ("validate", tmp_path / "labels.csv", data)),
        ("map.toml", 2, importing),
        ("log.jsonl", 1, importing),
        ("judged.jsonl", 1, ("salience", data, "--detector", "judge", "--judgements", judged)),
    ):
        if (name, kind) == ("log.jsonl", "huge"):  # a log may be of any size
            continue
        before = (tmp_path / name).read_bytes() if (tmp_path / name).exists() else b""
        told = replaced(tmp_path / name, kind)
        result = audit(*arguments)
        assert (result.exit_code, result.stdout) == (status, ""), name
        assert name in result.stderr
        assert ("16 MiB" if (name, kind) == ("judged.jsonl", "huge") else told) in result.stderr
        (tmp_path / name).unlink()
        (tmp_path / name).write_bytes(before)
    assert not (tmp_path / "out").exists()
    told = "16 MiB" if kind == "huge" else replaced(judged, kind)
    replaced(judged, kind)
    with pytest.raises(AuditError, match=told), AnswerFile(judged, JUDGEMENTS):
        pass
    told = replaced(tmp_path / "own.csv", kind)
    result = CliRunner().invoke(stats_app, ["check", str(tmp_path / "own.csv")])
    assert told in str(result.exception)
    with pytest.raises(PublishedError, match=f"^{tmp_path / 'own.csv'}: {told}"):
        read_csv(tmp_path / "own.csv")
    told = replaced(data / "truth.jsonl", kind)
    assert f"truth.jsonl: cannot be read ({told}" in audit("calibrate", data).stderr


def test_what_is_nested_too_deeply_is_named(tmp_path):
    """In judgements and in packs, of which one says nothing of its contents."""
    good(tmp_path / "data" / "good")
    packed = pack(tmp_path / "data").path
    for name, change, where in (
        ("deep", f"* replace (if(about is null, null, '{DEEP}') as about)", "true"),
        ("none", "*", "about is null"),
    ):
        path = tmp_path / "data" / f"{name}.pack.parquet"
        duckdb.execute(f"copy (select {change} from '{packed}' where {where}) to '{path}'")
    sound = json.loads(judgement("The worst rollout fell."))
    spoilt = json.dumps(sound | {"iteration": 1, "options": {}}).replace('"options": {}', f'"options": {{"x": {DEEP}}}')
    (tmp_path / "judged.jsonl").write_text(f"{json.dumps(sound)}\n{spoilt}\n")
    with open_store([tmp_path / "data"], detector="judge", judgements=[tmp_path / "judged.jsonl"]) as store:
        *packs, told = (str(problem) for problem in store.problems)
        assert len(store.rows("revisions")) == 1
    assert told.startswith(f"{tmp_path / 'judged.jsonl'}:2: not a judgement (")
    assert ["cannot be read as a pack (" in each and "left out" in each for each in packs] == [True] * 2
