"""Options that every program has beside its own: `-h` for `--help`, and `--version`."""

from __future__ import annotations

from typing import Annotated, Final

import typer

HELP: Final = {"help_option_names": ["-h", "--help"]}
"""Settings of a program, which its commands inherit."""


def _print(context: typer.Context, *, wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"{context.find_root().info_name} {version('salience-audit')}")
        raise typer.Exit


VersionOption = Annotated[
    bool, typer.Option("--version", is_eager=True, callback=_print, help="Print the version, and exit.")
]


def program(_version: VersionOption = False) -> None:
    """The options of a program that has commands; a Typer callback."""
