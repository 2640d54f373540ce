"""The command that packs records: `audit pack`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from audit.commands.options import NoCacheOption, StrictOption, told

commands = typer.Typer()


@commands.command()
def pack(
    path: Annotated[Path, typer.Argument(metavar="DIR", help="A folder or archive of records.")],
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="The pack, or a folder for it; else it lies beside DIR."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the pack, if there is one.")] = False,
    strict: StrictOption = False,
    no_cache: NoCacheOption = False,
) -> None:
    """Pack records into one Parquet file, DIR.pack.parquet, which every audit reads in place of DIR.

    Example: audit pack data/runs && audit summary data/runs.pack.parquet
    """
    with told():
        from audit.reports.relation import print_packed

        print_packed(path, out, force=force, strict=strict, cache=not no_cache)
