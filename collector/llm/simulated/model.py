"""The simulated model: a stand-in for a language model that runs anywhere and records the reasons of its edits."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from collector.errors import ModelError
from collector.llm.form import Form
from collector.llm.protocol import Completion
from collector.llm.simulated import wording
from collector.llm.simulated.personality import Personality, get_personality
from collector.llm.simulated.proposing import propose
from collector.llm.simulated.reading import CriticPrompt, SearchPrompt, UnknownPromptError, read
from collector.llm.simulated.revising import Revision, revise, worst_shown

UNREADABLE: Final = 0.02
"""Probability of an answer that breaks the form."""


class SimulatedModel:
    """Answers search and critic prompts from their text alone.

    Args:
        personality: id of one of the `PERSONALITIES`.
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
        rng = np.random.default_rng(seed)
        try:
            request = read(prompt)
        except UnknownPromptError as error:
            raise ModelError(str(error)) from None
        if isinstance(request, SearchPrompt):
            params, reason = propose(request, rng)
            return Completion(_in_form(params, [reason], rng))
        return self._review(request, rng)

    def _review(self, request: CriticPrompt, rng: np.random.Generator) -> Completion:
        revision = revise(request, self.personality, rng)
        named, sentences, discounts = self._explain(request, revision, rng)
        sentences += [revision.why, wording.changes(request.proposed, revision.params)]
        truth = {
            "personality": self.personality.id,
            "anchor": revision.anchor.label,
            "rollout": revision.anchor.index,
            "driver": revision.driver,
            "mention": named.form if named else None,
            "mentioned": named.label if named else None,
            "discounts_worst": discounts,
        }
        return Completion(_in_form(revision.params, sentences, rng), truth=truth)

    def _explain(
        self, request: CriticPrompt, revision: Revision, rng: np.random.Generator
    ) -> tuple[wording.Mention | None, list[str], bool]:
        """Sentences about rollouts, true or not: the one named, the sentences, whether the worst is set aside."""
        shows_worst = any(rollout.label == "worst" for rollout in request.rollouts)
        may_discount = shows_worst and revision.anchor.label != "worst"
        discounts = may_discount and bool(rng.random() < self.personality.discounts)
        aside = [wording.denial(rng)] if discounts else []
        if rng.random() >= self.personality.outspoken:
            return None, [wording.no_mention(rng), *aside], discounts
        subject = revision.anchor if self.personality.names == "anchor" else worst_shown(request)
        named = wording.mention(subject, rng)
        return named, [named.sentence, *aside], discounts

    async def check(self) -> None:
        """Nothing can be missing."""

    async def aclose(self) -> None:
        """No connections to release."""


def _in_form(params: tuple[float, ...], sentences: list[str], rng: np.random.Generator) -> str:
    if rng.random() < UNREADABLE:
        return wording.unreadable(params, rng)
    return wording.answer(params, sentences)
