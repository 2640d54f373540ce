"""What is to be judged, what of it is judged already, and what the rest will cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from audit.judging.questions import Question, draw, sha256
from audit.output.errors import count
from audit.sources.judgements import Judged

CHARACTERS_PER_TOKEN: Final = 4.0
"""The usual rule of thumb for English, until the model's own counts are known."""
REPLY_TOKENS: Final = 80.0
"""Tokens of a reply without thinking, until the model's own counts are known."""

COLUMNS: Final = ("condition", "env", "variant", "answers", "judged", "to_ask", "prompt_tokens", "completion_tokens")


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with its prompt's hash and length in characters, and its judgement, if it has one."""

    question: Question
    prompt_sha256: str
    characters: int
    judged: Judged | None

    def is_open(self, *, again: bool) -> bool:
        """Whether it is to be asked; with `again`, an unreadable judgement counts as none."""
        return self.judged is None or (again and self.judged.code is None)


@dataclass(frozen=True)
class Plan:
    """The questions that a run of `judge` covers.

    Attributes:
        model: the judge.
        asked: the questions.
        too_long: how many answers were left out as too long.
        again: whether to ask again where no reply could be read.
        characters_per_token: measured on the model's judgements so far, or assumed.
        reply_tokens: mean of the model's replies so far, thinking included, or assumed.
    """

    model: str
    asked: Sequence[Asked]
    too_long: int
    again: bool
    characters_per_token: float = CHARACTERS_PER_TOKEN
    reply_tokens: float = REPLY_TOKENS
    is_measured: bool = field(default=False)

    @property
    def open(self) -> list[Asked]:
        """The questions that are to be asked."""
        return [asked for asked in self.asked if asked.is_open(again=self.again)]

    def rows(self) -> Iterator[dict[str, Any]]:
        """The cost by condition, task and method."""
        groups: dict[tuple[str, str, str], list[Asked]] = {}
        for asked in self.asked:
            groups.setdefault(asked.question.identity[:3], []).append(asked)
        for identity in sorted(groups):
            waiting = [asked for asked in groups[identity] if asked.is_open(again=self.again)]
            numbers = (
                len(groups[identity]),
                len(groups[identity]) - len(waiting),
                len(waiting),
                *self._tokens(waiting),
            )
            yield dict(zip(COLUMNS, (*identity, *numbers), strict=True))

    def cost(self) -> str:
        """The cost in a line."""
        waiting = self.open
        text = f"{count(len(self.asked), 'answer')}, {len(self.asked) - len(waiting)} of them judged by {self.model}"
        if self.too_long:
            text += f"; {self.too_long} left out as too long (--longest)"
        if not waiting:
            return f"{text}; nothing to ask"
        prompt, completion = self._tokens(waiting)
        return f"{text}; {len(waiting)} to ask: about {prompt:,} tokens of prompts and {completion:,} of replies"

    def basis(self) -> str:
        """How the cost was estimated, and the longest prompt."""
        longest = max((asked.characters for asked in self.open), default=0) / self.characters_per_token
        how = (
            "by what this model's judgements took so far"
            if self.is_measured
            else f"at {self.characters_per_token:g} characters a token and {self.reply_tokens:g} tokens a reply, "
            f"thinking not included"
        )
        return f"estimated {how}; the longest prompt has about {round(longest):,} tokens"

    def _tokens(self, waiting: Sequence[Asked]) -> tuple[int, int]:
        characters = sum(asked.characters for asked in waiting)
        return round(characters / self.characters_per_token), round(len(waiting) * self.reply_tokens)


def make_plan(
    questions: Sequence[Question],
    judged: Sequence[Judged],
    *,
    model: str,
    sample: int | None,
    seed: int,
    longest: int,
    again: bool,
) -> Plan:
    """Determine what is to be asked.

    Args:
        questions: all that could be asked.
        judged: judgements by any model; of one question the last counts.
        model: the judge.
        sample: how many to draw; None for all.
        seed: of the draw.
        longest: characters of the longest answer that is judged.
        again: whether to ask again where no reply could be read.
    """
    latest = {each.key: each for each in judged if each.model == model}
    short = [question for question in questions if len(question.answer) <= longest]
    drawn = short if sample is None else draw(short, sample, seed)
    asked = [_look_up(question, model, latest) for question in drawn]
    known = [
        (each.characters, each.judged.prompt_tokens, each.judged.completion_tokens)
        for each in asked
        if each.judged and each.judged.attempts == 1 and each.judged.prompt_tokens and each.judged.completion_tokens
    ]
    plan = Plan(model, asked, len(questions) - len(short), again)
    if not known:
        return plan
    characters, prompt_tokens, completion_tokens = map(sum, zip(*known, strict=True))
    return Plan(
        model, asked, plan.too_long, again, characters / prompt_tokens, completion_tokens / len(known), is_measured=True
    )


def _look_up(question: Question, model: str, latest: Mapping[Any, Judged]) -> Asked:
    prompt = question.prompt()
    digest = sha256(prompt)
    return Asked(question, digest, len(prompt), latest.get((question.identity, digest, model)))
