"""How all commands report errors."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import warnings
from collections.abc import Iterator
from typing import Final

import typer

from audit.models.settings import require_memory
from audit.output.errors import AuditError, UsageError
from audit.output.escaping import in_line, visible
from audit.output.notes import note
from collector.errors import by_the_system
from collector.system.secrets import without_secrets
from collector.system.stopping import INTERRUPTED, is_stopped, stop_is_reported


def _warn(message: Warning | str, *_: object, **__: object) -> None:
    """Print a warning in one line, without its place in the code."""
    note(without_secrets(str(message)))


@contextlib.contextmanager
def reported_errors() -> Iterator[None]:
    """Report a user's errors in one line and set the exit status: as `ending` does."""
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _warn
            require_memory()
            yield
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader, such as `head`, has closed the pipe; the interpreter must not try to flush at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(0) from None
    except (Exception, KeyboardInterrupt) as error:
        message, status = ending(error)
        typer.echo(f"audit: {visible(message)}", err=True)
        raise typer.Exit(status) from None


def ending(error: BaseException) -> tuple[str, int]:
    """How a program reports the error that ends it: one line, and the exit status.

    That is 2 for usage, 1 for failure, and 130 for Ctrl-C, SIGTERM and SIGHUP, after which any failure is their doing.

    Raises:
        Exception: the error, where it is the program's own fault or another way to exit.
    """
    if isinstance(error, KeyboardInterrupt | typer.Abort) or is_stopped() or is_interrupt(error):
        stop_is_reported()
        return (isinstance(error, KeyboardInterrupt) and str(error)) or "interrupted", INTERRUPTED
    if isinstance(error, AuditError):
        return str(error), 2 if isinstance(error, UsageError) else 1
    if (reason := not_ours(error)) is None:
        raise error
    return reason, 1


OPTION_ERROR: Final[type[Exception]] = typer.BadParameter.__mro__[1]
"""What Typer raises for a wrong option: click's UsageError, or that of the copy of click that newer versions carry."""


def wrong_option(error: Exception, program: str) -> str:
    """Describe a wrong option in one line.

    Args:
        error: an `OPTION_ERROR`.
        program: the command that runs the program; its help is named where the error has no command of its own.
    """
    message = error.format_message() if hasattr(error, "format_message") else str(error)
    # Typer passes Pydantic's message on.
    message = re.sub(r"^Invalid value for '([^']+)'", r"\1", re.sub(r"Value error, |, unable to parse.*", "", message))
    message = message.replace("Input should be", "it should be")
    command = getattr(getattr(error, "ctx", None), "command_path", program)
    return f"{' '.join(visible(without_secrets(message)).split()).rstrip('.')}; see {command} --help"


def is_interrupt(error: BaseException) -> bool:
    """Whether an error is Ctrl-C, which DuckDB raises in this form where it comes during a query in the main thread."""
    return isinstance(error, RuntimeError) and str(error) == "Query interrupted"


def not_ours(error: BaseException) -> str | None:
    """Describe an error of the machine in one line: a full disk, a file removed while it is read; None for others."""
    if isinstance(error, UnicodeEncodeError) and error.encoding == "utf-8" and error.reason == "surrogates not allowed":
        return f"a text holds half of a surrogate pair ({error.object[error.start]!a}) in place of a character"
    if isinstance(error, UnicodeEncodeError):
        return f"standard output is {error.encoding}, which lacks some of the characters; set PYTHONIOENCODING=utf-8"
    if isinstance(error, MemoryError):
        return f"memory ran out{': ' if str(error) else ''}{in_line(str(error))}"
    # DuckDB is not imported here, so that `--help` stays fast.
    if isinstance(error, OSError) or "duckdb" in type(error).__module__:
        reason = by_the_system(error) if isinstance(error, OSError) else str(error)
        return in_line(without_secrets(reason.strip()).splitlines()[0])
    return None
