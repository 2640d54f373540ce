"""Run ShinkaEvolve for real with a stub model, without a network: `python run_shinka.py OUT [--iterations N]`.

Needs the package `shinka-evolve`. The program states a number, whose score is highest at 3; the stub model moves it, by
a diff or a full rewrite. A program that states a number above 4 is incorrect, and one answer in seven cannot be read.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from pathlib import Path
from typing import Any

PROGRAM = """# EVOLVE-BLOCK-START
def guess():
    return 0.0
# EVOLVE-BLOCK-END


def run_experiment(seed):
    return guess()
"""
EVALUATOR = """import argparse

from shinka.core import run_shinka_eval


def score(results):
    value = results[0]
    return {
        "combined_score": round(1 / (1 + abs(value - 3.0)), 4),
        "public": {"value": value},
        "private": {"peak": 3.0},
        "text_feedback": "below the peak" if value < 3 else "at or above the peak",
    }


parser = argparse.ArgumentParser()
parser.add_argument("--program_path")
parser.add_argument("--results_dir")
options = parser.parse_args()
run_shinka_eval(
    program_path=options.program_path,
    results_dir=options.results_dir,
    experiment_fn_name="run_experiment",
    num_runs=1,
    aggregate_metrics_fn=score,
    validate_fn=lambda value: (value <= 4, None if value <= 4 else "too large"),
)
"""


def use_stub() -> None:
    """Put a stub in the place of the calls of model servers."""
    from shinka.llm import llm
    from shinka.llm.providers import QueryResult

    draw = random.Random(5)

    def answer(msg: str, system_msg: str) -> str:
        if draw.random() < 1 / 7:
            return "I would rather not change this program."
        current = re.findall(r"return (-?[\d.]+)", msg)[-1]
        new = round(float(current) + draw.choice([-0.5, 0.25, 0.5, 1.0]), 2)
        reason = "The best program shown is higher, so I move up."
        head = f"<NAME>\nmove_the_guess\n</NAME>\n\n<DESCRIPTION>\n{reason}\n</DESCRIPTION>\n\n"
        if "SEARCH" in system_msg + msg:
            diff = f"<<<<<<< SEARCH\n    return {current}\n=======\n    return {new}\n>>>>>>> REPLACE"
            return f"{head}<DIFF>\n{diff}\n</DIFF>\n"
        return f"{head}<CODE>\n```python\n{PROGRAM.replace('0.0', str(new))}\n```\n</CODE>\n"

    async def query_async(
        model_name: str, msg: str, system_msg: str, msg_history: list[dict[str, str]], *rest: Any, **options: Any
    ) -> QueryResult:
        content = answer(msg, system_msg)
        history = [*msg_history, {"role": "user", "content": msg}, {"role": "assistant", "content": content}]
        return QueryResult(
            content,
            msg,
            system_msg,
            history,
            model_name,
            {},
            len(msg) // 4,
            len(content) // 4,
            thought="A short thought.",
        )

    llm.query_async = query_async


def main() -> None:
    """Parse the command line and evolve."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--iterations", type=int, default=20)
    parser.add_argument(
        "--live", type=Path, help="also copy the database, with its write-ahead log, here while it is open"
    )
    args = parser.parse_args()

    use_stub()
    from shinka.core import EvolutionConfig, ShinkaEvolveRunner
    from shinka.database import DatabaseConfig
    from shinka.launch import LocalJobConfig

    random.seed(5)
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / "initial.py").write_text(PROGRAM)
    (args.out / "evaluate.py").write_text(EVALUATOR)
    runner = ShinkaEvolveRunner(
        evo_config=EvolutionConfig(
            task_sys_msg="State the number with the highest score.",
            num_generations=args.iterations,
            llm_models=["local/stub@http://127.0.0.1:9/v1"],
            llm_dynamic_selection=None,
            meta_rec_interval=None,
            embedding_model=None,
            init_program_path=str(args.out / "initial.py"),
            results_dir=str(args.out),
            use_text_feedback=True,
        ),
        job_config=LocalJobConfig(eval_program_path=str(args.out / "evaluate.py"), python_executable=sys.executable),
        db_config=DatabaseConfig(num_islands=2, archive_size=6, num_archive_inspirations=2, num_top_k_inspirations=1),
        max_evaluation_jobs=2,
        max_proposal_jobs=1,
        max_db_workers=1,
        verbose=False,
    )
    runner.run()
    if args.live:
        copy_with_log(args.out / "programs.sqlite", args.live)


def copy_with_log(database: Path, folder: Path) -> None:
    """Copy a database that is open, with its write-ahead log, which holds what the file itself lacks as yet."""
    folder.mkdir(parents=True, exist_ok=True)
    for ending in ("", "-wal"):
        (folder / f"programs.sqlite{ending}").write_bytes(Path(f"{database}{ending}").read_bytes())


if __name__ == "__main__":
    main()
