"""Run GEPA for real with stub models and `PairedAcceptance`: `python run_gepa_paired.py OUT.json …`.

Scores are a coin's with the chance that the prompt states, which the stub of the reflector moves up or down, or leaves.
Writes what the criterion reports, how often GEPA asked, and the chances of the parents and children that it kept.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from pathlib import Path

import gepa
from gepa.adapters.default_adapter.default_adapter import DefaultAdapter, EvaluationResult

from audit.recorders import gepa as recorders

CHANCES = (0.3, 0.5, 0.5, 0.9)
"""What the reflector proposes in turn, from 0.5: worse, no better, no better, better."""


def chance(candidate: dict[str, str]) -> float:
    return float(re.search(r"[\d.]+\d", candidate["instruction"]).group())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--minibatch", type=int, default=4)
    parser.add_argument("--without-evaluate", action="store_true")
    parser.add_argument("--greedy", action="store_true", help="GEPA's own criterion")
    parser.add_argument("--budget", type=int, default=4000)
    args = parser.parse_args()
    rng, proposed = random.Random(3), [0]

    def reflect(prompt: object) -> str:
        proposed[0] += 1
        value = CHANCES[(proposed[0] - 1) % len(CHANCES)]
        return f"```\nBe right with a chance of {value}; this is proposal number {proposed[0]}.\n```"

    def evaluate(candidate: dict[str, str], ids: list[int]) -> list[float]:
        return [float(rng.random() < chance(candidate)) for _ in ids]

    class Adapter(DefaultAdapter):
        def evaluate(self, batch, candidate, capture_traces=False):
            result = super().evaluate(batch, candidate, capture_traces)
            result.scores = evaluate(candidate, batch)
            return result

    data = [{"input": f"question {k}", "answer": "yes", "additional_context": {}} for k in range(80)]
    criterion = recorders.PairedAcceptance(None if args.without_evaluate else evaluate, range(80), seed=1)
    result = gepa.optimize(
        seed_candidate={"instruction": "Be right with a chance of 0.5; this is where it begins."},
        trainset=data,
        valset=data[:5],
        adapter=Adapter(
            model=lambda messages: "yes",
            evaluator=lambda data, response: EvaluationResult(score=0.0, feedback="wrong", objective_scores=None),
        ),
        reflection_lm=reflect,
        reflection_minibatch_size=args.minibatch,
        candidate_selection_strategy="current_best",
        acceptance_criterion="strict_improvement" if args.greedy else criterion,
        max_metric_calls=args.budget,
        use_merge=False,
        seed=0,
        raise_on_exception=True,
    )
    parents = [each[0] for each in result.parents[1:]]
    moves = [
        (chance(result.candidates[parent]), chance(child))
        for parent, child in zip(parents, result.candidates[1:], strict=True)
    ]
    found = {**criterion.report(), "calls": result.total_metric_calls, "moves": moves, "asked": proposed[0]}
    args.out.write_text(json.dumps(found))


if __name__ == "__main__":
    main()
