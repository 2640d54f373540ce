"""Where the time goes when no real model is asked: prompts (writing and reading them) against rollouts.

python -m benchmarks.dry_path
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from collector.llm.protocol import Completion
from collector.llm.simulated import SimulatedModel
from collector.methods import METHODS
from collector.plan import Request, plan
from collector.prompts import Prompts
from collector.rollouts.evaluate import evaluate
from collector.run_folder import RunFolder
from collector.search import search, warm_up
from collector.tasks import TASKS

ITERATIONS = 10

T = TypeVar("T")


class _Timed(SimulatedModel):
    def __init__(self, spent: Counter[str]) -> None:
        super().__init__()
        self.spent = spent

    def answer(self, prompt: str, seed: int) -> Completion:
        started = time.perf_counter()
        completion = super().answer(prompt, seed)
        self.spent["prompts"] += time.perf_counter() - started  # type: ignore[assignment]
        return completion


def measure(env: str) -> Counter[str]:
    """Seconds spent on prompts (trajectory text, templates, the simulated model's reading) and on rollouts."""
    spent: Counter[str] = Counter()

    async def timed(function: Callable[..., T], *args: Any) -> T:
        started = time.perf_counter()
        result = function(*args)
        kind = "rollouts" if function in (evaluate, warm_up) else "prompts"
        spent[kind] += time.perf_counter() - started  # type: ignore[assignment]
        return result

    render = Prompts._render

    def timed_render(self: Prompts, template: str, **facts: object) -> str:
        started = time.perf_counter()
        text = render(self, template, **facts)
        spent["prompts"] += time.perf_counter() - started  # type: ignore[assignment]
        return text

    Prompts._render = timed_render  # type: ignore[method-assign]
    model = _Timed(spent)
    request = Request(
        envs=[env], variants=list(METHODS), runs=1, iterations=ITERATIONS, backend=model.backend, model=model.name,
        options=model.options,
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as out:
        for spec in plan(request):
            with RunFolder(Path(out) / spec.folder) as folder:
                asyncio.run(search(spec, folder, model, timed, lambda _: None))
    Prompts._render = render  # type: ignore[method-assign]
    return spent


def main() -> None:
    """Print one row a task, and the sum."""
    total: Counter[str] = Counter()
    for env in TASKS:
        spent = measure(env)
        total.update(spent)
        print(f"{env:<24} prompts {spent['prompts']:7.2f} s   rollouts {spent['rollouts']:7.2f} s", flush=True)
    share = total["prompts"] / total["rollouts"]
    print(f"all: prompts take {share:.1%} of the time of rollouts")


if __name__ == "__main__":
    main()
