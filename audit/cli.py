"""The `audit` command."""

from __future__ import annotations

import sys

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
from audit.options import OPTION_ERROR, wrong_option

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
    """Entry point of the `audit` command: a wrong option is one line and exit status 2."""
    try:
        sys.exit(app(standalone_mode=False))
    except OPTION_ERROR as error:
        # Without arguments, what comes is the help.
        line = f"audit: {wrong_option(error, 'audit')}" if sys.argv[1:] else str(error)
        typer.echo(line, err=True)
        sys.exit(2)
    except typer.Abort:
        typer.echo("audit: stopped", err=True)
        sys.exit(1)
