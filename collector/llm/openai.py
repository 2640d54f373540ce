"""Models behind any server that speaks OpenAI's chat completions: vLLM, llama.cpp, LM Studio, hosted services."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from collector.errors import UsageError
from collector.llm.address import Address, parse_address, require_model, require_sendable
from collector.llm.answer import make_completion, server_seed
from collector.llm.clients import Clients
from collector.llm.faults import Server
from collector.llm.protocol import Completion
from collector.llm.reply import HALVES, PACKED, decode, receive
from collector.llm.retry import DEFAULT_POLICY, Gate, OnWait, RetryPolicy, persist

if TYPE_CHECKING:
    from openai import AsyncOpenAI

T = TypeVar("T")

OPENAI_URL = "https://api.openai.com/v1"
OPENAI_HOST = "api.openai.com"
NO_KEY = "no-key"
"""Sent where no key is set: the client insists on one, and servers without keys do not look at it."""
CONNECT_SECONDS = 10.0
CHECK_SECONDS = 30.0
NOTHING: frozenset[int] = frozenset()
NOT_OFFERED = frozenset({404, 405, 501})


NOTHING_SAID = msgspec.Raw(b"null")


class _Message(msgspec.Struct):
    content: str | None = None
    reasoning_content: msgspec.Raw = NOTHING_SAID
    reasoning: msgspec.Raw = NOTHING_SAID


class _Choice(msgspec.Struct):
    message: _Message
    finish_reason: str | None = None


class _Answer(msgspec.Struct):
    """The part of a chat completion that is used. The rest differs from server to server and may be anything."""

    choices: list[_Choice]
    usage: msgspec.Raw = NOTHING_SAID


class _Usage(msgspec.Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class _Listed(msgspec.Struct):
    id: str


class _Models(msgspec.Struct):
    data: list[_Listed] = []


class OpenAIModel:
    """A model behind an OpenAI-compatible server. Use it within one event loop, and close it there.

    Args:
        name: as the server lists it.
        base_url: the server, mostly ending in /v1; by default OPENAI_BASE_URL, else OpenAI itself. The key is
            OPENAI_API_KEY; it may be missing where another server than OpenAI's is named.
        temperature: of sampling; None leaves it to the server.
        max_tokens: bound of the answer, thinking included; None leaves it to the server.
        timeout: seconds for one try, from the request to the end of the answer; None for no bound.
        retry: how patient a call is.
        gate: share it between models of one server, so that they wait together when the server is asked too often.
        on_wait: told of each wait.

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
        timeout: float | None = 600.0,
        retry: RetryPolicy = DEFAULT_POLICY,
        gate: Gate | None = None,
        on_wait: OnWait | None = None,
    ) -> None:
        require_model(name, backend=self.backend)
        key = os.environ.get("OPENAI_API_KEY") or None
        require_sendable(key, source="OPENAI_API_KEY")
        source = "--base-url" if base_url else "OPENAI_BASE_URL"
        address = parse_address(base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI_URL, source=source)
        if key is None and address.host == OPENAI_HOST:
            raise UsageError(
                "the openai backend needs OPENAI_API_KEY, or the address of another server: --base-url URL"
            )
        self.name = name
        self.options: dict[str, Any] = {"temperature": temperature, "max_tokens": max_tokens}
        self.timeout = timeout
        self.retry = retry
        self.gate = gate or Gate()
        self.on_wait = on_wait
        self._server = _describe(address, name, key)
        self._clients = Clients(lambda: self._connect(address, key))

    async def complete(self, prompt: str, *, seed: int) -> Completion:
        """Answer one prompt.

        Args:
            prompt: the whole of what the model is told, as one message of the user.
            seed: sent below 2^31 (its remainder).

        Raises:
            ModelError: the server cannot or will not answer, after transient faults were retried.
        """
        return await persist(
            lambda: self._ask(prompt, server_seed(seed)), policy=self.retry, gate=self.gate, on_wait=self.on_wait
        )

    async def check(self) -> None:
        """Ask whether the server is there and lists the model: one try, unless the server says that it is busy.

        A server that keeps no list is taken at its word when the first answer is asked for.

        Raises:
            ModelError: it cannot be used; the message says what to do.
        """
        at_once = replace(self.retry, attempts=1, timed_out_attempts=1)
        await persist(self._look_up, policy=at_once, gate=self.gate, on_wait=self.on_wait)

    async def aclose(self) -> None:
        """Release connections."""
        for client in self._clients.all:
            await client.close()

    def _connect(self, address: Address, key: str | None) -> AsyncOpenAI:
        try:
            from openai import AsyncOpenAI, DefaultAsyncHttpxClient, Timeout
        except ImportError:
            raise UsageError(
                "the openai backend needs the openai package: pip install 'salience-audit[openai]'"
            ) from None

        wait = CONNECT_SECONDS if self.timeout is None else min(CONNECT_SECONDS, self.timeout)
        bounds = Timeout(None, connect=wait)  # a whole try is bounded in _request
        try:
            return AsyncOpenAI(
                api_key=key or NO_KEY,
                base_url=address.url,
                max_retries=0,  # there is one policy for retries, and it is ours
                timeout=bounds,
                http_client=DefaultAsyncHttpxClient(
                    timeout=bounds,
                    mounts=address.direct_routes(),
                    headers=PACKED,
                    event_hooks={"response": [partial(receive, server=self._server)]},
                ),
            )
        except (ImportError, ValueError) as error:
            raise UsageError(f"no connection can be set up ({error}): check the proxy variables") from None

    async def _ask(self, prompt: str, seed: int) -> Completion:
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

        seconds = min(CHECK_SECONDS, self.timeout or CHECK_SECONDS)
        models = self._clients.all[0].models.with_raw_response
        try:
            response = await self._request(models.list(), seconds, passing=NOT_OFFERED)
        except APIStatusError:
            return
        served = [model.id for model in decode(response.content, _Models, self._server)[0].data]
        if not served or self.name in served:
            return
        try:
            # Some servers know more names than they list.
            await self._request(models.retrieve(self.name), seconds, passing=NOT_OFFERED)
        except APIStatusError:
            raise self._server.no_model(served=served) from None

    async def _request(self, call: Awaitable[T], seconds: float | None, *, passing: frozenset[int] = NOTHING) -> T:
        """Wait for the client's answer, and tell its errors as CallErrors, those of the `passing` statuses aside."""
        from openai import APIConnectionError, APIStatusError

        try:
            async with asyncio.timeout(seconds):
                return await call
        except TimeoutError:
            raise self._server.timed_out(seconds) from None
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


def _describe(address: Address, model: str, key: str | None) -> Server:
    return Server(
        program="the OpenAI-compatible server",
        address=address,
        model=model,
        key=key,
        if_down="start it, or give its address with --base-url URL or OPENAI_BASE_URL",
        if_denied="set OPENAI_API_KEY to a valid key for this server",
        if_missing="choose one that it has with --model NAME",
        if_elsewhere="check the base URL, which mostly ends in /v1",
    )
