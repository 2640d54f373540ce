"""Throughput with a slow model: 256 runs in flight, each waiting for its answers.

    python -m benchmarks.concurrency
    python -m benchmarks.concurrency --http

The ideal is what the model could answer if nothing else took any time: as many answers per latency as there are runs.
The answers are ready-made, so that what is measured is ours: prompts, rollouts, reading, recording. With `--http` they
come from a server on the loopback, in a process of its own, through the Ollama client.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from rich.console import Console

from collector.cli.display import Quiet
from collector.llm.ollama import OllamaModel
from collector.llm.protocol import Completion, Model
from collector.plan import Request, plan
from collector.rollouts.evaluate import is_compiled
from collector.rollouts.workers import Workers
from collector.run_folder import RunFolder
from collector.sweep import sweep
from collector.tasks import get_task

RUNS = 256
SECONDS = 5.0
ITERATIONS = 4
ENV = "cartpole"
ANSWER = "The worst rollout drifts to the left, the others hold. " * 30 + ", ".join(
    f"params[{index}]: 1" for index in range(get_task(ENV).space.size)
)


class Patient:
    """A model that takes its time over a ready-made answer."""

    backend, name = "simulated", "patient"
    options: dict[str, Any] = {}  # noqa: RUF012 - the protocol's own name and type

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    async def complete(self, prompt: str, *, seed: int) -> Completion:  # noqa: ARG002 - the protocol's own names
        """The answer, after a while."""
        await asyncio.sleep(self.seconds)
        return Completion(ANSWER)

    async def check(self) -> None:
        """It can always be used."""

    async def aclose(self) -> None:
        """It holds nothing."""


@dataclass(frozen=True, slots=True)
class Throughput:
    """What came out of a sweep.

    Attributes:
        share: of the ideal throughput.
        calls: answers given.
        processor_seconds: of this process, per answer.
        writing_share: of the time of a run in flight, spent on writing and syncing its records.
    """

    runs: int
    latency: float
    share: float
    calls: int
    processor_seconds: float
    writing_share: float


async def measure(model: Model, *, runs: int, seconds: float, iterations: int, out: Path) -> Throughput:
    """Sweep once."""
    request = Request(
        envs=[ENV], variants=["threetraj"], runs=runs, iterations=iterations, backend="simulated", model=model.name,
        options={}, warmup=5,
    )  # fmt: skip
    specs = plan(request)
    is_compiled(get_task(ENV))
    with Workers() as workers, Quiet(Console(stderr=True, quiet=True), runs) as display, _writing() as spent:
        await workers(int, 0)  # the processes have started before the clock does
        started, worked = time.perf_counter(), time.process_time()
        outcome = await sweep(specs, out, model, offload=workers, display=display, concurrency=runs)
        taken, worked = time.perf_counter() - started, time.process_time() - worked
    await model.aclose()
    assert not outcome.failures, outcome.failures
    calls = sum(path.read_bytes().count(b"\n") for path in out.rglob("calls.jsonl"))
    return Throughput(
        runs=runs,
        latency=seconds,
        share=calls / taken / (runs / seconds),
        calls=calls,
        processor_seconds=worked / calls,
        writing_share=sum(spent) / (runs * taken),
    )


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


async def _serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, seconds: float) -> None:
    """Answer chat requests as Ollama does, each after a while."""
    while head := await _head(reader):
        lines = head.decode().split("\r\n")
        length = next((int(line.split(":")[1]) for line in lines if line.lower().startswith("content-length:")), 0)
        await reader.readexactly(length)
        answer: dict[str, object] = {"capabilities": [], "model_info": {}}
        if "/api/chat" in lines[0]:
            await asyncio.sleep(seconds)
            answer = {"model": "patient", "message": {"role": "assistant", "content": ANSWER}, "done": True}
        data = json.dumps(answer).encode()
        writer.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(data) + data
        )
        await writer.drain()
    writer.close()


async def _head(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return b""


def serve(seconds: float, port: Connection) -> None:
    """Run the server until the process is ended; its port is sent first."""

    async def forever() -> None:
        server = await asyncio.start_server(
            lambda r, w: _serve(r, w, seconds), "127.0.0.1", 0, limit=2**24, backlog=1024
        )
        port.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(forever())


@contextmanager
def _http(seconds: float) -> Iterator[Model]:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    server = context.Process(target=serve, args=(seconds, theirs), daemon=True)
    server.start()
    try:
        yield OllamaModel("patient", host=f"http://127.0.0.1:{ours.recv()}")
    finally:
        server.terminate()


def throughput(
    *, runs: int = RUNS, seconds: float = SECONDS, iterations: int = ITERATIONS, http: bool = False
) -> Throughput:
    """Measure in a temporary folder."""
    size = {"runs": runs, "seconds": seconds, "iterations": iterations}
    with tempfile.TemporaryDirectory() as out:
        if not http:
            return asyncio.run(measure(Patient(seconds), **size, out=Path(out)))  # type: ignore[arg-type]
        with _http(seconds) as model:
            return asyncio.run(measure(model, **size, out=Path(out)))  # type: ignore[arg-type]


def line(result: Throughput) -> str:
    """The result, to print."""
    return (
        f"{result.runs} runs in flight, {result.latency:g} s an answer: {result.share:.1%} of the ideal throughput, "
        f"{1000 * result.processor_seconds:.2f} ms of processor an answer, "
        f"{result.writing_share:.2%} of a run's time for writing its records"
    )


def main() -> None:
    """Print the share of the ideal throughput."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--iterations", type=int, default=ITERATIONS)
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("--http", action="store_true", help="through a real server and the Ollama client")
    options = parser.parse_args()
    print(line(throughput(**vars(options))))


if __name__ == "__main__":
    main()
