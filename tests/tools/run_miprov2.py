"""Run MIPROv2 of DSPy with a stub model, and save its trials: `python run_miprov2.py OUT.jsonl`. It needs `optuna`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import dspy
from dspy_stub import EXAMPLES, MONTHS, SEASONS, Seasons, Stub, right


class Proposer(Stub):
    """Also proposes instructions, each of which names some months."""

    def answer(self, prompt: str) -> str:
        """The text of an answer."""
        if "proposed_instruction" in prompt:
            named = self.random.sample(range(12), 4)
            text = " ".join(f"{MONTHS[place]} is in {SEASONS[place]}." for place in named)
            return f"[[ ## proposed_instruction ## ]]\nName the season. {text}\n\n[[ ## completed ## ]]"
        return super().answer(prompt)


dspy.configure(lm=Proposer(luck=0.2))
optimizer = dspy.MIPROv2(metric=right, auto=None, num_candidates=4, num_threads=1, verbose=False)
program = optimizer.compile(
    Seasons(),
    trainset=EXAMPLES,
    valset=EXAMPLES,
    num_trials=8,
    max_bootstrapped_demos=0,
    max_labeled_demos=0,
    minibatch=False,
    program_aware_proposer=False,
    data_aware_proposer=False,
    tip_aware_proposer=False,
    fewshot_aware_proposer=False,
)
with Path(sys.argv[1]).open("w") as file:
    for number, trial in program.trial_logs.items():
        made = trial.get("full_eval_program") or trial["mb_program"]
        text = {name: each.signature.instructions for name, each in made.named_predictors()}
        score = trial.get("full_eval_score", trial.get("mb_score"))
        file.write(json.dumps({"trial": number, "score": score, "instructions": text}) + "\n")
