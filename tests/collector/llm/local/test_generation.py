import threading

import pytest

from collector.errors import CollectorError, ModelError
from collector.llm.local.generation import Generation


def part(text, logprob=-0.5, **more):
    logprobs = {"content": [{"token": text, "logprob": logprob}]}
    return {"choices": [{"index": 0, "delta": {"content": text}, "logprobs": logprobs, "finish_reason": None, **more}]}


@pytest.fixture
def generation():
    return Generation(threading.Event(), None)


def test_parts_become_an_answer(generation):
    assert not generation.take({"choices": [], "prompt_progress": {"total": 12, "processed": 12}})
    assert not any(generation.take(part(text)) for text in ("<think>hm", "</think>", "par", "ams"))
    assert not generation.take({"choices": [], "usage": {"completion_tokens": 4, "prompt_tokens": 12}})
    answer = generation.completion()
    assert (answer.text, answer.thinking, answer.prompt_tokens, answer.completion_tokens) == ("params", "hm", 12, 4)
    assert answer.logprobs[-1] == ("ams", -0.5)
    assert answer.cut is None


def test_a_probability_that_no_record_can_hold_is_left_out(generation):
    for logprob in (-0.5, None, float("-inf")):
        generation.take(part("a", logprob))
    answer = generation.completion()
    assert (answer.text, answer.completion_tokens, answer.logprobs) == ("aaa", 3, [("a", -0.5)])


def test_why_an_answer_ends_early():
    ends = {"choices": [{"index": 0, "delta": {}, "finish_reason": "length"}]}
    empty = {"choices": [{"index": 0, "delta": {"content": None}, "finish_reason": "stop"}]}
    for timeout, chunks, cut in [
        (None, [part("a"), ends], "cut off after 1 tokens"),
        (0.0, [part("a")], "no full answer within 0 s"),
        (None, [empty], "an empty answer"),
    ]:
        other = Generation(threading.Event(), timeout)
        taken = [other.take(chunk) for chunk in chunks]
        assert other.completion().cut == cut
        assert taken[-1] == (timeout is not None)


def test_what_is_stopped_or_abandoned_or_fails_ends_at_the_next_part(generation):
    stopped = threading.Event()
    other = Generation(stopped, None)
    assert not other.take(part("a"))
    stopped.set()
    assert other.take(part("b"))
    with pytest.raises(ModelError, match="stopped in the middle"):
        other.completion()
    generation.abandon()
    assert generation.take(part("a"))
    too_long = {"type": "exceed_context_size_error", "n_prompt_tokens": 9031, "n_ctx": 8192, "code": 400}
    refused = {"code": 400, "message": "failed to parse grammar"}
    for failure, kind, message in [
        (too_long, CollectorError, "the prompt has 9,031 tokens and the context 8,192; give a larger --num-ctx"),
        (refused, ModelError, "llama.cpp failed: failed to parse grammar"),
    ]:
        for chunk in ({"error": failure}, failure):
            generation = Generation(threading.Event(), None)
            assert generation.take(chunk)
            with pytest.raises(kind, match=message):
                generation.completion()
