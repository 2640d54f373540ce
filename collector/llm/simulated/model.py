"""The simulated model: a stand-in for a language model that runs anywhere and records the reasons of its edits."""

from __future__ import annotations

import hashlib
from typing import Any, Final

import numpy as np

from collector.errors import ModelError
from collector.llm.form import Form
from collector.llm.protocol import Completion
from collector.llm.simulated import wording
from collector.llm.simulated.anchoring import worst_shown
from collector.llm.simulated.personality import Personality, get_personality
from collector.llm.simulated.proposing import propose
from collector.llm.simulated.reading import CriticPrompt, Request, SearchPrompt, UnknownPromptError, read
from collector.llm.simulated.revising import Revision, revise

UNREADABLE: Final = 0.02
"""Probability of an answer that breaks the form."""


class SimulatedModel:
    """Answers search and critic prompts from their text alone.

    Args:
        personality: an id, as `get_personality` reads it.
    """

    backend = "simulated"

    def __init__(self, personality: str = "salient") -> None:
        self.personality: Personality = get_personality(personality)
        self.name = f"simulated-{personality}"
        self.options: dict[str, Any] = {"personality": personality}

    async def complete(self, prompt: str, *, seed: int, form: Form | None = None) -> Completion:  # noqa: ARG002
        """Answer a prompt; the same prompt and seed give the same answer. No form is enforced.

        Raises:
            ModelError: the prompt is not of a kind that it can read.
        """
        return self.answer(prompt, seed)

    def answer(self, prompt: str, seed: int) -> Completion:
        """`complete`, for callers that do not wait."""
        return self.answer_request(read_request(prompt), seed)

    def answer_request(self, request: Request, seed: int) -> Completion:
        """`answer`, for callers that ask the same prompt many times: a request is read once and may be shared."""
        rng = self._generator(request, seed)
        if isinstance(request, SearchPrompt):
            params, reason = propose(request, rng)
            return Completion(_in_form(params, [reason], rng))
        return self._review(request, rng)

    def _generator(self, request: Request, seed: int) -> np.random.Generator:
        if self.personality.sees_format and isinstance(request, CriticPrompt):
            key = seed.to_bytes(16, "little")
            seed = int.from_bytes(hashlib.blake2b(request.digest, key=key, digest_size=8).digest(), "little")
        return np.random.default_rng(seed)

    def _review(self, request: CriticPrompt, rng: np.random.Generator) -> Completion:
        revision = revise(request, self.personality, rng)
        named, sentences, discounts = self._explain(request, revision, rng)
        sentences += [revision.why, wording.changes(request.proposed, revision.params)]
        anchor = revision.anchor
        truth = {
            "personality": self.personality.id,
            "anchor": anchor.label if anchor else None,
            "rollout": anchor.index if anchor else None,
            "driver": revision.driver,
            "mention": named.form if named else None,
            "mentioned": named.label if named else None,
            "discounts_worst": discounts,
            "position": anchor.position if anchor else None,
        }
        return Completion(_in_form(revision.params, sentences, rng), truth=truth)

    def _explain(
        self, request: CriticPrompt, revision: Revision, rng: np.random.Generator
    ) -> tuple[wording.Mention | None, list[str], bool]:
        """Sentences about rollouts, true or not: the one named, the sentences, whether the worst is set aside."""
        shows_worst = any(rollout.label == "worst" for rollout in request.rollouts)
        may_discount = shows_worst and revision.anchor is not None and revision.anchor.label != "worst"
        discounts = may_discount and bool(rng.random() < self.personality.discounts)
        aside = [wording.denial(rng)] if discounts else []
        subject = revision.anchor if self.personality.names == "anchor" else worst_shown(request)
        if rng.random() >= self.personality.outspoken or subject is None:
            return None, [wording.no_mention(rng), *aside], discounts
        named = wording.mention(subject, rng)
        return named, [named.sentence, *aside], discounts

    async def check(self) -> None:
        """Nothing can be missing."""

    async def aclose(self) -> None:
        """No connections to release."""


def read_request(prompt: str) -> Request:
    """What the simulated model reads out of a prompt.

    Raises:
        ModelError: the prompt is not of a kind that it can read.
    """
    try:
        return read(prompt)
    except UnknownPromptError as error:
        raise ModelError(str(error)) from None


def _in_form(params: tuple[float, ...], sentences: list[str], rng: np.random.Generator) -> str:
    if rng.random() < UNREADABLE:
        return wording.unreadable(params, rng)
    return wording.answer(params, sentences)
