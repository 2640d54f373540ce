"""Values of sound lines come back from the store as they were written, to the last bit."""

from __future__ import annotations

import json
import math
import tempfile
from pathlib import Path

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.sources.iterations import Iteration
from audit.store import open_store
from collector.records import Episode, TextEpisode, decode
from tests.audit.samples import candidate, episode, write_run
from tests.audit.texts import text_revision, text_run

FLOATS = st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([-0.0, 5e-324, 1e22, 0.1, 2.0**53 + 2])
RETURNS = st.lists(st.floats(-1e300, 1e300) | st.sampled_from([-0.0, 1e-320]), min_size=1, max_size=4)
# Without what may begin thinking, which is taken out of answers.
TEXTS = st.text(st.characters(exclude_characters="<[◁a", exclude_categories=["Cs"])) | st.sampled_from(
    ["\0", "x\0y", "\U0001f600\u2028", 'null ,"name":null \\u0000 \\']
)
COUNTS = st.sampled_from([0, 1, 2**53 + 1, 2**63 - 1])
SEEDS = st.integers(0, 2**64 - 1) | st.sampled_from([2**63, 2**64 - 1])


@st.composite
def candidates(draw, size, source):
    returns = draw(RETURNS)
    changes = {
        "answer": draw(TEXTS),
        "thinking": draw(st.none() | TEXTS),
        "seeds": draw(st.lists(SEEDS, min_size=len(returns), max_size=len(returns))),
        "lengths": draw(st.lists(COUNTS, min_size=len(returns), max_size=len(returns))),
        "mean_return": math.fsum(returns) / len(returns),
    }
    params = draw(st.lists(FLOATS, min_size=size, max_size=size))
    return candidate(returns, params, source, **changes)


@st.composite
def episodes(draw, iteration):
    size = draw(st.integers(1, 4))
    revised = draw(st.none() | candidates(size, "critic"))
    changes = {"seconds": draw(FLOATS), "tau_c": draw(st.none() | FLOATS)}
    return episode(draw(candidates(size, "search")), revised, iteration=iteration, selected="initial", **changes)


@st.composite
def text_episodes(draw, iteration):
    texts = draw(st.dictionaries(TEXTS, TEXTS, min_size=1, max_size=3))
    before, after = draw(RETURNS), draw(RETURNS)
    record = text_revision(before, after, iteration=iteration, answer=draw(TEXTS))
    for role, returns in (("initial", before), ("revised", after)):
        record[role]["mean_return"] = math.fsum(returns) / len(returns)
        record[role]["example_ids"] = draw(st.lists(TEXTS, min_size=len(returns), max_size=len(returns), unique=True))
    record["revised"]["text"] = texts
    return record


def stated(value, like):
    """A value with null for each field that is not there, as columns have it."""
    if isinstance(like, dict) and isinstance(value, dict):
        return {name: stated(value.get(name), like.get(name)) for name in {**like, **value}}
    if isinstance(like, list) and like and isinstance(value, list):
        return [stated(each, like[0]) for each in value]
    return value


def check(records, kind, **run):
    lines = [json.dumps(record, ensure_ascii=bool(place % 2)).encode() for place, record in enumerate(records)]
    with tempfile.TemporaryDirectory() as folder:
        write_run(Path(folder), records[:1], **{**run, "rollouts": None, "seed": 2**64 - 1})
        (Path(folder) / "episodes.jsonl").write_bytes(b"\n".join(lines))
        with open_store([folder], cache=False) as store:
            assert store.problems == []
            rows = {row["iteration"]: row for row in store.rows("records")}
            assert [row["seed"] for row in store.rows("run_records")] == [2**64 - 1]
    for place, line in enumerate(lines):
        row = rows[place]
        assert row.pop("line") == place + 1
        del row["file"]
        for role in ("initial", "revised"):
            if row[role] and row[role]["text"] is not None:
                row[role]["text"] = json.loads(row[role]["text"])
        assert repr(row) == repr(stated(msgspec.to_builtins(decode(line, kind)), row))
        decode(line, Iteration)


several = st.integers(1, 6)


@settings(max_examples=25)
@given(st.data(), several)
def test_records_of_parameters(data, count):
    check([data.draw(episodes(place)) for place in range(count)], Episode)


@settings(max_examples=25)
@given(st.data(), several)
def test_records_of_texts(data, count):
    check([data.draw(text_episodes(place)) for place in range(count)], TextEpisode, **text_run())
