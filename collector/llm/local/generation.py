"""One answer while it is generated: what has come so far, and whether to go on."""

from __future__ import annotations

import threading
import time
from typing import Any, Final

from collector.errors import CollectorError, ModelError
from collector.llm.answer import NO_ANSWER
from collector.llm.logprobs import LARGEST
from collector.llm.protocol import Completion
from collector.llm.repetition import repeated_tail
from collector.records import split_thinking

LOOK_EVERY: Final = 16
"""Tokens between looks at whether an answer goes in circles."""


class Generation:
    """An answer in the making.

    Args:
        stopped: set when all generations are to end.
        timeout: seconds after which it is cut off; None for no bound.
    """

    def __init__(self, stopped: threading.Event, timeout: float | None) -> None:
        self._stopped = stopped
        self._ends = None if timeout is None else time.monotonic() + timeout
        self._timeout = timeout
        self._parts: list[str] = []
        self._thinking: list[str] = []
        self._logprobs: list[tuple[str, float | None]] = []
        self._looked = 0
        self._prompt_tokens: int | None = None
        self._completion_tokens: int | None = None
        self._cut: str | None = None
        self._failure: dict[str, Any] | None = None

    def abandon(self) -> None:
        """Let it end: nobody waits for it."""
        self._stopped = threading.Event()
        self._stopped.set()

    def take(self, chunk: dict[str, Any]) -> bool:
        """Take the next part of llama.cpp's answer, in the shape of OpenAI's streams.

        Returns:
            Whether to stop.
        """
        if "choices" not in chunk:
            self._failure = chunk.get("error", chunk)
            return True
        if progress := chunk.get("prompt_progress"):
            self._prompt_tokens = progress["total"]
        for choice in chunk["choices"]:
            self._parts.append(choice["delta"].get("content") or "")
            self._thinking.append(choice["delta"].get("reasoning_content") or "")
            self._logprobs += [
                (each["token"], each["logprob"]) for each in (choice.get("logprobs") or {}).get("content", [])
            ]
            if choice.get("finish_reason") == "length":
                self._cut = f"cut off after {len(self._logprobs)} tokens"
        if usage := chunk.get("usage"):
            self._completion_tokens = usage["completion_tokens"]
        self._cut = self._cut or self._reason_to_stop()
        return self._stopped.is_set() or self._cut is not None

    def _reason_to_stop(self) -> str | None:
        if self._ends is not None and time.monotonic() > self._ends:
            return f"no full answer within {self._timeout:g} s"
        if len(self._logprobs) < self._looked + LOOK_EVERY:
            return None
        self._looked = len(self._logprobs)
        unit = repeated_tail("".join(self._parts))
        return f"repeats itself: {unit!r}" if unit else None

    def completion(self) -> Completion:
        """The answer.

        Raises:
            CollectorError: the prompt does not fit into the context.
            ModelError: llama.cpp failed, or the model was closed.
        """
        if self._failure is not None:
            raise _as_error(self._failure)
        if self._stopped.is_set():
            raise ModelError("the local model was stopped in the middle of an answer")
        text, thinking = split_thinking("".join(self._parts), "".join(self._thinking))
        tokens = len(self._logprobs) if self._completion_tokens is None else self._completion_tokens
        empty = NO_ANSWER if thinking else "an empty answer"
        cut = self._cut if text.strip() else self._cut or empty
        held = [(token, logprob) for token, logprob in self._logprobs if logprob is not None and abs(logprob) < LARGEST]
        return Completion(text, thinking, self._prompt_tokens, tokens, cut=cut, logprobs=held or None)


def _as_error(failure: dict[str, Any]) -> CollectorError:
    if failure.get("type") == "exceed_context_size_error":
        return CollectorError(
            f"the prompt has {failure['n_prompt_tokens']:,} tokens and the context {failure['n_ctx']:,}; "
            "give a larger --num-ctx, or a model with a larger context"
        )
    return ModelError(f"llama.cpp failed: {failure.get('message', failure)}")
