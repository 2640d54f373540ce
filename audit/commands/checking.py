"""The command that reports what a data set is good for: `audit check`."""

from __future__ import annotations

from typing import Annotated

import typer

from audit.commands.reading import reading
from audit.output.rows import Table
from audit.request import Request

commands = typer.Typer()


@commands.command()
@reading()
def check(
    request: Request,
    facts: Annotated[
        bool,
        typer.Option(
            "--facts", help="In formats other than table, what the records hold instead of what they support."
        ),
    ] = False,
    shards: Annotated[
        bool,
        typer.Option("--shards", help="For sweeps collected with --shard: what each shard lacks, one row per shard."),
    ] = False,
    findings: Annotated[
        bool,
        typer.Option("--findings", help="Recompute what packs carry, and fail if it differs from their records."),
    ] = False,
) -> Table:
    """What records have and lack, and which commands they support.

    Example: audit check data/theirs logs.tar.xz
    """
    from audit.reports.check.report import check

    return check(request, facts=facts, shards=shards, findings=findings)
