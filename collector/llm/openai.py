"""Models behind any server that speaks OpenAI's chat completions: vLLM, llama.cpp, LM Studio, hosted services."""

from __future__ import annotations

from collections.abc import Awaitable, Collection
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from collector.errors import UsageError
from collector.llm.answer import make_completion
from collector.llm.direct import http_options
from collector.llm.form import Form
from collector.llm.logprobs import read_logprobs
from collector.llm.protocol import Completion
from collector.llm.reply import HALVES, decode, receive
from collector.llm.reported import reported
from collector.llm.served import ServedModel, Service

if TYPE_CHECKING:
    from openai import AsyncOpenAI

T = TypeVar("T")

OPENAI_HOST = "api.openai.com"
NO_KEY = "no-key"
"""Sent where no key is set: the client insists on one, and servers without keys do not look at it."""
NOTHING: frozenset[int] = frozenset()
NOT_OFFERED = frozenset({404, 405, 501})


ABSENT = msgspec.Raw(b"null")


class _Logprobs(msgspec.Struct):
    content: msgspec.Raw = ABSENT


class _Choice(msgspec.Struct):
    message: dict[str, Any] | None = None
    finish_reason: str | None = None
    logprobs: msgspec.Raw = ABSENT
    error: Any = None


class _Answer(msgspec.Struct):
    """The part of a chat completion that is used. The rest differs from server to server and may be anything."""

    choices: list[_Choice]
    usage: msgspec.Raw = ABSENT
    error: Any = None


class _Usage(msgspec.Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class _Listed(msgspec.Struct):
    id: str


class _Models(msgspec.Struct):
    data: list[_Listed] = []


class OpenAIModel(ServedModel["AsyncOpenAI"]):
    """A model behind an OpenAI-compatible server; the key may be missing where that is not OpenAI's own."""

    backend = "openai"
    service = Service(
        program="the OpenAI-compatible server",
        variable="OPENAI_BASE_URL",
        key_variable="OPENAI_API_KEY",
        address="https://api.openai.com/v1",
        needs_key=OPENAI_HOST,
        remedies={
            "if_down": "start it, or give its address with --base-url URL or OPENAI_BASE_URL",
            "if_denied": "set OPENAI_API_KEY to a valid key for this server",
            "if_missing": "choose one that it has with --model NAME",
            "if_elsewhere": "check the base URL, which mostly ends in /v1",
        },
    )

    def _connect(self, seconds: float) -> AsyncOpenAI:
        try:
            from openai import AsyncOpenAI, DefaultAsyncHttpxClient, Timeout
        except ImportError:
            raise UsageError(
                "the openai backend needs the openai package: in a clone, pip install '.[openai]'"
            ) from None

        received = partial(receive, server=self._server)
        options = http_options(DefaultAsyncHttpxClient, self._server, seconds, received)
        return AsyncOpenAI(
            api_key=self._server.key or NO_KEY,
            base_url=self._server.address.url,
            max_retries=0,  # there is one policy for retries, and it is ours
            timeout=Timeout(None, connect=seconds),
            http_client=DefaultAsyncHttpxClient(**options),
        )

    async def _ask(self, prompt: str, seed: int, form: Form | None) -> Completion:
        from openai import HttpxBinaryResponseContent

        # OpenAI's own models take the newer name of the bound alone, many other servers the older one alone.
        bound = "max_completion_tokens" if self._server.address.host == OPENAI_HOST else "max_tokens"
        chosen = {"temperature": self.options["temperature"], bound: self.options["max_tokens"]}
        sent: dict[str, Any] = {option: value for option, value in chosen.items() if value is not None}
        if self._logprobs:
            sent |= {"logprobs": True, "top_logprobs": 1}  # llama.cpp gives 20 unless it is asked for fewer
        if form is not None:
            # The schema uses what OpenAI's strict mode allows: all properties required and no others, `enum`, and
            # bounds of numbers and of the length of lists.
            schema = {"name": "answer", "strict": True, "schema": form.schema}
            sent["response_format"] = {"type": "json_schema", "json_schema": schema}
        body = {"messages": [{"role": "user", "content": prompt}], "model": self.name, "seed": seed} | sent
        response = await self._request(
            # Not `chat.completions.create`, which goes through all that is sent in search of what to translate.
            self._client.post("/chat/completions", cast_to=HttpxBinaryResponseContent, body=body),
            self.timeout,
            switches=self._switches,
        )
        headers = response.response.headers
        answer, halves = decode(response.content, _Answer, self._server, headers)
        choice = answer.choices[0] if answer.choices else None
        if found := reported({"error": answer.error or (choice and choice.error)}):
            raise self._server.reported(*found, headers)
        if choice is None or choice.message is None:
            raise self._server.without_answer()
        logprobs = _optional(choice.logprobs, _Logprobs) if self._logprobs else None
        usage = _optional(answer.usage, _Usage) or _Usage()
        completion = make_completion(
            self._server,
            choice.message,
            prompt_tokens=usage.prompt_tokens,
            completion_tokens=usage.completion_tokens,
            ended=choice.finish_reason,
            logprobs=read_logprobs(logprobs.content) if logprobs else None,
            structured=form is not None,
            write=form.write if form else None,
        )
        if halves:
            raise self._server.unusable(HALVES, completion)
        return completion

    async def _look_up(self) -> None:
        from openai import APIStatusError

        models = self._client.models.with_raw_response
        try:
            response = await self._request(models.list(), self._check_seconds, passing=NOT_OFFERED)
        except APIStatusError:
            return  # it keeps no list: the first call shows whether it has the model
        served = [model.id for model in decode(response.content, _Models, self._server)[0].data]
        if not served or self.name in served:
            return
        try:
            # Some servers know more names than they list.
            await self._request(models.retrieve(self.name), self._check_seconds, passing=NOT_OFFERED)
        except APIStatusError:
            raise self._server.no_model(served=served) from None

    async def _request(
        self,
        call: Awaitable[T],
        seconds: float | None,
        *,
        passing: frozenset[int] = NOTHING,
        switches: Collection[str] = (),
    ) -> T:
        """Wait for the client's answer; its errors become CallErrors, except those of the `passing` statuses."""
        from openai import APIConnectionError, APIStatusError

        try:
            return await self._within(seconds, call)
        except APIConnectionError as error:
            raise self._server.unreachable(error) from None
        except APIStatusError as error:
            if error.status_code in passing:
                raise
            reply = error.response
            raise self._server.rejection(error.status_code, reply.text, reply.headers, switches=switches) from None


def _optional(value: msgspec.Raw, shape: type[T]) -> T | None:
    """What a server may give in this shape, in another, or not at all."""
    try:
        return msgspec.json.decode(value, type=shape)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
