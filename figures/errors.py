"""Errors that a user can cause: reported in one line, never with a traceback."""


class FiguresError(Exception):
    """Something that stops the making of figures; the message says what, where, and what to do."""
