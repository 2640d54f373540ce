"""Log-probabilities of tokens, from servers that give them in any shape."""

import json
import math
from statistics import fmean

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from collector.errors import ModelError
from collector.llm.logprobs import MOST_TOKENS, read_logprobs
from tests.collector.llm.loopback import OPENAI, Reply, ask

GIVEN = [
    {"token": "par", "logprob": -0.5, "bytes": [1], "top_logprobs": [{"token": "x", "logprob": -0.1}]},
    {"token": "ams", "logprob": -9999.0},
]
KEPT = [("par", -0.5), ("ams", -9999.0)]


def reply(dialect, logprobs):
    """An answer that holds this as its log-probabilities."""
    answer = dialect.answer()
    if dialect is OPENAI:
        answer.body["choices"][0]["logprobs"] = logprobs
    else:
        answer.body["logprobs"] = logprobs["content"] if isinstance(logprobs, dict) else logprobs
    return answer


ABSENT = [None, [], {"content": None}, {"content": []}, {"content": {}}, {"content": [3]}, "x", -1.0]
ABSENT += [{"content": [{"token": "a", "logprob": None}]}, {"content": [{"token": 3, "logprob": -1}]}]


def test_they_are_asked_for_and_kept_where_the_option_is_given(server, dialect):
    """Of llama.cpp no more alternatives than it must give."""
    model = dialect.model(server, logprobs=True)
    server.replies[dialect.chat] = [reply(dialect, {"content": GIVEN})]
    assert ask(model).logprobs == KEPT
    sent = server.requests.pop().body
    assert (sent["logprobs"], sent.get("top_logprobs")) == (True, 1 if dialect is OPENAI else None)
    assert model.options["logprobs"] is True
    assert ask(dialect.model(server)).logprobs is None
    assert not {"logprobs", "top_logprobs"} & set(server.requests[0].body)
    for absent in ABSENT:
        completion = dialect.asked(server, reply(dialect, absent), logprobs=True)
        assert (completion.text, completion.logprobs) == ("params[0]: 1", None), absent
    refused = Reply(400, {"error": {"message": "logprobs are not supported with reasoning"}})
    with pytest.raises(ModelError, match="it does not give log-probabilities; leave out --logprobs"):
        dialect.asked(server, refused, logprobs=True)


def test_what_is_cached_is_bounded():
    for logprob in (b"null", b"1e999", b"-1e308", b"-3.5e38"):
        many = b'[{"token": "a", "logprob": -1}%s]' % (b', {"token": "b", "logprob": %s}' % logprob * 3)
        assert read_logprobs(msgspec.Raw(many)) in (None, [("a", -1.0)])
    for tokens in (MOST_TOKENS, MOST_TOKENS + 1):
        read = read_logprobs(msgspec.Raw(json.dumps([{"token": "a", "logprob": -1}] * tokens).encode()))
        assert (read is None) == (tokens > MOST_TOKENS)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["token", "logprob", "content", "x"]), inner, max_size=4)
    ),
    max_leaves=12,
)
TOKENS = st.lists(
    st.fixed_dictionaries({"token": st.text(max_size=4), "logprob": st.none() | st.floats(allow_nan=False)}) | JSON,
    max_size=6,
)


@settings(max_examples=60)
@given(JSON | TOKENS)
def test_whatever_is_sent_is_read_as_pairs_that_a_record_holds_or_as_none(value):
    pairs = read_logprobs(msgspec.Raw(json.dumps(value).encode()))
    if pairs is not None:
        assert math.isfinite(fmean(logprob for _, logprob in pairs))
        assert msgspec.json.decode(msgspec.json.encode(pairs), type=list[tuple[str, float]]) == pairs


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(value=JSON)
def test_no_shape_of_them_costs_an_answer(server, dialect, value):
    assert dialect.asked(server, reply(dialect, {"content": value}), logprobs=True).text == "params[0]: 1"
