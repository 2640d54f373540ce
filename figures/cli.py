"""The `figures` command: options in, one folder of figures and tables out."""

from __future__ import annotations

import shlex
import sys
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Final

import typer

from audit.commands.reading import PlansOption, reading
from audit.commands.version import HELP, VersionOption
from audit.options import Detection, Options
from audit.output.errors import UsageError, report, shortened
from audit.output.escaping import in_line
from audit.output.notes import note
from collector.command_line import Command
from collector.system.secrets import without_secrets
from stats.cli import run

app = typer.Typer(context_settings=HELP, rich_markup_mode=None, pretty_exceptions_enable=False)

_STOPPED: Final = "interrupted; what was written so far stays"


@app.command(cls=Command)
@reading(Detection, output=False, cached=False)
def figures(
    options: Options,
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="DIR",
            help="Folders, tar archives or packs, of native records or of released logs; s3://, https:// too. None is "
            "needed with --card or --remedies.",
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder to write to.")] = Path("figures/out"),
    plan: PlansOption = None,
    card: Annotated[
        list[Path] | None,
        typer.Option(metavar="DIR", help="Card of a critic, as `audit critic` makes it, to draw as well; repeatable."),
    ] = None,
    remedies: Annotated[
        Path | None, typer.Option(metavar="PLAN", help="Finished plan of `audit remedy` to draw as well.")
    ] = None,
    _version: VersionOption = False,
) -> None:
    """Draw every figure and write every table of some records, and a page that shows them."""
    from audit.output.progress import PrintedProgress

    if not paths and (plan or not (card or remedies)):
        raise UsageError("name records: DIR, one or more; only --card and --remedies need none")
    progress = PrintedProgress("figures")
    if paths and sys.stderr.isatty():
        note("reading records", "figures")
    from figures.data import load
    from figures.page.build import build

    records = load(replace(options, paths=paths, plans=plan or ()), progress) if paths else None
    command = shlex.join(["figures", *map(without_secrets, sys.argv[1:])])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        index = build(
            records,
            out,
            command,
            progress=progress,
            cards=card or (),
            remedies=remedies,
        )
    # Such as characters that the font lacks, which every figure with such a name warns of.
    warned = list(dict.fromkeys(str(warning.message) for warning in caught))
    of_records = [*report(records.problems), *shortened(records.unfinished)] if records else []
    for line in (*of_records, *shortened(warned)):
        note(line, "figures")
    typer.echo(in_line(str(index)))


def main() -> None:
    """Entry point of the `figures` command."""
    run(app, "figures", _STOPPED)
