"""What all models behind a server share: retries, clients, and time limits."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, Final, Generic, TypedDict, TypeVar

from collector.errors import UsageError
from collector.llm.answer import chosen, server_seed
from collector.llm.clients import Client, Clients
from collector.llm.faults import Server
from collector.llm.form import Form
from collector.llm.protocol import Completion
from collector.llm.retry import DEFAULT_POLICY, Gate, OnWait, RetryPolicy, persist

T = TypeVar("T")

CONNECT_SECONDS: Final = 10.0
CHECK_SECONDS: Final = 30.0
CHECK_CONNECTIONS: Final = 3
"""Tries to connect when it is asked whether a server is there."""


class Patience(TypedDict, total=False):
    """How long a model is waited for.

    Attributes:
        timeout: seconds for one try, from the request to the end of the answer; None for no bound.
        retry: how patient a call is.
        gate: share it between models of one server, so that they wait together when the server is asked too often.
        on_wait: called before each wait.
        on_notice: called with a line that the user should see; an answer is given all the same.
    """

    timeout: float | None
    retry: RetryPolicy
    gate: Gate
    on_wait: OnWait | None
    on_notice: Callable[[str], None] | None


class ServedModel(ABC, Generic[Client]):
    """A model behind a server. Use it within one event loop, and close it there.

    Args:
        server: where it is, and what it is called there.
        options: what is sent besides the prompt; None leaves an option to the server.
        patience: how long it is waited for.
        structured: the form of answers is enforced.
        logprobs: log-probabilities of tokens are kept.

    Raises:
        UsageError: no model is named, or no connection can be set up.
    """

    backend: str

    def __init__(
        self, server: Server, options: dict[str, Any], patience: Patience, *, structured: bool, logprobs: bool
    ) -> None:
        if unknown := patience.keys() - Patience.__annotations__.keys():
            raise TypeError(f"no argument of a model: {', '.join(sorted(unknown))}")
        if not server.model.strip():
            raise UsageError(f"the {self.backend} backend needs a model: name one with --model NAME")
        self.name = server.model
        self.options = options | chosen(structured=structured, logprobs=logprobs)
        self._structured, self._logprobs = structured, logprobs
        on = {"--structured": structured, "--logprobs": logprobs}
        self._switches = [switch for switch, given in on.items() if given]
        self.timeout = patience.get("timeout", 600.0)
        self.retry = patience.get("retry", DEFAULT_POLICY)
        self.gate = patience.get("gate") or Gate()
        self.on_wait = patience.get("on_wait")
        self.on_notice = patience.get("on_notice")
        self._server = server
        self._clients = Clients(self._set_up)

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
        for client in self._clients.all:
            await client.close()

    def _set_up(self) -> Client:
        try:
            return self._connect(CONNECT_SECONDS if self.timeout is None else min(CONNECT_SECONDS, self.timeout))
        except (ImportError, ValueError, OSError) as error:
            raise UsageError(
                f"no connection can be set up ({error}): check the proxy variables and SSL_CERT_FILE"
            ) from None

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
