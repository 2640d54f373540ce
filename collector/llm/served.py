"""What all models behind a server share: their set-up, retries, and time limits."""

from __future__ import annotations

import asyncio
import os
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final, Generic, TypedDict, TypeVar, Unpack

from collector.errors import UsageError
from collector.llm.address import parse_address, read_key
from collector.llm.answer import chosen, server_seed
from collector.llm.clients import Client
from collector.llm.faults import Server
from collector.llm.form import Form
from collector.llm.protocol import Completion
from collector.llm.retry import DEFAULT_POLICY, Gate, OnWait, RetryPolicy, persist

T = TypeVar("T")

CONNECT_SECONDS: Final = 10.0
CHECK_SECONDS: Final = 30.0
CHECK_CONNECTIONS: Final = 3
"""Tries to connect when it is asked whether a server is there."""


class Given(TypedDict, total=False):
    """Arguments of a model behind a server.

    Attributes:
        base_url: the server; by default that of the environment.
        temperature: of sampling; None leaves it to the server.
        max_tokens: bound of the answer, thinking included; None leaves it to the server.
        num_ctx: of Ollama alone, tokens of prompt and answer together; None leaves it to the server, which cuts what is
            longer.
        structured: the server enforces the form of answers.
        logprobs: log-probabilities of tokens are kept.
        allow_redirects: redirects to other hosts and ports are followed.
        timeout: seconds for one try, from the request to the end of the answer; None for no bound.
        retry: how patient a call is.
        gate: share it between models of one server, so that they wait together when the server is asked too often.
        on_wait: called before each wait.
        on_notice: called with a line that the user should see; an answer is given all the same.
    """

    base_url: str | None
    temperature: float | None
    max_tokens: int | None
    num_ctx: int | None
    structured: bool
    logprobs: bool
    allow_redirects: bool
    timeout: float | None
    retry: RetryPolicy
    gate: Gate
    on_wait: OnWait | None
    on_notice: Callable[[str], None] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """A kind of server.

    Attributes:
        program: what it is called.
        variable, key_variable: of the environment: its address, and its key.
        address: where it is by default.
        port: of an address that has neither a scheme nor a port.
        needs_key: the host that cannot be asked without a key.
        remedies: what to do in each case that `Server` names; {model} becomes the model's name.
    """

    program: str
    variable: str
    key_variable: str
    address: str
    port: int | None = None
    needs_key: str = ""
    remedies: Mapping[str, str]


class ServedModel(ABC, Generic[Client]):
    """A model behind a server. Use it within one event loop, and close it there.

    Args:
        name: as the server lists it.
        given: see `Given`.

    Raises:
        UsageError: no model is named, the address or the key cannot be used, or no connection can be set up.
    """

    backend: str
    service: ClassVar[Service]
    sampling: ClassVar[tuple[str, ...]] = ("temperature", "max_tokens")
    """Arguments that decide answers."""

    def __init__(self, name: str, **given: Unpack[Given]) -> None:
        known = Given.__annotations__.keys() - ({"num_ctx"} - {*self.sampling})
        if unknown := given.keys() - known:
            raise TypeError(f"no argument of a model: {', '.join(sorted(unknown))}")
        self._server = self._find_server(name, given.get("base_url"), given.get("allow_redirects", False))
        if not name.strip():
            raise UsageError(f"the {self.backend} backend needs a model: name one with --model NAME")
        self.name = name
        self._structured, self._logprobs = given.get("structured", False), given.get("logprobs", False)
        switches = {"structured": self._structured, "logprobs": self._logprobs}
        self.options: dict[str, Any] = {option: given.get(option) for option in self.sampling} | chosen(**switches)
        self._switches = [f"--{switch}" for switch, on in switches.items() if on]
        self.timeout = given.get("timeout", 600.0)
        self.retry = given.get("retry", DEFAULT_POLICY)
        self.gate = given.get("gate") or Gate()
        self.on_wait, self.on_notice = given.get("on_wait"), given.get("on_notice")
        try:
            self._client = self._connect(min(CONNECT_SECONDS, self.timeout or CONNECT_SECONDS))
        except (ImportError, ValueError, OSError) as error:
            raise UsageError(
                f"no connection can be set up ({error}): check the proxy variables and SSL_CERT_FILE"
            ) from None

    def _find_server(self, model: str, base_url: str | None, allow_redirects: bool) -> Server:
        service = self.service
        key, source = read_key(service.key_variable), "--base-url" if base_url else service.variable
        text = base_url or os.environ.get(service.variable) or service.address
        address = parse_address(text, source=source, port=service.port)
        if key is None and address.host == service.needs_key:
            raise UsageError(
                f"the {self.backend} backend needs {service.key_variable}, or the address of another server: "
                f"--base-url URL"
            )
        remedies = {case: text.format(model=model) for case, text in service.remedies.items()}
        return Server(service.program, address, model, allow_redirects, key, **remedies)

    async def complete(self, prompt: str, *, seed: int, form: Form | None = None) -> Completion:
        """Answer one prompt.

        Args:
            prompt: all that the model is given, as one message of the user.
            seed: sent below 2^31 (its remainder).
            form: enforced where answers are structured.

        Raises:
            ModelError: the server cannot or will not answer, after transient faults were retried.
        """
        enforced = form if self._structured else None
        return await persist(
            lambda: self._ask(prompt, server_seed(seed), enforced),
            policy=self.retry,
            gate=self.gate,
            on_wait=self.on_wait,
        )

    async def check(self) -> None:
        """Ask whether the server is there and has the model: one try, unless the server is busy.

        Raises:
            ModelError: it cannot be used; the message names the remedy.
        """
        connections = min(CHECK_CONNECTIONS, self.retry.unanswered_attempts)
        at_once = replace(self.retry, attempts=1, timed_out_attempts=1, unanswered_attempts=connections)
        await persist(self._look_up, policy=at_once, gate=self.gate, on_wait=self.on_wait)

    async def aclose(self) -> None:
        """Release connections."""
        await self._client.close()

    @property
    def _check_seconds(self) -> float:
        return min(CHECK_SECONDS, self.timeout or CHECK_SECONDS)

    async def _within(self, seconds: float | None, call: Awaitable[T]) -> T:
        """Wait for the client's answer, which comes in time or is a CallError."""
        try:
            async with asyncio.timeout(seconds):
                return await call
        except TimeoutError:
            raise self._server.timed_out(seconds) from None

    @abstractmethod
    def _connect(self, seconds: float) -> Client:
        """A client that waits so long for a connection, and without limit for an answer: `_within` bounds a try."""

    @abstractmethod
    async def _ask(self, prompt: str, seed: int, form: Form | None) -> Completion:
        """One try at an answer, in the form that is to be enforced, if any; its failures are CallErrors."""

    @abstractmethod
    async def _look_up(self) -> None:
        """One try at finding the model; its failures are CallErrors."""
