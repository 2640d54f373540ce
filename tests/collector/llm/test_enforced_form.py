"""Structured answers: what each kind of server is asked for, and what is made of its answer."""

import asyncio
import json
from itertools import product

import pytest

from collector.errors import ModelError
from collector.llm.form import object_form, vector_form
from collector.llm.ollama import OllamaModel
from collector.llm.programs import Program, vllm_of
from collector.llm.retry import RetryPolicy
from collector.tasks.task import TabularSpace
from tests.collector.llm.loopback import OLLAMA, OPENAI, Reply, ask, use

FORM = vector_form(TabularSpace(states=2, actions=(0, 1)))
VERDICT = object_form({"driver": {"type": "string", "enum": ["a", "b"]}})
ANSWER = '{"params": [1, 0], "explanation": "so it is"}'
WRITTEN = "params[0]: 1, params[1]: 0\nso it is"
LIST, VERSION = "/v1/models", "/version"


def listed(owner, *, name="tiny:1b"):
    return {LIST: [Reply(body={"data": [{"id": name, "owned_by": owner}]})]}


def asking(*forms):
    return [lambda model, form=form: model.complete("What next?", seed=3, form=form) for form in forms]


def sent(server, chat=OPENAI.chat):
    return [request.body for request in server.requests if request.path == chat]


def version(body):
    return {VERSION: [Reply(body=body)]}


OUTPUTS = {"structured_outputs": {"grammar": FORM.grammar}}
GRAMMARS = [
    (listed("llamacpp"), {"grammar": FORM.grammar}),
    (listed("llamacpp", name="/models/a.gguf"), {"grammar": FORM.grammar}),
    (listed("vllm") | version({"version": "0.11.0"}), OUTPUTS),
    (listed("vllm") | version({"version": "0.10.2.dev7+g1a2b"}), {"guided_grammar": FORM.grammar}),
    (listed("vllm"), OUTPUTS),  # behind a gateway
    (listed("vllm") | version(b"<html>"), OUTPUTS),  # behind one that welcomes
]


def test_a_server_that_takes_grammars_is_sent_one(server):
    for (replies, fields), checked in product(GRAMMARS, (False, True)):
        server.requests.clear()
        server.replies = replies | {
            OPENAI.chat: [OPENAI.answer("params[0]: 1")],
            "/v1/models/tiny:1b": [Reply(body={"id": "tiny:1b"})],
        }
        model = OPENAI.model(server, structured=True)
        calls = asking(FORM)
        if checked:
            calls = [lambda model: checked_first(model, *asking(FORM))]
        (completion,) = use(model, *calls)
        (body,) = sent(server)
        assert {name: body[name] for name in fields} == fields
        assert "response_format" not in body
        assert (completion.text, completion.raw) == ("params[0]: 1", None)
        assert model.options["structured"] is True


async def checked_first(model, *calls):
    await model.check()
    return (await asyncio.gather(*(call(model) for call in calls)))[0]


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


def test_any_other_server_is_sent_the_schema_in_strict_mode(server):
    for name, replies in OTHERS.items():
        server.requests.clear()
        server.replies = dict(replies)
        completion = OPENAI.asked(server, OPENAI.answer(ANSWER), form=FORM, structured=True)
        (body,) = sent(server)
        assert body["response_format"]["type"] == "json_schema", name
        enforced = body["response_format"]["json_schema"]
        assert (enforced["strict"], enforced["schema"]) == (True, FORM.schema)
        assert list(enforced["schema"]["properties"]) == ["params", "explanation"]
        assert not {"grammar", "structured_outputs", "guided_grammar"} & set(body)
        assert (completion.text, completion.raw) == (WRITTEN, ANSWER)
    # So is any server a form without a grammar, whatever runs there.
    for owner in ("llamacpp", "vllm", "system"):
        server.requests.clear()
        server.replies = listed(owner)
        completion = OPENAI.asked(server, OPENAI.answer('{"driver": "a"}'), form=VERDICT, structured=True)
        (request,) = server.requests
        assert request.body["response_format"]["json_schema"]["schema"] == VERDICT.schema
        assert (completion.text, completion.raw) == ('{"driver": "a"}', None)


def test_ollama_is_sent_the_schema_and_free_answers_are_not_constrained(server, dialect):
    completion = OLLAMA.asked(server, OLLAMA.answer(ANSWER), form=FORM, structured=True)
    assert sent(server, OLLAMA.chat)[0]["format"] == FORM.schema
    assert (completion.text, completion.raw) == (WRITTEN, ANSWER)
    server.requests.clear()
    completion = dialect.asked(server, dialect.answer(ANSWER), form=FORM)
    (request,) = server.requests
    assert not {"format", "grammar", "response_format", "logprobs"} & set(request.body)
    assert (completion.text, completion.raw) == (ANSWER, None)


def test_what_runs_is_asked_once_for_all_calls_and_again_of_a_server_that_is_down(server):
    server.replies = listed("vllm") | version({"version": "0.12.0"})
    server.replies[OPENAI.chat] = [OPENAI.answer("params[0]: 1")]
    use(OPENAI.model(server, structured=True), lambda model: checked_first(model, *asking(*[FORM] * 5)))
    paths = [request.path for request in server.requests]
    assert (paths.count(LIST), paths.count(VERSION), len(sent(server))) == (1, 1, 5)
    server.requests.clear()
    server.replies = {LIST: [Reply(503), *listed("llamacpp")[LIST]]}
    patient = RetryPolicy(first_wait=0.01)
    OPENAI.asked(server, OPENAI.answer("params[0]: 1"), form=FORM, structured=True, retry=patient)
    assert "grammar" in sent(server)[0]


def test_an_answer_that_is_not_in_the_form_stays_as_it_is(server, dialect):
    for text in ("params[0]: 1, params[1]: 0\nbecause", '{"params": [1, 0', '{"answer": 3}', "[]"):
        completion = dialect.asked(server, dialect.answer(text), form=FORM, structured=True)
        assert (completion.text, completion.raw) == (text, None)
    raw = '{"params": [1, 0], "explanation": "half \\ud83d of it \\ud83d\\ude00"}'
    completion = dialect.asked(server, dialect.answer(raw), form=FORM, structured=True)
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


def test_a_refusal_is_one_line_that_names_the_option(server, dialect):
    for reply, remedy in REFUSALS.values():
        server.requests.clear()
        with pytest.raises(ModelError) as caught:
            dialect.asked(server, reply, form=FORM, structured=True)
        assert f"refused the request ({reply.status}" in str(caught.value)
        assert remedy in str(caught.value)
        assert "--logprobs" not in str(caught.value)
        assert "\n" not in str(caught.value)
        assert len(sent(server, dialect.chat)) == 1
    with pytest.raises(ModelError, match="check the options") as caught:  # of a free request
        dialect.asked(server, REFUSALS["llama.cpp"][0], form=FORM)
    assert "--structured" not in str(caught.value)
    # The name of a model is no reason.
    server.replies[OLLAMA.chat] = [Reply(404, {"error": "model 'grammar:1b' not found"})]
    with pytest.raises(ModelError, match="`ollama pull grammar:1b`"):
        ask(OllamaModel("grammar:1b", base_url=server.url, structured=True), form=FORM)
    # A form that is enforced on thinking alone.
    thought = dialect.answer("", thinking="params[0]: 1", reasoning_content="params[0]: 1")
    with pytest.raises(ModelError, match=r"empty answer after thinking: .*leave out --structured"):
        dialect.asked(server, thought, form=FORM, structured=True, retry=RetryPolicy(empty_attempts=1))


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


def test_versions_of_vllm():
    assert [vllm_of(stated) for stated, _ in VERSIONS] == [program for _, program in VERSIONS]
