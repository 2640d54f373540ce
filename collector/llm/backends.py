"""The backends by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, Unpack

from collector.errors import UsageError
from collector.llm.protocol import Model

if TYPE_CHECKING:
    from collector.model_options import ModelOptions

BACKENDS: Final = ("simulated", "local", "ollama", "openai")
DEFAULT_PERSONALITY: Final = "salient"
DEFAULT_OLLAMA_MODEL: Final = "gpt-oss:20b"
DEFAULT_LOCAL_MODEL: Final = "smollm2"

_ONLY: Final = {
    "num_ctx": ("local", "ollama"),
    "base_url": ("ollama", "openai"),
    "allow_redirects": ("ollama", "openai"),
    "threads": ("local",),
    "gpu_layers": ("local",),
}
"""Options that not every real backend has."""
_WHY: Final = {
    "num_ctx": "other servers fix their context when they start",
    "base_url": "the local model has no server",
    "allow_redirects": "the local model has no server",
}


def make_model(
    backend: str,
    *,
    personality: str | None = None,
    in_flight: int = 1,
    reuse_prompts: bool = False,
    on_wait: Callable[[str, float], None] | None = None,
    on_notice: Callable[[str], None] | None = None,
    **options: Unpack[ModelOptions],
) -> Model:
    """The model that the options ask for; backends load their clients only now.

    Args:
        backend: one of `BACKENDS`.
        personality: of the simulated model.
        in_flight: calls that are made at once, at most.
        reuse_prompts: the local model may begin where a prompt differs from the last one.
        on_wait: called before each wait with its reason and its seconds.
        on_notice: called with a line that the user should see.
        options: of a real model.

    Raises:
        UsageError: an unknown backend, or an option that this backend does not have.
    """
    if backend not in BACKENDS:
        raise UsageError(f"unknown backend '{backend}'; choose from {', '.join(BACKENDS)}")
    given: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    _refuse_others(backend, given)
    if backend == "simulated":
        from collector.llm.simulated import SimulatedModel

        return SimulatedModel(personality or DEFAULT_PERSONALITY)
    if personality is not None:
        raise UsageError(f"--personality is for the simulated backend, not for {backend}")
    name = given.pop("model", None)
    if backend == "local":
        from collector.llm.local import LocalModel

        return LocalModel(name or DEFAULT_LOCAL_MODEL, in_flight=in_flight, reuse_prompts=reuse_prompts, **given)
    if backend == "ollama":
        from collector.llm.ollama import OllamaModel

        return OllamaModel(name or DEFAULT_OLLAMA_MODEL, on_wait=on_wait, on_notice=on_notice, **given)
    if name is None:
        raise UsageError("--backend openai needs --model")
    from collector.llm.openai import OpenAIModel

    return OpenAIModel(name, on_wait=on_wait, on_notice=on_notice, **given)


def option_labels(backend: str, options: Mapping[str, Any]) -> list[str]:
    """What of a model's recorded options decides its answers and is not the default, as parts of a condition."""
    defaults: Mapping[str, Any] = {}
    if backend == "local":
        from collector.llm.local import DEFAULTS

        defaults = DEFAULTS
    numbers = {name: options.get(name) for name in ("temperature", "max_tokens", "num_ctx")}
    labels = [
        f"{name.replace('_', '-')}-{value:g}"
        for name, value in numbers.items()
        if value is not None and value != defaults.get(name)
    ]
    if (structured := options.get("structured", False)) != defaults.get("structured", False):
        labels.append("structured" if structured else "free")
    return labels


def _refuse_others(backend: str, given: Mapping[str, Any]) -> None:
    """Refuse options of other backends than this one."""
    for name in given:
        option = f"--{name.replace('_', '-')}"
        if backend == "simulated":
            raise UsageError(f"{option} is for real models; add --backend local, ollama or openai")
        if backend not in _ONLY.get(name, BACKENDS):
            why = f"; {_WHY[name]}" if name in _WHY else ""
            raise UsageError(f"{option} is for --backend {' or '.join(_ONLY[name])}{why}")
