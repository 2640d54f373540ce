"""Runs that a log names by text, such as `seed-a`, where records count them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from audit.importing.fields import LABEL, WHOLE, FieldError


class RunIds:
    """The names of a log's runs: whole numbers or text, as in the first row."""

    def __init__(self) -> None:
        self._is_text: bool | None = None

    def read(self, given: Any, value: Any) -> int | str:
        """The number of a row's run, or the text that names it.

        Args:
            given: the value in the row.
            value: the same as JSON would have it: a number, if a cell can be read as one.

        Raises:
            FieldError: it is neither, or not of the kind that the first row has.
        """
        if self._is_text is None and not isinstance(value, float):
            self._is_text = isinstance(value, str)
        if not self._is_text:
            number: int = WHOLE.read(value)
            return number
        if not isinstance(given, str):
            raise FieldError(f"should be text, as it is in the first row, but is {given}")
        name: str = LABEL.read(given.strip())
        return name


def numbered(names: Iterable[str]) -> dict[str, int]:
    """The numbers of runs by their names, from 1 in the order of the names: numbers within them count as such."""
    return {name: number for number, name in enumerate(sorted(set(names), key=_place), start=1)}


def _place(name: str) -> tuple[list[str | int], str]:
    parts = re.split("([0-9]+)", name)
    return [int(part) if place % 2 else part for place, part in enumerate(parts)], name
