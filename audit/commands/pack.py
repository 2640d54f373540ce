"""The command that packs records: `audit pack`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from audit.commands.options import NoCacheOption, StrictOption
from audit.output.errors import count
from audit.output.escaping import in_line
from audit.remote.urls import path_of
from audit.request import print_notes

commands = typer.Typer()


class Findings(StrEnum):
    """How much a pack carries; the names of `audit.engine.carried.LEVELS`."""

    none = "none"
    word = "word"
    all = "all"


@commands.command()
def pack(
    path: Annotated[
        Path, typer.Argument(metavar="DIR", parser=path_of, help="A folder or archive of records, or a URL.")
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="File or folder for the pack; beside DIR by default."),
    ] = None,
    to: Annotated[
        str | None,
        typer.Option("--to", metavar="URL", help="Upload the pack, such as to s3://BUCKET/NAME.pack.parquet."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the pack, if there is one.")] = False,
    findings: Annotated[Findings, typer.Option("--findings", help="Which findings the pack carries.")] = Findings.word,
    partition: Annotated[
        bool, typer.Option("--partition", help="Write a folder of packs, one for each condition and task.")
    ] = False,
    append: Annotated[bool, typer.Option("--append", help="Add to that folder what it lacks.")] = False,
    strict: StrictOption = False,
    no_cache: NoCacheOption = False,
) -> None:
    """Pack records into one Parquet file, DIR.pack.parquet, which every audit reads in place of DIR.

    Example: audit pack data/runs && audit summary data/runs.pack.parquet
    """
    from audit.packing.pack import pack

    packed = pack(
        path,
        out,
        to=to,
        force=force,
        strict=strict,
        cache=not no_cache,
        findings=findings.value,
        partition=partition,
        append=append,
    )
    print_notes(packed.notes, packed.problems, "packed as they are or left out" if append else "packed as they are")
    if append and not packed.packs:
        typer.echo(f"{in_line(str(packed.path))}: nothing new")
        return
    packs = f" ({count(packed.packs, 'pack')})" if partition or append else ""
    typer.echo(
        f"{in_line(str(packed.path))}: {count(packed.runs, 'run')}, {packed.size_before / 1e6:.1f} MB of records in "
        f"{packed.size_after / 1e6:.1f} MB{packs}"
    )
