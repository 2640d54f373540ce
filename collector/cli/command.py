"""How a command of the collector ends: one line and an exit status for whatever a user can cause."""

from __future__ import annotations

import os
import re
import signal
import sys
from typing import Any, Final, NoReturn

import typer

from collector.errors import CollectorError, UsageError
from collector.system.memory import shortage
from collector.system.secrets import without_secrets
from collector.system.stopping import stop_for_certain

_USAGE, _FAILURE, _INTERRUPTED = 2, 1, 130

_LEAST: Final = 0.75e9
"""Bytes of address space without which NumPy, SciPy and Numba cannot be imported."""

# What Typer raises for a wrong option: click's UsageError, or that of the copy of click that newer versions carry.
_OPTION_ERROR: Final[type[Exception]] = typer.BadParameter.__mro__[1]


def run_command(app: typer.Typer, name: str, program: str) -> NoReturn:
    """Run a command: exit status 2 for wrong usage, 1 for failure, 130 for Ctrl-C.

    Args:
        app: the command.
        name: what its messages begin with.
        program: what is typed to run it.
    """
    # SIGTERM ends as cleanly as Ctrl-C.
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    stopped = f"{name}: stopped; nothing is lost, the same command goes on from here"
    ended = stop_for_certain(stopped, _INTERRUPTED)
    if problem := shortage(_LEAST):
        _exit(f"{name}: {problem}", _FAILURE)
    try:
        sys.exit(_status(app, program))
    except (KeyboardInterrupt, typer.Abort):
        ended.set()
        _exit(stopped, _INTERRUPTED)
    except _OPTION_ERROR as error:
        _exit(f"{name}: {_wording(error)}; see {program} --help", _USAGE)
    except UsageError as error:
        _exit(f"{name}: {error}", _USAGE)
    except CollectorError as error:
        _exit(f"{name}: {error}", _FAILURE)
    except BrokenPipeError:
        # The reader, such as `head`, has closed the pipe; the interpreter must not try to flush at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except (MemoryError, OSError) as error:
        # Faults of records are reported where they happen; this is standard output on a full disk.
        _exit(f"{name}: {without_secrets(str(error)) or 'memory ran out'}", _FAILURE)


def _status(app: typer.Typer, program: str) -> Any:
    status = app(prog_name=program, standalone_mode=False)
    if status == _INTERRUPTED:  # how newer versions of Typer report Ctrl-C
        raise KeyboardInterrupt
    return status


def _wording(error: Exception) -> str:
    message = error.format_message() if hasattr(error, "format_message") else str(error)
    # Typer passes on Pydantic's wording.
    message = re.sub(r"Value error, |, unable to parse.*", "", message).replace("Input should be", "it should be")
    return " ".join(without_secrets(message).split()).rstrip(".")


def _exit(message: str, status: int) -> NoReturn:
    print(message, file=sys.stderr)
    sys.exit(status)
