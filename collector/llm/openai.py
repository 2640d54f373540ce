"""Models behind any server that speaks OpenAI's chat completions: vLLM, llama.cpp, LM Studio, hosted services."""

from __future__ import annotations

import os
from collections.abc import Awaitable
from functools import partial
from typing import TYPE_CHECKING, TypeVar, Unpack

import msgspec

from collector.errors import UsageError
from collector.llm.address import parse_address, read_key
from collector.llm.answer import make_completion
from collector.llm.faults import Server
from collector.llm.form import Form
from collector.llm.protocol import Completion
from collector.llm.reply import HALVES, PACKED, decode, receive
from collector.llm.served import Patience, ServedModel

if TYPE_CHECKING:
    from openai import AsyncOpenAI

T = TypeVar("T")

OPENAI_URL = "https://api.openai.com/v1"
OPENAI_HOST = "api.openai.com"
NO_KEY = "no-key"
"""Sent where no key is set: the client insists on one, and servers without keys do not look at it."""
NOTHING: frozenset[int] = frozenset()
NOT_OFFERED = frozenset({404, 405, 501})


ABSENT = msgspec.Raw(b"null")


class _Message(msgspec.Struct):
    content: str | None = None
    reasoning_content: msgspec.Raw = ABSENT
    reasoning: msgspec.Raw = ABSENT


class _Choice(msgspec.Struct):
    message: _Message
    finish_reason: str | None = None


class _Answer(msgspec.Struct):
    """The part of a chat completion that is used. The rest differs from server to server and may be anything."""

    choices: list[_Choice]
    usage: msgspec.Raw = ABSENT


class _Usage(msgspec.Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class _Listed(msgspec.Struct):
    id: str


class _Models(msgspec.Struct):
    data: list[_Listed] = []


class OpenAIModel(ServedModel["AsyncOpenAI"]):
    """A model behind an OpenAI-compatible server. Use it within one event loop, and close it there.

    Args:
        name: as the server lists it.
        base_url: the server, mostly ending in /v1; by default OPENAI_BASE_URL, else OpenAI itself. The key is
            OPENAI_API_KEY; it may be missing where another server than OpenAI's is named.
        temperature: of sampling; None leaves it to the server.
        max_tokens: bound of the answer, thinking included; None leaves it to the server.
        structured: the server enforces the form of answers.
        logprobs: log-probabilities of tokens are kept.
        patience: how long it is waited for.

    Raises:
        UsageError: the `openai` package or the key is missing, or the address cannot be used.
    """

    backend = "openai"

    def __init__(
        self,
        name: str,
        *,
        base_url: str | None = None,
        temperature: float | None = None,
        max_tokens: int | None = None,
        structured: bool = False,
        logprobs: bool = False,
        **patience: Unpack[Patience],
    ) -> None:
        key = read_key("OPENAI_API_KEY")
        source = "--base-url" if base_url else "OPENAI_BASE_URL"
        address = parse_address(base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI_URL, source=source)
        if key is None and address.host == OPENAI_HOST:
            raise UsageError(
                "the openai backend needs OPENAI_API_KEY, or the address of another server: --base-url URL"
            )
        server = Server(
            program="the OpenAI-compatible server",
            address=address,
            model=name,
            key=key,
            if_down="start it, or give its address with --base-url URL or OPENAI_BASE_URL",
            if_denied="set OPENAI_API_KEY to a valid key for this server",
            if_missing="choose one that it has with --model NAME",
            if_elsewhere="check the base URL, which mostly ends in /v1",
        )
        options = {"temperature": temperature, "max_tokens": max_tokens}
        super().__init__(server, options, patience, structured=structured, logprobs=logprobs)

    def _connect(self, seconds: float) -> AsyncOpenAI:
        try:
            from openai import AsyncOpenAI, DefaultAsyncHttpxClient, Timeout
        except ImportError:
            raise UsageError(
                "the openai backend needs the openai package: pip install 'salience-audit[openai]'"
            ) from None

        bounds = Timeout(None, connect=seconds)
        return AsyncOpenAI(
            api_key=self._server.key or NO_KEY,
            base_url=self._server.address.url,
            max_retries=0,  # there is one policy for retries, and it is ours
            timeout=bounds,
            http_client=DefaultAsyncHttpxClient(
                timeout=bounds,
                mounts=self._server.address.direct_routes(),
                headers=PACKED,
                event_hooks={"response": [partial(receive, server=self._server)]},
            ),
        )

    async def _ask(self, prompt: str, seed: int, form: Form | None) -> Completion:  # noqa: ARG002
        # OpenAI's own models take the newer name of the bound alone, many other servers the older one alone.
        bound = "max_completion_tokens" if self._server.address.host == OPENAI_HOST else "max_tokens"
        sent = {"temperature": self.options["temperature"], bound: self.options["max_tokens"]}
        with self._clients.one() as client:
            response = await self._request(
                client.chat.completions.with_raw_response.create(
                    model=self.name,
                    messages=[{"role": "user", "content": prompt}],
                    seed=seed,
                    extra_body={option: value for option, value in sent.items() if value is not None},
                ),
                self.timeout,
            )
        answer, halves = decode(response.content, _Answer, self._server)
        if not answer.choices:
            raise self._server.unreadable()
        message, ended = answer.choices[0].message, answer.choices[0].finish_reason
        usage = _optional(answer.usage, _Usage) or _Usage()
        completion = make_completion(
            self._server,
            text=message.content,
            thinking=_text(message.reasoning_content) or _text(message.reasoning),
            prompt_tokens=usage.prompt_tokens,
            completion_tokens=usage.completion_tokens,
            ended=ended,
        )
        if halves:
            raise self._server.unusable(HALVES, completion)
        return completion

    async def _look_up(self) -> None:
        from openai import APIStatusError

        models = self._clients.all[0].models.with_raw_response
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

    async def _request(self, call: Awaitable[T], seconds: float | None, *, passing: frozenset[int] = NOTHING) -> T:
        """Wait for the client's answer; its errors become CallErrors, except those of the `passing` statuses."""
        from openai import APIConnectionError, APIStatusError

        try:
            return await self._within(seconds, call)
        except APIConnectionError as error:
            raise self._server.unreachable(error) from None
        except APIStatusError as error:
            if error.status_code in passing:
                raise
            raise self._server.rejection(error.status_code, error.response.text, error.response.headers) from None


def _optional(value: msgspec.Raw, shape: type[T]) -> T | None:
    """What a server may give in this shape, in another, or not at all."""
    try:
        return msgspec.json.decode(value, type=shape)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None


def _text(value: msgspec.Raw) -> str | None:
    text = _optional(value, str)
    return text if text and text.strip() else None
