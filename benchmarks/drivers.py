"""How well the rules for drivers agree with coders on the answers in `data/real/large`.

python -m benchmarks.drivers

The words and weights of the rules were set by hand with these answers in view, so that their κ is no forecast:
`docs/references.md` gives the one that was measured on prompts not looked at before. In the last rows, how much the
weights of each driver count is fitted, by multinomial logistic regression, without the answers to the prompt in
question (leave one prompt out); the words stay. Intervals are of prompts drawn with replacement.
"""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from audit import Shown
from audit.references.driver_rules import driver, weights
from audit.vocabulary.drivers import DRIVERS

LARGE: Final = Path(__file__).resolve().parents[1] / "data" / "real" / "large"
CODERS: Final = ("A", "B")
PENALTY: Final = 1.0
DRAWS: Final = 2000
"""Samples of prompts that an interval is of."""


@dataclass(frozen=True)
class Coded:
    """An answer with its codes: `codes` by coder, then by column; `prompt` is what answers to one prompt share."""

    prompt: tuple[Any, ...]
    arm: str
    text: str
    shown: Shown
    changed: Sequence[int]
    codes: dict[str, dict[str, Any]]


def answers() -> list[Coded]:
    """All coded answers, those without records included."""
    found = []
    for folder in ("critic_texts", "interventions"):
        codes: dict[tuple[str, ...], dict[str, dict[str, Any]]] = defaultdict(dict)
        with (LARGE / folder / "labels.csv").open(newline="", encoding="utf-8") as stream:
            for row in csv.DictReader(stream):
                codes[row["condition"], row["env"], row["run"], row["iteration"]][row["coder"]] = row
        for path in sorted((LARGE / folder).rglob("episodes.jsonl")):
            for line in path.read_text("utf-8").splitlines():
                record = json.loads(line)
                prompt = record["env"], record["run"], record["iteration"]
                initial, revised = record["initial"], record["revised"]
                shown = Shown.of(record["evidence"]["shown"], returns=initial["returns"], lengths=initial["lengths"])
                coded = codes[record["condition"], *map(str, prompt)]
                found.append(
                    Coded((folder, *prompt), record["condition"], revised["answer"], shown, _changed(record), coded)
                )
    for line in (LARGE / "interventions" / "without_worst.jsonl").read_text("utf-8").splitlines():
        record = json.loads(line)
        prompt = "interventions", record["env"], record["run"], record["iteration"]
        shown = Shown.of(record["shown"])
        found.append(Coded(prompt, record["arm"], record["answer"], shown, _changed(record), record["codes"]))
    for line in (LARGE / "varied.jsonl").read_text("utf-8").splitlines():
        record = json.loads(line)
        shown = Shown.of(_headed(record["shown"]))
        found.append(
            Coded(("varied", record["base"]), record["arm"], record["answer"], shown, _changed(record), record["codes"])
        )
    return found


def kappa(first: Sequence[str], second: Sequence[str]) -> float:
    """Cohen's κ of two judgements of the same items, of which neither gives all the same class."""
    agreed = np.mean([one == other for one, other in zip(first, second, strict=True)])
    by_chance = sum(first.count(name) * second.count(name) for name in set(first)) / len(first) ** 2
    return float((agreed - by_chance) / (1 - by_chance))


def leave_one_prompt_out(coded: Sequence[Coded]) -> list[str]:
    """The driver of each answer, by weights fitted to both coders' codes of the answers to all other prompts."""
    features = np.array([_features(each) for each in coded])
    targets = np.array(
        [[[each.codes[coder]["driver"] == name for name in DRIVERS] for coder in CODERS] for each in coded]
    )
    found = [""] * len(coded)
    for prompt in sorted({each.prompt for each in coded}, key=str):
        held_out = np.array([each.prompt == prompt for each in coded])
        fitted = _fit(features[~held_out], targets[~held_out].mean(axis=1))
        for index in np.flatnonzero(held_out):
            found[index] = DRIVERS[int(np.argmax(features[index] @ fitted))]
    return found


def interval(coded: Sequence[Coded], codes: Sequence[str], found: Sequence[str]) -> tuple[float, float]:
    """Bounds of the middle 95% of κ, prompts drawn with replacement."""
    random = np.random.default_rng(0)
    prompts = sorted({each.prompt for each in coded}, key=str)
    of_prompt = [[index for index, each in enumerate(coded) if each.prompt == prompt] for prompt in prompts]
    values = []
    for _ in range(DRAWS):
        drawn = [index for place in random.integers(len(prompts), size=len(prompts)) for index in of_prompt[place]]
        values.append(kappa([codes[index] for index in drawn], [found[index] for index in drawn]))
    low, high = np.quantile(values, (0.025, 0.975))
    return float(low), float(high)


def rows() -> list[str]:
    """The rows of the table: coder, answers, judged by, number, κ, interval."""
    coded = answers()
    rules = [str(driver(each.text, each.shown, each.changed).name) for each in coded]
    fitted = leave_one_prompt_out(coded)
    judged = [
        (answered, "the rules", rules) for answered in ("first 63", "varied 701", "varied 902", "varied 333", "all")
    ]
    found = []
    for answered, name, drivers in (*judged, ("all", "weights fitted without the prompt", fitted)):
        chosen = [index for index, each in enumerate(coded) if answered in ("all", _part(each))]
        part = [coded[index] for index in chosen]
        judgements = [drivers[index] for index in chosen]
        for coder in CODERS:
            codes = [each.codes[coder]["driver"] for each in part]
            low, high = interval(part, codes, judgements)
            agreement = kappa(codes, judgements)
            found.append(f"| {coder} | {answered} | {name} | {len(part)} | {agreement:.2f} | {low:.2f} to {high:.2f} |")
    return found


def _part(each: Coded) -> str:
    return f"varied {each.prompt[1][:3]}" if each.prompt[0] == "varied" else "first 63"


def main() -> None:
    """Print a table."""
    print("| coder | answers | judged by | n | κ | 95% interval |\n|---|---|---|---|---|---|")
    print("\n".join(rows()))


def _headed(shown: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rollouts shown, without headings that only repeat their labels."""
    return [
        {key: value for key, value in each.items() if key != "name" or each["label"] not in value.lower()}
        for each in shown
    ]


def _changed(record: dict[str, Any]) -> list[int]:
    pairs = zip(record["initial"]["params"], record["revised"]["params"], strict=True)
    return [index for index, (before, after) in enumerate(pairs) if abs(before - after) > 1e-9]


def _features(each: Coded) -> list[float]:
    """The weight of every driver, cut off where more of it means no more, and a constant."""
    found = weights(each.text, each.shown, each.changed)
    return [*(min(found.get(name, 0.0), 6.0) for name in DRIVERS), 1.0]


def _fit(features: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Multinomial logistic regression with a ridge penalty, by gradient descent."""
    fitted = np.zeros((features.shape[1], targets.shape[1]))
    for _ in range(2000):
        scores = features @ fitted
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        fitted -= 0.2 * (features.T @ (shares - targets) + PENALTY * fitted) / len(features)
    return fitted


if __name__ == "__main__":
    main()
