"""The `stats` command: options in, one table out."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Mapping
from typing import ClassVar

import typer

from audit.commands.options import OPTION_ERROR, ending, wrong_option
from audit.commands.overview import Overview
from audit.commands.version import HELP, program
from audit.engine.memory import require_memory
from collector.system.stopping import INTERRUPTED, answering
from collector.system.streams import keep_streams


class Commands(Overview):
    """The commands."""

    homes: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("metrics", "compare"), "stats.cli.compared"),
        **dict.fromkeys(("aggregate", "profile", "efficiency", "ranks"), "stats.cli.aggregate"),
        **dict.fromkeys(("paper", "check"), "stats.cli.published"),
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
    """Entry point of the `stats` command: exit status 2 for wrong usage, 1 for failure, 130 for Ctrl-C and the like."""
    keep_streams()
    with answering("stats: interrupted"), _reported():
        require_memory()
        status = app(prog_name="stats", standalone_mode=False)
        sys.stdout.flush()
        if status == INTERRUPTED:  # how newer versions of Typer report Ctrl-C
            raise KeyboardInterrupt
        sys.exit(status)


@contextlib.contextmanager
def _reported() -> Iterator[None]:
    try:
        yield
    except OPTION_ERROR as error:
        _exit(wrong_option(error, "stats"), 2)
    except BrokenPipeError:
        # The reader, such as `head`, has closed the pipe; the interpreter must not try to flush at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except (Exception, KeyboardInterrupt) as error:
        _exit(*ending(error))


def _exit(message: str, status: int) -> None:
    from stats.cli.records import note

    note(message)
    sys.exit(status)
