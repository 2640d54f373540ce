"""What is sent to a server, and what is made of its answer."""

import subprocess
import sys

import pytest

from collector.errors import ModelError, UsageError
from collector.llm.ollama import OllamaModel
from collector.llm.openai import OpenAIModel
from collector.llm.prompt_size import least_tokens
from collector.llm.protocol import Completion
from collector.llm.retry import Gate
from tests.collector.helpers import GOOD, answer, collect, lines, spec
from tests.collector.llm.loopback import HTML, OLLAMA, OPENAI, PROMPT, Reply, ask, check, use

COUNTS = ("usage", "prompt_eval_count", "eval_count")


def test_the_answer_and_its_token_counts(server, dialect):
    whole = dialect.answer("params[0]: 1.5\nbecause")
    assert dialect.asked(server, whole) == Completion("params[0]: 1.5\nbecause", None, 11, 7)
    uncounted = {name: value for name, value in whole.body.items() if name not in COUNTS}
    assert dialect.asked(server, Reply(body=uncounted)) == Completion("params[0]: 1.5\nbecause")


def test_what_is_sent(server, dialect, monkeypatch):
    """Of options those that were chosen, a temperature of zero too; seeds that no server can hold as remainders."""
    is_ollama = dialect is OLLAMA
    everything = {"temperature": 0.25, "max_tokens": 99} | ({"num_ctx": 8192} if is_ollama else {})
    sent = {"temperature": 0.25, "seed": 12345} | (
        {"num_predict": 99, "num_ctx": 8192} if is_ollama else {"max_tokens": 99}
    )
    cases = [(everything, 12345, sent), ({}, 2**63 + 5, {"seed": 5})]
    cases += [({"temperature": 0.0}, 3, {"temperature": 0.0, "seed": 3})]
    monkeypatch.setenv(dialect.key, "sk-secret")
    for options, seed, expected in cases:
        model = dialect.model(server, **options)
        server.replies[dialect.chat] = [dialect.answer()]
        ask(model, seed=seed)
        request = server.requests.pop()
        body = dict(request.body)
        if is_ollama:
            assert (body.pop("stream"), body["options"]) == (False, expected)
            body = {name: body[name] for name in ("model", "messages")} | expected
        assert body == {"model": "tiny:1b", "messages": [{"role": "user", "content": PROMPT}]} | expected
        assert model.options == dict.fromkeys(everything) | options
        assert request.headers["authorization"] == "Bearer sk-secret"
        assert "sk-secret" not in repr(vars(model))


def test_the_server_of_the_environment_is_asked_and_no_proxy_for_this_machine(server, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("OLLAMA_HOST", server.url.removeprefix("http://"))
    monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
    server.replies = {OLLAMA.chat: [OLLAMA.answer("one")], OPENAI.chat: [OPENAI.answer("two")]}
    assert ask(OllamaModel("m")).text == "one"
    assert ask(OpenAIModel("m")).text == "two"


UNUSABLE = [
    (lambda: OllamaModel("m"), {"OLLAMA_API_KEY": "sk-secret\n"}, "OLLAMA_API_KEY holds"),
    (lambda: OllamaModel("m"), {"OLLAMA_HOST": "http://me:sk-secret@host:port"}, "OLLAMA_HOST is not an address"),
    (lambda: OllamaModel(" "), {}, "--model NAME"),
    (lambda: OllamaModel("m", base_url="host.example"), {"ALL_PROXY": "gopher://proxy"}, "proxy variables"),
    (lambda: OllamaModel("m", base_url="host.example"), {"SSL_CERT_FILE": "/no/such"}, "No such file.*SSL_CERT_FILE"),
    (lambda: OpenAIModel("m"), {}, "needs OPENAI_API_KEY"),
    (lambda: OpenAIModel("m", base_url="http://h/v1"), {"OPENAI_API_KEY": "sk-secret x"}, "OPENAI_API_KEY holds"),
    (lambda: OpenAIModel("m", base_url="file:///v1"), {}, "--base-url is not an HTTP address"),
    (lambda: OpenAIModel("m"), {"OPENAI_BASE_URL": "http://"}, "OPENAI_BASE_URL is not an HTTP address"),
    (lambda: OpenAIModel("", base_url="http://h/v1"), {}, "--model NAME"),
    (lambda: OpenAIModel("m", base_url="http://h/v1"), {"ALL_PROXY": "gopher://proxy"}, "proxy variables"),
    (lambda: OpenAIModel("m", base_url="http://h/v1"), {"SSL_CERT_FILE": "/no/such"}, "No such file.*SSL_CERT_FILE"),
]


def test_settings_that_cannot_be_used_are_reported_at_once(monkeypatch):
    for make, environment, message in UNUSABLE:
        with monkeypatch.context() as patch:
            for name, value in environment.items():
                patch.setenv(name, value)
            with pytest.raises(UsageError, match=message) as caught:
                make()
        assert "sk-secret" not in str(caught.value)
        assert "\n" not in str(caught.value)
    for dialect in (OLLAMA, OPENAI):  # such as an address under another name: the default server would be asked instead
        with pytest.raises(TypeError, match="no argument of a model: host"):
            dialect.model("http://127.0.0.1:9", host="http://elsewhere")
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(UsageError, match=r"pip install '\.\[openai\]'"):
        OpenAIModel("m", base_url="http://127.0.0.1/v1")


def test_the_clients_are_not_imported_before_they_are_used():
    clients = "{'ollama', 'openai', 'httpx', 'httpx2'}"
    code = f"import sys, collector.llm.ollama, collector.llm.openai; print({clients} & set(sys.modules))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "set()"


# The check before a run ----------------------------------------------------------------------------------------------

SHOW, LIST, ONE = "/api/show", "/v1/models", "/v1/models/tiny:1b"
KNOWN = Reply(body={"details": {}, "model_info": {}, "capabilities": ["completion", "thinking"]})


def models(*names):
    return Reply(body={"object": "list", "data": [{"id": name, "object": "model"} for name in names]})


USABLE = [
    (OLLAMA, {SHOW: [KNOWN]}, 1),
    (OLLAMA, {SHOW: [Reply(body={"remote_host": "https://ollama.com"})]}, 1),
    (OPENAI, {LIST: [models("other", "tiny:1b")]}, 1),
    (OPENAI, {LIST: [models("models/tiny:1b")], ONE: [Reply(body={"id": "tiny:1b"})]}, 2),  # known though not listed
    (OPENAI, {LIST: [models()]}, 1),
    (OPENAI, {}, 1),
    (OPENAI, {LIST: [Reply(405)]}, 1),
]
BAD = [
    (OLLAMA, {SHOW: [OLLAMA.missing]}, "has no model tiny:1b: get it with `ollama pull tiny:1b`"),
    (OLLAMA, {}, "does not know this request"),
    (OLLAMA, {SHOW: [Reply(body=HTML)]}, "cannot be read"),
    (OLLAMA, {SHOW: [Reply(401)]}, "set OLLAMA_API_KEY"),
    (OLLAMA, {SHOW: [Reply(500)]}, "failed (500)"),
    (OLLAMA, {SHOW: [Reply(how="stalled")]}, "gave no full answer within 0.3 s"),
    (OPENAI, {LIST: [models("a", "b")]}, "has no model tiny:1b; it has a, b: choose"),
    (OPENAI, {LIST: [Reply(401)]}, "set OPENAI_API_KEY"),
    (OPENAI, {LIST: [Reply(body=HTML)]}, "cannot be read"),
    (OPENAI, {LIST: [Reply(500)]}, "failed (500)"),
    (OPENAI, {LIST: [Reply(how="stalled")]}, "gave no full answer within 0.3 s"),
]


def test_the_check_before_a_run_asks_for_the_model_once_and_by_name(server, clock):
    for dialect, server.replies, requests in USABLE:
        server.requests.clear()
        check(dialect.model(server))
        assert len(server.requests) == requests, (dialect, server.replies)
        assert dialect is OPENAI or server.requests[0].body["model"] == "tiny:1b"
    for dialect, server.replies, part in BAD:
        server.requests.clear()
        with pytest.raises(ModelError) as caught:
            check(dialect.model(server, timeout=0.3))
        assert part in str(caught.value)
        assert server.url in str(caught.value)
        assert sum(request.path != ONE for request in server.requests) == 1
    server.requests.clear()
    server.replies[SHOW] = [Reply(429, headers={"Retry-After": "7"}), KNOWN]  # a busy server is waited for
    check(OLLAMA.model(server, gate=Gate(now=clock.now, sleep=clock.sleep)))
    assert len(server.requests) == 2
    assert 7 <= clock.slept[0] <= 8


# Answers that end early, and prompts that are not read to their end --------------------------------------------------

CUT = [
    ("params[0]: 1", "stop", None),
    ("params[0]: 1", None, None),
    ("params[0]: ", "length", "cut off after 7 tokens"),
]


def test_why_an_answer_ends_early(server, dialect, tmp_path):
    for text, ended, cut in CUT:
        completion = dialect.asked(server, dialect.answer(text, ended=ended))
        assert (completion.text, completion.cut) == (text, cut)
    body = dialect.answer("params[0]: ", ended="length").body
    uncounted = {name: value for name, value in body.items() if name not in COUNTS}
    assert dialect.asked(server, Reply(body=uncounted)).cut == "cut off at the limit of tokens"
    # An unreadable answer that was cut gives that reason.
    server.replies[dialect.chat] = [dialect.answer("Let me see:", ended="length"), dialect.answer(answer(GOOD))]
    model = dialect.model(server)
    folder = collect(spec("frozenlake", "threetraj", model=model, iterations=1), tmp_path, model)
    first, second, _ = lines(folder / "calls.jsonl")
    assert (first["error"], first["cut"]) == ("cut off after 7 tokens", "cut off after 7 tokens")
    assert second["error"] is None
    assert "cut" not in second


LONG = "In state 12 the mean return was 0.125, which is worse. " * 100


def test_a_prompt_that_was_cut_is_noticed_once(server):
    def notices(dialect, *counts, **options):
        body, given = dialect.answer().body, []
        server.replies[dialect.chat] = [Reply(body=body | {"prompt_eval_count": count}) for count in counts]
        model = dialect.model(server, on_notice=given.append, **options)
        completions = use(model, *[lambda each: each.complete(LONG, seed=3)] * len(counts))
        assert {completion.text for completion in completions} == {"params[0]: 1"}
        return given

    for count in (None, 0, least_tokens(LONG), 5000, -3):  # all may have been read
        assert notices(OLLAMA, count, num_ctx=8192) == []
    assert OLLAMA.asked(server, Reply(body=OLLAMA.answer().body | {"prompt_eval_count": 1}), prompt=LONG).cut is None
    assert notices(OPENAI, None) == []  # such servers refuse what is too long
    (line,) = notices(OLLAMA, 1024, 1024, 512)
    for part in ("Ollama at " + server.url, "1,024 tokens", f"at least {least_tokens(LONG):,}", "--num-ctx"):
        assert part in line
    assert "\n" not in line
    assert notices(OLLAMA, 1024) == []  # nor by another client in this process


def test_a_prompt_that_fills_the_context_is_noticed(server):
    given = []
    reply = Reply(body=OLLAMA.answer().body | {"prompt_eval_count": 8192})
    OLLAMA.asked(server, reply, prompt=LONG, num_ctx=8192, on_notice=given.append)
    assert "8,192 tokens" in given[0]
    assert "--num-ctx 8192" in given[0]


LEAST = {
    "": 0,
    "   \n\n": 0,
    "one word": 2,
    "0.1234": 4,  # 0 . 123 4
    "(word) [word]": 4,  # what opens a word may be merged with it
    "----": 1,
    "日本語": 1,
}


def test_the_least_number_of_tokens():
    assert {text: least_tokens(text) for text in LEAST} == LEAST
