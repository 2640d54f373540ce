"""Run OpenEvolve for real with a stub model, without a network: `python run_openevolve.py OUT [--iterations N]`.

Needs the package `openevolve`. The program states where a function has its peak, which is at 3; the stub model moves
it by a diff, and refers to the best program that its prompt shows. About one answer in seven cannot be read.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import re
from pathlib import Path
from typing import Any

from openevolve import OpenEvolve
from openevolve.config import Config, LLMModelConfig

PROGRAM = """# EVOLVE-BLOCK-START
def guess():
    return 0.0
# EVOLVE-BLOCK-END
"""
EVALUATOR = """from pathlib import Path

from openevolve.evaluation_result import EvaluationResult


def evaluate(program_path):
    names = {}
    exec(Path(program_path).read_text(), names)
    value = names["guess"]()
    score = round(1 / (1 + abs(value - 3.0)), 4)
    return EvaluationResult(
        metrics={"combined_score": score, "above_zero": float(value > 0)},
        artifacts={"stderr": f"value {value} is {'below' if value < 3 else 'at or above'} the peak"},
    )
"""
VALUE = re.compile(r"return (-?[\d.]+)")


class Stub:
    """A model that answers with a diff of the program in its prompt."""

    def __init__(self, config: LLMModelConfig) -> None:
        self.name = self.model = config.name

    async def generate(self, prompt: str, **options: Any) -> str:
        """Answer a prompt without a system message."""
        return await self.generate_with_context("", [{"role": "user", "content": prompt}], **options)

    async def generate_with_context(self, system_message: str, messages: list[dict[str, str]], **options: Any) -> str:
        """Answer a prompt, by chance: of two answers to one prompt one may be unreadable."""
        prompt = messages[-1]["content"]
        draw = random.SystemRandom()
        if draw.random() < 1 / 7:
            return "I would rather not change this program."
        current = VALUE.findall(prompt)[-1]
        shown = [
            (float(score), number) for number, score in re.findall(r"### Program (\d+) \(Score: ([\d.]+)\)", prompt)
        ]
        reason = (
            f"Program {max(shown)[1]} has the highest score, so I move towards it." if shown else "I try another value."
        )
        new = round(float(current) + draw.choice([-0.5, 0.25, 0.5, 1.0]), 2)
        return f"{reason}\n\n<<<<<<< SEARCH\n    return {current}\n=======\n    return {new}\n>>>>>>> REPLACE\n"


async def run(out: Path, iterations: int) -> None:
    """Evolve with a trace of all that it can hold, and a checkpoint every five iterations."""
    out.mkdir(parents=True, exist_ok=True)
    program, evaluator = out / "initial_program.py", out / "evaluator.py"
    program.write_text(PROGRAM)
    evaluator.write_text(EVALUATOR)
    config = Config(max_iterations=iterations, checkpoint_interval=5, random_seed=1, max_tasks_per_child=None)
    config.llm.models = [LLMModelConfig(name="stub", init_client=Stub)]
    config.llm.evaluator_models = config.llm.models
    config.evaluator.cascade_evaluation = False
    config.evaluator.parallel_evaluations = 1
    config.database.num_islands = 2
    config.database.population_size = 12
    config.database.archive_size = 4
    config.evolution_trace.enabled = True
    config.evolution_trace.include_code = True
    config.evolution_trace.buffer_size = 1
    evolution = OpenEvolve(str(program), str(evaluator), config=config, output_dir=str(out))
    await evolution.run(iterations=iterations)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--iterations", type=int, default=20)
    arguments = parser.parse_args()
    asyncio.run(run(arguments.out, arguments.iterations))
