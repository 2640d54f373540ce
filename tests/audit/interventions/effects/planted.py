"""Experiments with a critic whose motives are known, drawn with NumPy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from audit.interventions.experiment import Answered, Experiment, Place
from audit.interventions.presets import LABEL, NUMBER, POSITION
from audit.interventions.units import Unit

FAMILY = (LABEL, POSITION, NUMBER)
ROLES = ("worst", "median", "best")
SMALL = {"A0": 2, "N0": 6, "N0h": 6, "XL": 6, "XP": 6, "P1": 6, "C": 4}
STANDARD = {"A0": 2, **dict.fromkeys(("N0", "N0h", "XL", "XP", "P1", "P2", "C", "RW", "RM", "S_w", "S_m", "S_b"), 4)}


Rule = Callable[[tuple[Place, ...], np.random.Generator], int | None]


def _called(label):
    return lambda shown, rng: next((i for i, p in enumerate(shown) if p.label == label), int(rng.integers(len(shown))))


by_label, by_median, by_best = map(_called, ROLES)


def by_number(shown, rng):
    order = ["worst", "q0", "q0.1", "q0.25", "q0.5", "other", "median", "best"]
    known = [order.index(place.number) if place.number else None for place in shown]
    if None in known:
        return int(rng.integers(len(shown)))
    return int(np.argmin(known))


def by_typical(shown, rng):
    return next((i for i, place in enumerate(shown) if place.content in {"median", "other"}), 0)


def first(shown, rng):
    return 0


def nothing(shown, rng):
    return None


def shown_by(arm, rng, *, readable):  # noqa: PLR0911 - an arm a branch
    plain = [Place(role, role, role) for role in ROLES]
    lettered = [Place(role, None, role) for role in ROLES]
    if arm in {"N0h", "XL", "XWM", "XMB"}:
        first, second = {"N0h": (0, 0), "XL": (0, 2), "XWM": (0, 1), "XMB": (1, 2)}[arm]
        labels = list(ROLES)
        labels[first], labels[second] = labels[second], labels[first]
        return [Place(role, label, None) for role, label in zip(ROLES, labels, strict=True)]
    if arm == "XP":
        return plain[::-1]
    if arm in {"RW", "RM", "RB"}:
        lettered["WMB".index(arm[1])] = Place("other", None, "other")
        return [lettered[i] for i in rng.permutation(3)]
    if arm in {"DW", "DM"}:
        return [place for place in plain if place.content != {"DW": "worst", "DM": "median"}[arm]]
    if arm.startswith("S_"):
        return [lettered["wmb".index(arm[-1])]]
    if arm == "C":
        order, labels, numbers = (rng.permutation(3) for _ in range(3))
        hides = rng.random() < 0.5
        shown = []
        for i, role in enumerate(ROLES):
            number = (None if hides else role) if readable else ROLES[numbers[i]]
            shown.append(Place(role, ROLES[labels[i]], number))
        return [shown[i] for i in order]
    if arm.startswith("D"):
        return [Place(f"q{arm[1:]}", "worst", f"q{arm[1:]}"), *plain[1:]]
    return plain


def planted(
    rule: Rule,
    *,
    arms=SMALL,
    text: Rule | None = None,
    units=40,
    runs=8,
    strength=0.85,
    noise=0.6,
    wording=0.0,
    unreadable=0.0,
    harm=0.0,
    seed=0,
):
    """An experiment with a critic.

    Args:
        rule: place of the rollout that the edit is made for; None for none.
        arms: answers of each unit by arm.
        text: place of the rollout that the text names; without, the same as the edit's.
        units: how many.
        runs: how many they are of.
        strength: share of answers that follow the rule; others take a rollout at random, or none if the rule has none.
        noise: of edits; those made for different rollouts are some 2.4 apart.
        wording: how far `P1` moves edits.
        unreadable: share of answers of `XP` that are.
        harm: what an edit made for the worst rollout costs.
        seed: of everything.
    """
    rng = np.random.default_rng(seed)
    made = [
        Unit(
            condition="c", env=("pong", "cartpole")[u % runs % 2], variant="r2po", run=u % runs, iteration=u,
            prompt_sha256=str(u),
            params=[0.0] * 4, rollouts=[1, 2, 3], returns=[0.0, 1.0, 2.0], number_readable=u % runs % 2 == 1,
        )
        for u in range(units)
    ]  # fmt: skip
    calls = [(u, arm, k) for u in range(units) for arm, number in arms.items() for k in range(number)]
    directions = [{role: rng.normal(0, 1.2, 4) for role in (*ROLES, "other")} for _ in made]
    for each in directions:
        each["other"] = each["median"] + rng.normal(0, 0.3, 4)
        for arm, weight in (("q0", 1.0), ("q0.1", 0.8), ("q0.25", 0.5), ("q0.5", 0.0)):
            each[arm] = each["median"] * (1 - weight) + 2 * each["worst"] * weight
    answers = []
    for order, place in enumerate(rng.permutation(len(calls))):
        u, arm, k = calls[place]
        shown = tuple(shown_by(arm, rng, readable=made[u].number_readable))
        chosen = rule(shown, rng)
        if chosen is not None and rng.random() > strength:
            chosen = int(rng.integers(len(shown)))
        content = None if chosen is None else shown[chosen].content
        edit = rng.normal(0, noise, 4) + (directions[u][content] if content else 0)
        if arm == "P1":
            edit = edit + wording
        readable = not (arm == "XP" and rng.random() < unreadable)
        named = chosen if text is None else text(shown, rng)
        gain = rng.normal() - harm * (content == "worst")
        answers.append(
            Answered(
                unit=u, arm=arm, replicate=k, order=order, shown=shown, readable=readable,
                driver=shown[named].content if readable and named is not None else None,
                mentioned=frozenset() if named is None else frozenset({shown[named].content}), says_worst=False,
                edit=edit if readable else np.zeros(4), changed=4 * readable, gain=gain if readable else 0.0,
                harmful=bool(readable and gain < -1), completion=f"{order}", words=100, prompt_tokens=1000 + order,
                prompt_characters=4000 + 4 * order,
                named=frozenset({shown[named].content} if readable and named is not None else ()),
            )
        )  # fmt: skip
    return Experiment(made, answers)
