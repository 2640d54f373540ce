"""Models behind an Ollama server, on this machine, in the network or in Ollama's cloud."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar, Unpack

import msgspec

from collector.llm.address import parse_address, read_key
from collector.llm.answer import make_completion
from collector.llm.clients import certificates
from collector.llm.direct import direct_transport
from collector.llm.faults import Server
from collector.llm.form import Form
from collector.llm.logprobs import read_logprobs
from collector.llm.prompt_size import least_tokens
from collector.llm.protocol import Completion
from collector.llm.reply import HALVES, PACKED, decode, put, receive
from collector.llm.served import Patience, ServedModel

if TYPE_CHECKING:
    import httpx
    from ollama import AsyncClient, ChatResponse

T = TypeVar("T")

PORT = 11434
ABSENT = msgspec.Raw(b"null")

_SUSPECTED: set[str] = set()
"""Models on servers that are suspected of cutting prompts, in this process: one notice is enough for each."""


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
    logprobs: msgspec.Raw = ABSENT


class _Described(msgspec.Struct):
    """A description of a model, of which nothing is used."""


class OllamaModel(ServedModel["AsyncClient"]):
    """A model that Ollama serves. Use it within one event loop, and close it there.

    Args:
        name: as Ollama lists it, such as gpt-oss:20b.
        base_url: the server; by default OLLAMA_HOST, else this machine. The key is OLLAMA_API_KEY, if any.
        temperature: of sampling; None leaves it to the server.
        max_tokens: bound of the answer, thinking included; None leaves it to the server.
        num_ctx: tokens of prompt and answer together; None leaves it to the server, which cuts what is longer.
        structured: the server enforces the form of answers, by its JSON schema.
        logprobs: log-probabilities of tokens are kept.
        allow_redirects: redirects to other hosts and ports are followed.
        patience: how long it is waited for.

    Raises:
        UsageError: the host or the key cannot be used.
    """

    backend = "ollama"

    def __init__(
        self,
        name: str,
        *,
        base_url: str | None = None,
        temperature: float | None = None,
        max_tokens: int | None = None,
        num_ctx: int | None = None,
        structured: bool = False,
        logprobs: bool = False,
        allow_redirects: bool = False,
        **patience: Unpack[Patience],
    ) -> None:
        key = read_key("OLLAMA_API_KEY")
        source = "--base-url" if base_url else "OLLAMA_HOST"
        address = parse_address(base_url or os.environ.get("OLLAMA_HOST") or "127.0.0.1", source=source, port=PORT)
        server = Server(
            program="Ollama",
            address=address,
            allow_redirects=allow_redirects,
            model=name,
            key=key,
            if_down="start it with `ollama serve`, or give its address with --base-url URL or OLLAMA_HOST",
            if_denied="set OLLAMA_API_KEY to a valid key, or for a cloud model run `ollama signin`",
            if_missing=f"get it with `ollama pull {name}`",
            if_elsewhere="check that this is the address of an Ollama server",
        )
        options = {"temperature": temperature, "max_tokens": max_tokens, "num_ctx": num_ctx}
        super().__init__(server, options, patience, structured=structured, logprobs=logprobs)

    def _connect(self, seconds: float) -> AsyncClient:
        import httpx
        from ollama import AsyncClient  # which makes a client of its own at once

        return AsyncClient(
            host=self._server.address.url,
            timeout=(seconds, None, None, None),  # connect, read, write, pool
            mounts=self._server.address.direct_routes(),
            transport=direct_transport(httpx.AsyncClient, self._server.address),
            verify=certificates(httpx.AsyncClient),
            headers=PACKED,
            event_hooks={"response": [self._receive]},
        )

    async def _receive(self, response: httpx.Response) -> None:
        """Read a reply before the client does, which has no bounds and would make objects of all that it holds.

        An error status becomes a CallError here, since the client's own error leaves the headers behind.
        """
        body, asked = await receive(response, self._server), response.url.path.endswith("/api/chat")
        if response.has_redirect_location:
            return
        if not response.is_success:
            await response.aread()
            switches = self._switches if asked else ()
            raise self._server.rejection(response.status_code, response.text, response.headers, switches=switches)
        if not asked:
            decode(body, _Described, self._server)
            put(response, b"{}")
            return
        answer, halves = decode(body, _Answer, self._server)
        if halves:
            raise self._server.unusable(HALVES, self._complete(answer))
        logprobs = (read_logprobs(answer.logprobs) if self._logprobs else None) or []
        answer.logprobs = msgspec.Raw(msgspec.json.encode([{"token": token, "logprob": p} for token, p in logprobs]))
        put(response, msgspec.json.encode(answer))

    async def _ask(self, prompt: str, seed: int, form: Form | None) -> Completion:
        sent = {"temperature": self.options["temperature"], "num_predict": self.options["max_tokens"], "seed": seed}
        sent["num_ctx"] = self.options["num_ctx"]
        with self._clients.one() as client:
            response = await self._request(
                client.chat(
                    model=self.name,
                    messages=[{"role": "user", "content": prompt}],
                    format=None if form is None else dict(form.schema),
                    logprobs=self._logprobs or None,
                    options={name: value for name, value in sent.items() if value is not None},
                ),
                self.timeout,
            )
        logprobs = [(one.token, one.logprob) for one in response.logprobs or []]
        completion = self._complete(response, logprobs=logprobs or None, write=form.write if form else None)
        self._suspect(prompt, completion.prompt_tokens)
        return completion

    def _suspect(self, prompt: str, read: int | None) -> None:
        """Give notice where the model has read fewer tokens than the prompt must have, or a whole context of them.

        Ollama cuts what is longer than its context, and counts what is left: as many tokens as the context holds, or
        about half of them. Versions before 0.2, and 0.30.0, leave out what they still have of an earlier prompt, and
        can be suspected without cause.
        """
        suspect = f"{self.name} on {self._server.label}"
        if not read or not self.on_notice or suspect in _SUSPECTED:
            return
        least, context = least_tokens(prompt), self.options["num_ctx"]
        if read >= least and (context is None or read < context):
            return
        _SUSPECTED.add(suspect)
        size = f"a prompt of at least {least:,}" if read < least else f"a prompt, all that --num-ctx {context} allows"
        self.on_notice(
            f"{self._server.label} reports {read:,} tokens of {size}: it seems to cut prompts for {self.name}; "
            f"allow a longer context with --num-ctx"
        )

    def _complete(
        self,
        answer: ChatResponse | _Answer,
        *,
        logprobs: list[tuple[str, float]] | None = None,
        write: Callable[[str], str] | None = None,
    ) -> Completion:
        return make_completion(
            self._server,
            text=answer.message.content,
            thinking=answer.message.thinking,
            prompt_tokens=answer.prompt_eval_count,
            completion_tokens=answer.eval_count,
            ended=answer.done_reason,
            logprobs=logprobs,
            structured=self._structured,
            write=write,
        )

    async def _look_up(self) -> None:
        # The model is asked for by name, since models of the cloud need not be in the list of local ones.
        from pydantic import ValidationError

        async def show() -> None:
            try:
                await self._clients.all[0].show(self.name)
            except ValidationError:
                # The server knows the model; how fully it describes it does not matter.
                return

        await self._request(show(), self._check_seconds)

    async def _request(self, call: Awaitable[T], seconds: float | None) -> T:
        """Wait for the client's answer; its errors become CallErrors."""
        import httpx

        try:
            return await self._within(seconds, call)
        except (httpx.RequestError, ConnectionError) as error:
            raise self._server.unreachable(error) from None
        except (ValueError, TypeError) as error:
            # Not JSON, or JSON of another shape; an error of the former kind holds the text.
            raise self._server.unreadable(getattr(error, "doc", "")) from None
