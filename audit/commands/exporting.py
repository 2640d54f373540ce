"""The command that writes recorded answers for other programs: `audit export`."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from audit.commands.reading import reading
from audit.output.errors import UsageError, count
from audit.output.escaping import in_line
from audit.request import Request, note

commands = typer.Typer()


class ExportFormat(StrEnum):
    """How recorded answers are written."""

    scout = "scout"
    docent_jsonl = "docent-jsonl"
    chat_jsonl = "chat-jsonl"
    parquet = "parquet"
    csv = "csv"


class Role(StrEnum):
    """Whose answers."""

    critic = "critic"
    search = "search"


@commands.command()
@reading(output=False, detector=True, thresholds=True, runs=True)
def export(
    request: Request,
    out: Annotated[
        Path, typer.Option("--out", metavar="PATH", help="The file to write; with scout, the folder of the database.")
    ],
    file_format: Annotated[
        ExportFormat | None,
        typer.Option(
            "--format", help="The format, if it is not given as the first word; scout by default.", show_default=False
        ),
    ] = None,
    role: Annotated[Role, typer.Option("--role", help="Whose prompts and answers to export.")] = Role.critic,
    force: Annotated[bool, typer.Option("--force", help="Replace an earlier export.")] = False,
) -> None:
    """Export prompts and answers with the audit's verdicts: for Inspect Scout, Docent, or any reader of tables.

    The format is the first word (audit export csv DIR --out FILE) or --format.

    Example: audit export scout data/runs --out answers && scout view -T answers
    """
    from audit.exporting.export import export

    first = str(request.paths[0])
    if first in list(ExportFormat) and len(request.paths) > 1:
        if file_format not in {None, first}:
            raise UsageError(f"two formats, {first} and {file_format}: choose one")
        request, file_format = replace(request, paths=request.paths[1:]), ExportFormat(first)
    made = export(request, out, file_format or ExportFormat.scout, role=role, force=force)
    for line in made.notes:
        note(line)
    typer.echo(
        f"{in_line(str(made.path))}: {count(made.transcripts, 'transcript')} in {count(made.files, 'file')}, "
        f"{made.size / 1e6:.1f} MB"
    )
