"""Run GEPA with a reflector whose every sentence is known: `python run_gepa_lineage.py OUT RECORDS TRUTH [--seed N]`.

Each answer adds a sentence with a number of its own, or rewords one by a word. TRUTH is JSON: the sentences, with the
iteration of GEPA that proposed each (from 0) and, of a reworded one, its earlier words.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from pathlib import Path

import gepa
from run_gepa import MONTHS, SEASONS, Adapter, answer, graded

from audit.recorders.gepa import GEPARecorder

SEED = "Name the season of the month. July is in summer."


class Reflector:
    """Writes numbered sentences, and remembers which."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.iteration = 0
        self.number = 0
        self.truth: dict[str, dict[str, object]] = {}

    def on_iteration_start(self, event: dict[str, object]) -> None:
        """GEPA counts from 1."""
        self.iteration = int(event["iteration"]) - 1

    def __call__(self, prompt: str | list[dict[str, str]]) -> str:
        text = prompt if isinstance(prompt, str) else prompt[-1]["content"]
        current = re.search(r"```\n(.*?)\n```", text, re.DOTALL).group(1)
        wrong = [month for month in re.findall(r"the season of (\w+) is", text) if month in MONTHS]
        month = self.random.choice(wrong)
        self.number += 1
        rules = re.findall(r"Rule \d+ holds that \w+ is in \w+\.", current)
        was = None
        if rules and self.random.random() < 0.3:
            was = self.random.choice(rules)
            new = was.replace("holds that", f"holds, as of {self.number}, that")
            proposed = f"{current.replace(was, new)} Mind {month} is in {SEASONS[MONTHS.index(month)]}."
            extra = f"Mind {month} is in {SEASONS[MONTHS.index(month)]}."
            self.truth.setdefault(extra, {"iterations": []})["iterations"].append(self.iteration)
        else:
            new = f"Rule {self.number} holds that {month} is in {SEASONS[MONTHS.index(month)]}."
            proposed = f"{current} {new}"
        self.truth[new] = {"iterations": [self.iteration], "was": was, "month": month}
        return f"Nothing is stated about {month} yet. So it is added.\n\n```\n{proposed}\n```"


def main() -> None:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("out", "records", "truth"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    data = [
        {"input": month, "answer": season, "additional_context": {}}
        for month, season in zip(MONTHS, SEASONS, strict=True)
    ]
    reflector = Reflector(args.seed)
    gepa.optimize(
        seed_candidate={"instruction": SEED, "note": "Be brief."},
        trainset=data,
        valset=data,
        adapter=Adapter(model=answer, evaluator=graded),
        reflection_lm=reflector,
        reflection_minibatch_size=3,
        stop_callbacks=lambda state: state.i + 1 >= 60,
        run_dir=str(args.out),
        callbacks=[reflector, GEPARecorder(args.records, env="seasons")],
        use_merge=True,
        seed=args.seed,
    )
    args.truth.write_text(json.dumps(reflector.truth))


if __name__ == "__main__":
    main()
