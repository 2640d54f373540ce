"""The command that shows records in a browser: `audit view`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from audit.commands.reading import MarksOption, PlansOption, TaskModules, reading
from audit.options import Options, RevisionSelection
from audit.output.errors import UsageError, count
from audit.output.escaping import in_line
from audit.output.notes import note
from audit.output.progress import PrintedProgress

commands = typer.Typer()


@commands.command()
@reading(RevisionSelection, output=False)
def view(
    options: Options,
    host: Annotated[
        str, typer.Option("--host", help="Address to listen on; other machines can reach any but the loopback address.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Port to listen on; 0 for any.")] = 0,
    labels: Annotated[
        list[Path] | None,
        typer.Option(
            "--labels",
            help="Sheet to fill in, which alone is written beside marks; given twice, the second is the other coder's.",
        ),
    ] = None,
    coder: Annotated[
        str | None, typer.Option("--coder", metavar="NAME", help="Whose rows of the sheet are filled in.")
    ] = None,
    task_module: TaskModules = None,
    plan: PlansOption = None,
    follow: Annotated[
        bool, typer.Option("--follow", help="Say when revisions were added, and show them on demand.")
    ] = False,
    marks: MarksOption = None,
    author: Annotated[
        str | None, typer.Option("--author", metavar="NAME", help="Who makes the marks; by default the user's login.")
    ] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Only print the address.")] = False,
    export: Annotated[
        Path | None,
        typer.Option("--export", metavar="DIR", help="Write the pages to this folder, which needs no server."),
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", min=1, max=1_000_000, help="Most revisions that an exported folder may hold.")
    ] = 20_000,
    with_prompts: Annotated[
        bool, typer.Option("--with-prompts", help="Export the exact prompts too, most of the size of records.")
    ] = False,
) -> None:
    """Show records in a browser: every count leads to its revisions, and these to their answers and rollouts.

    Example: audit view data/runs --env cartpole
    """
    from audit.viewer.export import export_view
    from audit.viewer.view import view

    if export is not None:
        if labels:
            raise UsageError("--labels fills in a sheet, which an exported folder cannot; leave out --export")
        if plan:
            raise UsageError("--plan shows experiments, which an exported folder cannot; leave out --export")
        if follow:
            raise UsageError("--follow waits for new revisions, which an exported folder cannot; leave out --export")
        if marks or author:
            raise UsageError("--marks and --author mark revisions, which an exported folder cannot; leave out --export")
        progress = PrintedProgress()
        made = export_view(options, export, limit=limit, with_prompts=with_prompts, progress=progress)
        size = f"{count(made.files, 'file')}, {made.size / 1e6:.1f} MB"
        note(f"{count(made.revisions, 'revision')} in {size}; open index.html, or put the folder on any static host")
        typer.echo(in_line(str(made.path / "index.html")))
        return
    with view(
        options,
        host=host,
        port=port,
        labels=labels or (),
        coder=coder,
        task_modules=task_module or (),
        plan=plan or (),
        follow=follow,
        marks=marks,
        author=author,
    ) as server:
        typer.echo(server.address)
        if not no_browser:
            server.open_in_browser()
        server.wait()
