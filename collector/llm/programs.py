"""The programs behind OpenAI-compatible servers, as far as they differ: in how they enforce the form of an answer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum
from typing import Any

import msgspec

from collector.llm.form import Form


class Program(Enum):
    """What a server runs, and the field of a request in which it takes a grammar; None where it takes none."""

    LLAMA_CPP = ("grammar",)
    VLLM = ("structured_outputs", "grammar")
    VLLM_BEFORE_0_11 = ("guided_grammar",)
    OTHER = None


class Listed(msgspec.Struct):
    """A model in a server's list. `owned_by` may be anything, or be missing."""

    id: str
    owned_by: msgspec.Raw = msgspec.Raw(b"null")


class Versioned(msgspec.Struct):
    """vLLM's answer to a request for its version."""

    version: str


def recognise(models: Sequence[Listed], name: str) -> Program:
    """The program that serves a model, by whom its list calls the owner of the model.

    Args:
        models: the server's list.
        name: of the model; where it is not in the list, all models in the list must have one owner.
    """
    owners = {bytes(model.owned_by) for model in models if model.id == name}
    owners = owners or {bytes(model.owned_by) for model in models}
    owner = owners.pop() if len(owners) == 1 else b""
    return {b'"llamacpp"': Program.LLAMA_CPP, b'"vllm"': Program.VLLM}.get(owner, Program.OTHER)


def vllm_of(version: str | None) -> Program:
    """A version of vLLM: 0.11 brought `structured_outputs`, and 0.12 took away `guided_grammar`.

    Args:
        version: as vLLM reports it; None where it does not.
    """
    numbers = re.match(r"(\d{1,9})\.(\d{1,9})", version or "")
    old = numbers is not None and (int(numbers[1]), int(numbers[2])) < (0, 11)
    return Program.VLLM_BEFORE_0_11 if old else Program.VLLM


def constraint(program: Program, form: Form) -> dict[str, Any]:
    """The fields of a request for chat completions that enforce a form: as a grammar where both have one.

    The schema uses what OpenAI's strict mode allows: all properties required and no others, `enum`, and bounds of
    numbers and of the length of lists.

    Args:
        program: what the server runs.
        form: of the answer.
    """
    if form.grammar is None or program.value is None:
        schema = {"name": "answer", "strict": True, "schema": form.schema}
        return {"response_format": {"type": "json_schema", "json_schema": schema}}
    fields: Any = form.grammar
    for field in reversed(program.value):
        fields = {field: fields}
    return dict(fields)
