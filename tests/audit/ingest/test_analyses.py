"""What is kept of an analysis: it makes audits quick, and changes nothing else."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import duckdb
import pytest

import audit
from audit.cache_folder import DAY, UNUSED, VARIABLE, cache_folder
from audit.engine.catalog import BATCHED, KEPT, WITHIN
from audit.engine.database import Database
from audit.ingest import analyses, batches, cache, gathering, run_files
from audit.output.errors import AuditError
from audit.store import open_store, rows_of
from tests.audit.samples import candidate, episode, revision, write_run
from tests.audit.sources.released import critic_episode

LONG_AGO = 1_700_000_000
RELATIONS = ("citing_rates", "run_facts")
"""Relations that are kept: one of what texts say, one of what a run is."""
IN_BATCHES = BATCHED - WITHIN.keys()
"""Those of which rows of another are not taken too."""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A cache of the test's own that takes records of any size."""
    monkeypatch.setenv(VARIABLE, str(tmp_path / "cache"))
    for module in (analyses, gathering):
        monkeypatch.setattr(module, "SMALLEST", 0)
    monkeypatch.setattr(cache, "SETTLED", 0)
    return tmp_path / "cache" / "analyses"


@pytest.fixture
def data(tmp_path):
    for run in (1, 2, 3):
        _write(tmp_path / "data", run)
    return tmp_path / "data"


def _write(root, run, answer="The worst rollout fell."):
    rows = [
        revision([1, 5, 9], [2, 2, run], after=(1, 2.5, 3), answer=answer, iteration=0, run=run),
        revision([1, 5, 9], [6, 6, 6], answer="All is well.", iteration=1, run=run),
        episode(candidate([7, 7, 7]), None, iteration=2, run=run),
    ]
    return write_run(root / f"run-{run}", rows, tail=b'{"no": "record"}\n')


def audited(path, names=RELATIONS, **options):
    with open_store([path], **options) as store:
        problems = [(problem.file, problem.line, problem.message) for problem in store.problems]
        return {name: sorted(map(repr, store.rows(name))) for name in names}, problems


def fresh(path, names=RELATIONS, **options):
    """What an audit finds that reads everything itself, into tables."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gathering, "SMALLEST", 2**20)
        return audited(path, names, cache=False, **options)


def everything(store):
    """All that is kept, and all that is kept in batches, with the types of its columns."""
    rows = {name: store.rows(name) for name in sorted(KEPT)}
    batched = {name: sorted(map(repr, store.rows(name))) for name in sorted(IN_BATCHES)}
    return rows, batched, {name: list(map(str, store.relation(name).types)) for name in IN_BATCHES | KEPT}


def kept(folder):
    return {path.name for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def unread(monkeypatch):
    """From when it is called on, records that are read are a failure."""

    def forbid():
        def refuse(*_args, **_options):
            raise AssertionError("records are read")

        monkeypatch.setattr(gathering, "read_into", refuse)

    return forbid


def test_an_unchanged_data_set_is_not_read_again(data, unread):
    """And what is not kept is made when it is asked for."""
    with open_store([data], cache=False) as store:
        expected, problems = everything(store), store.problems
    for _ in range(2):
        with open_store([data]) as store:
            assert everything(store) == expected
    unread()
    with open_store([data]) as store:
        assert {name: store.rows(name) for name in KEPT} == expected[0]
        assert store.problems == problems
        assert len(problems) == 3
    with pytest.raises(AuditError, match="3 problems in the records, and --strict"):
        open_store([data], strict=True)


def test_queries_of_users_take_what_is_kept(data, unread):
    """It is taken before their SQL is confined, so that no record is read."""
    for _ in range(2):
        with open_store([data]) as store:
            expected = len(store.rows("revisions"))
        counted = audit.sql(data, "select count(*) as n from revisions")
        assert [row["n"] for row in counted] == [expected]
        assert list(audit.find(data, "salience", where="exists (from runs)"))
        assert len(audit.find(data, where="r0 > 0")) == expected
        unread()


def test_a_confined_store_takes_what_is_kept(data, monkeypatch):
    """Relations that it is asked for later, too, though it can read no file of the cache any more."""
    with open_store([data], cache=False) as store:
        expected = everything(store)
    with open_store([data]) as store:
        assert everything(store) == expected

    def refuse(*_args, has_rows=True):
        assert not has_rows, "made again"
        return write(*_args, has_rows=False)

    write = Database._write_rows
    monkeypatch.setattr(Database, "_write_rows", refuse)
    monkeypatch.setattr(batches.Batches, "_made", refuse)
    with open_store([data]) as store:
        store.confine()
        assert everything(store) == expected
        taken_before = {"run_records"}
        for path in (*cache_folder().glob("*/**/*.*"), data / "run-1" / "run.json"):
            if path.name.partition(".")[0] not in taken_before:
                with pytest.raises(duckdb.PermissionException):
                    store._database._connection.execute("select size from read_blob(?)", [str(path)])


def test_what_is_kept_stays_readable_when_another_audit_removes_it(data, folder):
    """A relation is read from the file in which it is kept, and not copied before."""
    expected = audited(data, KEPT)[0]
    for is_confined in (False, True):
        audited(data, KEPT)
        with open_store([data]) as store:
            if is_confined:
                store.confine()
            relations = {name: store.relation(name) for name in KEPT}
            shutil.rmtree(folder)
            assert {name: sorted(map(repr, rows_of(each))) for name, each in relations.items()} == expected


def shown(data, run, **options):
    return audit.show(data, "cartpole", "threetraj", run, 0, **options)


def test_one_revision_is_the_same_where_its_run_is_not_read_alone(data, tmp_path, monkeypatch):
    """Lines of a run are in several files or packs, or too many for the memory."""
    audit.pack(data, tmp_path / "x.pack.parquet")
    shutil.copytree(data / "run-2", tmp_path / "copies" / "run-2")
    audit.pack(tmp_path / "copies", tmp_path / "y.pack.parquet")
    packs = [tmp_path / "x.pack.parquet", tmp_path / "y.pack.parquet"]
    for paths in ([data, tmp_path / "copies"], packs):
        with audit.open(*paths) as store:
            expected = shown(store, 2)
        assert [shown(paths, 2), shown(paths, 2, cache=False)] == [expected] * 2
    monkeypatch.setattr(run_files, "MOST", 0)
    with audit.open(data) as store:
        assert shown(data, 2) == shown(store, 2)


def test_notes_are_kept_too(tmp_path):
    folder = critic_episode(tmp_path / "logs" / "pong_tau_c_sensitivity_half" / "run_1", 0, [1, 2, 3], [2, 3, 4])
    with (folder / "parameters_reasoning.txt").open("ab") as text:
        text.write(b"\xff")
    notes = []
    for _ in range(2):
        with open_store([tmp_path / "logs"]) as store:
            notes.append(list(store.notes))
    assert notes[0] == notes[1]
    assert "U+FFFD" in notes[0][0]


def test_the_version_covers_all_of_ours_that_results_depend_on(data):
    code = (
        "import sys\n"
        "from audit.engine.catalog import models\n"
        "from audit.ingest.version import program\n"
        "from audit.store import open_store\n"
        "with open_store([sys.argv[1]], cache=False) as store: store.rows('base_rates'), store.rows('noise_summary')\n"
        "files = {m.__file__ for n, m in sys.modules.items() if n.split('.')[0] in ('audit', 'stats', 'collector')}\n"
        "left = {file for file in files - set(program()) if not file.endswith('__init__.py')}\n"
        "assert not left and len(files) > 50, left\n"
    )
    subprocess.run([sys.executable, "-c", code, str(data)], check=True)


def grown(data):
    _write(data, 4)


def changed_text(data):
    path = data / "run-1" / "episodes.jsonl"
    path.write_bytes(path.read_bytes().replace(b"worst", b"first", 1))


def changed_description(data):
    path = data / "run-1" / "run.json"
    path.write_bytes(path.read_bytes().replace(b'"model": "by-hand"', b'"model": "another"', 1))


def shrunk(data):
    shutil.rmtree(data / "run-2")


def changed_behind_its_time(data):
    path = data / "run-3" / "episodes.jsonl"
    before = path.stat()
    path.write_bytes(path.read_bytes().replace(b"worst", b"first", 1))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.slow
def test_a_changed_data_set_is_read_again(data):
    before = audited(data)
    for change in (grown, changed_text, changed_description, shrunk, changed_behind_its_time):
        change(data)
        after = audited(data)
        assert after != before, change
        assert after == fresh(data), change
        before = after


def test_a_file_just_written_is_known_by_its_content(data, monkeypatch):
    """Where times are coarse, a file may change and look the same."""
    monkeypatch.setattr(analyses, "SETTLED", 10**18)
    monkeypatch.setattr(analyses, "_found", lambda path, found=analyses._found: _blurred(found(path)))
    audited(data)
    changed_behind_its_time(data)
    assert audited(data) == fresh(data)


def _blurred(found):
    for name, look in found:
        fields = list(look)
        coarse = {"st_mtime_ns": look.st_mtime_ns, "st_ctime_ns": look.st_mtime_ns}
        yield name, os.stat_result(fields, coarse)


def test_each_choice_of_options_has_its_own(data):
    names = ("citing_rates", "patterns_summary")
    choices = [{}, {"detector": "phrase"}, {"overrides": {"cartpole": {"high": 3.0}}}]
    expected = [fresh(data, names, **options) for options in choices]
    assert all(expected.count(each) == 1 for each in expected)
    for _ in range(2):
        assert [audited(data, names, **options) for options in choices] == expected


def test_a_damaged_file_is_not_believed(data, folder):
    expected = audited(data)
    for damage in ("changed", "cut", "empty"):
        for path in [path for path in folder.parent.rglob("*") if path.is_file() and path.suffix != ".json"]:
            content = bytearray(path.read_bytes())
            content[len(content) // 2] ^= 0xFF
            path.write_bytes({"changed": content, "cut": content[:-1], "empty": b""}[damage])
        for _ in range(2):
            assert audited(data) == expected, damage
    assert expected == fresh(data)


@pytest.mark.slow
def test_it_may_vanish_while_it_is_used(data, folder):
    expected, _ = audited(data)
    with open_store([data]) as store:
        shutil.rmtree(folder.parent)
        assert {name: sorted(map(repr, store.rows(name))) for name in RELATIONS} == expected
    assert expected == fresh(data)[0]


def test_a_folder_that_cannot_be_written_changes_nothing(data, folder):
    folder.parent.parent.mkdir(exist_ok=True)
    folder.parent.write_text("a file")
    assert audited(data) == fresh(data)


def test_the_state_before_goes_and_so_does_what_nobody_uses(data, folder, tmp_path):
    audited(data, ())
    (old,) = folder.glob("*/*")
    grown(data)
    audited(data, ())
    (new,) = folder.glob("*/*")
    assert new != old
    remains = [_touched(new.parent / new.name / name) for name in ("killed.part", "young.part")]
    os.utime(remains[0], (LONG_AGO, LONG_AGO))
    audited(_write(tmp_path / "another", 1), ())
    assert [path.exists() for path in remains] == [False, True]
    os.utime(new, (LONG_AGO, LONG_AGO))
    audited(_write(tmp_path / "other", 1), ())
    assert not new.exists()
    assert UNUSED * DAY < LONG_AGO


def _touched(path):
    path.touch()
    return path


@pytest.mark.slow
def test_more_than_enough_is_not_kept(data, folder, tmp_path, monkeypatch):
    audited(data, ())
    monkeypatch.setattr(analyses, "MOST", 1)
    other = _write(tmp_path / "other", 1)
    audited(other)
    assert len(list(folder.glob("*/*"))) == 1
    assert audited(other) == fresh(other)


def test_files_that_change_while_they_are_read_are_not_kept(data, folder, monkeypatch):
    read = gathering.read_into

    def meanwhile(*args, **options):
        result = read(*args, **options)
        grown(data)
        return result

    monkeypatch.setattr(gathering, "read_into", meanwhile)
    audited(data)
    assert not kept(folder)


def test_audits_within_an_audit_agree_with_it(data, monkeypatch):
    """One while it has not begun to read, one when it has read."""
    read = gathering.read_into
    others = []

    def between(*args, **options):
        with monkeypatch.context() as patch:
            patch.setattr(gathering, "read_into", read)
            others.append(audited(data))
            result = read(*args, **options)
            others.append(audited(data))
        return result

    monkeypatch.setattr(gathering, "read_into", between)
    assert [audited(data), *others] == [fresh(data)] * 3


@pytest.mark.slow
def test_audits_at_the_same_time_agree(data):
    code = (
        "import sys\n"
        "from audit.ingest import analyses, gathering, cache\n"
        "analyses.SMALLEST = gathering.SMALLEST = cache.SETTLED = 0\n"
        "from audit.store import open_store\n"
        "with open_store([sys.argv[1]]) as store: print(store.rows('summary'), store.rows('base_rates'))\n"
    )
    together = [
        subprocess.Popen([sys.executable, "-c", code, str(data)], stdout=subprocess.PIPE, text=True) for _ in range(3)
    ]
    outputs = {process.communicate()[0] for process in together}
    assert len(outputs) == 1
    assert outputs != {""}


def test_links_to_nothing_and_odd_names_do_no_harm(data):
    (data / "broken").symlink_to("nowhere")
    (data / os.fsdecode(b"odd-\xff.txt")).write_text("x")
    expected = fresh(data)
    assert [audited(data) for _ in range(2)] == [expected] * 2
    assert analyses.Analysis.of([data], {}) is not None


def test_what_is_another_data_set_s_is_not_believed(data, folder, tmp_path):
    """Tables of two data sets under the same name, exchanged whole; so may be two tables of one data set."""
    _write(tmp_path / "other", 1, answer="All is well.")
    expected = [audited(path) for path in (data, tmp_path / "other")]
    assert expected[0] != expected[1]
    one, two = ({path.name.partition(".")[0]: path for path in kept_in} for kept_in in _folders(folder))
    assert one.keys() == two.keys()
    for name in one:
        first, second = one[name].read_bytes(), two[name].read_bytes()
        digests = one[name].suffix, two[name].suffix
        one[name].unlink()
        two[name].unlink()
        one[name].with_suffix(digests[1]).write_bytes(second)
        two[name].with_suffix(digests[0]).write_bytes(first)
    assert [audited(path) for path in (data, tmp_path / "other")] == expected


def _folders(folder):
    return [list(path.iterdir()) for path in sorted(folder.glob("*/*"))]
