"""Structured answers: what each kind of server is asked for, and what is made of its answer."""

import asyncio
import json
from dataclasses import replace

import pytest

from collector.errors import ModelError
from collector.llm.form import object_form, vector_form
from collector.llm.ollama import OllamaModel
from collector.llm.programs import Program, vllm_of
from collector.llm.retry import RetryPolicy
from collector.tasks.task import TabularSpace
from tests.collector.llm.loopback import OLLAMA, OPENAI, Reply

FORM = vector_form(TabularSpace(states=2, actions=(0, 1)))
VERDICT = object_form({"driver": {"type": "string", "enum": ["a", "b"]}})
ANSWER = '{"params": [1, 0], "explanation": "so it is"}'
WRITTEN = "params[0]: 1, params[1]: 0\nso it is"
LIST, VERSION = "/v1/models", "/version"


def listed(owner, *, name="tiny:1b"):
    return {LIST: [Reply(body={"data": [{"id": name, "owned_by": owner}]})]}


def ask(model, *forms, check=False):
    """The completions of one question in each form, asked at once."""

    async def calls():
        try:
            if check:
                await model.check()
            return await asyncio.gather(*(model.complete("What next?", seed=3, form=form) for form in forms))
        finally:
            await model.aclose()

    return asyncio.run(calls())


def sent(server, chat=OPENAI.chat):
    return [request.body for request in server.requests if request.path == chat]


GRAMMARS = {
    "llama.cpp": (listed("llamacpp"), {"grammar": FORM.grammar}),
    "llama.cpp, under another name": (listed("llamacpp", name="/models/a.gguf"), {"grammar": FORM.grammar}),
    "vLLM": (
        listed("vllm") | {VERSION: [Reply(body={"version": "0.11.0"})]},
        {"structured_outputs": {"grammar": FORM.grammar}},
    ),
    "an old vLLM": (
        listed("vllm") | {VERSION: [Reply(body={"version": "0.10.2.dev7+g1a2b"})]},
        {"guided_grammar": FORM.grammar},
    ),
    "vLLM behind a gateway": (listed("vllm"), {"structured_outputs": {"grammar": FORM.grammar}}),
    "vLLM behind a gateway that welcomes": (
        listed("vllm") | {VERSION: [Reply(body=b"<html>")]},
        {"structured_outputs": {"grammar": FORM.grammar}},
    ),
}


@pytest.mark.parametrize("checked", [False, True], ids=["at once", "checked"])
@pytest.mark.parametrize(("replies", "fields"), GRAMMARS.values(), ids=GRAMMARS)
def test_a_server_that_takes_grammars_is_sent_one(server, replies, fields, checked):
    server.replies = {path: list(script) for path, script in replies.items()} | {
        OPENAI.chat: [OPENAI.answer("params[0]: 1")],
        "/v1/models/tiny:1b": [Reply(body={"id": "tiny:1b"})],
    }
    model = OPENAI.model(server, structured=True)
    (completion,) = ask(model, FORM, check=checked)
    (body,) = sent(server)
    assert {name: body[name] for name in fields} == fields
    assert "response_format" not in body
    assert (completion.text, completion.raw) == ("params[0]: 1", None)
    assert model.options["structured"] is True


OTHERS = {
    "OpenAI": listed("system"),
    "no owner": {LIST: [Reply(body={"data": [{"id": "tiny:1b"}]})]},
    "an owner of another shape": listed({"name": "vllm"}),
    "several owners": {
        LIST: [Reply(body={"data": [{"id": "a", "owned_by": "vllm"}, {"id": "b", "owned_by": "llamacpp"}]})]
    },
    "an empty list": {LIST: [Reply(body={"data": []})]},
    "no list": {},
}


@pytest.mark.parametrize("replies", OTHERS.values(), ids=OTHERS)
def test_any_other_server_is_sent_the_schema_in_strict_mode(server, replies):
    server.replies = {path: list(script) for path, script in replies.items()} | {OPENAI.chat: [OPENAI.answer(ANSWER)]}
    (completion,) = ask(OPENAI.model(server, structured=True), FORM)
    (body,) = sent(server)
    assert body["response_format"]["type"] == "json_schema"
    enforced = body["response_format"]["json_schema"]
    assert (enforced["strict"], enforced["schema"]) == (True, FORM.schema)
    assert list(enforced["schema"]["properties"]) == ["params", "explanation"]
    assert not {"grammar", "structured_outputs", "guided_grammar"} & set(body)
    assert (completion.text, completion.raw) == (WRITTEN, ANSWER)


@pytest.mark.parametrize("owner", ["llamacpp", "vllm", "system"])
def test_a_form_without_a_grammar_is_a_schema_everywhere(server, owner):
    server.replies = listed(owner) | {OPENAI.chat: [OPENAI.answer('{"driver": "a"}')]}
    (completion,) = ask(OPENAI.model(server, structured=True), VERDICT)
    assert len(server.requests) == 1  # what runs makes no difference
    assert sent(server)[0]["response_format"]["json_schema"]["schema"] == VERDICT.schema
    assert (completion.text, completion.raw) == ('{"driver": "a"}', None)


def test_ollama_is_sent_the_schema(server):
    server.replies[OLLAMA.chat] = [OLLAMA.answer(ANSWER)]
    (completion,) = ask(OLLAMA.model(server, structured=True), FORM)
    assert sent(server, OLLAMA.chat)[0]["format"] == FORM.schema
    assert (completion.text, completion.raw) == (WRITTEN, ANSWER)


def test_free_answers_are_not_constrained_and_nobody_is_asked_what_runs(server, dialect):
    server.replies[dialect.chat] = [dialect.answer(ANSWER)]
    (completion,) = ask(dialect.model(server), FORM)
    assert not {"format", "grammar", "response_format", "logprobs"} & set(sent(server, dialect.chat)[0])
    assert len(server.requests) == 1
    assert (completion.text, completion.raw) == (ANSWER, None)


def test_what_runs_is_asked_once_for_all_calls(server):
    server.replies = listed("vllm") | {
        VERSION: [Reply(body={"version": "0.12.0"})],
        OPENAI.chat: [OPENAI.answer("params[0]: 1")],
    }
    ask(OPENAI.model(server, structured=True), *[FORM] * 5, check=True)
    paths = [request.path for request in server.requests]
    assert (paths.count(LIST), paths.count(VERSION), len(sent(server))) == (1, 1, 5)


@pytest.mark.parametrize("text", ["params[0]: 1, params[1]: 0\nbecause", '{"params": [1, 0', '{"answer": 3}', "[]"])
def test_an_answer_of_a_server_that_ignores_the_form_stays_as_it_is(server, dialect, text):
    server.replies[dialect.chat] = [dialect.answer(text)]
    (completion,) = ask(dialect.model(server, structured=True), FORM)
    assert (completion.text, completion.raw) == (text, None)


def test_half_a_surrogate_pair_inside_the_json_is_spelled_out(server, dialect):
    raw = '{"params": [1, 0], "explanation": "half \\ud83d of it \\ud83d\\ude00"}'
    server.replies[dialect.chat] = [dialect.answer(raw)]
    (completion,) = ask(dialect.model(server, structured=True), FORM)
    assert completion.text == "params[0]: 1, params[1]: 0\nhalf \\ud83d of it \N{GRINNING FACE}"
    assert completion.raw == raw
    json.dumps(completion.text).encode()


LEAVE_OUT = "it cannot enforce the form of answers; leave out --structured"
REFUSALS = {
    "llama.cpp": (Reply(400, {"error": {"message": "failed to parse grammar", "code": 400}}), LEAVE_OUT),
    "llama.cpp of old": (Reply(500, {"error": {"message": "Failed to parse grammar"}}), LEAVE_OUT),
    "OpenAI": (
        Reply(400, {"error": {"message": "Invalid parameter: 'response_format' of type 'json_schema' is not …"}}),
        LEAVE_OUT,
    ),
    "Ollama before 0.5": (
        Reply(400, {"error": "json: cannot unmarshal object into Go struct field ChatRequest.format of type string"}),
        LEAVE_OUT,
    ),
    "a router": (Reply(404, {"error": {"message": "No model supports structured_outputs"}}), LEAVE_OUT),
    "a prompt too long": (Reply(400, {"error": "prompt too long"}), "the length of the prompt"),
    "no reason": (Reply(422), "or leave out --structured"),
}


@pytest.mark.parametrize(("reply", "remedy"), REFUSALS.values(), ids=REFUSALS)
def test_a_refusal_is_one_line_that_names_the_option(server, dialect, reply, remedy):
    server.replies[dialect.chat] = [reply]
    with pytest.raises(ModelError) as caught:
        ask(dialect.model(server, structured=True), FORM)
    assert f"refused the request ({reply.status}" in str(caught.value)
    assert remedy in str(caught.value)
    assert "--logprobs" not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(sent(server, dialect.chat)) == 1


def test_the_name_of_a_model_is_no_reason(server):
    server.replies[OLLAMA.chat] = [Reply(404, {"error": "model 'grammar:1b' not found"})]
    with pytest.raises(ModelError, match="`ollama pull grammar:1b`"):
        ask(OllamaModel("grammar:1b", base_url=server.url, structured=True), FORM)


def test_a_refusal_of_a_free_request_does_not_name_the_option(server, dialect):
    server.replies[dialect.chat] = [REFUSALS["llama.cpp"][0]]
    with pytest.raises(ModelError, match="check the options") as caught:
        ask(dialect.model(server), FORM)
    assert "--structured" not in str(caught.value)


def test_a_form_that_is_enforced_on_thinking_alone_is_reported_with_its_remedy(server, dialect):
    server.replies[dialect.chat] = [dialect.answer("", thinking="params[0]: 1", reasoning_content="params[0]: 1")]
    policy = replace(RetryPolicy(), empty_attempts=1)
    with pytest.raises(ModelError, match=r"empty answer after thinking: .*leave out --structured"):
        ask(dialect.model(server, structured=True, retry=policy), FORM)


def test_a_server_that_is_down_while_it_is_asked_what_runs_is_tried_again(server):
    server.replies = {
        LIST: [Reply(503), *listed("llamacpp")[LIST]],
        OPENAI.chat: [OPENAI.answer("params[0]: 1")],
    }
    policy = replace(RetryPolicy(), first_wait=0.01)
    ask(OPENAI.model(server, structured=True, retry=policy), FORM)
    assert "grammar" in sent(server)[0]


VERSIONS = [
    ("0.6.5", Program.VLLM_BEFORE_0_11),
    ("0.10.2", Program.VLLM_BEFORE_0_11),
    ("0.11.0", Program.VLLM),
    ("0.24.1rc1.dev3+gabc", Program.VLLM),
    ("1.0", Program.VLLM),
    ("dev", Program.VLLM),
    ("9" * 5000 + ".1", Program.VLLM),
    (None, Program.VLLM),
]


@pytest.mark.parametrize(("version", "program"), VERSIONS)
def test_versions_of_vllm(version, program):
    assert vllm_of(version) is program
