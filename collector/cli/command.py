"""How a command of the collector ends: one line and an exit status for whatever a user can cause."""

from __future__ import annotations

import os
import re
import sys
from typing import Any, Final, NoReturn

import typer

from collector.errors import CollectorError, UsageError, by_the_system, printable
from collector.system.memory import shortage
from collector.system.secrets import without_secrets
from collector.system.stopping import INTERRUPTED, answering, is_stopped, stop_is_reported
from collector.system.streams import keep_streams

_USAGE, _FAILURE = 2, 1

_LEAST: Final = 0.75e9
"""Bytes of address space without which NumPy, SciPy and Numba cannot be imported."""

# What Typer raises for a wrong option: click's UsageError, or that of the copy of click that newer versions carry.
_OPTION_ERROR: Final[type[Exception]] = typer.BadParameter.__mro__[1]


def run_command(app: typer.Typer, name: str, program: str) -> NoReturn:
    """Run a command: exit status 2 for wrong usage, 1 for failure, 130 for Ctrl-C, SIGTERM and SIGHUP.

    Args:
        app: the command.
        name: what its messages begin with.
        program: what is typed to run it.
    """
    keep_streams()
    stopped = f"{name}: stopped; nothing is lost, the same command goes on from here"
    with answering(stopped):
        if problem := shortage(_LEAST):
            _exit(f"{name}: {problem}", _FAILURE)
        try:
            sys.exit(_status(app, program))
        except BrokenPipeError:
            # The reader, such as `head`, has closed the pipe; the interpreter must not try to flush at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(0)
        except (Exception, KeyboardInterrupt) as error:
            if is_stopped() or isinstance(error, KeyboardInterrupt | typer.Abort):
                _exit(stopped, INTERRUPTED)
            if isinstance(error, _OPTION_ERROR):
                _exit(f"{name}: {_wording(error)}; see {program} --help", _USAGE)
            if isinstance(error, CollectorError):
                _exit(f"{name}: {error}", _USAGE if isinstance(error, UsageError) else _FAILURE)
            if isinstance(error, MemoryError | OSError):
                # Faults of records are reported where they happen; this is standard output on a full disk.
                reason = by_the_system(error) if isinstance(error, OSError) else str(error)
                _exit(f"{name}: {without_secrets(reason) or 'memory ran out'}", _FAILURE)
            raise


def _status(app: typer.Typer, program: str) -> Any:
    status = app(prog_name=program, standalone_mode=False)
    if status == INTERRUPTED:  # how newer versions of Typer report Ctrl-C
        raise KeyboardInterrupt
    return status


def _wording(error: Exception) -> str:
    message = error.format_message() if hasattr(error, "format_message") else str(error)
    # Typer passes on Pydantic's wording.
    message = re.sub(r"Value error, |, unable to parse.*", "", message).replace("Input should be", "it should be")
    return " ".join(without_secrets(message).split()).rstrip(".")


def _exit(message: str, status: int) -> NoReturn:
    stop_is_reported()
    print(printable(message), file=sys.stderr)
    sys.exit(status)
