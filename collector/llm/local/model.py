"""A language model in this process."""

from __future__ import annotations

from typing import Any

from collector.llm.form import Form
from collector.llm.protocol import Completion


class LocalModel:
    """A model in this process."""

    backend = "local"

    def __init__(self, name: str, *, in_flight: int = 1, **options: Any) -> None:
        self.name = name
        self.options = options
        self.in_flight = in_flight

    async def complete(self, prompt: str, *, seed: int, form: Form | None = None) -> Completion:
        """Answer one prompt."""
        raise NotImplementedError

    async def check(self) -> None:
        """Load it."""

    async def aclose(self) -> None:
        """Free it."""
