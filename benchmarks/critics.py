"""How often cards and remedies are right about planted critics: `python -m benchmarks.critics`.

`shares` examines critics behind a server, which follow the rollout that is called worst in known shares of their
answers, at size `full`, and ranks their cards. `remedies` draws experiments on remedies from gains of harmful and
harmless edits of the suite's policies: critics that do harm because of the label, the place or the printed return of
the worst rollout, or for none of these reasons, and counts which remedies are said to avoid harm.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from scipy.stats import kendalltau

from audit.cards import examining
from audit.cards.card import Card, read_card
from audit.cards.comparing import differences
from audit.cards.making import random_edit
from audit.cards.suite import Suite, packaged
from audit.interventions.experiment import Experiment
from audit.interventions.units import Unit
from audit.remedies.outcomes import GREEDY, RECORDED, Kept, Outcomes
from audit.remedies.report import AVOIDS, judged
from collector import seeding
from collector.remedies import REMEDIES
from collector.rollouts.evaluate import evaluate
from collector.tasks import get_task

SHARES: Final = (0.1, 0.28, 0.46, 0.64, 0.82, 1.0)
EDITS: Final = 20
"""Harmful edits of each policy."""
LENGTH: Final = 3.0
"""Of a harmful edit, in search steps; a harmless one changes nothing."""
ROLLOUTS: Final = 100
OWN, EACH = 9, 6
"""Answers to each prompt as it is, and under each remedy, at size `full`."""


def ranked(shares: Sequence[float], folder: Path, *, units: int | None = None) -> list[Card]:
    """The cards of planted critics.

    Args:
        shares: of answers that follow the rollout that is called worst.
        folder: for the examinations.
        units: as `audit critic` has it.
    """
    from tests.audit.interventions.critics_server import Critic, CriticsServer, called

    server = CriticsServer()
    cards = []
    try:
        for share in shares:
            name = f"worst-{share:g}"
            server.critics[name] = Critic(called("worst"), share)
            out = folder / name
            examining.critic(
                backend="openai",
                model=name,
                base_url=f"{server.url}/v1",
                size="full",
                units=units,
                out=out,
                concurrency=16,
            )
            cards.append(read_card(out))
    finally:
        server.close()
    return cards


def share_of(card: Card) -> float:
    """The share that follows the label, as a card has it; NaN where it has none."""
    found = next((each.value for each in card.moves or () if each.name == "called worst"), None)
    return float("nan") if found is None else found


class Bank(NamedTuple):
    """Gains of harmful edits: shape (units, edits), as parts of the way."""

    units: list[Unit]
    gains: np.ndarray


def bank(suite: Suite, number: int, seed: int = 0) -> Bank:
    """Harmful edits of the first policies of a suite, rolled out."""
    units, gains = [], []
    for each in suite.units[:number]:
        task = get_task(each.env)
        params = each.episode.initial.params
        rng = seeding.generator(seed, "harmful", each.number)
        seeds = seeding.seeds(seed, ROLLOUTS, "harmful", each.number, "rollouts")
        before = evaluate(task, params, seeds).mean_return
        after = [evaluate(task, random_edit(task, params, LENGTH, rng), seeds).mean_return for _ in range(EDITS)]
        gains.append(np.clip((np.array(after) - before) / suite.spans[each.env].length, -1, 1))
        shown = each.episode.evidence
        assert shown is not None
        units.append(
            Unit(
                **{name: getattr(each.run, name) for name in ("condition", "env", "variant", "run")},
                iteration=0,
                prompt_sha256="",
                params=params,
                rollouts=[one.rollout for one in shown.shown],
                returns=[one.return_ for one in shown.shown],
                number_readable=False,
            )
        )
    return Bank(units, np.array(gains))


_ALWAYS: Final = 0.8
"""Share of answers in which a critic goes by the worst rollout, and does harm, where nothing keeps it from that."""
CRITICS: Final[dict[str, dict[str, float]]] = {
    "by the label": dict.fromkeys(("letters", "median", "typical"), 0.0),
    "by the first place": {"letters": _ALWAYS / 3, "shuffled": _ALWAYS / 3, "median": 0.0, "typical": 0.0},
    "by the printed return": dict.fromkeys(("hidden", "median", "typical"), 0.0),
    "for no such reason": {},
}
"""In how many answers critics do so under the remedies that keep them from it."""


def drawn(made: Bank, helped: Mapping[str, float], rng: np.random.Generator) -> Outcomes:
    """An experiment on a critic that does harm in known shares of its answers.

    Args:
        made: gains of its harmful edits; the others change nothing.
        helped: its shares under the remedies that help.
        rng: draws.
    """
    asked = [name for name, remedy in REMEDIES.items() if remedy.rewrites is not None]
    kept: dict[str, list[Kept]] = {}
    for arm, answers in ((RECORDED, OWN), *((name, EACH) for name in asked)):
        rows = []
        for unit in range(len(made.units)):
            for _ in range(answers):
                gain = float(rng.choice(made.gains[unit])) if rng.random() < helped.get(arm, _ALWAYS) else 0.0
                rows.append(Kept(unit, gain, gain < 0, gain != 0, gain < 0, 1, None, 0))
        kept[arm] = rows
    kept[GREEDY] = kept[RECORDED]
    return Outcomes(kept)


def rates(made: Bank, helped: Mapping[str, float], sets: int) -> dict[str, float]:
    """In how many experiments each remedy is said to avoid harm.

    Args:
        made: gains of the critic's harmful edits.
        helped: as `drawn` has it.
        sets: experiments.
    """
    asked = sorted(name for name, remedy in REMEDIES.items() if remedy.rewrites is not None)
    experiment, rng = Experiment(made.units, []), np.random.default_rng([0, len(helped)])
    found: Counter[str] = Counter()
    for _ in range(sets):
        rows = judged(experiment, drawn(made, helped, rng), asked)
        found.update(row.remedy for row in rows if row.verdict == AVOIDS and row.low > 0)
    return {name: found[name] / sets for name in asked}


def remedies(made: Bank, sets: int) -> None:
    """Print which remedies are said to avoid harm."""
    for name, helped in CRITICS.items():
        found = rates(made, helped, sets)
        helping = ", ".join(f"{each} {found[each]:.0%}" for each in helped) or "none"
        other = max((each for each in found if each not in helped), key=found.__getitem__)
        sys.stdout.write(f"harm {name}: helping {helping}; of others at most {found[other]:.1%} ({other})\n")


def main() -> None:
    """Plant critics, and count how often what is said of them is right."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.critics", description=__doc__)
    parser.add_argument("--part", choices=("shares", "remedies"), action="append")
    parser.add_argument("--sets", type=int, default=200, help="experiments of each critic")
    parser.add_argument("--units", type=int, help="prompts, else all of full")
    options = parser.parse_args()
    parts = options.part or ["shares", "remedies"]
    if "shares" in parts:
        with tempfile.TemporaryDirectory() as name:
            cards = ranked(SHARES, Path(name), units=options.units)
        for share, card in zip(SHARES, cards, strict=True):
            sys.stdout.write(f"planted {share:.0%}: {share_of(card):.0%}; {card.findings[-2]}\n")
        tau = kendalltau(SHARES, [share_of(card) for card in cards]).statistic
        differ = [[each.verdict for each in of_one if each.name == "called worst"] for of_one in differences(cards)]
        sys.stdout.write(f"Kendall's tau {tau:.2f}; from the first: {differ}\n")
    if "remedies" in parts:
        remedies(bank(packaged(), options.units or len(packaged().units)), options.sets)


if __name__ == "__main__":
    main()
