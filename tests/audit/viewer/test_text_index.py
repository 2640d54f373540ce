"""The index of answers: what it finds is what reading all of them finds, and it is kept like all else."""

from __future__ import annotations

import random
from pathlib import Path

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
    "The WORST rollout fell.", "Nothing in particular.", "params[3]: -1.25, params[4]: 0.5", "100% of it_self",
    "ÄSSE, straße", "İstanbul", "最差的轨迹", "", "It's the worst; rollout 2 fell", "back\\slash and\nnew line",
)  # fmt: skip
PIECES = (
    "worst rollout", "Worst", "w", "fe", " ", ". ", "%", "_", "'", "\\", "\n", "\0", "ß", "ä", "SS", "İ", "i",
    "的轨", "的", "params[3]: -1", "25, p", "no such words", "thinks of", "rollout 2 fell", "d\nn",
)  # fmt: skip
COUNTS = [3, 6, 23, 6, 25, 0, 3, 3, 3, 3, 3, 30, 3, 3, 3, 25, 25, 3, 3, 3, 3, 0, 18, 3, 3]
"""Of the revisions that have each: three runs with all answers, and thinking beside the first few."""


@pytest.fixture
def data(tmp_path, monkeypatch):
    """Records whose texts make three parts, in a cache of the test's own."""
    monkeypatch.setenv(VARIABLE, str(tmp_path / "cache"))
    for module in (analyses, gathering, text_index):
        monkeypatch.setattr(module, "SMALLEST", 0)
    monkeypatch.setattr(cache, "SETTLED", 0)
    monkeypatch.setattr(text_index, "PART", 200)
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


def found(session, pieces=PIECES[:5]):
    """The revisions with each piece, in the order of the table, and how often answers were read for them."""
    read = []
    with pytest.MonkeyPatch.context() as patch:
        whole = table_module._with_text
        patch.setattr(table_module, "_with_text", lambda *given: read.append(given) or whole(*given))
        rows = [session.table.page(Query(search=piece), ["run", "iteration"]) for piece in pieces]
    return rows, len(read)


def warmed(data, *pieces, **options):
    with open_session(data, **options) as session:
        session.warm()
        return found(session, *pieces)


def test_it_finds_what_reading_all_answers_finds(data):
    draw = random.Random(5)
    texts = [
        f"{answer}\0It thinks OF words." for answer in ANSWERS if "İ" not in answer
    ]  # of which Python has two letters
    starts = [(draw.choice(texts).lower(), draw.randrange(12)) for _ in range(15)]
    given = {text[start : start + draw.choice([2, 3, 8, 25])] for text, start in starts}
    drawn = tuple(sorted(given.difference(map(str.lower, PIECES))))
    with open_session(data) as session:
        wanted, read = found(session, PIECES + drawn)
    assert read == len(PIECES) + len(drawn) - 1, "DuckDB has one lower case for İ and I"
    assert not kept(data)
    assert [len(rows) for rows in wanted[: len(PIECES)]] == COUNTS
    assert all(wanted[len(PIECES) :])
    assert warmed(data, PIECES + drawn) == (wanted, 0)
    assert len(kept(data)) == 3
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TextIndex, "_write", pytest.fail)
        assert warmed(data) == (wanted[:5], 0), "what is kept is used again"
    assert warmed(data, cache=False) == (wanted[:5], 5), "nothing kept is used, and nothing made"


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
        texts = session.table.texts
        assert texts.is_awaited
        asked = []
        texts.make(lambda: asked.append(texts.is_awaited) or True)
        assert asked
        assert all(asked)
        assert not texts.is_awaited
        assert session.table.count(Query(search="rollout")) == 6
        kept(data)[1].unlink()
        assert session.table.count(Query(search="worst")) == 6, "another audit removed it, and it is open"
    with open_session(data) as session:
        monkeypatch.setattr(TextIndex, "_write", lambda *_: 1 / 0)
        assert session.table.texts.is_awaited
        with pytest.raises(ZeroDivisionError):
            session.warm()
        assert not session.table.texts.is_awaited, "it failed"


@pytest.mark.parametrize(
    ("name", "value", "options"),
    [("SMALLEST", 10**6, {}), ("LARGEST", 10, {}), ("RemotePath", Path, {}), ("PART", 200, {"cache": False})],
)
def test_few_answers_too_many_and_those_elsewhere_have_none(data, monkeypatch, name, value, options):
    monkeypatch.setattr(text_index, name, value if value is not Path else type(data))
    with open_session(data, **options) as session:
        assert not session.table.texts.is_awaited
        session.warm()
        assert found(session)[1] == 5
    assert not kept(data)


def test_it_is_made_behind_the_answers_of_a_view_and_taken_before_them(data):
    """A page waits for nothing of it, and where it is kept no answer has to be ready for it."""
    with open_session(data) as session:
        assert not session.table.texts.is_whole
        session.warm()
        assert session.table.texts.is_whole
    with open_session(data) as session:
        session.table.texts.take()
        assert session.table.texts.is_whole
        assert "episodes" not in session.store._database._built


def test_what_is_damaged_or_another_s_is_made_again(data):
    wanted = warmed(data)
    for damage in (
        lambda path: path.write_bytes(path.read_bytes()[:-1] + b"x"),
        lambda path: path.write_bytes(path.read_bytes()[:40]),
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


def test_one_that_was_interrupted_goes_on_where_it_was(data):
    wanted = warmed(data)
    for path in kept(data)[1:]:
        path.unlink()
    with open_session(data) as session:
        asked = iter([True])
        session.table.texts.make(lambda: next(asked, False))
        assert not session.table.texts.is_whole
        assert found(session)[0] == wanted[0]
    assert len(kept(data)) == 2
    assert warmed(data) == wanted


def test_a_text_that_is_no_unicode_is_refused_as_before(data):
    with open_session(data) as session:
        for _ in range(2):
            with pytest.raises(duckdb.Error, match="surrogate"):
                session.table.count(Query(search="\ud800"))
            session.warm()
