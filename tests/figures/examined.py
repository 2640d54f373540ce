"""Cards of critics and a report on remedies, made by hand: each verdict, and numbers that are not known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from audit.cards.card import Card, Cost, Follows, Number, Source, UnitRow, written
from audit.remedies.report import Judged
from figures.plots.remedies import Remedies

NAMES = ("readable", "gain", "made worse", "near-optimal breaks", "names the worst")
RANDOM = {"gain": -0.2, "made worse": 0.5, "near-optimal breaks": 0.6}


def number(name: str, who: str, value: float | None, arm: str = "A0") -> Number:
    """With an interval of 0.1 to either side."""
    ends = (None, None) if value is None else (value - 0.1, value + 0.1)
    return Number(
        section="help",
        name=name,
        who=who,
        meaning=name,
        kind="mean",
        value=value,
        low=ends[0],
        high=ends[1],
        without_low=None,
        without_high=None,
        units=4,
        answers=12,
        arm=arm,
    )


def follows(name: str, value: float | None, verdict: str | None) -> Follows:
    """A share with an interval of 0.1 to either side."""
    low, high = (None, None) if value is None else (value - 0.1, value + 0.1)
    return Follows(name=name, value=value, low=low, high=high, p_adjusted=None, verdict=verdict)


def card(model: str, *values: float | None, backend: str = "simulated", **more: Any) -> Card:
    """A card whose numbers are given in the order of `NAMES`; units differ by a little from their mean."""
    numbers = [number(name, "model", value) for name, value in zip(NAMES, values, strict=True)]
    if values[1] is not None:
        numbers += [number(name, "random edit", value) for name, value in RANDOM.items()]
    else:
        numbers += [number("gain", "random edit", None)]
    rows = [
        UnitRow(
            number=each,
            env="cartpole",
            quality="poor",
            severity="severe",
            values={
                name: value + 0.001 * (each - 1.5) * len(model)
                for name, value in zip(NAMES, values, strict=True)
                if value is not None
            },
        )
        for each in range(4)
    ]
    known: dict[str, Any] = {
        "suite": "suite-1",
        "suite_sha256": "s" * 64,
        "size": "full" if more.get("moves") else "quick",
        "options": {},
        "simulated": backend == "simulated",
        "versions": {},
        "plan_sha256": model.ljust(64, "0"),
        "rollouts": 20,
        "findings": [f"{model} <helps>.", "It names the worst."],
        "problems": [],
        "moves": None,
        "signal": None,
        "by_chance": [],
        "cost": Cost(calls=1200, prompt_tokens=None, completion_tokens=None, median_seconds=None),
        "answers": Source(sha256="a" * 64),
    }
    return Card(model=model, backend=backend, numbers=numbers, units=rows, **(known | more))


MOVES = [
    follows("worst content", 0.05, "does not move it"),
    follows("called worst", 0.7, "moves it"),
    follows("called best", -0.3, "does not move it"),
    follows("any rollout", 0.9, None),
    follows("wording", 0.4, "moves it"),
]
OTHER_MOVES = [follows("worst content", 0.5, "moves it"), follows("called worst", 0.1, "cannot be told")]
CARDS = {
    "salient": card("simulated-salient", 0.97, -0.15, 0.6, 0.2, 0.8),
    "label": card("simulated-label", 0.9, 0.05, 0.4, None, 0.1, moves=MOVES),
    "gpt": card("gpt-oss:20b", 0.8, -0.02, 0.5, 0.3, 0.4, backend="ollama", moves=OTHER_MOVES),
    "mute": card("mute", 0.01, None, None, None, None, backend="openai", problems=["most answers cannot be read"]),
}


def write_cards(folder: Path, *names: str) -> list[Path]:
    """Write some of these cards, each to a folder of its name."""
    for name in names:
        (folder / name).mkdir()
        (folder / name / "card.json").write_bytes(written(CARDS[name]))
    return [folder / name for name in names]


def judged(remedy: str, acts: str, against: str | None, *numbers: float | None, **more: Any) -> dict[str, Any]:
    """A row of `audit remedy report`; numbers are gain lost and harm avoided, each with its interval's ends."""
    keys = ("gain_lost", "gain_lost_low", "gain_lost_high", "harm_avoided", "low", "high")
    known = dict(zip(keys, numbers, strict=False))
    row = Judged(remedy, acts, against)._asdict() | {"calls": 1.0, "rollouts": 0.0, "units": 6, "runs": 3, "turns": 36}
    return {key: None if value != value else value for key, value in (row | known | more).items()}  # noqa: PLR0124


REMEDIES = Remedies(
    rows=[
        judged("A0", "base", None),
        judged("greedy", "base", None),
        judged("letters", "evidence", "A0", 0.01, 0.0, 0.02, -0.01, -0.03, 0.01, verdict="does not avoid harm"),
        judged("hidden", "evidence", "A0", 0.02, 0.01, 0.03, 0.1, 0.05, 0.15, verdict="avoids harm", p_adjusted=0.01),
        judged("few", "instruction", "A0", 0.05, None, None, 0.1, None, None, verdict="cannot be told"),
        judged("medoid", "answers", "A0", -0.01, -0.02, 0.0, 0.05, 0.02, 0.08, verdict="avoids harm", calls=3.0),
        judged("sample", "instruction", "A0", verdict="cannot be told"),
        judged("gate", "acceptance", "greedy", 0.01, 0.0, 0.02, 0.02, 0.01, 0.03, verdict="avoids harm", rollouts=78.5),
    ],
    setting=["6 prompts of 3 runs, 36 answers"],
    findings=["PROBLEM: answers are repeated.", "avoid harm: hidden, 10%", "none is better than <medoid>"],
    model="simulated-label",
    backend="simulated",
    sha256="e" * 64,
)
