"""Run GEPA for real with stub models, without a network: `python run_gepa.py OUT [--iterations N] …`.

Needs the package `gepa`, and for `--record` also `msgspec` and PYTHONPATH at the repository. The task is to state in
which season a month is. The stub of the task's model heeds the last seven months that its prompt names; the stub of the
reflector adds a month that it was shown wrong, removes one, or changes nothing of substance. So runs hold accepted,
rejected and tied revisions and minibatches that are perfect, at any length.
"""

from __future__ import annotations

import argparse
import csv
import inspect
import json
import random
import re
from pathlib import Path

import gepa
from gepa.adapters.default_adapter.default_adapter import DefaultAdapter, EvaluationResult

MONTHS = "January February March April May June July August September October November December".split()  # noqa: SIM905
SEASONS = [*["winter"] * 2, *["spring"] * 3, *["summer"] * 3, *["autumn"] * 3, "winter"]
SEED_PROMPT = "Name the season of the month on the northern hemisphere. June is in summer."


def answer(messages: list[dict[str, str]]) -> str:
    """The stub of the task's model: right for the last seven months that the prompt names, and for July by itself."""
    prompt, month = messages[0]["content"], messages[1]["content"]
    named = re.findall(r"(\w+) is in \w+\.", prompt)[-7:]
    return SEASONS[MONTHS.index(month)] if month in named or month == "July" else "I am not certain; perhaps monsoon"


def graded(data: dict[str, str], response: str) -> EvaluationResult:
    """A score of 0 to 1: right or wrong, and better for a short answer."""
    right = data["answer"] in response
    score = round((0.6 if right else 0.0) + 0.4 / (1 + len(response) / 20), 3)
    verdict = "right" if right else "wrong"
    feedback = f"This answer is {verdict}; the season of {data['input']} is {data['answer']}. It earned {score}."
    return EvaluationResult(score=score, feedback=feedback, objective_scores=None)


class Adapter(DefaultAdapter):
    """The default adapter, but that the task's model reads all components of the candidate and not only the first."""

    def evaluate(self, batch: list, candidate: dict[str, str], capture_traces: bool = False):
        return super().evaluate(batch, {"all": " ".join(candidate.values())}, capture_traces)


class Reflector:
    """The stub of the reflecting model: adds a month that it was shown, removes one, or changes nothing."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def __call__(self, prompt: str | list[dict[str, str]]) -> str:
        text = prompt if isinstance(prompt, str) else prompt[-1]["content"]
        current = re.search(r"```\n(.*?)\n```", text, re.DOTALL).group(1)
        blocks = re.split(r"^# Example ", text, flags=re.MULTILINE)[1:]
        wrong = [number for number, block in enumerate(blocks, 1) if re.search(r"incorrect|is wrong", block)]
        right = [number for number in range(1, len(blocks) + 1) if number not in wrong]
        choice = self.random.random()
        new, reason = f"{current} Answer with one word.", ""
        if choice < 0.5 and wrong:
            number, month = self.draw(wrong, blocks)
            new = f"{current} {month} is in {SEASONS[MONTHS.index(month)]}."
            reason = f"Example {number} went wrong: nothing is stated about {month}. I add it.\n\n"
        elif choice < 0.8 and right:
            number, month = self.draw(right, blocks)
            new = current.replace(f" {month} is in {SEASONS[MONTHS.index(month)]}.", "")
            reason = f"The model knows {month} by itself, as example {number} shows. The sentence about it goes.\n\n"
        return f"{reason}```\n{new}\n```"

    def draw(self, numbers: list[int], blocks: list[str]) -> tuple[int, str]:
        """One of the examples, and the month that it is about."""
        number = self.random.choice(numbers)
        return number, next(month for month in MONTHS if month in blocks[number - 1])


def track(path: Path) -> None:
    """Write the rows of the table `proposals`, as GEPA gives them to Weights & Biases or MLflow."""
    from gepa.logging.experiment_tracker import ExperimentTracker

    def log_table(self, table_name: str, columns: list[str], data: list[list]) -> None:
        if table_name.endswith("proposals"):
            is_new = not path.exists()
            with path.open("a", newline="") as file:
                csv.writer(file).writerows([*([columns] if is_new else []), *data])

    ExperimentTracker.log_table = log_table


def main() -> None:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path, help="GEPA's run folder")
    parser.add_argument("--iterations", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--graded", action="store_true", help="scores between 0 and 1 in place of 0 and 1")
    parser.add_argument("--components", type=int, default=1, help="named texts in a candidate")
    parser.add_argument("--parents", type=int, default=1, help="parents, and proposals, per iteration")
    parser.add_argument("--merge", action="store_true", help="merge candidates as well, without a reflector")
    parser.add_argument("--agent-state", action="store_true", help="write_agent_state, where this GEPA has it")
    parser.add_argument("--record", type=Path, help="also record with audit.recorders into this folder")
    parser.add_argument("--events", type=Path, help="also write the events that a callback gets, as JSON Lines")
    parser.add_argument("--proposals", type=Path, help="also write the table that a tracker gets, as CSV")
    parser.add_argument("--rule", default="strict_improvement", choices=["strict_improvement", "improvement_or_equal"])
    args = parser.parse_args()

    data = [
        {"input": month, "answer": season, "additional_context": {}}
        for month, season in zip(MONTHS, SEASONS, strict=True)
    ]
    seed_candidate = {"instruction": SEED_PROMPT}
    seed_candidate |= {f"note_{k}": f"Note {k}." for k in range(1, args.components)}
    callbacks: list[object] = []
    if args.events:
        callbacks.append(EventLog(args.events))
    if args.record:
        from audit.recorders import gepa as recorders

        callbacks.append(recorders.GEPARecorder(args.record, env="seasons", condition="gepa-stub", run=1))
    options: dict[str, object] = {}
    if args.agent_state and "write_agent_state" in inspect.signature(gepa.optimize).parameters:
        options["write_agent_state"] = True
    if args.parents > 1:
        from gepa.strategies import proposal_sampling

        options["sampling_strategy"] = proposal_sampling.IndependentSampling(args.parents)
    if args.proposals:
        track(args.proposals)
    gepa.optimize(
        seed_candidate=seed_candidate,
        trainset=data,
        valset=data,
        adapter=Adapter(model=answer, evaluator=graded if args.graded else None),
        reflection_lm=Reflector(args.seed),
        reflection_minibatch_size=3,
        stop_callbacks=lambda state: state.i + 1 >= args.iterations,
        run_dir=str(args.out),
        callbacks=callbacks,
        use_merge=args.merge,
        seed=args.seed,
        acceptance_criterion=args.rule,
        **options,
    )


class EventLog:
    """Writes the events of candidates and proposals as lines of JSON: `[name, event]`."""

    LEFT_OUT = frozenset({"state", "final_state", "trainset_loader", "outputs", "trajectories", "outputs_by_val_id"})

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)

    def __getattr__(self, name: str):
        # Events of the budget, the front and the saved state say nothing of revisions.
        if not re.match(r"on_(?!evaluation_start|budget|pareto|state)", name):
            raise AttributeError(name)

        def write(event: dict[str, object]) -> None:
            plain = {key: value for key, value in event.items() if key not in self.LEFT_OUT}
            with self.path.open("a") as file:
                file.write(json.dumps([name, plain], default=str) + "\n")

        return write


if __name__ == "__main__":
    main()
