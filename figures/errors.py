"""Errors that a user can cause: reported in one line, never with a traceback."""


class FiguresError(Exception):
    """An error that stops the making of figures; the message states what, where, and what to do."""
