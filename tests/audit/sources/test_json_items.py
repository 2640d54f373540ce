"""Arrays that are read item by item are what a parser of the whole makes of them."""

from __future__ import annotations

import io
import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.sources import json_items
from audit.sources.json_items import ItemsError, items

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@settings(max_examples=40)
@given(st.lists(values), st.integers(min_value=1, max_value=9), st.sampled_from([None, 2]), st.booleans())
def test_items_are_those_of_the_whole(array, piece, indent, escaped):
    text = json.dumps(array, indent=indent, ensure_ascii=escaped).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_items, "_PIECE", piece)
        assert list(items(io.BytesIO(text))) == array


def test_what_pythons_writer_leaves_in_is_read():
    found = list(items(io.BytesIO(b"[NaN, Infinity]")))
    assert math.isnan(found[0])
    assert found[1] == math.inf


@pytest.mark.parametrize(
    ("text", "read", "message"),
    [
        (b"", 0, "is empty"),
        (b"{}", 0, "is not a JSON array"),
        (b"[1, 2", 2, "torn"),
        (b"[1, 2,", 2, "torn"),
        (b'[1, {"a": ', 1, "torn"),
        (b"[1 2]", 1, "not JSON"),
        (b"[1] [2]", 1, "goes on behind"),
        (b"[]]", 0, "goes on behind"),
        (b"[1, \xff]", 1, "is not UTF-8"),
        (b"[1, " + b"[" * 100_000, 1, "cannot be read"),
        (b"[1, " + b"9" * 10_000 + b"]", 1, "cannot be read"),
    ],
)
def test_an_array_that_breaks_off_gives_what_is_before(text, read, message, monkeypatch):
    monkeypatch.setattr(json_items, "_PIECE", 4)
    reading = items(io.BytesIO(text))
    assert [next(reading) for _ in range(read)] == [1, 2][:read]
    with pytest.raises(ItemsError, match=message):
        next(reading)
