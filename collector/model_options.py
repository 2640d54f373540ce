"""The options of a model, for every command and function that asks one."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any, Final, TypedDict, TypeVar, get_type_hints

import typer

T = TypeVar("T")


class ModelOptions(TypedDict, total=False):
    """Options of a model; what is missing or None is left to the backend."""

    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            help="Model of a real backend: a name, or with local a GGUF file.",
            show_default="smollm2 with local, gpt-oss:20b with ollama",
        ),
    ]
    structured: Annotated[
        bool | None,
        typer.Option(
            "--structured/--free",
            help="Whether the decoder enforces the form of answers.",
            show_default="structured with local, free with others",
        ),
    ]
    temperature: Annotated[
        float | None,
        typer.Option("--temperature", min=0.0, max=100.0, help="Sampling temperature.", show_default="the server's"),
    ]
    base_url: Annotated[
        str | None,
        typer.Option("--base-url", help="Address of the model's server.", show_default="from the environment"),
    ]
    allow_redirects: Annotated[
        bool | None,
        typer.Option(
            "--allow-redirects", help="Follow the server's redirects to other hosts and ports.", show_default="no"
        ),
    ]
    timeout: Annotated[
        float | None,
        typer.Option(
            "--timeout", min=0.001, max=1e6, help="Seconds to wait for one answer.", show_default="600 with servers"
        ),
    ]
    max_tokens: Annotated[
        int | None,
        typer.Option(
            "--max-tokens",
            min=1,
            max=2**31 - 1,
            help="Longest answer, thinking included.",
            show_default="1024 with local, else the server's",
        ),
    ]
    num_ctx: Annotated[
        int | None,
        typer.Option(
            "--num-ctx",
            min=1,
            max=2**31 - 1,
            help="Context size of the local model, or asked of Ollama.",
            show_default="8192 with local, else the server's",
        ),
    ]
    logprobs: Annotated[
        bool | None,
        typer.Option("--logprobs", help="Keep the log-probability of every token of an answer.", show_default="no"),
    ]
    threads: Annotated[
        int | None,
        typer.Option("--threads", min=1, max=512, help="Threads of the local model.", show_default="all cores"),
    ]
    gpu_layers: Annotated[
        int | None,
        typer.Option(
            "--gpu-layers",
            min=0,
            max=10_000,
            help="Layers of the local model to run on a GPU.",
            show_default="what fits, where the build supports one",
        ),
    ]


_SHARED: Final = get_type_hints(ModelOptions, include_extras=True)


def with_model_options(command: Callable[..., T]) -> Callable[..., T]:
    """Give a Typer command that has `--backend` and `**keywords` the options of a model in place of the latter."""
    *own, _ = inspect.signature(command, eval_str=True).parameters.values()
    behind = [parameter.name for parameter in own].index("backend") + 1
    shared = [_keyword(name, annotation) for name, annotation in _SHARED.items()]
    others = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in own[behind:]]
    parameters = [*own[:behind], *shared, *others]

    @functools.wraps(command)
    def wrapped(*request: Any, **given: Any) -> T:
        return command(*request, **given)

    # Typer reads both: the parameters and their types.
    wrapped.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    wrapped.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return wrapped


def _keyword(name: str, annotation: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
