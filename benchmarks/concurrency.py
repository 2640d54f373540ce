"""Throughput with many calls in flight: of a sweep, of `audit judge` and of `audit intervene run`.

    python -m benchmarks.concurrency
    python -m benchmarks.concurrency --command judge --server ollama --in-flight 64 --seconds 0.05

The ideal is what the model could answer if nothing else took any time: as many answers per latency as there are calls
in flight. The answers are ready-made, so that what is measured is ours: prompts, calls, rollouts, reading, recording.
They come from a server on the loopback, in a process of its own, or from a model within this one, whose cost is none.
Processor time is that of this process, for answers beyond those that the command does without any.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import io
import json
import multiprocessing
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final

from rich.console import Console

from collector.cli.display import Quiet
from collector.llm.backends import make_model
from collector.llm.form import Form
from collector.llm.protocol import Completion, Model
from collector.plan import Request, plan
from collector.rollouts.evaluate import is_compiled
from collector.rollouts.workers import Workers
from collector.run_folder import RunFolder
from collector.sweep import states, sweep
from collector.tasks import get_task

IN_FLIGHT: Final = 256
ENV: Final = "cartpole"
MODEL: Final = "patient"
SIZE: Final = get_task(ENV).space.size
EXPLANATION: Final = "The worst rollout drifts to the left, the others hold. " * 30
VERDICT: Final = json.dumps({"driver": "worst", "sentence": EXPLANATION[:54], "mentions_worst": True})
COMMANDS: Final = ("collect", "judge", "intervene")


def ready_made(number: int) -> str:
    """An answer that can be read and that no other is the same as; a judge finds its verdict in it."""
    values = (f"params[{index}]: {(7 * number + 3 * index) % 100 / 10 - 5:.1f}" for index in range(SIZE))
    return f"{', '.join(values)}\n{EXPLANATION}Answer {number}.\n{VERDICT}"


class Patient:
    """A model in this process that takes its time over a ready-made answer."""

    backend, name = "simulated", MODEL
    options: dict[str, Any] = {}  # noqa: RUF012 - the protocol's own name and type

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    async def complete(self, prompt: str, *, seed: int, form: Form | None = None) -> Completion:  # noqa: ARG002 - the protocol's
        """The answer, after a while."""
        await asyncio.sleep(self.seconds)
        return Completion(ready_made(seed))

    async def check(self) -> None:
        """It can always be used."""

    async def aclose(self) -> None:
        """It holds nothing."""


@dataclass(frozen=True, slots=True)
class Throughput:
    """What came out.

    Attributes:
        command: what asked.
        server: what answered; None for the model in this process.
        in_flight: calls at once.
        latency: seconds that an answer takes.
        answers: how many there were.
        a_second: how many of them.
        share: of the ideal throughput; None where answers come at once.
        processor_seconds: of this process, per answer.
        writing_share: of the time of a call in flight, spent on writing and syncing records; only of a sweep.
    """

    command: str
    server: str | None
    in_flight: int
    latency: float
    answers: int
    a_second: float
    share: float | None
    processor_seconds: float
    writing_share: float | None = None


def throughput(
    *,
    command: str = "collect",
    server: str | None = None,
    in_flight: int = IN_FLIGHT,
    seconds: float = 2.0,
    answers: int | None = None,
) -> Throughput:
    """Measure in a temporary folder.

    Args:
        command: one of `COMMANDS`.
        server: `ollama` or `openai`, as which the server answers; None for the model in this process.
        in_flight: calls at once.
        seconds: that an answer takes.
        answers: about how many; by default eight for each call in flight.
    """
    count = max(1, (answers or 8 * in_flight) // in_flight)
    with tempfile.TemporaryDirectory() as folder, _served(server, seconds) as options:
        if command == "collect":
            model = Patient(seconds) if server is None else make_model(server, model=MODEL, **options)
            with _writing() as spent:
                answered, taken, worked = asyncio.run(_sweep(model, in_flight, (count + 1) // 2, Path(folder)))
            writing = sum(spent) / (in_flight * taken)
        else:
            assert server is not None, "only a sweep asks a model within this process"
            asyncio.run(_sweep(Patient(0.0), in_flight, count, Path(folder)))
            ask = _judge if command == "judge" else _intervene
            answered, taken, worked = ask(Path(folder), in_flight, {"backend": server, "model": MODEL, **options})
            writing = None
    ideal = in_flight / seconds if seconds else None
    rate = answered / taken
    share = rate / ideal if ideal else None
    return Throughput(command, server, in_flight, seconds, answered, rate, share, worked / answered, writing)


async def _sweep(model: Model, runs: int, iterations: int, out: Path) -> tuple[int, float, float]:
    """Sweep once; answers, seconds and processor seconds. An iteration has two answers."""
    request = Request(
        envs=[ENV], variants=["threetraj"], runs=runs, iterations=iterations, backend="simulated", model=model.name,
        options={}, warmup=5, condition="bench",
    )  # fmt: skip
    specs = plan(request)
    is_compiled(get_task(ENV))
    with Workers() as workers, Quiet(Console(stderr=True, quiet=True), states(specs, out)) as display:
        started, worked = time.perf_counter(), time.process_time()
        outcome = await sweep(specs, out, model, offload=workers, display=display, concurrency=runs)
        taken, worked = time.perf_counter() - started, time.process_time() - worked
    await model.aclose()
    assert not outcome.failures, outcome.failures[0]
    return 2 * runs * iterations, taken, worked


def _judge(folder: Path, in_flight: int, options: dict[str, Any]) -> tuple[int, float, float]:
    from audit.judging.judge import judge

    out = folder / "judgements.jsonl"
    return _beyond_its_start(lambda: judge(folder / "bench", out=out, concurrency=in_flight, **options), out)


def _intervene(folder: Path, in_flight: int, options: dict[str, Any]) -> tuple[int, float, float]:
    from audit.interventions.intervene import intervene_plan, intervene_run

    path = folder / "plan.json"
    units = max(2, sum(1 for _ in folder.rglob("episodes.jsonl")) // 4)
    with contextlib.redirect_stderr(io.StringIO()):
        intervene_plan(folder / "bench", out=path, units=units, rollouts=0, permutations=99, anyway=True, **options)
    return _beyond_its_start(
        lambda: intervene_run(path, concurrency=in_flight), path.with_name(f"{path.stem}.answers.jsonl")
    )


def _beyond_its_start(command: Callable[[], object], file: Path) -> tuple[int, float, float]:
    """Answers, seconds and processor seconds of a command, less those of the same command when all is answered."""
    spent: list[tuple[float, float]] = []
    with contextlib.redirect_stderr(io.StringIO()):
        for _ in range(2):
            started, worked = time.perf_counter(), time.process_time()
            command()
            spent.append((time.perf_counter() - started, time.process_time() - worked))
    (taken, worked), (start, again) = spent
    return file.read_bytes().count(b"\n"), taken - start, worked - again


@contextmanager
def _writing() -> Iterator[list[float]]:
    """Seconds of every write of a record."""
    spent: list[float] = []
    append = RunFolder.append

    def timed(self: RunFolder, record: Any) -> None:
        started = time.perf_counter()
        append(self, record)
        spent.append(time.perf_counter() - started)

    RunFolder.append = timed  # type: ignore[method-assign]
    try:
        yield spent
    finally:
        RunFolder.append = append  # type: ignore[method-assign]


class _Server:
    """Answers as Ollama and as OpenAI-compatible servers do, each answer after a while."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.calls = seconds, 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                lines = (await reader.readuntil(b"\r\n\r\n")).decode().lower().split("\r\n")
                length = next((int(line.split(":")[1]) for line in lines if line.startswith("content-length:")), 0)
                await reader.readexactly(length)
                data = json.dumps(await self.answer(lines[0])).encode()
                head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(data)
                writer.write(head + data)
                await writer.drain()
        writer.close()

    async def answer(self, request: str) -> dict[str, object]:
        """The body for a request."""
        if "/api/chat" not in request and "/chat/completions" not in request:
            return {"capabilities": [], "model_info": {}, "data": []}
        self.calls += 1
        number = self.calls
        await asyncio.sleep(self.seconds)
        message = {"role": "assistant", "content": ready_made(number)}
        if "/api/chat" in request:
            return {"model": MODEL, "message": message, "done": True, "prompt_eval_count": 900 + number}
        return {"choices": [{"message": message}], "usage": {"prompt_tokens": 900 + number, "completion_tokens": 400}}


def serve(seconds: float, port: Connection) -> None:
    """Run the server until the process is ended; its port is sent first."""

    async def forever() -> None:
        server = await asyncio.start_server(_Server(seconds).serve, "127.0.0.1", 0, limit=2**24, backlog=1024)
        port.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(forever())


@contextmanager
def _served(server: str | None, seconds: float) -> Iterator[dict[str, Any]]:
    """Options that lead to a server, while it runs."""
    if server is None:
        yield {}
        return
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=serve, args=(seconds, theirs), daemon=True)
    process.start()
    try:
        yield {"base_url": f"http://127.0.0.1:{ours.recv()}{'/v1' if server == 'openai' else ''}"}
    finally:
        process.terminate()


def line(result: Throughput) -> str:
    """The result, to print."""
    asked = f"a server ({result.server})" if result.server else "a model in this process"
    parts = [
        f"{result.command}, {asked}, {result.in_flight} in flight, {result.latency:g} s an answer: "
        f"{result.answers} answers, {result.a_second:.0f} a second"
    ]
    if result.share is not None:
        parts.append(f"{result.share:.1%} of the ideal throughput")
    parts.append(f"{1000 * result.processor_seconds:.2f} ms of processor time an answer")
    if result.writing_share is not None:
        parts.append(f"{result.writing_share:.2%} of a run's time for writing its records")
    return ", ".join(parts)


CASES: Final[tuple[dict[str, Any], ...]] = (
    {"seconds": 2.0},
    {"seconds": 5.0},
    *({"server": server, "seconds": 2.0} for server in ("ollama", "openai")),
    *({"server": server, "seconds": 0.05, "answers": 4096} for server in ("ollama", "openai")),
    {"server": "openai", "seconds": 0.0, "in_flight": 64, "answers": 2048},
    {"command": "judge", "server": "openai", "seconds": 2.0},
    {"command": "judge", "server": "openai", "seconds": 0.05, "in_flight": 64, "answers": 2048},
    {"command": "intervene", "server": "openai", "seconds": 0.05, "in_flight": 64, "answers": 2048},
)
"""What `python -m benchmarks throughput` measures."""


def results() -> Iterator[Throughput]:
    """All cases."""
    for case in CASES:
        yield throughput(**case)


def main() -> None:
    """Print one case, or all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--command", choices=COMMANDS, default="collect")
    parser.add_argument("--server", choices=("ollama", "openai"), help="answers come from a server on the loopback")
    parser.add_argument("--in-flight", type=int, default=IN_FLIGHT)
    parser.add_argument("--seconds", type=float, default=2.0, help="that an answer takes")
    parser.add_argument("--answers", type=int, help="about how many")
    parser.add_argument("--all", action="store_true", help="every case of docs/performance.md")
    options = vars(parser.parse_args())
    for result in results() if options.pop("all") else [throughput(**options)]:
        print(line(result), flush=True)


if __name__ == "__main__":
    main()
