"""How well the rules for drivers agree with coders on the answers in `data/real/large`.

python -m benchmarks.drivers

The words of the rules were written with answers of every source in view, so that no figure is a forecast for others.
The share of what is said of rollouts from which one alone counts is chosen without the answers of the source in
question (leave one source out). The interval is of prompts drawn with replacement.
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
from audit.references.driver_rules import driver

LARGE: Final = Path(__file__).resolve().parents[1] / "data" / "real" / "large"
CODERS: Final = ("A", "B")
SHARES: Final = (0.5, 0.6, 0.7, 0.8, 0.9)
"""What `MOST_SAID` is chosen from."""
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

    @property
    def source(self) -> str:
        """Where it comes from: a folder of `data/real/large`, or one of the writers of `varied.jsonl`."""
        return f"varied {self.prompt[1][:3]}" if self.prompt[0] == "varied" else self.prompt[0]


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
        shown = Shown.of(record["shown"])
        base = "interventions", record["env"], record["run"], record["iteration"]
        found.append(Coded(base, record["arm"], record["answer"], shown, _changed(record), record["codes"]))
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


def leave_one_source_out(coded: Sequence[Coded]) -> list[str]:
    """The driver of each answer, by the share that agrees best with both coders on the answers of all other sources."""
    by_share = {
        share: [str(driver(each.text, each.shown, each.changed, most_said=share).name) for each in coded]
        for share in SHARES
    }
    agreed = {
        share: [
            sum(each.codes[coder]["driver"] == name for coder in CODERS)
            for each, name in zip(coded, names, strict=True)
        ]
        for share, names in by_share.items()
    }
    found = [""] * len(coded)
    for source in {each.source for each in coded}:
        others = [index for index, each in enumerate(coded) if each.source != source]
        chosen = max(SHARES, key=lambda share: sum(agreed[share][index] for index in others))
        for index, each in enumerate(coded):
            if each.source == source:
                found[index] = by_share[chosen][index]
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
    """The rows of the table: coder, source, number, κ, interval, what is found of `worst`, and of others."""
    coded = answers()
    drivers = leave_one_source_out(coded)
    sources = list(dict.fromkeys(each.source for each in coded))
    found = []
    for source in (*sources, "all"):
        chosen = [index for index, each in enumerate(coded) if source in {"all", each.source}]
        part = [coded[index] for index in chosen]
        judged = [drivers[index] for index in chosen]
        for coder in CODERS:
            codes = [each.codes[coder]["driver"] for each in part]
            agreement = f"{kappa(codes, judged):.2f}"
            if source == "all":
                agreement += " ({:.2f} to {:.2f})".format(*interval(part, codes, judged))
            pairs = list(zip(codes, judged, strict=True))
            worst = pairs.count(("worst", "worst"))
            others = [one == other for one, other in pairs if other not in {"worst", "shared"}]
            counts = worst, judged.count("worst"), worst, codes.count("worst"), sum(others), len(others)
            found.append(
                f"| {coder} | {source} | {len(part)} | {agreement} | "
                + "{} of {} | {} of {} | {} of {} |".format(*counts)
            )
    return found


def main() -> None:
    """Print a table."""
    print("| coder | source | n | κ | right of `worst` found | found of `worst` coded | right of others found |")
    print("|---|---|---|---|---|---|---|")
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


if __name__ == "__main__":
    main()
