"""Models behind an Ollama server, on this machine, in the network or in Ollama's cloud."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from collector.errors import UsageError
from collector.llm.address import Address, parse_address, require_model, require_sendable
from collector.llm.answer import make_completion, server_seed
from collector.llm.clients import Clients
from collector.llm.faults import Server
from collector.llm.protocol import Completion
from collector.llm.reply import HALVES, PACKED, decode, put, receive
from collector.llm.retry import DEFAULT_POLICY, Gate, OnWait, RetryPolicy, persist

if TYPE_CHECKING:
    import httpx
    from ollama import AsyncClient, ChatResponse

T = TypeVar("T")

PORT = 11434
CONNECT_SECONDS = 10.0
CHECK_SECONDS = 30.0


class _Message(msgspec.Struct):
    role: str
    content: str | None = None
    thinking: str | None = None


class _Answer(msgspec.Struct):
    """The part of an answer that is used."""

    message: _Message
    prompt_eval_count: int | None = None
    eval_count: int | None = None
    done_reason: str | None = None


class _Described(msgspec.Struct):
    """A description of a model, of which nothing is used."""


class OllamaModel:
    """A model that Ollama serves. Use it within one event loop, and close it there.

    Args:
        name: as Ollama lists it, such as gpt-oss:20b.
        host: the server; by default OLLAMA_HOST, else this machine. The key is OLLAMA_API_KEY, if any.
        temperature: of sampling; None leaves it to the server.
        max_tokens: bound of the answer, thinking included; None leaves it to the server.
        num_ctx: tokens of prompt and answer together; None leaves it to the server, which cuts what is longer.
        timeout: seconds for one try, from the request to the end of the answer; None for no bound.
        retry: how patient a call is.
        gate: share it between models of one server, so that they wait together when the server is asked too often.
        on_wait: told of each wait.

    Raises:
        UsageError: the host or the key cannot be used.
    """

    backend = "ollama"

    def __init__(
        self,
        name: str,
        *,
        host: str | None = None,
        temperature: float | None = None,
        max_tokens: int | None = None,
        num_ctx: int | None = None,
        timeout: float | None = 600.0,
        retry: RetryPolicy = DEFAULT_POLICY,
        gate: Gate | None = None,
        on_wait: OnWait | None = None,
    ) -> None:
        require_model(name, backend=self.backend)
        key = os.environ.get("OLLAMA_API_KEY")
        require_sendable(key, source="OLLAMA_API_KEY")
        source = "--base-url" if host else "OLLAMA_HOST"
        address = parse_address(host or os.environ.get("OLLAMA_HOST") or "127.0.0.1", source=source, port=PORT)
        self.name = name
        self.options: dict[str, Any] = {"temperature": temperature, "max_tokens": max_tokens, "num_ctx": num_ctx}
        self.timeout = timeout
        self.retry = retry
        self.gate = gate or Gate()
        self.on_wait = on_wait
        self._server = _describe(address, name, key)
        self._clients = Clients(lambda: self._connect(address))

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
        """Ask whether the server is there and knows the model: one try, unless the server says that it is busy.

        The model is asked for by name, since models of the cloud need not be in the list of local ones.

        Raises:
            ModelError: it cannot be used; the message says what to do.
        """
        at_once = replace(self.retry, attempts=1, timed_out_attempts=1)
        await persist(self._look_up, policy=at_once, gate=self.gate, on_wait=self.on_wait)

    async def aclose(self) -> None:
        """Release connections."""
        for client in self._clients.all:
            await client.close()  # type: ignore[no-untyped-call]  # the client leaves it without types

    def _connect(self, address: Address) -> AsyncClient:
        wait = CONNECT_SECONDS if self.timeout is None else min(CONNECT_SECONDS, self.timeout)
        try:
            from ollama import AsyncClient  # which makes a client of its own at once

            return AsyncClient(
                host=address.url,
                timeout=(wait, None, None, None),  # connect, read, write, pool; a whole try is bounded in _request
                mounts=address.direct_routes(),
                headers=PACKED,
                event_hooks={"response": [self._receive]},
            )
        except (ImportError, ValueError) as error:
            raise UsageError(f"no connection can be set up ({error}): check the proxy variables") from None

    async def _receive(self, response: httpx.Response) -> None:
        """Read a reply before the client does, which knows no bounds and would make objects of all that it holds.

        An error status becomes a CallError here, since the client's own error leaves the headers behind.
        """
        body = await receive(response, self._server)
        if response.has_redirect_location:
            return
        if not response.is_success:
            await response.aread()
            raise self._server.rejection(response.status_code, response.text, response.headers)
        if not response.url.path.endswith("/api/chat"):
            decode(body, _Described, self._server)
            put(response, b"{}")
            return
        answer, halves = decode(body, _Answer, self._server)
        if halves:
            raise self._server.unusable(HALVES, self._complete(answer))
        put(response, msgspec.json.encode(answer))

    async def _ask(self, prompt: str, seed: int) -> Completion:
        sent = {"temperature": self.options["temperature"], "num_predict": self.options["max_tokens"], "seed": seed}
        sent["num_ctx"] = self.options["num_ctx"]
        with self._clients.one() as client:
            response = await self._request(
                client.chat(
                    model=self.name,
                    messages=[{"role": "user", "content": prompt}],
                    options={name: value for name, value in sent.items() if value is not None},
                ),
                self.timeout,
            )
        return self._complete(response)

    def _complete(self, answer: ChatResponse | _Answer) -> Completion:
        return make_completion(
            self._server,
            text=answer.message.content,
            thinking=answer.message.thinking,
            prompt_tokens=answer.prompt_eval_count,
            completion_tokens=answer.eval_count,
            ended=answer.done_reason,
        )

    async def _look_up(self) -> None:
        from pydantic import ValidationError

        async def show() -> None:
            try:
                await self._clients.all[0].show(self.name)
            except ValidationError:
                # The server knows the model; how fully it describes it does not matter.
                return

        await self._request(show(), min(CHECK_SECONDS, self.timeout or CHECK_SECONDS))

    async def _request(self, call: Awaitable[T], seconds: float | None) -> T:
        """Wait for the client's answer, and tell its errors as CallErrors."""
        import httpx

        try:
            async with asyncio.timeout(seconds):
                return await call
        except TimeoutError:
            raise self._server.timed_out(seconds) from None
        except (httpx.RequestError, ConnectionError) as error:
            raise self._server.unreachable(error) from None
        except (ValueError, TypeError) as error:
            # Not JSON, or JSON of another shape; an error of the former kind holds the text.
            raise self._server.unreadable(getattr(error, "doc", "")) from None


def _describe(address: Address, model: str, key: str | None) -> Server:
    return Server(
        program="Ollama",
        address=address,
        model=model,
        key=key,
        if_down="start it with `ollama serve`, or give its address with --base-url URL or OLLAMA_HOST",
        if_denied="set OLLAMA_API_KEY to a valid key, or for a cloud model run `ollama signin`",
        if_missing=f"get it with `ollama pull {model}`",
        if_elsewhere="check that this is the address of an Ollama server",
    )
