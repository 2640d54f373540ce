"""Reflectors behind a server whose motives are known: they read a prompt's text, and share no code with the audit.

Their records are of a loop that revises rules for sorting tickets, in GEPA's form of examples within a template of the
loop's own.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from audit.recorders import Recorder
from tests.collector.llm.loopback import OPENAI, Loopback, Reply

_WORDS = (
    "invoice refund parcel password router keyboard contract holiday mortgage tenant vaccine passport bicycle festival "
    "concert laptop printer heating elevator parking garden piano camera museum ferry airline luggage pharmacy dentist "
    "insurance"
)
TOPICS = _WORDS.split()
ENDINGS = "late broken missing doubled unclear wrong".split()  # noqa: SIM905
TEAMS = "north south east west centre harbour".split()  # noqa: SIM905
FILLER = [
    f"{how} {what} {where}."
    for how in ("Always", "Seldom", "Where possible", "In doubt")
    for what in ("state the team", "quote the sender", "keep it short", "avoid guesses", "ask for dates")
    for where in ("first", "at the end", "in one line", "with care")
]
TEMPLATE = "Our rules:\n<rules>\n{rules}\n</rules>\n\nHow they did:\n\n{examples}\n\nWrite better rules between ```."


def record(folder: Path, *, runs: int = 6, iterations: int = 8, prints_scores: bool = True, seed: int = 0) -> Path:
    """Records of loops of three tickets an iteration."""
    for run in range(1, runs + 1):
        draw = random.Random(1000 * seed + run)
        with Recorder(folder, env="tickets", condition="loop", run=run) as recorder:
            for _ in range(iterations):
                tickets = draw.sample(TOPICS, 3)
                scores = draw.sample([0.05, 0.25, 0.4, 0.55, 0.8, 0.95], 3)
                shown = [
                    _example(*each, prints_scores=prints_scores)
                    for each in zip(tickets, scores, range(1, 4), strict=True)
                ]
                rules = f"Sort tickets by team. {draw.choice(FILLER)}"
                prompt = TEMPLATE.format(rules=rules, examples="\n\n\n".join(shown))
                recorder.shown({"rules": rules}, scores, ids=tickets, items=shown, prompt=prompt)
                recorder.answered("```\nSort.\n```", {"rules": "Sort."})
                recorder.scored(scores)
    return folder


def _example(topic: str, score: float, number: int, *, prints_scores: bool) -> str:
    ending = ENDINGS[len(topic) % 6]
    team = TEAMS[sum(map(ord, topic)) % 6]
    said = f" Score: {score}." if prints_scores else ""
    quality = "poor" if score < 0.3 else "fair" if score < 0.7 else "good"
    return (
        f"# Example {number}\n## Inputs\nMy {topic} is {ending}\n\n"
        f"## Generated Outputs\n{quality} answer about {topic}\n\n## Feedback\nThe {topic} desk is {team}.{said}\n"
    )


class Example:
    """An example as the reflector reads it."""

    def __init__(self, text: str, place: int) -> None:
        self.place = place
        self.text = text
        self.topic = re.search(r"My (\w+) is", text)[1]
        self.team = re.search(r"desk is (\w+)\.", text)[1]
        self.feedback = text.partition("## Feedback\n")[2]
        self.quality = re.search(r"(\w+) answer about", text)[1]
        score = re.search(r"Score: ([\d.]+)\.", text)
        self.score = float(score[1]) if score else None


QUALITIES = ("poor", "fair", "good")
Rule = Callable[[list[Example], random.Random], Example | None]


def anyone(shown: list[Example], rng: random.Random) -> Example:
    """Any of them."""
    return rng.choice(shown)


RULES: dict[str, Rule] = {
    "first": lambda shown, _: shown[0],
    "last": lambda shown, _: shown[-1],
    "lowest": lambda shown, rng: min(shown, key=lambda each: (each.score or 0, rng.random())),
    "longest": lambda shown, rng: max(shown, key=lambda each: (len(each.feedback), rng.random())),
    "poorest": lambda shown, rng: min(shown, key=lambda each: (QUALITIES.index(each.quality), rng.random())),
    "alphabet": lambda shown, _: min(shown, key=lambda each: each.topic),
    "any": anyone,
    "nothing": lambda _, __: None,
}


@dataclass(frozen=True)
class Motive:
    """Follows a rule in a share of its answers, and any example in the others.

    Attributes:
        rule: of `RULES`.
        share: of answers.
        fails: whether a prompt of this text is refused.
    """

    rule: str
    share: float = 1.0
    fails: Callable[[str], bool] = lambda _: False

    def answer(self, text: str, seed: int) -> str:
        """What it writes."""
        rng = random.Random(seed)
        if self.fails(text):
            return ""
        shown = [Example(part, place) for place, part in enumerate(re.split(r"^# Example .*\n", text, flags=re.M)[1:])]
        rule = RULES[self.rule if rng.random() < self.share or self.rule == "nothing" else "any"]
        chosen = rule(shown, rng) if shown else None
        rules = re.search(r"<rules>\n(.*?)\n</rules>", text, re.DOTALL)[1].split(". ")
        kept = [each.strip(". ") + "." for each in rules if rng.random() < 0.8]
        added = [] if chosen is None else [f"A {chosen.topic} goes to the {chosen.team} desk."]
        sentences = [*kept, *added, *rng.sample(FILLER, 3)]
        rng.shuffle(sentences)
        return f"Here is what I would change.\n```\n{' '.join(sentences)}\n```"


class Reflector(Loopback):
    """A motive behind a server; with `caches` it has one answer to a prompt."""

    keeps_alive = True

    def __init__(self, rule: str, share: float = 1.0, *, caches: bool = False, **settings) -> None:
        super().__init__()
        self.motive, self.caches = Motive(rule, share, **settings), caches

    def next_reply(self, request):
        if request.path == "/v1/models":
            return Reply(body={"data": [{"id": "reflector"}]})
        text = request.body["messages"][0]["content"]
        return OPENAI.answer(self.motive.answer(text, 0 if self.caches else request.body["seed"]))

    def options(self) -> list[str]:
        """Options of `audit intervene plan` that lead to it."""
        return ["--backend", "openai", "--base-url", f"{self.url}/v1", "--model", "reflector"]
