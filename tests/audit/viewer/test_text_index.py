"""The index of answers: what it finds is what reading all of them finds, and it is kept like all else."""

from __future__ import annotations

import duckdb
import pytest

from audit.cache_folder import VARIABLE
from audit.ingest import analyses, cache, gathering
from audit.viewer import table as table_module
from audit.viewer import text_index
from audit.viewer.query import Query
from audit.viewer.text_index import TextIndex
from tests.audit.samples import revision, write_run
from tests.audit.viewer.records import open_session

ANSWERS = (
    "The WORST rollout fell.",
    "Nothing.",
    "params[3]: 0.5",
    "100% of it_self",
    "ÄSSE, İstanbul",
    "最差的轨迹",
    "",
)
PIECES = {
    "worst rollout": 3,
    "WORST Rollout": 3,
    "%": 3,
    "_": 3,
    "'": 0,
    "\0": 21,
    "ä": 3,
    "İ": 18,
    "的轨": 3,
    "thinks of": 16,
}
"""Texts with how many revisions have each: three runs with all answers, and thinking beside the first few."""


@pytest.fixture
def data(tmp_path, monkeypatch):
    """Records whose texts make three parts, in a cache of the test's own."""
    monkeypatch.setenv(VARIABLE, str(tmp_path / "cache"))
    for module in (analyses, gathering, text_index):
        monkeypatch.setattr(module, "SMALLEST", 0)
    monkeypatch.setattr(cache, "SETTLED", 0)
    monkeypatch.setattr(text_index, "PART", 100)
    for run in (1, 2, 3):
        rows = [
            revision([1, 5, 9], [2, 2, 2], answer=answer, iteration=at, run=run) for at, answer in enumerate(ANSWERS)
        ]
        for row in rows[: 3 * run]:
            row["revised"]["thinking"] = "It thinks OF words."
        write_run(tmp_path / "it's" / f"run-{run}", rows)
    return tmp_path / "it's"


def kept(data):
    return sorted((data.parent / "cache" / "analyses").glob("*/*/texts-*"))


def found(session):
    """The revisions with each piece, in the order of the table, and how often answers were read for them."""
    read = []
    with pytest.MonkeyPatch.context() as patch:
        whole = table_module._with_texts
        patch.setattr(table_module, "_with_texts", lambda *given: read.append(given) or whole(*given))
        rows = [session.table.page(Query(search=piece), ["run", "iteration"]) for piece in PIECES]
    return rows, len(read)


def warmed(data, **options):
    with open_session(data, **options) as session:
        session.warm()
        return found(session)


def test_it_finds_what_reading_all_answers_finds_and_is_kept(data):
    with open_session(data) as session:
        wanted, read = found(session)
        assert not session.table.texts.is_whole
        assert read == len(PIECES) - 1, "what differs in case alone is one search"
        assert {piece: len(rows) for piece, rows in zip(PIECES, wanted, strict=True)} == PIECES
        assert not kept(data)
        for _ in range(2):
            with pytest.raises(duckdb.Error, match="surrogate"):
                session.table.count(Query(search="\ud800"))
            session.warm()
    assert len(kept(data)) == 3
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TextIndex, "_write", pytest.fail)
        assert warmed(data) == (wanted, 0), "what is kept is used again"
        with open_session(data) as session:
            session.table.texts.take()
            assert session.table.texts.is_whole
            assert "episodes" not in session.store._database._built, "no answer has to be ready for it"


def test_a_part_is_made_of_its_own_answers(data, monkeypatch):
    """A list of runs alone would have all answers read for each part."""
    chosen, expression = [], duckdb.SQLExpression
    monkeypatch.setattr(duckdb, "SQLExpression", lambda text: chosen.append(text) or expression(text))
    with open_session(data) as session:
        session.warm()
    assert len(chosen) == 3
    for run, text in enumerate(chosen, 1):
        assert f"run between {run} and {run}" in text
        assert "revised is not null" not in text, "that would read all fields of a candidate"


def test_whether_it_is_awaited(data, monkeypatch):
    with open_session(data) as session:
        texts, asked = session.table.texts, []
        assert texts.is_awaited
        texts.make(lambda: asked.append(texts.is_awaited) or len(asked) < 3)
        assert asked == [True] * 3
        assert not texts.is_whole
        assert len(kept(data)) == 2, "what was interrupted goes on where it was"
        texts.make(lambda: True)
        assert (texts.is_whole, texts.is_awaited) == (True, False)
        kept(data)[1].unlink()
        assert session.table.count(Query(search="worst")) == 3, "another audit removed it, and it is open"
    with open_session(data) as session:
        monkeypatch.setattr(TextIndex, "_write", lambda *_: 1 / 0)
        assert session.table.texts.is_awaited
        with pytest.raises(ZeroDivisionError):
            session.warm()
        assert not session.table.texts.is_awaited, "it failed"


@pytest.mark.parametrize(
    ("name", "value", "options"),
    [("SMALLEST", 10**6, {}), ("LARGEST", 10, {}), ("RemotePath", object, {}), ("PART", 100, {"cache": False})],
)
def test_few_answers_too_many_and_those_elsewhere_have_none(data, monkeypatch, name, value, options):
    monkeypatch.setattr(text_index, name, value)
    with open_session(data, **options) as session:
        assert not session.table.texts.is_awaited
        session.warm()
        assert found(session)[1] == len(PIECES) - 1
    assert not kept(data)


def test_what_is_damaged_or_another_s_is_made_again(data):
    wanted = warmed(data)
    for damage in (
        lambda path: path.write_bytes(path.read_bytes()[:-1] + b"x"),
        lambda path: path.write_bytes(b""),
        lambda path: path.unlink(),
        lambda path: path.write_bytes(kept(data)[2].read_bytes()),
    ):
        damage(kept(data)[1])
        with open_session(data) as session:
            session.table.texts.take()
            assert not session.table.texts.is_whole
        assert warmed(data) == wanted
        assert len(kept(data)) == 3
