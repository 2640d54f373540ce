"""What is made of one reply: its answer, its thinking, whether it is cut, and the error."""

import pytest

from collector.errors import ModelError
from collector.llm.faults import UnusableAnswerError
from collector.llm.protocol import Completion
from collector.llm.retry import Gate, RetryPolicy
from tests.collector.llm.loopback import HTML, OLLAMA, OPENAI, Reply

PARTS = [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "answer"}]
HARMONY = "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>answer<|return|>"
CALL = [{"id": "c", "type": "function", "function": {"name": "final", "arguments": "{}"}}]
STREAM = b'data: {"choices": [{"delta": {"content": "a"}}]}\n\ndata: [DONE]\n\n'
ENDS_AT_ONCE, TRIED_AGAIN = 1, 3

# The message as the server sends it → the answer, the thinking, why it is cut, the fault that is recorded.
ANSWERS = [
    (OLLAMA, {"text": "answer", "thinking": "hm"}, ("answer", "hm", None, None)),
    (OLLAMA, {"text": HARMONY}, ("answer", "hm", None, None)),
    (OLLAMA, {"text": "answer </think> here", "thinking": "hm"}, ("answer </think> here", "hm", None, None)),
    (OLLAMA, {"text": "", "tool_calls": CALL}, ("", None, None, "the reply holds only a call of a tool: final")),
    (OPENAI, {"text": "answer", "reasoning_content": "hm"}, ("answer", "hm", None, None)),
    (OPENAI, {"text": "answer", "reasoning_content": None, "reasoning": "hm"}, ("answer", "hm", None, None)),
    (OPENAI, {"text": PARTS}, ("answer", "hm", None, None)),
    (OPENAI, {"text": PARTS[1:]}, ("answer", None, None, None)),
    (OPENAI, {"text": HARMONY}, ("answer", "hm", None, None)),
    (OPENAI, {"text": "hm\n</think>\nanswer"}, ("answer", "hm", None, None)),
    (OPENAI, {"text": "<think>hm</think>answer", "reasoning_content": "hm"}, ("answer", "hm", None, None)),
    (OPENAI, {"text": "answer", "tool_calls": CALL, "ended": "tool_calls"}, ("answer", None, None, None)),
    (OPENAI, {"text": "<think>hm"}, ("", "hm", "no answer after the thinking", None)),
    (OPENAI, {"text": "ans", "ended": "length"}, ("ans", None, "cut off after 7 tokens", None)),
    (OPENAI, {"text": "ans", "ended": "error"}, ("ans", None, "broken off by the server (error)", None)),
    (OPENAI, {"text": "", "ended": "content_filter"}, ("", None, "broken off by the server (content_filter)", None)),
    (OPENAI, {"text": None, "tool_calls": CALL}, ("", None, None, "the reply holds only a call of a tool: final")),
    (OPENAI, {"text": None, "refusal": "No.\nI can't."}, ("", None, None, "the model refused: No. I can't.")),
    (OPENAI, {"text": [{"type": "refusal", "refusal": "No."}]}, ("", None, None, "the model refused: No.")),
]


def test_a_message_becomes_an_answer(server, clock):
    for dialect, message, expected in ANSWERS:
        try:
            made = ask(dialect, server, clock, dialect.answer(**message))
        except UnusableAnswerError as error:
            made = error.completion
        assert (made.text, made.thinking, made.cut, made.fault) == expected, (dialect, message)


def choice(**fields):
    return {"choices": [{"message": {"content": None}, "finish_reason": "stop", **fields}]}


BUSY, SEE_LOG = "limits how often it is asked (429: slow down)", "see the server's log, or try later"
# The body of a reply → parts of the message, and how often it is asked for.
ERRORS = [
    ({"error": {"message": "slow down", "code": 429}}, BUSY, TRIED_AGAIN),
    ({"error": {"message": "slow down", "type": "rate_limit_error"}}, BUSY, TRIED_AGAIN),
    (
        {"error": {"message": "pay", "code": "insufficient_quota"}},
        "no quota left for this key (429: pay)",
        ENDS_AT_ONCE,
    ),
    ({"error": "upstream\nfailed"}, f"answered with an error (upstream failed): {SEE_LOG}", TRIED_AGAIN),
    ({"error": {"message": "boom", "code": 502}, "choices": []}, f"failed (502: boom): {SEE_LOG}", TRIED_AGAIN),
    ({"object": "error", "message": "too long", "code": 400}, "refused the request (400: too long)", ENDS_AT_ONCE),
    ({"detail": [{"msg": "no field"}]}, "answered with an error (no field)", TRIED_AGAIN),
    (choice(error={"code": 429, "message": "slow down"}), BUSY, TRIED_AGAIN),
    (choice(message=None, error={"message": "gone"}), "answered with an error (gone)", TRIED_AGAIN),
    (STREAM, "sent a stream of parts instead of one answer", ENDS_AT_ONCE),
    (
        b'{"message": {"content": "a"}, "done": false}\n{"message": {"content": "b"}}\n',
        "sent a stream of parts",
        ENDS_AT_ONCE,
    ),
    ({"choices": []}, f"whose choices hold no answer: {SEE_LOG}", TRIED_AGAIN),
    ({"choices": None}, SEE_LOG, TRIED_AGAIN),
    (
        {"error": {"message": "no endpoints", "code": 404}},
        "error (404: no endpoints): see the server's log",
        ENDS_AT_ONCE,
    ),
    ({"error": {"message": "expired", "code": 401}}, "API key (401: expired)", ENDS_AT_ONCE),
    ({"error": {"message": "no credit", "code": 402}}, "add to the quota", ENDS_AT_ONCE),
    ({"choices": "none"}, SEE_LOG, TRIED_AGAIN),
    ({"choices": [{}]}, SEE_LOG, TRIED_AGAIN),
    ({"choices": [{"message": {"content": 5}}]}, SEE_LOG, TRIED_AGAIN),
    (b'{"choices": ', SEE_LOG, TRIED_AGAIN),
    (HTML, "check the base URL", TRIED_AGAIN),
]


def test_a_reply_without_an_answer_is_one_line_that_blames_the_address_only_for_a_page(server, clock):
    for body, part, requests in ERRORS:
        server.requests.clear()
        with pytest.raises(ModelError) as caught:
            ask(OPENAI, server, clock, Reply(body=body))
        assert part in str(caught.value), body
        assert "\n" not in str(caught.value)
        assert ("base URL" in str(caught.value)) == (body is HTML)
        assert len(server.requests) == requests, body
    with pytest.raises(ModelError, match=r"answered with an error \(no runner\)"):
        ask(OLLAMA, server, clock, Reply(body={"error": "no runner"}))


def test_an_answer_that_broke_off_is_tried_again(server, clock):
    broken, whole = OPENAI.answer("half", ended="error"), OPENAI.answer("whole")
    assert ask(OPENAI, server, clock, broken, broken, whole).text == "whole"


@pytest.mark.parametrize("ended", ["error", "repetition", "model_context_window_exceeded", "RECITATION", "incomplete"])
def test_an_answer_that_ends_for_any_other_reason_than_its_end_is_cut(server, clock, ended):
    with pytest.raises(UnusableAnswerError) as caught:
        ask(OPENAI, server, clock, *[OPENAI.answer("half", ended=ended)] * 3)
    found = caught.value.completion
    assert (found.text, found.cut) == ("half", f"broken off by the server ({ended})")


def test_a_number_that_may_be_cut_off_itself_is_not_read():
    assert Completion("params[0]: 1, params[1]: 0.1", cut="cut off").settled == "params[0]: 1, params[1]: "
    assert Completion("params[0]: 1, params[1]: 0.1").settled == "params[0]: 1, params[1]: 0.1"
    assert Completion("params[0]: 1\nI rai", cut="cut off").settled == "params[0]: 1\nI "


def test_a_redirect_in_a_circle_ends_at_once(server, dialect, clock):
    there = Reply(307, headers={"Location": f"{server.url}/there"})
    server.replies = {"/there": [Reply(307, headers={"Location": dialect.chat})]}
    for reply, requests, how in [
        (Reply(307, headers={"Location": dialect.chat}), 1, "in a circle"),
        (there, 4, "more than three times"),
    ]:
        server.requests.clear()
        with pytest.raises(ModelError, match=f"redirects requests {how}: see the server's settings"):
            ask(dialect, server, clock, reply)
        assert len(server.requests) == requests


def ask(dialect, server, clock, *replies):
    policy = RetryPolicy(attempts=3, limited_attempts=3, empty_attempts=2)
    return dialect.asked(server, *replies, retry=policy, gate=Gate(now=clock.now, sleep=clock.sleep))
