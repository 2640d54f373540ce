"""What is sent to a server, and what is made of its answer."""

import asyncio
import subprocess
import sys

import pytest

from collector.errors import UsageError
from collector.llm.ollama import OllamaModel
from collector.llm.openai import OpenAIModel
from collector.llm.protocol import Completion, Model
from tests.collector.llm.loopback import OLLAMA, OPENAI, Reply


def complete(model: Model, *, seed=3) -> Completion:
    async def call():
        try:
            return await model.complete("What next?", seed=seed)
        finally:
            await model.aclose()

    return asyncio.run(call())


def test_the_answer_and_its_token_counts(server, dialect):
    server.replies[dialect.chat] = [dialect.answer("params[0]: 1.5\nbecause")]
    assert complete(dialect.model(server)) == Completion("params[0]: 1.5\nbecause", None, 11, 7)


THINKING = [
    (OLLAMA, {"thinking": "hmm"}, "answer"),
    (OPENAI, {"reasoning_content": "hmm"}, "answer"),
    (OPENAI, {"reasoning": "hmm"}, "answer"),
    (OPENAI, {"reasoning_content": None, "reasoning": "hmm"}, "answer"),
    (OLLAMA, {}, "<think>hmm</think>\n\nanswer"),
    (OPENAI, {}, "<think>\nhmm\n</think>\n\nanswer"),
    (OPENAI, {}, "hmm\n</think>\nanswer"),
]


@pytest.mark.parametrize(("dialect", "message", "text"), THINKING)
def test_thinking_is_kept_apart_from_the_answer(server, dialect, message, text):
    server.replies[dialect.chat] = [dialect.answer(text, **message)]
    completion = complete(dialect.model(server))
    assert (completion.text, completion.thinking) == ("answer", "hmm")


@pytest.mark.parametrize(("dialect", "field"), [(OLLAMA, "thinking"), (OPENAI, "reasoning_content")])
def test_marks_in_the_answer_stay_where_the_server_parts_the_thinking_itself(server, dialect, field):
    server.replies[dialect.chat] = [dialect.answer("I write </think> here", **{field: "hmm"})]
    assert complete(dialect.model(server)).text == "I write </think> here"


def test_no_token_counts_where_the_server_reports_none(server, dialect):
    body = dialect.answer().body
    for count in ("usage", "prompt_eval_count", "eval_count"):
        body.pop(count, None)
    server.replies[dialect.chat] = [Reply(body=body)]
    completion = complete(dialect.model(server))
    assert (completion.prompt_tokens, completion.completion_tokens) == (None, None)


def test_ollama_is_sent_prompt_seed_and_options(server):
    server.replies[OLLAMA.chat] = [OLLAMA.answer()]
    model = OLLAMA.model(server, temperature=0.25, max_tokens=99, num_ctx=8192)
    complete(model, seed=12345)
    (request,) = server.requests
    assert request.body["model"] == "tiny:1b"
    assert request.body["messages"] == [{"role": "user", "content": "What next?"}]
    assert request.body["stream"] is False
    assert request.body["options"] == {"temperature": 0.25, "num_predict": 99, "num_ctx": 8192, "seed": 12345}
    assert model.options == {"temperature": 0.25, "max_tokens": 99, "num_ctx": 8192}


def test_openai_is_sent_prompt_seed_and_options(server):
    server.replies[OPENAI.chat] = [OPENAI.answer()]
    model = OPENAI.model(server, temperature=0.25, max_tokens=99)
    complete(model, seed=12345)
    (request,) = server.requests
    assert request.body == {
        "model": "tiny:1b",
        "messages": [{"role": "user", "content": "What next?"}],
        "temperature": 0.25,
        "max_tokens": 99,
        "seed": 12345,
    }
    assert model.options == {"temperature": 0.25, "max_tokens": 99}


def test_what_is_not_chosen_is_left_to_the_server(server, dialect):
    server.replies[dialect.chat] = [dialect.answer()]
    complete(dialect.model(server))
    sent = server.requests[0].body
    assert "temperature" not in sent
    assert "max_tokens" not in sent
    assert set(sent.get("options", {"seed"})) == {"seed"}


def test_a_temperature_of_zero_is_sent(server, dialect):
    server.replies[dialect.chat] = [dialect.answer()]
    complete(dialect.model(server, temperature=0.0))
    sent = server.requests[0].body
    assert sent.get("options", sent)["temperature"] == 0.0


def test_a_seed_that_servers_cannot_hold_is_sent_as_its_remainder(server, dialect):
    server.replies[dialect.chat] = [dialect.answer()]
    complete(dialect.model(server), seed=2**63 + 5)
    sent = server.requests[0].body
    assert sent.get("options", sent)["seed"] == 5


def test_the_key_of_the_environment_is_sent(server, dialect, monkeypatch):
    monkeypatch.setenv(dialect.key, "sk-secret")
    server.replies[dialect.chat] = [dialect.answer()]
    model = dialect.model(server)
    complete(model)
    assert server.requests[0].headers["authorization"] == "Bearer sk-secret"
    assert "sk-secret" not in repr(vars(model))


def test_the_server_of_the_environment_is_asked(server, monkeypatch):
    monkeypatch.setenv("OLLAMA_HOST", server.url.removeprefix("http://"))
    monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
    server.replies = {OLLAMA.chat: [OLLAMA.answer("one")], OPENAI.chat: [OPENAI.answer("two")]}
    assert complete(OllamaModel("m")).text == "one"
    assert complete(OpenAIModel("m")).text == "two"


def test_a_proxy_is_not_asked_for_this_machine(server, dialect, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    server.replies[dialect.chat] = [dialect.answer()]
    assert complete(dialect.model(server)).text == "params[0]: 1"


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


@pytest.mark.parametrize(("make", "environment", "message"), UNUSABLE)
def test_settings_that_cannot_be_used_are_reported_at_once(make, environment, message, monkeypatch):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(UsageError, match=message) as caught:
        make()
    assert "sk-secret" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_openai_package_is_reported_with_its_remedy(monkeypatch):
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(UsageError, match=r"pip install 'salience-audit\[openai\]'"):
        OpenAIModel("m", base_url="http://127.0.0.1/v1")


def test_the_clients_are_not_imported_before_they_are_used():
    clients = "{'ollama', 'openai', 'httpx', 'httpx2'}"
    code = f"import sys, collector.llm.ollama, collector.llm.openai; print({clients} & set(sys.modules))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "set()"
