"""What the search needs of a language model, and nothing more."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Protocol

from collector.llm.form import Form


@dataclass(frozen=True, slots=True)
class Completion:
    """A model's answer. Token counts are null where the server does not report them."""

    text: str
    thinking: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    truth: dict[str, Any] | None = field(default=None)
    """The simulated critic's own account of what it did; other models give none."""
    fault: str | None = None
    """Why this is no answer that can be read, where that does not depend on what was asked for."""
    cut: str | None = None
    """Why the answer ends early, where it does: the reason to give if it cannot be read."""
    raw: str | None = None
    """The answer as the model wrote it, where its form made another text of it."""
    logprobs: list[tuple[str, float]] | None = None
    """The tokens of the answer and their log-probabilities (natural logarithm), where the backend gives them."""

    @property
    def settled(self) -> str:
        """The text, without its last word where that may be cut off itself."""
        return self.text if self.cut is None else re.sub(r"\S+\Z", "", self.text)


class Model(Protocol):
    """A language model behind some server, in this process, or a simulated one.

    `seed` makes a sampled answer repeatable where the server honours it.
    """

    backend: str
    name: str
    options: dict[str, Any]
    """What decides its answers besides the prompt, without secrets: it goes into the record of the run."""

    async def complete(self, prompt: str, *, seed: int, form: Form | None = None) -> Completion:
        """Answer one prompt.

        Args:
            prompt: all that the model is given.
            seed: of sampling.
            form: enforced where answers are structured.

        Raises:
            ModelError: the server cannot or will not answer, after transient faults were retried.
        """
        ...

    async def check(self) -> None:
        """Fail early, with a ModelError that names the remedy, if the model cannot be used."""
        ...

    async def aclose(self) -> None:
        """Release connections."""
        ...
