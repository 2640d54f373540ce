"""The `figures` command: options in, one folder of figures and tables out."""

from __future__ import annotations

import shlex
import sys
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from audit.commands.options import OPTION_ERROR, ending, wrong_option
from audit.commands.reading import PlansOption, reading
from audit.commands.version import HELP, VersionOption
from audit.engine.memory import require_memory
from audit.output.errors import report, shortened
from audit.output.escaping import in_line
from audit.request import Request
from collector.command_line import Command
from collector.system.secrets import without_secrets
from collector.system.stopping import INTERRUPTED, answering, is_stopped, stop_is_reported
from collector.system.streams import keep_streams
from figures.errors import FiguresError
from figures.options import Band

if TYPE_CHECKING:
    from audit.output.progress import PrintedProgress
    from figures.page.page import Notebook

app = typer.Typer(context_settings=HELP, rich_markup_mode=None, pretty_exceptions_enable=False)

_STOPPED: Final = "interrupted; what was written so far stays"


@app.command(cls=Command)
@reading(output=False, detector=True, cached=False)
def figures(
    request: Request,
    out: Annotated[Path, typer.Option(help="Folder to write to.")] = Path("figures/out"),
    notebooks: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder of notebooks to run on all of the records and to write as pages."),
    ] = None,
    band: Annotated[Band, typer.Option(help="What the bands of learning curves show.")] = Band.std,
    plan: PlansOption = None,
    _version: VersionOption = False,
) -> None:
    """Draw every figure and write every table of some records, and a page that shows them."""
    from audit.output.progress import PrintedProgress

    progress = PrintedProgress("figures")
    if sys.stderr.isatty():
        typer.echo("figures: reading records", err=True)
    from figures.data import load
    from figures.page.build import build

    records = load(replace(request, plans=plan or ()), progress)
    ran = [] if notebooks is None else _run(notebooks, request.paths, out, progress)
    command = shlex.join(["figures", *map(without_secrets, sys.argv[1:])])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        index = build(records, out, command, band=band, notebooks=ran, progress=progress)
    # Such as characters that the font lacks, which every figure with such a name warns of.
    warned = list(dict.fromkeys(str(warning.message) for warning in caught))
    for line in (*report(records.problems), *shortened(records.unfinished), *shortened(warned)):
        _say(line)
    typer.echo(in_line(str(index)))


def _run(notebooks: Path, data: Sequence[Path], out: Path, progress: PrintedProgress) -> list[Notebook]:
    """Run notebooks; where their packages are missing, report it and continue without."""
    from figures.page.notebooks import missing, run_notebooks

    if packages := missing():
        _say(
            f"notebooks are left out, for want of {', '.join(packages)}; "
            "pip install 'salience-audit[notebooks]' brings them"
        )
        return []
    ran = run_notebooks(notebooks, data, out, progress)
    for notebook in ran:
        if notebook.problem:
            _say(notebook.problem)
    return ran


def main() -> None:
    """Run the command: exit status 2 for wrong usage, 1 for failure, 130 for Ctrl-C and the like."""
    keep_streams()
    with answering(f"figures: {_STOPPED}"):
        try:
            require_memory()
            status = app(prog_name="figures", standalone_mode=False)
            if status == INTERRUPTED:  # how newer versions of Typer report Ctrl-C
                _exit(_STOPPED, status)
            sys.exit(status)
        except OPTION_ERROR as error:
            _exit(wrong_option(error, "figures"), 2)
        except (Exception, KeyboardInterrupt) as error:
            if isinstance(error, FiguresError) and not is_stopped():
                _exit(str(error), 1)
            message, status = ending(error)
            _exit(_STOPPED if status == INTERRUPTED else message, status)


def _exit(message: str, status: int) -> None:
    stop_is_reported()
    _say(message)
    sys.exit(status)


def _say(message: str) -> None:
    """A line on standard error, which names from records do nothing to."""
    typer.echo(f"figures: {in_line(message)}", err=True)
