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


def test_a_circle_ends_the_answer(generation):
    words = [f"and {word} " for word in ("the", "robot", "goes", "left")]
    taken = next(count for count in range(1, 1000) if generation.take(part(words[count % 4])))
    answer = generation.completion()
    assert answer.cut.startswith("repeats itself: ")
    assert taken < 60
    assert answer.completion_tokens == taken


def test_an_answer_that_runs_out_of_tokens_says_so(generation):
    generation.take(part("a"))
    assert generation.take({"choices": [{"index": 0, "delta": {}, "finish_reason": "length"}]})
    assert generation.completion().cut == "cut off after 1 tokens"


def test_an_answer_that_takes_too_long_is_cut_off():
    generation = Generation(threading.Event(), 0.0)
    assert generation.take(part("a"))
    assert generation.completion().cut == "no full answer within 0 s"


def test_an_empty_answer_has_a_reason(generation):
    generation.take({"choices": [{"index": 0, "delta": {"content": None}, "finish_reason": "stop"}]})
    assert generation.completion().cut == "an empty answer"


def test_what_is_stopped_or_abandoned_ends_at_the_next_part(generation):
    stopped = threading.Event()
    other = Generation(stopped, None)
    assert not other.take(part("a"))
    stopped.set()
    assert other.take(part("b"))
    with pytest.raises(ModelError, match="stopped in the middle"):
        other.completion()
    generation.abandon()
    assert generation.take(part("a"))


def test_faults_of_the_library_are_one_line():
    for failure, kind, message in [
        (
            {"type": "exceed_context_size_error", "n_prompt_tokens": 9031, "n_ctx": 8192, "code": 400},
            CollectorError,
            "the prompt has 9,031 tokens and the context 8,192; give a larger --num-ctx",
        ),
        ({"code": 400, "message": "failed to parse grammar"}, ModelError, "llama.cpp failed: failed to parse grammar"),
    ]:
        for chunk in ({"error": failure}, failure):
            generation = Generation(threading.Event(), None)
            assert generation.take(chunk)
            with pytest.raises(kind, match=message):
                generation.completion()
