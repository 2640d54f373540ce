"""Search prompts with Optuna, and save its table of trials: `python run_optuna.py OUT.csv`."""

from __future__ import annotations

import sys

import optuna

PROMPTS = ("Be brief.", "Be brief. Cite the page.", "Be polite.", "Cite the page.")


def objective(trial: optuna.Trial) -> float:
    """A score that is known: half of it for citing, the other half for brevity."""
    prompt = trial.suggest_categorical("prompt", PROMPTS)
    if trial.number == 5:
        raise optuna.TrialPruned
    return 0.5 * ("Cite" in prompt) + 0.5 * ("brief" in prompt)


study = optuna.create_study(direction="maximize", sampler=optuna.samplers.RandomSampler(seed=1))
study.optimize(objective, n_trials=12)
study.trials_dataframe().to_csv(sys.argv[1], index=False)
