"""The backends by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from collector.errors import UsageError
from collector.llm.protocol import Model

BACKENDS: Final = ("simulated", "ollama", "openai")
DEFAULT_PERSONALITY: Final = "salient"
DEFAULT_OLLAMA_MODEL: Final = "gpt-oss:20b"
TIMEOUT: Final = 600.0
"""Seconds for one answer."""


def make_model(
    backend: str,
    *,
    name: str | None = None,
    personality: str | None = None,
    temperature: float | None = None,
    base_url: str | None = None,
    timeout: float | None = None,
    max_tokens: int | None = None,
    num_ctx: int | None = None,
    on_wait: Callable[[str, float], None] | None = None,
) -> Model:
    """The model that the options ask for; backends load their clients only now.

    Args:
        backend: one of `BACKENDS`.
        name: the model, as its server calls it.
        personality: of the simulated model.
        temperature: of sampling; none leaves it to the server.
        base_url: the server; none leaves it to the backend's usual environment variables.
        timeout: seconds for one answer.
        max_tokens: longest answer, thinking included; none leaves it to the server.
        num_ctx: size of the context that Ollama is asked for; none leaves it to the server.
        on_wait: called before each wait with its reason and its seconds.

    Raises:
        UsageError: an unknown backend, or an option that this backend does not have.
    """
    if backend not in BACKENDS:
        raise UsageError(f"unknown backend '{backend}'; choose from {', '.join(BACKENDS)}")
    if backend == "simulated":
        real = {
            "--model": name,
            "--temperature": temperature,
            "--base-url": base_url,
            "--timeout": timeout,
            "--max-tokens": max_tokens,
            "--num-ctx": num_ctx,
        }
        for option, value in real.items():
            if value is not None:
                raise UsageError(f"{option} is for real models; add --backend ollama or --backend openai")
        from collector.llm.simulated import SimulatedModel

        return SimulatedModel(personality or DEFAULT_PERSONALITY)
    if personality is not None:
        raise UsageError(f"--personality is for the simulated backend, not for {backend}")
    if backend == "ollama":
        from collector.llm.ollama import OllamaModel

        return OllamaModel(
            name or DEFAULT_OLLAMA_MODEL,
            host=base_url,
            temperature=temperature,
            timeout=timeout or TIMEOUT,
            max_tokens=max_tokens,
            num_ctx=num_ctx,
            on_wait=on_wait,
        )
    if num_ctx is not None:
        raise UsageError("--num-ctx is for --backend ollama; other servers fix their context when they start")
    if name is None:
        raise UsageError("--backend openai needs --model")
    from collector.llm.openai import OpenAIModel

    return OpenAIModel(
        name,
        base_url=base_url,
        temperature=temperature,
        timeout=timeout or TIMEOUT,
        max_tokens=max_tokens,
        on_wait=on_wait,
    )
