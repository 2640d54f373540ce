"""Errors that a user can cause: reported in one line, never with a traceback."""

import errno
import re

from collector.system.secrets import without_secrets


def printable(line: str) -> str:
    """The text with what acts on a terminal, or is no character, spelled out."""
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in line)


def cannot_write(path: object, error: OSError, option: str = "") -> str:
    """What every program reports of a place that cannot be written, such as one on a full or read-only disk.

    Args:
        path: the place, as the user knows it.
        error: the system's.
        option: by which another place is named, if there is one.
    """
    return f"cannot write {path}: {error.strerror or error}{option and f'; name another place with {option}'}"


def by_the_system(error: OSError) -> str:
    """The line for an error of the system that nothing else reports; of a disk that takes nothing as above."""
    takes_nothing = error.errno in {errno.EROFS, errno.ENOSPC, errno.EDQUOT} and error.filename is not None
    return cannot_write(error.filename, error) if takes_nothing else str(error)


class CollectorError(Exception):
    """Something that stops a collection; the message names what, where, and the remedy.

    It may quote anything, such as what a user's task has raised: as text it is one line without control characters,
    and without secrets of URLs.
    """

    def __str__(self) -> str:
        return printable(re.sub(r"\s*\n\s*", " ", without_secrets(super().__str__())))


class UsageError(CollectorError):
    """A wrong option or value: exit status 2."""


class TaskError(CollectorError):
    """An environment that fails, or returns a reward that is not a number."""


class ModelError(CollectorError):
    """A model that cannot or will not answer."""


class StorageError(CollectorError):
    """A folder or file that cannot be read or written."""


class WorkerError(CollectorError):
    """A worker process that died."""
