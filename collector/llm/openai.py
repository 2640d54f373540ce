"""Models behind any server that speaks OpenAI's chat completions: vLLM, llama.cpp, LM Studio, hosted services."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Collection, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, Unpack, cast

import msgspec

from collector.errors import UsageError
from collector.llm.address import parse_address, read_key
from collector.llm.answer import make_completion
from collector.llm.clients import certificates
from collector.llm.direct import direct_transport
from collector.llm.faults import CallError, Server
from collector.llm.form import Form
from collector.llm.logprobs import read_logprobs
from collector.llm.programs import Listed, Program, Versioned, constraint, recognise, vllm_of
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


class _Logprobs(msgspec.Struct):
    content: msgspec.Raw = ABSENT


class _Choice(msgspec.Struct):
    message: _Message
    finish_reason: str | None = None
    logprobs: msgspec.Raw = ABSENT


class _Answer(msgspec.Struct):
    """The part of a chat completion that is used. The rest differs from server to server and may be anything."""

    choices: list[_Choice]
    usage: msgspec.Raw = ABSENT


class _Usage(msgspec.Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class _Models(msgspec.Struct):
    data: list[Listed] = []


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
        allow_redirects: redirects to other hosts and ports are followed.
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
        allow_redirects: bool = False,
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
            allow_redirects=allow_redirects,
            model=name,
            key=key,
            if_down="start it, or give its address with --base-url URL or OPENAI_BASE_URL",
            if_denied="set OPENAI_API_KEY to a valid key for this server",
            if_missing="choose one that it has with --model NAME",
            if_elsewhere="check the base URL, which mostly ends in /v1",
        )
        options = {"temperature": temperature, "max_tokens": max_tokens}
        super().__init__(server, options, patience, structured=structured, logprobs=logprobs)
        self._program: Program | None = None
        self._recognising = asyncio.Lock()

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
                transport=cast("Any", direct_transport(DefaultAsyncHttpxClient, self._server.address)),
                verify=certificates(DefaultAsyncHttpxClient),
                mounts=self._server.address.direct_routes(),
                headers=PACKED,
                event_hooks={"response": [partial(receive, server=self._server)]},
            ),
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
            sent |= constraint(await self._recognise() if form.grammar else Program.OTHER, form)
        body = {"messages": [{"role": "user", "content": prompt}], "model": self.name, "seed": seed} | sent
        with self._clients.one() as client:
            response = await self._request(
                # Not `chat.completions.create`, which goes through all that is sent in search of what to translate.
                client.post("/chat/completions", cast_to=HttpxBinaryResponseContent, body=body),
                self.timeout,
                switches=self._switches,
            )
        answer, halves = decode(response.content, _Answer, self._server)
        if not answer.choices:
            raise self._server.unreadable()
        choice, message = answer.choices[0], answer.choices[0].message
        logprobs = _optional(choice.logprobs, _Logprobs) if self._logprobs else None
        usage = _optional(answer.usage, _Usage) or _Usage()
        completion = make_completion(
            self._server,
            text=message.content,
            thinking=_text(message.reasoning_content) or _text(message.reasoning),
            prompt_tokens=usage.prompt_tokens,
            completion_tokens=usage.completion_tokens,
            ended=choice.finish_reason,
            logprobs=read_logprobs(logprobs.content) if logprobs else None,
            structured=form is not None,
            write=form.write if form and "response_format" in sent else None,
        )
        if halves:
            raise self._server.unusable(HALVES, completion)
        return completion

    async def _look_up(self) -> None:
        from openai import APIStatusError

        models = await self._listed()
        if self._structured:
            await self._recognise(models)
        served = [model.id for model in models]
        if not served or self.name in served:
            return
        try:
            # Some servers know more names than they list.
            one = self._clients.all[0].models.with_raw_response.retrieve(self.name)
            await self._request(one, self._check_seconds, passing=NOT_OFFERED)
        except APIStatusError:
            raise self._server.no_model(served=served) from None

    async def _listed(self) -> list[Listed]:
        """The server's list of models; empty where it keeps none: the first call shows whether it has the model."""
        from openai import APIStatusError

        try:
            models = self._clients.all[0].models.with_raw_response.list()
            response = await self._request(models, self._check_seconds, passing=NOT_OFFERED)
        except APIStatusError:
            return []
        return decode(response.content, _Models, self._server)[0].data

    async def _recognise(self, models: Sequence[Listed] | None = None) -> Program:
        """What the server runs, by its list of models: looked up once, before an answer under a grammar."""
        async with self._recognising:
            if self._program is None:
                program = recognise(await self._listed() if models is None else models, self.name)
                self._program = vllm_of(await self._version()) if program is Program.VLLM else program
            return self._program

    async def _version(self) -> str | None:
        """The version of vLLM, which it gives beside /v1; None where a gateway does not pass the request on."""
        address = f"{self._server.address.url.rstrip('/').removesuffix('/v1')}/version"
        try:
            reply = await self._request(self._clients.all[0].get(address, cast_to=str), self._check_seconds)
            return decode(reply.encode(), Versioned, self._server)[0].version
        except CallError:
            return None

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


def _text(value: msgspec.Raw) -> str | None:
    text = _optional(value, str)
    return text if text and text.strip() else None
