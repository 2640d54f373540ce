"""Models behind an Ollama server, on this machine, in the network or in Ollama's cloud."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from collector.llm.answer import make_completion
from collector.llm.direct import http_options
from collector.llm.form import Form
from collector.llm.logprobs import read_logprobs
from collector.llm.prompt_size import least_tokens
from collector.llm.protocol import Completion
from collector.llm.reply import HALVES, decode, put, receive
from collector.llm.served import ServedModel, Service

if TYPE_CHECKING:
    import httpx
    from ollama import AsyncClient, ChatResponse

T = TypeVar("T")

ABSENT = msgspec.Raw(b"null")

_SUSPECTED: set[str] = set()
"""Models on servers that are suspected of cutting prompts, in this process: one notice is enough for each."""


class _Message(msgspec.Struct):
    role: str
    content: str | None = None
    thinking: str | None = None
    tool_calls: Any = None


class _Answer(msgspec.Struct):
    """The part of an answer that is used."""

    message: _Message
    prompt_eval_count: int | None = None
    eval_count: int | None = None
    done_reason: str | None = None
    done: bool = True
    logprobs: msgspec.Raw = ABSENT


class _Described(msgspec.Struct):
    """A description of a model, of which nothing is used."""


class OllamaModel(ServedModel["AsyncClient"]):
    """A model that Ollama serves, by its name there, such as gpt-oss:20b."""

    backend = "ollama"
    sampling = ("temperature", "max_tokens", "num_ctx")
    service = Service(
        program="Ollama",
        variable="OLLAMA_HOST",
        key_variable="OLLAMA_API_KEY",
        address="127.0.0.1",
        port=11434,
        remedies={
            "if_down": "start it with `ollama serve`, or give its address with --base-url URL or OLLAMA_HOST",
            "if_denied": "set OLLAMA_API_KEY to a valid key, or for a cloud model run `ollama signin`",
            "if_missing": "get it with `ollama pull {model}`",
            "if_elsewhere": "check that this is the address of an Ollama server",
        },
    )

    def _connect(self, seconds: float) -> AsyncClient:
        import httpx
        from ollama import AsyncClient  # which makes a client of its own at once

        options = http_options(httpx.AsyncClient, self._server, seconds, self._receive)
        return AsyncClient(host=self._server.address.url, **options)

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
        answer, halves = decode(body, _Answer, self._server, response.headers)
        if halves:
            raise self._server.unusable(HALVES, self._complete(answer))
        if answer.message.tool_calls:  # which the client reads more strictly
            self._complete(answer)
            answer.message.tool_calls = None
        logprobs = (read_logprobs(answer.logprobs) if self._logprobs else None) or []
        answer.logprobs = msgspec.Raw(msgspec.json.encode([{"token": token, "logprob": p} for token, p in logprobs]))
        put(response, msgspec.json.encode(answer))

    async def _ask(self, prompt: str, seed: int, form: Form | None) -> Completion:
        sent = {"temperature": self.options["temperature"], "num_predict": self.options["max_tokens"], "seed": seed}
        sent["num_ctx"] = self.options["num_ctx"]
        response = await self._request(
            self._client.chat(
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
            {name: getattr(answer.message, name) for name in ("content", "thinking", "tool_calls")},
            prompt_tokens=answer.prompt_eval_count,
            completion_tokens=answer.eval_count,
            ended=answer.done_reason if answer.done else "not done",
            logprobs=logprobs,
            structured=self._structured,
            write=write,
        )

    async def _look_up(self) -> None:
        # The model is asked for by name, since models of the cloud need not be in the list of local ones.
        from pydantic import ValidationError

        async def show() -> None:
            try:
                await self._client.show(self.name)
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
