"""Throughput with a slow server: 32 runs in flight against one that takes a second an answer.

    python -m benchmarks.concurrency

The server is a real one on the loopback, in a process of its own, spoken to through the Ollama client. The ideal is
what it could answer if nothing else took any time: as many answers a second as there are runs in flight.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import tempfile
import time
from multiprocessing.connection import Connection
from pathlib import Path

from rich.console import Console

from collector.display import Quiet
from collector.llm.ollama import OllamaModel
from collector.llm.simulated import SimulatedModel
from collector.plan import Request, plan
from collector.sweep import sweep
from collector.workers import Workers


async def _serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, seconds: float) -> None:
    """Answer chat requests as Ollama does, each after a while, with the simulated model's words."""
    model = SimulatedModel()
    while head := await _head(reader):
        lines = head.decode().split("\r\n")
        length = next((int(line.split(":")[1]) for line in lines if line.lower().startswith("content-length:")), 0)
        body = json.loads(await reader.readexactly(length) or b"{}")
        answer: dict[str, object] = {"capabilities": [], "model_info": {}}
        if "/api/chat" in lines[0]:
            asked = asyncio.sleep(seconds)
            completion = model.answer(body["messages"][-1]["content"], body["options"]["seed"])
            await asked
            answer = {
                "model": body["model"],
                "message": {"role": "assistant", "content": completion.text},
                "done": True,
            }
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
    """Run the server until the process is ended; tells its port first."""

    async def forever() -> None:
        server = await asyncio.start_server(lambda r, w: _serve(r, w, seconds), "127.0.0.1", 0, limit=2**24)
        port.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(forever())


async def measure(port: int, *, runs: int, iterations: int, seconds: float, out: Path) -> float:
    """Answers a second, divided by the ideal."""
    model = OllamaModel("slow", host=f"http://127.0.0.1:{port}")
    request = Request(
        envs=["frozenlake"], variants=["threetraj"], runs=runs, iterations=iterations, backend="ollama", model="slow",
        options={}, warmup=5,
    )  # fmt: skip
    with Workers() as workers, Quiet(Console(stderr=True), runs) as display:
        await workers(int, 0)  # the processes have started before the clock does
        started = time.perf_counter()
        outcome = await sweep(plan(request), out, model, offload=workers, display=display, concurrency=runs)
        taken = time.perf_counter() - started
    await model.aclose()
    assert not outcome.failures, outcome.failures
    calls = sum(path.read_bytes().count(b"\n") for path in out.rglob("calls.jsonl"))
    return calls / taken / (runs / seconds)


def main() -> None:
    """Print the share of the ideal throughput."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=32)
    parser.add_argument("--iterations", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=1.0)
    options = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    server = context.Process(target=serve, args=(options.seconds, theirs), daemon=True)
    server.start()
    with tempfile.TemporaryDirectory() as out:
        size = {"runs": options.runs, "iterations": options.iterations, "seconds": options.seconds}
        share = asyncio.run(measure(ours.recv(), **size, out=Path(out)))
    server.terminate()
    print(f"{options.runs} runs in flight, {options.seconds:g} s an answer: {share:.1%} of the ideal throughput")


if __name__ == "__main__":
    main()
