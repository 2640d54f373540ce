"""Options shared by the commands that call a model."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from collector.errors import UsageError
from collector.sharding import MOST_SHARDS, Shard

if TYPE_CHECKING:
    from rich.console import Console

    from collector.llm.protocol import Model
    from collector.model_options import ModelOptions

HELP: Final = {"help_option_names": ["-h", "--help"]}
"""Settings of a program: `-h` is `--help`."""


def _print_version(context: typer.Context, *, wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"{context.info_name} {version('salience-audit')}")
        raise typer.Exit


VersionOption = Annotated[
    bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version, and exit.")
]
BackendOption = Annotated[str, typer.Option(help="simulated, local, ollama or openai.")]
PersonalityOption = Annotated[
    str | None,
    typer.Option(
        help="Simulated critic: salient, balanced, silent, talker, or RULE[@P][-silent|-talker] with RULE one of "
        "number, label, first, last, content, magnitude, uniform, none, typical, format, length.",
        show_default="salient",
    ),
]
ConcurrencyOption = Annotated[
    int | None,
    typer.Option(
        min=1, max=10_000, help="Runs in flight at once.", show_default="1 with local; else 4, or twice the cores"
    ),
]


def _shard(text: str) -> Shard:
    given = re.fullmatch(r"([0-9]{1,7})/([0-9]{1,7})", text)
    shard = Shard(*map(int, given.groups())) if given else Shard(0, 0)
    if not 1 <= shard.number <= shard.of <= MOST_SHARDS:
        raise typer.BadParameter(f"'{text}' is not I/N with I from 1 to N, such as 3/16")
    return shard


ShardOption = Annotated[
    Shard | None,
    typer.Option(
        "--shard",
        metavar="I/N",
        parser=_shard,
        help="Collect the I-th of N shares of the runs only; N processes with the same options, I from 1 to N, "
        "collect all.",
        show_default="all runs",
    ),
]


WorkersOption = Annotated[
    int | None, typer.Option(min=1, max=1024, help="Processes that run rollouts.", show_default="one per core")
]


def runs_in_flight(backend: str, asked: int | None) -> int | None:
    """Runs in flight at once, as asked; None for the default of `collect_runs`.

    A local model answers fastest, and repeatably, one call at a time.
    """
    return 1 if asked is None and backend == "local" else asked


def model_maker(
    console: Console, backend: str, personality: str | None, concurrency: int | None, options: ModelOptions
) -> Callable[[], Model]:
    """Makes the model that a command's options ask for, whose waits and notices are printed."""
    from rich.text import Text

    from collector.llm.backends import make_model

    def note(line: str) -> None:
        console.print(Text(line), soft_wrap=True)

    return partial(
        make_model,
        backend,
        personality=personality,
        in_flight=concurrency or 1,
        on_wait=lambda reason, seconds: note(f"waiting {seconds:.0f} s: {reason}"),
        on_notice=note,
        **options,
    )


def local_folder(out: Path) -> Path:
    """A folder of this machine.

    Raises:
        UsageError: it is a URL.
    """
    if re.match("[A-Za-z][A-Za-z0-9+.-]+:/", str(out)) and not out.exists():
        raise UsageError(f"--out {out}: a URL; records are written to a folder of this machine")
    return out


RunsOption = Annotated[int, typer.Option(min=1, max=9999, help="Runs of each method on each task.")]
RolloutsOption = Annotated[int, typer.Option(min=1, max=1_000_000, help="Rollouts per evaluation.")]
SeedOption = Annotated[int, typer.Option(min=0, max=2**63 - 1, help="Random seed.")]
QuietOption = Annotated[bool, typer.Option("--quiet", help="Print failures only.")]
