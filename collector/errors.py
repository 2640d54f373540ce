"""Errors that a user can cause: told in one line, never with a traceback."""


class CollectorError(Exception):
    """Something that stops a collection; the message says what, where, and what to do."""


class UsageError(CollectorError):
    """A wrong option or value: exit status 2."""


class TaskError(CollectorError):
    """An environment that fails, or gives a reward that is no number."""


class ModelError(CollectorError):
    """A model that cannot or will not answer."""


class InterruptedByUserError(CollectorError):
    """Ctrl-C: exit status 130."""


class StorageError(CollectorError):
    """A folder or file that cannot be read or written."""


class WorkerError(CollectorError):
    """A worker process that died."""
