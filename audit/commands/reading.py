"""What commands share: their options, stated once and combined into `Options`, and how they are called."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import typer
from typer.models import ArgumentInfo

from audit.options import Options, Selection
from audit.output.notes import note
from audit.output.rows import Table
from audit.vocabulary.thresholds import parse_overrides

Format = Literal["table", "json", "csv", "markdown", "latex"]

StrictOption = Annotated[
    bool, typer.Option("--strict", help="Refuse records with problems instead of leaving them out.")
]
NoCacheOption = Annotated[
    bool, typer.Option("--no-cache", help="Read everything anew, and keep nothing for the next audit.")
]
PlansOption = Annotated[
    list[Path] | None,
    typer.Option("--plan", metavar="FILE", help="Experiment of `audit intervene` to read as well; repeatable."),
]
MarksOption = Annotated[
    Path | None,
    typer.Option(
        "--marks", metavar="FILE", help="File of stars, tags and notes, if not audit-marks.jsonl beside the records."
    ),
]
TaskModules = Annotated[
    list[Path] | None,
    typer.Option("--task-module", metavar="FILE", help="Python file with a task of your own; repeatable."),
]
WorkersOption = Annotated[
    int | None,
    typer.Option(
        "--workers", min=1, max=1024, help="Threads or processes that run policies.", show_default="one per core"
    ),
]

# Of commands about one revision.
RecordsPath = Annotated[str, typer.Argument(metavar="DIR", help="A folder, archive or pack of records, or a URL.")]
Env = Annotated[str, typer.Argument(metavar="ENV", help="Task.")]
Variant = Annotated[str, typer.Argument(metavar="VARIANT", help="Method.")]
Run = Annotated[int, typer.Argument(metavar="RUN", min=0, max=2**63 - 1, help="Run, from 1.")]
Iteration = Annotated[int, typer.Argument(metavar="ITERATION", min=0, max=2**63 - 1, help="Iteration, from 0.")]
OneCondition = Annotated[str | None, typer.Option("--condition", help="Condition, where several have it.")]


def _shared(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="DIR",
            help="Folders, tar archives or packs, of native records or of released logs; one or more; s3://, https:// "
            "too.",
        ),
    ],
    output: Annotated[Format, typer.Option("--format", help="How the rows are written to standard output.")] = "table",
    columns: Annotated[
        list[str] | None,
        typer.Option("--columns", metavar="A,B,...", help="Only these columns, in this order, in every format."),
    ] = None,
    sort: Annotated[
        list[str] | None,
        typer.Option("--sort", metavar="A,-B,...", help="Sort rows by these columns; -B has the largest values first."),
    ] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, max=10**9, help="Print at most this many rows.")
    ] = None,
    detector: Annotated[
        str | None,
        typer.Option(
            "--detector",
            metavar="NAME|FILE",
            help="A reference is the word 'worst' (word), 'worst rollout|trajectory' (phrase), any name of that "
            "rollout (resolved); or it is what the change is chiefly justified by, read by a model (judge); or what a "
            "file of your own finds: FILE.toml, FILE.py[:FUNCTION]. Default: word, or resolved where candidates are "
            "texts.",
        ),
    ] = None,
    about: Annotated[
        str | None,
        typer.Option(
            "--about",
            metavar="ITEM",
            help="The item whose references count: worst (default), median, best, first, last, label:X, or an item's "
            "id.",
        ),
    ] = None,
    judgements: Annotated[
        list[Path] | None,
        typer.Option(
            "--judgements", metavar="FILE", help="What `audit judge` wrote; else DIR.judgements.jsonl. Repeatable."
        ),
    ] = None,
    judge: Annotated[
        str | None,
        typer.Option("--judge", metavar="MODEL", help="Model whose judgements count, if several have judged."),
    ] = None,
    overrides: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="TASK.KEY=VALUE", help="Set a threshold of the edit patterns; repeatable."),
    ] = None,
    strict: StrictOption = False,
    env: Annotated[list[str] | None, typer.Option("--env", help="Only this task; repeatable.")] = None,
    variant: Annotated[list[str] | None, typer.Option("--variant", help="Only this method; repeatable.")] = None,
    condition: Annotated[list[str] | None, typer.Option("--condition", help="Only this condition; repeatable.")] = None,
    run: Annotated[list[int] | None, typer.Option("--run", min=1, help="Only runs of this number; repeatable.")] = None,
    no_cache: NoCacheOption = False,
) -> None:
    """The options that commands share, as Typer reads them."""


_SHARED: Final = inspect.signature(_shared, eval_str=True).parameters
_TABLE: Final = ("output", "columns", "sort", "limit")
_READING: Final = (
    *("detector", "about", "judgements", "judge", "overrides"),
    *("strict", "env", "variant", "condition", "run", "cache"),
)


def _options(given: dict[str, Any]) -> Options:
    """What was given of the options that commands share."""
    return Options(
        cache=not given.pop("no_cache", False),
        columns=_names(given.pop("columns", None)),
        sort=_names(given.pop("sort", None)) or (),
        overrides=parse_overrides(given.pop("overrides", None) or ()),
        judgements=given.pop("judgements", None) or (),
        **given,
    )


def sharing(
    before: Sequence[str], behind: Sequence[str], calls: str | None = None
) -> Callable[[Callable[..., Any]], Callable[..., None]]:
    """Turn a function whose first argument is `Options` into a command; a table that it returns is printed.

    Its own arguments come before the paths, and an option of its own takes the place of a shared one of that name.

    Args:
        before: the shared parameters before its own options.
        behind: those behind them.
        calls: `module:function`, which does it. The function then has neither this argument nor a body, and what is not
            given is left to the defaults of the other, whose records, if there are `paths`, are its `data`.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., None]:
        every = [*inspect.signature(function, eval_str=True).parameters.values()]
        own = [each for each in every[calls is None :] if each.kind is not inspect.Parameter.VAR_KEYWORD]
        taken = {parameter.name for parameter in own}
        first, last = ([_SHARED[name] for name in names if name not in taken] for names in (before, behind))

        def command(**given: Any) -> None:
            mine = {parameter.name: given.pop(parameter.name) for parameter in own}
            options = _options(given)
            table: Table | None = made(options, **mine)
            if table is not None:
                print_table(table, options)

        def made(options: Options, **mine: Any) -> Any:
            if calls is None:
                return function(options, **mine)
            module, name = calls.split(":")
            data = {"data": options} if "paths" in before else {}
            stated = {option: value for option, value in mine.items() if value is not None}
            return getattr(import_module(module), name)(**data, **stated)

        arguments = [each for each in own if _is_argument(each)]
        options = [each for each in own if not _is_argument(each)]
        paths = [each for each in first if _is_argument(each)]
        parameters = [*arguments, *paths, *first[len(paths) :], *options, *last]
        functools.update_wrapper(command, function)
        # Typer reads both: the parameters and their types.
        command.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in parameters]
        )
        command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return command

    return decorate


def print_table(table: Table, options: Options, program: str = "audit") -> None:
    """Print the columns and rows of a table that are asked for, and its notes on standard error."""
    is_whole = options.columns is None and not options.sort and options.limit is None
    with table:
        shown = table if is_whole else table.select(options.columns, sort=options.sort, limit=options.limit)
        for line in shown.notes:
            note(line, program)
        shown.print(options.output)


def reading(
    kind: Any = Selection, *, output: bool = True, paths: bool = True, cached: bool = True, calls: str | None = None
) -> Callable[[Callable[..., Any]], Callable[..., None]]:
    """`sharing` for commands that read records.

    Args:
        kind: the keyword arguments of the function of this name in `audit`, which the command has as options.
        output: whether the command has `--format` and the other options of tables.
        paths: whether the command takes any number of folders.
        cached: whether the command has `--no-cache`.
        calls: as `sharing` has it.
    """
    known = kind.__optional_keys__ - (set() if cached else {"cache"})
    behind = ["no_cache" if name == "cache" else name for name in _READING if name in known]
    return sharing((*(["paths"] if paths else []), *(_TABLE if output else ())), behind, calls)


def printing(*before: str, calls: str | None = None) -> Callable[[Callable[..., Any]], Callable[..., None]]:
    """`sharing` for commands that read no records, or do so by themselves: with the options of tables.

    Args:
        before: further shared parameters.
        calls: as `sharing` has it.
    """
    return sharing(before, _TABLE, calls)


def _names(given: Sequence[str] | None) -> list[str] | None:
    """The columns of an option that is repeated or has several, with commas between."""
    return None if given is None else [name.strip() for each in given for name in each.split(",") if name.strip()]


def _is_argument(parameter: inspect.Parameter) -> bool:
    return any(isinstance(each, ArgumentInfo) for each in getattr(parameter.annotation, "__metadata__", ()))
