"""One answer while it is generated: what has come so far, and whether to go on."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from collector.errors import CollectorError, ModelError
from collector.llm.answer import read_completion
from collector.llm.logprobs import LARGEST
from collector.llm.protocol import Completion


class Generation:
    """An answer in the making.

    Args:
        stopped: set when all generations are to end.
        timeout: seconds after which it is cut off; None for no bound.
        write: as for `read_completion`.
    """

    def __init__(
        self, stopped: threading.Event, timeout: float | None, write: Callable[[str], str] | None = None
    ) -> None:
        self._stopped = stopped
        self._ends = None if timeout is None else time.monotonic() + timeout
        self._timeout = timeout
        self._write = write
        self._parts: list[str] = []
        self._thinking: list[str] = []
        self._logprobs: list[tuple[str, float | None]] = []
        self._prompt_tokens: int | None = None
        self._completion_tokens: int | None = None
        self._ended: str | None = None
        self._late: str | None = None
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
            self._ended = choice.get("finish_reason") or self._ended
        if usage := chunk.get("usage"):
            self._completion_tokens = usage["completion_tokens"]
        if self._ends is not None and time.monotonic() > self._ends:
            self._late = f"no full answer within {self._timeout:g} s"
        return self._stopped.is_set() or self._late is not None

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
        held = [(token, logprob) for token, logprob in self._logprobs if logprob is not None and abs(logprob) < LARGEST]
        completion = read_completion(
            text="".join(self._parts),
            thinking="".join(self._thinking),
            prompt_tokens=self._prompt_tokens,
            completion_tokens=len(self._logprobs) if self._completion_tokens is None else self._completion_tokens,
            ended=self._ended,
            logprobs=held or None,
            write=self._write,
        )
        empty = None if completion.text.strip() else "an empty answer"
        return replace(completion, cut=self._late or completion.cut or empty)


def _as_error(failure: dict[str, Any]) -> CollectorError:
    if failure.get("type") == "exceed_context_size_error":
        return CollectorError(
            f"the prompt has {failure['n_prompt_tokens']:,} tokens and the context {failure['n_ctx']:,}; "
            "give a larger --num-ctx, or a model with a larger context"
        )
    return ModelError(f"llama.cpp failed: {failure.get('message', failure)}")
