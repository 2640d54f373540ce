"""How long and how often a call is tried again, and how calls wait together. No test waits in earnest."""

import asyncio
import ssl
from dataclasses import replace
from datetime import UTC, datetime
from itertools import product

import pytest

from collector.errors import ModelError
from collector.llm.address import parse_address
from collector.llm.faults import CallError, Kind, Server, parse_retry_after
from collector.llm.retry import Gate, RetryPolicy, persist
from tests.collector.llm.loopback import OLLAMA, Reply

POLICY = RetryPolicy(attempts=5, limited_attempts=5, first_wait=1.0, longest_wait=4.0, longest_retry_after=60.0)


class Script:
    """An attempt that fails as scripted and then answers."""

    def __init__(self, *errors):
        self.errors = list(errors)
        self.tries = 0

    async def __call__(self):
        self.tries += 1
        if self.errors:
            raise self.errors.pop(0)
        return "answer"


def failed(retry_after=None):
    return CallError(Kind.FAILED, "the server failed", "look", retry_after=retry_after)


def limited(retry_after=None):
    return CallError(Kind.LIMITED, "the server is busy", "wait", retry_after=retry_after)


def timed_out():
    return CallError(Kind.TIMED_OUT, "too slow", "wait")


def run(attempt, clock, policy=POLICY, **options):
    gate = Gate(now=clock.now, sleep=clock.sleep)
    return asyncio.run(persist(attempt, policy=policy, gate=gate, **options))


EACH_KIND = {Kind.REFUSED: 1, Kind.FAILED: 8, Kind.LIMITED: 30, Kind.TIMED_OUT: 2, Kind.EMPTY: 2}


def test_waits_double_up_to_a_bound_and_vary(clock):
    assert run(Script(*[failed() for _ in range(4)]), clock) == "answer"
    for bound, seconds in zip((1, 2, 4, 4), clock.slept, strict=True):
        assert bound / 2 <= seconds <= bound
    assert len({POLICY.backoff(9) for _ in range(20)}) > 1
    assert POLICY.backoff(10_000) <= 4.0


def test_each_kind_of_failure_has_its_own_number_of_tries(clock):
    for kind, tries in EACH_KIND.items():
        attempt = Script(*[CallError(kind, "what", "todo") for _ in range(50)])
        with pytest.raises(ModelError, match="what: todo"):
            run(attempt, clock, RetryPolicy(total_wait=1e9))
        assert attempt.tries == tries, kind
    mixed = Script(*[limited() for _ in range(4)], timed_out(), *[failed() for _ in range(4)])
    assert run(mixed, clock) == "answer"


def test_all_waits_together_are_bounded(clock):
    with pytest.raises(ModelError, match="gave up after 3 tries and 20 s of waiting"):
        run(Script(*[failed(retry_after=10) for _ in range(9)]), clock, replace(POLICY, total_wait=29, first_wait=0.0))
    clock.slept.clear()
    with pytest.raises(ZeroDivisionError):  # no fault of the server
        run(Script(ZeroDivisionError()), clock)
    assert clock.slept == []


def test_the_wait_that_a_server_asks_for_is_cached_up_to_a_bound(clock):
    for error, (asked, waited) in product((failed, limited), [(0, 0), (2.5, 2.5), (60, 60), (86_400, 60)]):
        clock.slept.clear()
        assert run(Script(error(retry_after=asked)), clock) == "answer"
        assert waited <= clock.slept[0] <= waited + POLICY.first_wait
        assert len(clock.slept) == 1


NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)
HEADERS = [
    (None, None),
    ("12", 12.0),
    (" 1.5 ", 1.5),
    ("-3", 0.0),
    ("Sun, 01 Mar 2026 12:00:30 GMT", 30.0),
    ("Sun, 01 Mar 2026 12:00:30", 30.0),
    ("Sun, 01 Mar 2026 13:00:30 +0100", 30.0),
    ("Sun, 01 Mar 2026 11:00:00 GMT", 0.0),
    ("soon", None),
    ("", None),
    ("nan", None),
    ("inf", None),
]


def test_retry_after_is_seconds_or_a_date(server, dialect, clock):
    assert [parse_retry_after(header, now=NOW) for header, _ in HEADERS] == [seconds for _, seconds in HEADERS]
    busy = Reply(429, headers={"Retry-After": "17"})
    dialect.asked(server, busy, dialect.answer(), gate=Gate(now=clock.now, sleep=clock.sleep))
    assert 17 <= clock.slept[0] <= 18


def test_one_refusal_makes_the_others_wait(clock):
    """The second call starts while the gate is closed: it is not sent before the gate opens."""
    gate = Gate(now=clock.now, sleep=clock.sleep)
    waits, sent = [], []

    async def second():
        sent.append(clock.time)
        return "answer"

    async def both():
        with pytest.raises(ModelError):
            await persist(Script(limited(retry_after=30)), policy=replace(POLICY, limited_attempts=1), gate=gate)
        await persist(second, policy=POLICY, gate=gate, on_wait=lambda *wait: waits.append(wait))

    asyncio.run(both())
    assert sent[0] >= 1030
    assert [reason for reason, _ in waits] == ["the server is busy"]
    assert [seconds for _, seconds in waits] == clock.slept


def test_models_that_share_a_gate_wait_together(server, clock):
    server.replies[OLLAMA.chat] = [Reply(429, headers={"Retry-After": "30"}), OLLAMA.answer()]
    gate = Gate(now=clock.now, sleep=clock.sleep)
    waits = []

    async def both():
        hasty = OLLAMA.model(server, gate=gate, retry=replace(POLICY, limited_attempts=1))
        other = OLLAMA.model(server, gate=gate, on_wait=lambda *wait: waits.append(wait))
        with pytest.raises(ModelError):
            await hasty.complete("What next?", seed=1)
        await other.complete("What next?", seed=1)
        await hasty.aclose()
        await other.aclose()

    asyncio.run(both())
    assert len(server.requests) == 2
    assert 30 <= waits[0][1] <= 32


def test_a_gate_that_stays_closed_is_not_waited_for_without_end(clock):
    gate = Gate(now=clock.now, sleep=clock.sleep)
    asyncio.run(persist(Script(failed()), policy=POLICY, gate=gate))
    assert gate.seconds_left() <= 0  # a failure without a wait that was asked for holds nobody else up
    gate.close(100, "the server is busy")
    gate.close(5, "short")
    assert (gate.seconds_left(), gate.reason) == (pytest.approx(100), "the server is busy")
    attempt = Script()
    with pytest.raises(ModelError, match="the server is busy: run fewer at once"):
        asyncio.run(persist(attempt, policy=replace(POLICY, total_wait=99), gate=gate))
    assert attempt.tries == 0


def test_a_certificate_that_is_not_trusted_is_not_tried_again():
    address = parse_address("https://example.org/v1", source="test")
    server = Server("the server", address, "m", None, "", "", "", "", "")
    error = ConnectionError()
    error.__cause__ = ssl.SSLCertVerificationError("self-signed")
    failure = server.unreachable(error)
    assert failure.kind is Kind.REFUSED
    assert "certificate of the server at https://example.org/v1 is not trusted" in str(failure)
