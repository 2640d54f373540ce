"""Structured answers: what each kind of server is asked for, and what is made of its answer."""

import json

import pytest

from collector.errors import ModelError
from collector.llm.form import object_form, vector_form
from collector.llm.ollama import OllamaModel
from collector.llm.retry import RetryPolicy
from collector.tasks.task import TabularSpace
from tests.collector.llm.loopback import OLLAMA, OPENAI, Reply, ask

FORM = vector_form(TabularSpace(states=2, actions=(0, 1)))
VERDICT = object_form({"driver": {"type": "string", "enum": ["a", "b"]}})
ANSWER = '{"params": [1, 0], "explanation": "so it is"}'
WRITTEN = "params[0]: 1, params[1]: 0\nso it is"


def sent(server, chat=OPENAI.chat):
    return [request.body for request in server.requests if request.path == chat]


def test_openai_is_sent_the_schema_in_strict_mode(server):
    for form, text, written in ((FORM, ANSWER, WRITTEN), (VERDICT, '{"driver": "a"}', '{"driver": "a"}')):
        server.requests.clear()
        completion = OPENAI.asked(server, OPENAI.answer(text), form=form, structured=True)
        (request,) = server.requests
        assert request.body["response_format"]["type"] == "json_schema"
        enforced = request.body["response_format"]["json_schema"]
        assert (enforced["strict"], enforced["schema"]) == (True, form.schema)
        assert (completion.text, completion.raw) == (written, None if text == written else text)


def test_ollama_is_sent_the_schema_and_free_answers_are_not_constrained(server, dialect):
    completion = OLLAMA.asked(server, OLLAMA.answer(ANSWER), form=FORM, structured=True)
    assert sent(server, OLLAMA.chat)[0]["format"] == FORM.schema
    assert (completion.text, completion.raw) == (WRITTEN, ANSWER)
    server.requests.clear()
    completion = dialect.asked(server, dialect.answer(ANSWER), form=FORM)
    (request,) = server.requests
    assert not {"format", "response_format", "logprobs"} & set(request.body)
    assert (completion.text, completion.raw) == (ANSWER, None)


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
