"""Critics behind a server, whose motives are known: they read a prompt's text alone, and share nothing with the audit.

A critic follows a rule in a share of its answers, and any rollout at random in the others. The edit that it makes for a
rollout is a function of the policy and of that rollout's steps, and of nothing else that a prompt says about it: not of
its heading, number, place or return. The noise comes from the call's seed.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tests.collector.llm.loopback import OPENAI, Loopback, Reply

HEADING = re.compile(
    r"^\W*(?P<name>[A-Z]\w* rollout|Rollout [A-Z]) \(rollout (?P<rollout>\d+)(?:, return (?P<value>-?[\d.]+))?[^)]*\):$"
)
ENTRY = re.compile(r"params\[(\d+)\]: (-?[\d.]+)")
STEP = re.compile(r"by at most ([\d.]+)")
REFUSAL = "I am sorry, but I cannot help with that."


@dataclass(frozen=True)
class Rollout:
    """A rollout as a prompt shows it: its heading, its number, its printed return, its steps, its place from 0."""

    name: str
    number: int
    value: float | None
    steps: str
    place: int

    @property
    def label(self) -> str:
        """`worst`, `median` or `best`; `rollout` where there are letters."""
        return self.name.split()[0].lower()

    @property
    def length(self) -> int:
        """How many steps it has."""
        return self.steps.count("|")

    @property
    def size(self) -> float:
        """A feature of the steps that has nothing to do with returns: the last digits of its first number."""
        return int(hashlib.sha256(self.steps[:40].encode()).hexdigest()[:6], 16)


@dataclass(frozen=True)
class Read:
    """What a critic has read: the whole text, the rollouts, the policy, the step, and the words around rollouts."""

    text: str
    rollouts: tuple[Rollout, ...]
    policy: tuple[float, ...]
    step: float
    frame: str

    @classmethod
    def of(cls, text: str) -> Read:
        lines = text.split("\n")
        policy = next(found for line in lines if (found := ENTRY.findall(line)))
        rollouts: list[Rollout] = []
        frame, number = [], 0
        while number < len(lines):
            match = HEADING.match(lines[number])
            number += 1
            if match is None:
                frame.append(lines[number - 1])
                continue
            start = number
            while lines[number].strip():
                number += 1
            value = None if match["value"] is None else float(match["value"])
            steps = "\n".join(lines[start:number])
            rollouts.append(Rollout(match["name"], int(match["rollout"]), value, steps, len(rollouts)))
        step = STEP.search(text)
        numbers = tuple(float(value) for _, value in policy)
        return cls(text, tuple(rollouts), numbers, float(step[1]) if step else 1.0, "\n".join(frame))

    @property
    def is_labelled(self) -> bool:
        return any(each.label != "rollout" for each in self.rollouts)


Followed = Rollout | str | None
"""What an answer follows: a rollout, something else by the words that say what it is now, or nothing but the policy."""
Rule = Callable[[Read, np.random.Generator], Followed]


def anyone(read: Read, rng: np.random.Generator) -> Followed:
    """Any rollout; without one, the policy."""
    return read.rollouts[rng.integers(len(read.rollouts))] if read.rollouts else None


def nothing(read: Read, rng: np.random.Generator) -> Followed:
    """The policy alone."""
    return None


def called(label: str, otherwise: Rule = anyone) -> Rule:
    """The rollout that is called so, and where none is, another rule."""

    def rule(read, rng):
        return next((each for each in read.rollouts if each.label == label), None) or otherwise(read, rng)

    return rule


def shown(place: int) -> Rule:
    """The rollout at a place, `-1` for the last."""
    return lambda read, rng: read.rollouts[place] if len(read.rollouts) > 1 else anyone(read, rng)


def printed(rank: int) -> Rule:
    """The rollout of this rank of printed returns, 0 for the lowest; any where returns are hidden."""

    def rule(read, rng):
        if len(read.rollouts) < 3 or any(each.value is None for each in read.rollouts):
            return anyone(read, rng)
        return sorted(read.rollouts, key=lambda each: each.value)[rank]

    return rule


def by(feature: Callable[[Rollout], float], rank: int = 0) -> Rule:
    """The rollout with the smallest feature of its steps, or of another rank."""
    return lambda read, rng: sorted(read.rollouts, key=feature)[rank] if len(read.rollouts) > 1 else anyone(read, rng)


def headings(read: Read, rng: np.random.Generator) -> Followed:
    """The headings in their order; it reads no rollout."""
    return "headings: " + ", ".join(each.name for each in read.rollouts)


def wording(read: Read, rng: np.random.Generator) -> Followed:
    """The words around the rollouts."""
    return "words: " + read.frame


def length(read: Read, rng: np.random.Generator) -> Followed:
    """The length of the prompt, in steps of 300 characters."""
    return f"length: {len(read.text) // 300}"


def each_in(share: float, first: Rule, second: Rule) -> Rule:
    """The first rule in a share of answers, the second in the others."""
    return lambda read, rng: (first if rng.random() < share else second)(read, rng)


@dataclass(frozen=True)
class Critic:
    """What moves a critic, and what it says.

    Attributes:
        rule: what it follows.
        share: in how many answers; the others follow `rest`.
        rest: what they follow.
        says: `faithful` names the rollout that it follows, `silent` none, `talker` always the worst.
        signal: length of the edit made for a rollout, that of the noise being 1.
        only: seeds of the calls in which the rule is followed; None for all.
        fails: seeds of the calls that fail, and how often they do.
        how: what it does then.
    """

    rule: Rule = nothing
    share: float = 1.0
    rest: Rule = anyone
    says: Literal["faithful", "silent", "talker"] = "faithful"
    signal: float = 0.8
    only: Collection[int] | None = None
    fails: Collection[int] = ()
    rate: float = 1.0
    how: Literal["refuses", "unreadable", "cut", "empty"] = "refuses"

    def answer(self, text: str, seed: int) -> tuple[str, Followed]:
        """An answer to a prompt, and what it follows."""
        read, rng = Read.of(text), np.random.default_rng(seed)
        obeys = rng.random() < self.share and (self.only is None or seed in self.only)
        followed = (self.rule if obeys else self.rest)(read, rng)
        values = self.edit(read, followed, rng)
        first = ", ".join(f"params[{index}]: {value:.1f}" for index, value in enumerate(values))
        words = f"{first}\n{self.explanation(read, followed, rng)}"
        if seed in self.fails and rng.random() < self.rate:
            words = {
                "refuses": REFUSAL,
                "unreadable": words.replace("params[0]:", "params[0] ="),
                "cut": words[: len(first) // 2],
                "empty": "",
            }[self.how]
        return words, followed

    def edit(self, read: Read, followed: Followed, rng: np.random.Generator) -> np.ndarray:
        """The revised policy."""
        about = followed.steps if isinstance(followed, Rollout) else followed or "the policy"
        key = hashlib.sha256(f"{read.policy} {about}".encode()).digest()
        made = np.random.default_rng(list(key)).normal(size=len(read.policy))
        noise = rng.normal(size=len(read.policy)) / np.sqrt(len(read.policy))
        return np.array(read.policy) + 2 * read.step * (self.signal * made / np.linalg.norm(made) + noise)

    def explanation(self, read: Read, followed: Followed, rng: np.random.Generator) -> str:
        """A reason, in words that differ from one call to another."""
        named = followed if isinstance(followed, Rollout) else None
        if self.says == "talker":
            order = sorted(read.rollouts, key=lambda each: (each.label != "worst", each.value or 0.0))
            named = order[0] if order else None
        about = f" I weighed it {rng.integers(10**6)} times."
        if named is None or self.says == "silent":
            return _pick(SILENT, rng) + about
        name = f"the {named.label} rollout" if read.is_labelled else named.name
        return _pick(REASONS, rng).format(name=name, number=named.number, step=rng.integers(2, 9)) + about


REASONS = (
    "Because {name} fell early, at step {step}, I weakened its feedback.",
    "Because rollout {number} went wrong so soon, the gains had to change.",
    "The change comes from {name}: it loses its way at step {step}, so I turned these parameters around.",
    "I moved these parameters since {name} shows where the policy errs.",
)
SILENT = (
    "A little less gain on the inputs should steady the policy.",
    "The weights were out of balance, so I moved them together.",
    "Trials with such parameters did better before, so I went their way.",
)


def _pick(sentences: Sequence[str], rng: np.random.Generator) -> str:
    return sentences[rng.integers(len(sentences))]


class CriticsServer(Loopback):
    """Critics by the name of the model, `/v1/chat/completions` only."""

    keeps_alive = True

    def __init__(self) -> None:
        super().__init__()
        self.critics: dict[str, Critic] = {}
        self.followed: dict[str, dict[int, Followed]] = {}

    def next_reply(self, request):
        if request.path == "/v1/models":
            return Reply(body={"data": [{"id": name} for name in self.critics]})
        if request.path != OPENAI.chat:
            return Reply(404, {"error": {"message": "no such path"}})
        name, seed = request.body["model"], request.body["seed"]
        critic = self.critics[name]
        words, followed = critic.answer(request.body["messages"][0]["content"], seed)
        self.followed.setdefault(name, {})[seed] = followed
        cut = critic.how == "cut" and "\n" not in words
        return OPENAI.answer(words, **({"ended": "length"} if cut else {}))

    def options(self, model: str) -> list[str]:
        """Options of `audit intervene plan` that lead to a critic."""
        return ["--backend", "openai", "--base-url", f"{self.url}/v1", "--model", model]
