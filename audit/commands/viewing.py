"""The command that shows records in a browser: `audit view`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import audit
from audit.commands.reading import TaskModules, reading
from audit.request import Request

commands = typer.Typer()


@commands.command()
@reading(output=False, detector=True, thresholds=True, runs=True)
def view(
    request: Request,
    host: Annotated[
        str, typer.Option("--host", help="Address of this machine to listen on; others can reach any but the loopback.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Port to listen on; 0 for any.")] = 0,
    labels: Annotated[
        list[Path] | None,
        typer.Option(
            "--labels", help="Sheet to fill in, the only file that is written; twice: then the other coder's."
        ),
    ] = None,
    coder: Annotated[
        str | None, typer.Option("--coder", metavar="NAME", help="Whose rows of the sheet are filled in.")
    ] = None,
    task_module: TaskModules = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Only print the address.")] = False,
) -> None:
    """Show records in a browser: every count leads to its revisions, and these to their answers and rollouts.

    Example: audit view data/runs
    """
    with audit.view(
        request, host=host, port=port, labels=labels or (), coder=coder, task_modules=task_module or ()
    ) as view:
        typer.echo(view.address)
        if not no_browser:
            view.open_in_browser()
        view.wait()
