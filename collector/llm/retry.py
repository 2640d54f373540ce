"""One retry policy for every server: growing, jittered waits, and a gate that all calls to a limited server share."""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeVar

from collector.errors import ModelError
from collector.llm.faults import CallError, EmptyAnswerError, Kind, UnusableAnswerError

T = TypeVar("T")

OnWait = Callable[[str, float], None]
"""Called before each wait with its reason and its seconds."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How patient one call is; waits are in seconds.

    Attributes:
        attempts: tries at a server that is down, failing, or sends what cannot be read.
        unanswered_attempts: tries at a server that takes no connection in time: it is busy, or this machine is.
        limited_attempts: tries at a server that limits how often it is asked.
        timed_out_attempts: tries when no full answer comes in time. Few, since each costs the whole time of a call.
        empty_attempts: tries when the answer has no text. Few, since the same seed mostly gives the same answer.
        broken_attempts: tries when the server broke the answer off.
        first_wait: wait after the first failure; it doubles with each further one of the same kind.
        longest_wait: bound of that growth.
        longest_retry_after: bound of the wait that a server may ask for.
        total_wait: bound of all waits of one call together.
    """

    attempts: int = 8
    unanswered_attempts: int = 8
    limited_attempts: int = 30
    timed_out_attempts: int = 2
    empty_attempts: int = 2
    broken_attempts: int = 3
    first_wait: float = 1.0
    longest_wait: float = 60.0
    longest_retry_after: float = 300.0
    total_wait: float = 1800.0

    def tries(self, kind: Kind) -> int:
        """Attempts of a call that may end in this kind of failure."""
        return {
            Kind.REFUSED: 1,
            Kind.UNUSABLE: 1,  # the caller records it, and asks again with another seed
            Kind.FAILED: self.attempts,
            Kind.UNANSWERED: self.unanswered_attempts,
            Kind.LIMITED: self.limited_attempts,
            Kind.TIMED_OUT: self.timed_out_attempts,
            Kind.EMPTY: self.empty_attempts,
            Kind.BROKEN: self.broken_attempts,
        }[kind]

    def backoff(self, failures: int) -> float:
        """Seconds to wait after so many failures of one kind: doubling, bounded, and between half and all of it."""
        # The exponent is bounded so that no number of failures overflows a float.
        bound = min(self.first_wait * 2.0 ** min(failures - 1, 60), self.longest_wait)
        return bound * random.uniform(0.5, 1.0)


DEFAULT_POLICY = RetryPolicy()


@dataclass(slots=True)
class Gate:
    """When a server may be asked again: shared by all calls to it, so that one refusal makes all of them wait.

    It holds a time and nothing of an event loop. `now` and `sleep` are the clock, in seconds.
    """

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    opens_at: float = field(default=0.0, init=False)
    reason: str = field(default="", init=False)

    def close(self, seconds: float, reason: str) -> None:
        """Make all calls wait for at least so long."""
        opens_at = self.now() + seconds
        if opens_at > self.opens_at:
            self.opens_at, self.reason = opens_at, reason

    def seconds_left(self) -> float:
        """Seconds until it opens; zero or less if it is open."""
        return self.opens_at - self.now()


async def persist(
    attempt: Callable[[], Awaitable[T]], *, policy: RetryPolicy, gate: Gate, on_wait: OnWait | None = None
) -> T:
    """Try until it works, or until the policy allows no further try.

    Args:
        attempt: one try; its failures are CallErrors.
        policy: how often and how long.
        gate: the server's gate.
        on_wait: called before each wait.

    Raises:
        ModelError: the last failure, with what it took; an UnusableAnswerError if there is an answer to record.
    """
    failures: Counter[Kind] = Counter()
    tries, waited = 0, 0.0

    async def wait(reason: str, seconds: float) -> None:
        nonlocal waited
        waited += seconds
        if on_wait:
            on_wait(reason, seconds)
        await gate.sleep(seconds)

    async def admitted() -> T:
        """One try, once the gate is open."""
        nonlocal tries
        while (left := gate.seconds_left()) > 0:
            # Those who wait here come back one after another, not all in the same moment.
            seconds = left + random.uniform(0, policy.first_wait)
            if waited + seconds > policy.total_wait:
                raise CallError(Kind.REFUSED, gate.reason, "run fewer at once, or try later")
            await wait(gate.reason, seconds)
        tries += 1
        return await attempt()

    while True:
        try:
            return await admitted()
        except CallError as error:
            failures[error.kind] += 1
            seconds = policy.backoff(failures[error.kind])
            if error.retry_after is not None:
                seconds = min(error.retry_after, policy.longest_retry_after) + random.uniform(0, policy.first_wait)
            # Before it is known whether this call goes on, since the others must wait either way.
            if error.kind is Kind.LIMITED or error.retry_after is not None:
                gate.close(seconds, error.what)
            if failures[error.kind] >= policy.tries(error.kind) or waited + seconds > policy.total_wait:
                # The chain is cut: the full text of a server or a client may hold the key.
                raise _verdict(error, tries, waited) from None
            what = error.what
        await wait(what, seconds)


def _verdict(error: CallError, tries: int, waited: float) -> ModelError:
    """The error that the caller gets."""
    cost = f" (gave up after {tries} tries and {waited:.0f} s of waiting)" if tries > 1 else ""
    if error.completion is None:
        return ModelError(f"{error}{cost}")
    kind = EmptyAnswerError if error.kind is Kind.EMPTY else UnusableAnswerError
    return kind(f"{error}{cost}", error.completion)
