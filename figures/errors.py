"""Errors that a user can cause: reported in one line, never with a traceback."""

from audit.output.errors import AuditError


class FiguresError(AuditError):
    """An error that stops the making of figures; the message states what, where, and what to do."""
