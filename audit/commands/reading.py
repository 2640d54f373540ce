"""What commands that read records share: their options, combined into one request."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from typer.models import ArgumentInfo

from audit.commands.kept import deliver_kept
from audit.commands.options import (
    ColumnsOption,
    ConditionOption,
    EnvOption,
    Format,
    FormatOption,
    LimitOption,
    NoCacheOption,
    Paths,
    RunOption,
    SortOption,
    StrictOption,
    VariantOption,
)
from audit.commands.printing import OPTIONS, names
from audit.output.rows import Table
from audit.request import Request
from audit.vocabulary.detectors import DEFAULT

DetectorOption = Annotated[
    str | None,
    typer.Option(
        "--detector",
        metavar="NAME|FILE",
        help="A reference is the word 'worst' (word), 'worst rollout|trajectory' (phrase), any name of that rollout "
        "(resolved); or it is what the change is chiefly justified by, read by rules (driver) or a model (judge); or "
        "what a file of your own finds: FILE.toml, FILE.py[:FUNCTION]. Default: word, or resolved where candidates are "
        "texts.",
    ),
]
AboutOption = Annotated[
    str | None,
    typer.Option(
        "--about",
        metavar="ITEM",
        help="The item whose references count: worst (default), median, best, first, last, label:X, or an item's id.",
    ),
]
JudgementsOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--judgements", metavar="FILE", help="What `audit judge` wrote; else DIR.judgements.jsonl. Repeatable."
    ),
]
JudgeOption = Annotated[
    str | None, typer.Option("--judge", metavar="MODEL", help="Model whose judgements count, if several have judged.")
]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="TASK.KEY=VALUE", help="Set a threshold of the edit patterns; repeatable."),
]
PlansOption = Annotated[
    list[Path] | None,
    typer.Option("--plan", metavar="FILE", help="Experiment of `audit intervene` to read as well; repeatable."),
]

TaskModules = Annotated[
    list[Path] | None,
    typer.Option("--task-module", metavar="FILE", help="Python file with a task of your own; repeatable."),
]
WorkersOption = Annotated[
    str | None,
    typer.Option(
        "--workers",
        metavar="local|N|ray|ray://HOST:PORT",
        help="Where policies are run: local (all cores), a number of threads or processes, ray, or ray://HOST:PORT.",
        show_default="local",
    ),
]


def _options(
    paths: Paths,
    output: FormatOption = Format.table,
    columns: ColumnsOption = None,
    sort: SortOption = None,
    limit: LimitOption = None,
    detector: DetectorOption = None,
    about: AboutOption = None,
    judgements: JudgementsOption = None,
    judge: JudgeOption = None,
    overrides: SetOption = None,
    strict: StrictOption = False,
    env: EnvOption = None,
    variant: VariantOption = None,
    condition: ConditionOption = None,
    run: RunOption = None,
    no_cache: NoCacheOption = False,
) -> Request:
    return Request(
        paths=paths,
        output=output.value,
        columns=names(columns),
        sort=names(sort) or (),
        limit=limit,
        strict=strict,
        cache=not no_cache,
        env=env,
        variant=variant,
        condition=condition,
        run=run,
        detector=detector,
        about=about,
        settings=overrides,
        judgements=judgements,
        judge=judge,
    )


_SHARED: Final = inspect.signature(_options, eval_str=True).parameters


def reading(
    *,
    output: bool = True,
    detector: bool = False,
    thresholds: bool = False,
    runs: bool = False,
    cached: bool = True,
) -> Callable[[Callable[..., Table | None]], Callable[..., None]]:
    """Turn a function whose first argument is a request into a command.

    Its other arguments, unlike its options, come before the paths. The table that it returns is printed.

    Args:
        output: whether the command has `--format` and the other options of tables.
        detector: whether the command has `--detector`.
        thresholds: whether the command has `--set`.
        runs: whether the command has `--run`, because its rows belong to single runs.
        cached: whether the command has `--no-cache`.
    """
    detecting = ("detector", "about", "judgements", "judge")
    groups = (
        (tuple(OPTIONS), output),
        (detecting, detector),
        (("overrides",), thresholds),
        (("run",), runs),
        (("no_cache",), cached),
    )
    left_out = {name for names, wanted in groups if not wanted for name in names}

    def decorate(function: Callable[..., Table | None]) -> Callable[..., None]:
        _, *others = inspect.signature(function, eval_str=True).parameters.values()
        own = [parameter for parameter in others if parameter.kind is not inspect.Parameter.VAR_KEYWORD]
        taken = left_out | {parameter.name for parameter in own}
        paths, *shared = (parameter for name, parameter in _SHARED.items() if name not in taken)

        @functools.wraps(function)
        def command(**given: Any) -> None:
            mine = {parameter.name: given.pop(parameter.name) for parameter in own}
            request = _options(**{"detector": DEFAULT, **given})
            deliver_kept(function.__name__, request, mine, functools.partial(function, request, **mine))

        # Typer reads both: the options and their types.
        before = [parameter for parameter in own if _is_argument(parameter)]
        options = [parameter for parameter in own if not _is_argument(parameter)]
        first = [parameter for parameter in shared if parameter.name in OPTIONS]
        parameters = [*before, paths, *first, *options, *(each for each in shared if each not in first)]
        command.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in parameters]
        )
        command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return command

    return decorate


def _is_argument(parameter: inspect.Parameter) -> bool:
    return any(isinstance(each, ArgumentInfo) for each in getattr(parameter.annotation, "__metadata__", ()))
