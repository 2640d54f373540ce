"""The `stats` command: options in, one table out."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NoReturn

import typer

from audit.commands.options import OPTION_ERROR, ending, wrong_option
from audit.commands.overview import Overview
from audit.commands.version import HELP, program
from audit.models.settings import require_memory
from collector.system.stopping import INTERRUPTED, answering
from collector.system.streams import keep_streams


class Commands(Overview):
    """The commands."""

    homes: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("metrics", "compare"), "stats.cli.compared"),
        **dict.fromkeys(("aggregate", "profile", "efficiency", "ranks"), "stats.cli.aggregate"),
        "check": "stats.cli.published",
    }
    former: ClassVar[Mapping[str, str]] = {
        "paper": "docs/errata.md lists what the paper printed that does not follow from its other numbers",
    }


app = typer.Typer(
    name="stats",
    cls=Commands,
    help="Average the returns of runs, and test methods against each other.",
    epilog="Example: stats compare data/runs --reference r2po --metric best_return --format latex",
    callback=program,
    context_settings=HELP,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def main() -> None:
    """Entry point of the `stats` command."""
    run(app, "stats")


def run(program: Callable[..., Any], name: str, stopped: str = "") -> None:
    """Run a program's commands and exit: with status 2 for wrong usage, 1 for failure, 130 for Ctrl-C and the like.

    Args:
        program: the application, as Typer has it.
        name: what it is called.
        stopped: what it reports when it was stopped, where that is more than the fact.
    """
    keep_streams()
    with answering(f"{name}: {stopped or 'interrupted'}"):
        try:
            require_memory()
            status = program(prog_name=name, standalone_mode=False)
            sys.stdout.flush()
            if status == INTERRUPTED:  # how newer versions of Typer report Ctrl-C
                _interrupt()
            sys.exit(status)
        except OPTION_ERROR as error:
            _exit(name, wrong_option(error, name), 2)
        except BrokenPipeError:
            # The reader, such as `head`, has closed the pipe; the interpreter must not try to flush at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(0)
        except (Exception, KeyboardInterrupt) as error:
            message, status = ending(error)
            _exit(name, stopped if stopped and status == INTERRUPTED else message, status)


def _interrupt() -> NoReturn:
    raise KeyboardInterrupt


def _exit(name: str, message: str, status: int) -> None:
    from audit.output.notes import note

    note(message, name)
    sys.exit(status)
