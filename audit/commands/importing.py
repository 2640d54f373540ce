"""The command that makes records of other people's logs: `audit import`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import audit
from audit.commands.options import Format, FormatOption
from audit.commands.reading import deliver

commands = typer.Typer()


@commands.command("import")
def import_(
    files: Annotated[list[Path], typer.Argument(metavar="FILE", help="JSON Lines or CSV; one or more.")],
    mapping: Annotated[
        Path, typer.Option("--map", metavar="FILE", help="TOML: which column is which field of a record.")
    ],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="The folder of records to make.")],
    force: Annotated[bool, typer.Option("--force", help="Replace an earlier import in DIR.")] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Write nothing if any row is bad, instead of leaving it out.")
    ] = False,
    output: FormatOption = Format.table,
) -> None:
    """Turn any JSON Lines or CSV of revisions into records that every audit reads.

    Example: audit import --map mapping.toml revisions.csv --out data/theirs && audit check data/theirs
    """
    deliver(audit.import_logs(files, mapping, out, force=force, strict=strict).table(), output.value)
