"""The local language model: `collect` against llama.cpp, memory, several runs in flight, and readable answers.

python -m benchmarks.local
python -m benchmarks.local --readable data/real/local
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.processes import program, spent
from collector.llm.backends import make_model
from collector.llm.form import vector_form
from collector.llm.local.gguf import read_gguf
from collector.llm.local.model import BATCH
from collector.llm.local.packaged import find_model
from collector.llm.protocol import Model
from collector.policy import UnreadableAnswer, from_text
from collector.records import Call
from collector.system.cores import cores
from collector.tasks import get_task

ENV = "nim"
MAX_TOKENS = 160
CONTEXT = 8192
FLIGHT = 4
ITERATIONS = 4


@dataclass(frozen=True)
class Collected:
    """What a `collect` took: seconds of the whole process, the megabytes of its memory at most, and its calls."""

    seconds: float
    megabytes: float
    calls: Sequence[Call]

    @property
    def answer_tokens(self) -> int:
        """Tokens generated."""
        return sum(call.completion_tokens or 0 for call in self.calls)


def collect(*, runs: int, iterations: int, in_flight: int) -> Collected:
    """Collect a small run with the local model, in a process of its own."""
    with tempfile.TemporaryDirectory() as out:
        words = f"--backend local --env {ENV} --variant threetraj --runs {runs} --iterations {iterations} --quiet "
        words += f"--rollouts 5 --warmup 5 --max-tokens {MAX_TOKENS} --concurrency {in_flight} --out {out}"
        took = spent(program("collect", *words.split()))
        lines = [line for path in Path(out).rglob("calls.jsonl") for line in path.read_bytes().splitlines()]
        return Collected(took.seconds, took.megabytes, [msgspec.json.decode(line, type=Call) for line in lines])


def own_rates(prompts: Sequence[str]) -> tuple[float, float]:
    """Tokens a second of prompts and of answers, as llama.cpp measures them, asked directly with the same grammar."""
    server, timings = _server(slots=1), []
    for seed, prompt in enumerate(prompts):
        answer = server.handle_chat_completions(
            {
                "messages": [{"role": "user", "content": prompt}],
                "grammar": vector_form(get_task(ENV).space).grammar,
                "max_tokens": MAX_TOKENS,
                "seed": seed,
                "cache_prompt": False,
            }
        )
        timings.append(answer["timings"])
    rates = [
        sum(each[f"{part}_n"] for each in timings) / sum(each[f"{part}_ms"] for each in timings) for part in _PARTS
    ]
    return rates[0] * 1000, rates[1] * 1000


_PARTS = ("prompt", "predicted")


def own_generation(slots: int) -> float:
    """Tokens a second that llama.cpp alone generates for several short prompts, so many at a time."""
    server = _server(slots=slots)

    def ask(number: int) -> int:
        message = {"role": "user", "content": f"Tell a story about robot number {number}."}
        request = {"messages": [message], "max_tokens": MAX_TOKENS, "seed": number, "ignore_eos": True}
        return int(server.handle_chat_completions(request)["usage"]["completion_tokens"])

    started = time.perf_counter()
    with ThreadPoolExecutor(FLIGHT) as threads:
        return sum(threads.map(ask, range(FLIGHT))) / (time.perf_counter() - started)


def _server(*, slots: int) -> Any:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(find_model("smollm2"))
    params.n_ctx, params.n_parallel, params.verbosity, params.cache_ram_mib = CONTEXT * slots, slots, -1, 0
    params.n_batch = params.n_ubatch = BATCH
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = cores()
    return xllamacpp.Server(params)


def results() -> list[dict[str, Any]]:
    """The rows, printed one by one."""
    single = collect(runs=1, iterations=ITERATIONS, in_flight=1)
    prompt_rate, answer_rate = own_rates([call.prompt for call in single.calls])
    own = sum(
        (call.prompt_tokens or 0) / prompt_rate + (call.completion_tokens or 0) / answer_rate for call in single.calls
    )
    took = sum(call.seconds for call in single.calls)
    rows: list[dict[str, Any]] = [
        {
            "what": "calls of collect against the time that llama.cpp's own rates give for the same tokens",
            "prompt_tokens_a_second": prompt_rate,
            "answer_tokens_a_second": answer_rate,
            "seconds": took,
            "seconds_by_own_rates": own,
            "ratio": own / took,
        }
    ]
    print(f"llama.cpp alone: {prompt_rate:.0f} tokens a second of prompts, {answer_rate:.1f} of answers")
    print(
        f"collect: {took:.1f} s for {len(single.calls)} calls, {own:.1f} s by these rates: {own / took:.0%}", flush=True
    )
    file = read_gguf(find_model("smollm2"))
    needed = file.size + file.context_bytes(CONTEXT)
    rows.append({"what": "peak of memory", "megabytes": single.megabytes, "model_and_context": needed / 1e6})
    print(f"memory: {single.megabytes:.0f} MB at most, model and context are {needed / 1e6:.0f} MB", flush=True)
    alone = collect(runs=FLIGHT, iterations=(ITERATIONS + 1) // 2, in_flight=1)
    together = collect(runs=FLIGHT, iterations=(ITERATIONS + 1) // 2, in_flight=FLIGHT)
    rates = [each.answer_tokens / each.seconds for each in (alone, together)]
    ratio = rates[1] / rates[0]
    rows.append({"what": f"{FLIGHT} runs", "one_at_a_time": rates[0], "together": rates[1], "ratio": ratio})
    print(f"{FLIGHT} runs: {rates[0]:.1f} tokens a second one after the other, {rates[1]:.1f} together: {ratio:.2f}")
    own_single, own_batch = own_generation(1), own_generation(FLIGHT)
    rows.append({"what": "generation by llama.cpp alone", "one_at_a_time": own_single, "together": own_batch})
    print(f"generation alone: {own_single:.1f} and {own_batch:.1f} tokens a second: {own_batch / own_single:.2f}")
    return rows


def readable(records: Path, model: str) -> None:
    """Ask the prompts of some records once each, with the form enforced and without, and count what can be read."""
    found = [msgspec.json.decode(line, type=Call) for path in records.rglob("calls.jsonl") for line in path.open("rb")]
    prompts = list({call.prompt: call.env for call in found}.items())
    for structured in (True, False):
        texts = asyncio.run(_answers(prompts, make_model("local", model=model, structured=structured, max_tokens=192)))
        counted = Counter(_is_readable(env, text, structured) for (_, env), text in zip(prompts, texts, strict=True))
        form = "structured" if structured else "free"
        print(f"{form}: {counted[True]} of {len(prompts)} answers can be read", flush=True)


async def _answers(prompts: Sequence[tuple[str, str]], model: Model) -> list[str]:
    try:
        return [
            (await model.complete(prompt, seed=seed, form=vector_form(get_task(env).space))).text
            for seed, (prompt, env) in enumerate(prompts)
        ]
    finally:
        await model.aclose()


def _is_readable(env: str, text: str, structured: bool) -> bool:
    try:
        from_text(get_task(env).space, text.partition("\n")[0] if structured else text)
    except UnreadableAnswer:
        return False
    return True


def main() -> None:
    """Measure, or with --readable ask the prompts of some records."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--readable", type=Path, metavar="DIR", help="records whose prompts are asked again")
    parser.add_argument("--model", default="smollm2", help="for --readable: the model")
    given = parser.parse_args()
    if given.readable:
        readable(given.readable, given.model)
    else:
        results()


if __name__ == "__main__":
    main()
