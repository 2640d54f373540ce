"""Pipes, devices, sockets and huge files where an audit reads: named or refused in a line, never waited for."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from audit.asking.answer_file import AnswerFile
from audit.cache_folder import VARIABLE
from audit.cli import app
from audit.ingest import gathering as gathering_module
from audit.output.errors import AuditError
from audit.packing import pack
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
from tests.collector.helpers import collect, spec
from tests.irregular import IRREGULAR, impatiently

KINDS = pytest.mark.parametrize("kind", IRREGULAR)
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


def test_in_the_cache_it_counts_as_damaged(tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setattr(gathering_module, "SMALLEST", 0)
    (tmp_path / "cache").mkdir()
    for kind in IRREGULAR:
        replaced(tmp_path / "cache" / f"{kind}.json", kind)
    (tmp_path / "cache" / "deep.json").write_text(f'{{"version": {DEEP}}}')
    good(tmp_path / "data")
    result = audit("summary", tmp_path / "data")
    assert (result.exit_code, result.stderr) == (0, "")


@KINDS
def test_sheets_mappings_and_logs_are_refused(tmp_path, kind):
    (tmp_path / "log.jsonl").write_bytes(log_of(log_row()))
    (tmp_path / "map.toml").write_text(MAPPING)
    importing = ("import", "--map", tmp_path / "map.toml", tmp_path / "log.jsonl", "--out", tmp_path / "out")
    for name, status, arguments in (
        ("labels.csv", 1, ("validate", tmp_path / "labels.csv", good(tmp_path / "data"))),
        ("map.toml", 2, importing),
        ("log.jsonl", 1, importing),
    ):
        if (name, kind) == ("log.jsonl", "huge"):  # a log may be of any size
            continue
        before = (tmp_path / name).read_bytes() if (tmp_path / name).exists() else b""
        told = replaced(tmp_path / name, kind)
        result = audit(*arguments)
        assert (result.exit_code, result.stdout) == (status, "")
        assert f"{name}: {told}" in result.stderr
        (tmp_path / name).unlink()
        (tmp_path / name).write_bytes(before)
    assert not (tmp_path / "out").exists()


@KINDS
def test_judgements_are_refused(tmp_path, kind):
    told = "16 MiB" if kind == "huge" else replaced(tmp_path / "judged.jsonl", kind)
    replaced(tmp_path / "judged.jsonl", kind)
    data = good(tmp_path / "data")
    result = audit("salience", data, "--detector", "judge", "--judgements", tmp_path / "judged.jsonl")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "judged.jsonl" in result.stderr
    assert told in result.stderr
    with pytest.raises(AuditError, match=told), AnswerFile(tmp_path / "judged.jsonl", JUDGEMENTS):
        pass


def test_what_the_critic_did_is_named(tmp_path):
    folder = collect(spec("cartpole", iterations=2), tmp_path)
    for kind in IRREGULAR:
        told = replaced(folder / "truth.jsonl", kind)
        result = audit("calibrate", tmp_path)
        assert result.exit_code == 1
        assert f"truth.jsonl: cannot be read ({told}" in result.stderr


@KINDS
def test_tables_of_ones_own_are_refused(tmp_path, kind):
    told = replaced(tmp_path / "own.csv", kind)
    result = CliRunner().invoke(stats_app, ["check", str(tmp_path / "own.csv")])
    assert told in str(result.exception)
    with pytest.raises(PublishedError, match=f"^{tmp_path / 'own.csv'}: {told}"):
        read_csv(tmp_path / "own.csv")


def test_what_is_nested_too_deeply_is_named(tmp_path):
    good(tmp_path / "data" / "good")
    run = write_run(tmp_path / "data" / "deep", [revision([1, 5, 9], [2, 2, 2], run=2)])
    (run / "run.json").write_text(f'{{"deep": {DEEP}, {(run / "run.json").read_text()[1:]}')
    sound = json.loads(judgement("The worst rollout fell."))
    spoilt = json.dumps(sound | {"iteration": 1, "options": {}}).replace('"options": {}', f'"options": {{"x": {DEEP}}}')
    (tmp_path / "judged.jsonl").write_text(f"{json.dumps(sound)}\n{spoilt}\n")
    with open_store([tmp_path / "data"], detector="judge", judgements=[tmp_path / "judged.jsonl"]) as store:
        told = [str(problem) for problem in store.problems]
    assert len(told) == 2
    assert told[0] == f"{run / 'run.json'}:1: nested more than 200 levels deep; the run is left out"
    assert told[1].startswith(f"{tmp_path / 'judged.jsonl'}:2: not a judgement (")


def test_a_pack_whose_contents_are_nested_too_deeply_or_missing_is_named(tmp_path):
    import duckdb

    good(tmp_path / "data" / "good")
    made = pack(tmp_path / "data").path
    for name, change in (("deep", f"select * replace (if(about is null, null, '{DEEP}') as about)"), ("none", "")):
        query = f"{change} from '{made}' {'' if change else 'where about is null'}"
        duckdb.execute(f"copy ({query}) to '{tmp_path / 'data' / f'{name}.pack.parquet'}'")
    with open_store([tmp_path / "data"]) as store:
        told = [str(problem) for problem in store.problems]
        assert len(store.rows("revisions")) == 1
    assert len(told) == 2
    assert all("cannot be read as a pack (" in each and "left out" in each for each in told)
