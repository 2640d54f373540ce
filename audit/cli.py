"""The `audit` command."""

from __future__ import annotations

import typer

from audit.commands import (
    behaviour,
    calibrating,
    checking,
    coding,
    find,
    importing,
    judging,
    pack,
    rerun,
    sensitivity,
    show,
    sql,
    tables,
)

app = typer.Typer(
    name="audit",
    help="Find out from raw records what the critic did: how revisions turned out, and what its answers refer to.",
    epilog="Example: audit salience data/runs --env cartpole --detector phrase --format csv",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
for module in (
    tables,
    show,
    find,
    sensitivity,
    sql,
    behaviour,
    coding,
    calibrating,
    judging,
    rerun,
    importing,
    checking,
    pack,
):
    app.add_typer(module.commands)


def main() -> None:
    """Run the command line."""
    app()
