"""Log-probabilities of tokens, from servers that give them in any shape."""

import asyncio
import json
import math
from statistics import fmean

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from collector.errors import ModelError
from collector.llm.logprobs import MOST_TOKENS, read_logprobs
from tests.collector.llm.loopback import OPENAI, Reply

GIVEN = [
    {"token": "par", "logprob": -0.5, "bytes": [1], "top_logprobs": [{"token": "x", "logprob": -0.1}]},
    {"token": "ams", "logprob": -9999.0},
]
KEPT = [("par", -0.5), ("ams", -9999.0)]


def ask(model):
    async def call():
        try:
            return await model.complete("What next?", seed=3)
        finally:
            await model.aclose()

    return asyncio.run(call())


def reply(dialect, logprobs):
    """An answer that holds this as its log-probabilities."""
    answer = dialect.answer()
    if dialect is OPENAI:
        answer.body["choices"][0]["logprobs"] = logprobs
    else:
        answer.body["logprobs"] = logprobs["content"] if isinstance(logprobs, dict) else logprobs
    return answer


def test_they_are_asked_for_and_kept(server, dialect):
    server.replies[dialect.chat] = [reply(dialect, {"content": GIVEN})]
    model = dialect.model(server, logprobs=True)
    assert ask(model).logprobs == KEPT
    assert server.requests[0].body["logprobs"] is True
    assert model.options["logprobs"] is True


def test_llama_cpp_is_asked_for_no_more_alternatives_than_it_must_give(server):
    server.replies[OPENAI.chat] = [reply(OPENAI, {"content": GIVEN})]
    ask(OPENAI.model(server, logprobs=True))
    assert server.requests[0].body["top_logprobs"] == 1


def test_they_are_not_asked_for_and_not_kept_without_the_option(server, dialect):
    server.replies[dialect.chat] = [reply(dialect, {"content": GIVEN})]
    assert ask(dialect.model(server)).logprobs is None
    assert not {"logprobs", "top_logprobs"} & set(server.requests[0].body)


ABSENT = [None, [], {"content": None}, {"content": []}, {"content": {}}, {"content": [3]}, "x", -1.0]
ABSENT += [{"content": [{"token": "a", "logprob": None}]}, {"content": [{"token": 3, "logprob": -1}]}]


@pytest.mark.parametrize("logprobs", ABSENT, ids=json.dumps)
def test_there_are_none_where_the_server_gives_none_or_another_shape(server, dialect, logprobs):
    server.replies[dialect.chat] = [reply(dialect, logprobs)]
    completion = ask(dialect.model(server, logprobs=True))
    assert (completion.text, completion.logprobs) == ("params[0]: 1", None)


def test_a_server_that_refuses_is_one_line(server, dialect):
    server.replies[dialect.chat] = [Reply(400, {"error": {"message": "logprobs are not supported with reasoning"}})]
    with pytest.raises(ModelError, match="it does not give log-probabilities; leave out --logprobs"):
        ask(dialect.model(server, logprobs=True))


@pytest.mark.parametrize("logprob", ["null", "1e999", "-1e308", "-3.5e38"])
def test_what_no_mean_can_be_formed_of_is_left_out(logprob):
    many = b'[{"token": "a", "logprob": -1}%s]' % (b', {"token": "b", "logprob": %s}' % logprob.encode() * 3)
    assert read_logprobs(msgspec.Raw(many)) in (None, [("a", -1.0)])


@pytest.mark.parametrize("tokens", [MOST_TOKENS, MOST_TOKENS + 1])
def test_the_number_of_tokens_is_bounded(tokens):
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
    server.replies[dialect.chat] = [reply(dialect, {"content": value})]
    assert ask(dialect.model(server, logprobs=True)).text == "params[0]: 1"
