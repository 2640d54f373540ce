"""`python -m figures`: options in, one folder of figures and tables out."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from audit.commands.reading import Detector, DetectorOption
from audit.options import OPTION_ERROR, Paths, StrictOption, not_ours, wrong_option
from audit.problems import AuditError, UsageError, report, shortened
from figures.errors import FiguresError
from figures.options import Band

if TYPE_CHECKING:
    from figures.notebooks import Notebook

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)

_INTERRUPTED: Final = "interrupted; what was written so far stays"


@app.command()
def figures(
    data: Paths,
    out: Annotated[Path, typer.Option(help="Folder to write to.")] = Path("figures/out"),
    notebooks: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder of notebooks to run on the records and to write as pages."),
    ] = None,
    detector: DetectorOption = Detector.word,
    strict: StrictOption = False,
    band: Annotated[Band, typer.Option(help="What the bands of learning curves show.")] = Band.std,
) -> None:
    """Draw every figure and write every table of some records, and a page that shows them."""
    from figures.build import build
    from figures.data import load

    records = load(data, detector.value, strict=strict)
    ran = [] if notebooks is None else _run(notebooks, data, out)
    command = shlex.join(["python", "-m", "figures", *sys.argv[1:]])
    index = build(records, out, command, band=band, notebooks=ran)
    for line in (*report(records.problems), *shortened(records.unfinished)):
        typer.echo(f"figures: {line}", err=True)
    typer.echo(index)


def _run(notebooks: Path, data: list[Path], out: Path) -> list[Notebook]:
    """Run notebooks; where their packages are missing, say so and go on without."""
    from figures.notebooks import missing, run_notebooks

    if packages := missing():
        typer.echo(
            f"figures: notebooks are left out, for want of {', '.join(packages)}; "
            f"pip install 'salience-audit[notebooks]' brings them",
            err=True,
        )
        return []
    ran = run_notebooks(notebooks, data, out)
    for notebook in ran:
        if notebook.problem:
            typer.echo(f"figures: {notebook.problem}", err=True)
    return ran


def main() -> None:
    """Run the command: exit status 2 for wrong usage, 1 for failure, 130 for Ctrl-C."""
    try:
        status = app(prog_name="python -m figures", standalone_mode=False)
        if status == 130:  # how newer versions of Typer hand on a Ctrl-C, without a word
            _exit(_INTERRUPTED, status)
        sys.exit(status)
    except OPTION_ERROR as error:
        _exit(wrong_option(error, "python -m figures"), 2)
    except (AuditError, FiguresError) as error:
        _exit(str(error), 2 if isinstance(error, UsageError) else 1)
    except (KeyboardInterrupt, typer.Abort):
        _exit(_INTERRUPTED, 130)
    except Exception as error:
        reason = not_ours(error)
        if reason is None:
            raise
        _exit(reason, 1)


def _exit(message: str, status: int) -> None:
    typer.echo(f"figures: {message}", err=True)
    sys.exit(status)
