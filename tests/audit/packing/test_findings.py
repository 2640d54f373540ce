"""What packs carry: the same results as from the records, and never believed where it may be wrong."""

from __future__ import annotations

import shutil

import duckdb
import pytest
from typer.testing import CliRunner

import audit.ingest.carriers
from audit.cli import app
from audit.engine import catalog
from audit.engine.carried import CARRIED, LEVELS
from audit.ingest import version
from audit.output.errors import UsageError
from audit.packing import pack
from audit.remote.checksums import add_checksums
from audit.store import open_store
from tests.audit.samples import episode, revision, write_run
from tests.audit.texts import items, text_revision, text_run
from tests.shared import made

RELATIONS = sorted(
    {each.relation for each in CARRIED} | {"salience", "base_rates", "summary", "runs", "patterns_summary"}
)


def _write(folder):
    """Three runs, and packs of them with findings of every level."""
    answers = ("The worst rollout fell.", "Nothing of note.", "I follow the best rollout, and rollout 2.")
    for run in (1, 2, 3):
        rows = [
            revision([1, 5 + run, 9], [2, place, 1 + run], answer=answer, iteration=place, run=run)
            for place, answer in enumerate(answers)
        ]
        tail = b'{"torn' if run == 3 else b""
        write_run(folder / "data" / f"run-{run}", [*rows, episode(iteration=3, run=run)], tail=tail)
    for findings in LEVELS:
        pack(folder / "data", folder / f"{findings}.pack.parquet", findings=findings)


@pytest.fixture(scope="module")
def folder():
    return made("findings", _write, of=("audit", "collector", "stats", "tests/audit/samples.py"))


@pytest.fixture
def data(folder, tmp_path):
    return shutil.copytree(folder / "data", tmp_path / "data")


@pytest.fixture(scope="module")
def records(folder):
    """A store of the records themselves."""
    with open_store([folder / "data"], cache=False) as store:
        yield store


@pytest.fixture(scope="module")
def expected(records):
    """What is found in them."""
    return {name: sorted(records.rows(name), key=repr) for name in RELATIONS}


def found(path, names=RELATIONS, **options):
    with open_store([path], cache=False, **options) as store:
        return {name: sorted(store.rows(name), key=repr) for name in names}, store.notes


def altered(packed, change, path):
    """The pack with columns replaced."""
    duckdb.execute(f"copy (select {change} from read_parquet(?)) to ? (format parquet)", [str(packed), str(path)])
    add_checksums(path)
    return path


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"detector": "resolved"}, {"about": "best"}])
def test_results_are_those_of_the_records(folder, options):
    expected, _ = found(folder / "data", **options)
    for findings in LEVELS:
        assert found(folder / f"{findings}.pack.parquet", **options) == (expected, []), findings


@pytest.mark.slow
def test_results_of_texts(tmp_path):
    shown = {"kind": "batch", "shown": items([0, 1, 1], list("abc"))}
    rows = [text_revision([0, 1, 1], [1, place, 0], iteration=place, evidence=shown) for place in (0, 1)]
    write_run(tmp_path / "data", rows, **text_run(score_range=None))
    expected, _ = found(tmp_path / "data")
    assert expected["text_edits"]
    assert found(pack(tmp_path / "data", findings="all").path)[0] == expected


@pytest.mark.slow
def test_texts_are_not_read(folder, expected, tmp_path):
    """The pack gives its results even without what they were found in."""
    gone = "* replace (if(revised is null, null, struct_update(revised, answer := 'gone')) as revised)"
    others, notes = found(altered(folder / "word.pack.parquet", gone, tmp_path / "gone.pack.parquet"))
    assert {name for name in RELATIONS if expected[name] != others[name]} <= {"mentions"}
    assert any(row["cites"] for row in others["references"])
    assert notes == []


def test_another_version_is_not_believed(folder, expected, monkeypatch):
    monkeypatch.setattr(audit.ingest.carriers, "findings_version", lambda: "of another")
    rows, notes = found(folder / "word.pack.parquet")
    assert rows == expected
    [note] = notes
    assert "other rules" in note


@pytest.mark.parametrize(
    ("relation", "decides"),
    [("references", True), ("critic_answers", True), ("summary", False), ("plans", False)],
)
def test_rules_that_decide_about_findings_are_those_that_count(monkeypatch, relation, decides):
    before = version.findings_version.__wrapped__()
    changed = catalog.models() | {relation: f"{catalog.models()[relation]} -- otherwise"}
    monkeypatch.setattr(version, "models", lambda: changed)
    assert (version.findings_version.__wrapped__() != before) == decides


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        "* exclude (found_changes)",
        "* replace ('no struct' as found_changes)",
        "* replace ({'there': true, 'r0': 1.0} as found_changes)",
        "* replace (found_references_word as found_salience_criteria_word)",
    ],
)
def test_other_columns_are_not_believed(folder, expected, tmp_path, change):
    packed = altered(folder / "word.pack.parquet", change, tmp_path / "it's; odd.pack.parquet")
    rows, notes = found(packed)
    assert rows == expected
    assert "not in the form" in notes[0]


def test_a_check_finds_what_differs(folder, tmp_path):
    packed = folder / "all.pack.parquet"
    lie = "case when found_references_word.there then struct_update(found_references_word, cites := false) end"
    lying = altered(packed, f"* replace ({lie} as found_references_word)", tmp_path / "lying.pack.parquet")
    sound = CliRunner().invoke(app, ["check", str(packed), "--findings"])
    assert sound.exit_code == 0, sound.stderr
    assert "findings of 1 pack agree with the records" in sound.stderr
    without = CliRunner().invoke(app, ["check", str(folder / "data"), "--findings"])
    assert "no pack here carries findings" in without.stderr
    wrong = CliRunner().invoke(app, ["check", str(lying), "--findings"])
    assert wrong.exit_code == 1
    assert "lying.pack.parquet: found_references_word differs from what its records give" in wrong.stderr
    assert "Traceback" not in wrong.stderr


def test_records_beside_their_pack_count_once(folder, expected):
    with open_store([folder / "word.pack.parquet", folder / "data"], cache=False) as store:
        assert sorted(store.rows("changes"), key=repr) == expected["changes"]


def test_types_are_those_of_the_models(records):
    for each in CARRIED:
        relation = records.relation(each.relation)
        fields = dict(zip(relation.columns[5:], map(str, relation.types[5:]), strict=True))
        kind = duckdb.dtype(each.type)
        own = (kind.children[0][1] if each.is_list else kind).children
        assert {name: str(type_) for name, type_ in own if name != "there"} == fields, each


@pytest.mark.slow
def test_packs_are_the_same_to_the_byte(data, tmp_path):
    packs = [pack(data, tmp_path / f"{place}.pack.parquet", findings="all", cache=place > 0).path for place in range(3)]
    assert len({each.read_bytes() for each in packs}) == 1


def test_lines_in_another_order_than_iterations_keep_theirs(tmp_path):
    rows = [revision([1, 5, 9], [2, 2, 2], iteration=iteration) for iteration in (3, 1, 2)]
    write_run(tmp_path / "data", rows)
    packed = pack(tmp_path / "data").path
    query = f"select iteration from '{packed}' where place = 1 order by number"
    assert [row for (row,) in duckdb.sql(query).fetchall()] == [3, 1, 2]


def test_an_unknown_level_is_refused(data):
    with pytest.raises(UsageError, match="--findings"):
        pack(data, findings="some")
