"""Runs and iterations that a log names by text, such as `seed-a` or a time, where records count them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Final

from audit.importing.fields import LABEL, WHOLE, FieldError

NO_TIMES: Final = "no numbers or ISO times"
MIXED: Final = "ISO times both with and without a zone"


class Names:
    """What a log calls its runs, or its iterations: whole numbers or text, as in the first row.

    Args:
        in_order: whether numbers are names as well, of which the order alone counts.
    """

    def __init__(self, *, in_order: bool = False) -> None:
        self._is_text: bool | None = None
        self._in_order = in_order

    def read(self, given: Any, value: Any) -> int | str:
        """The number that a row gives, or the text.

        Args:
            given: the value in the row.
            value: the same as JSON would have it: a number, if a cell can be read as one.

        Raises:
            FieldError: it is neither, or not of the kind that the first row has.
        """
        if self._in_order and isinstance(given, int | float) and not isinstance(given, bool):
            given = str(given)
        elif self._is_text is None and not isinstance(value, float):
            self._is_text = isinstance(value, str)
        if not (self._is_text or self._in_order):
            number: int = WHOLE.read(value)
            return number
        if not isinstance(given, str):
            raise FieldError(f"should be text, as it is in the first row, but is {given}")
        name: str = LABEL.read(given.strip())
        return name


def numbered(names: Iterable[str]) -> dict[str, int]:
    """The numbers of runs by their names, from 1 in the order of the names: numbers within them count as such."""
    return {name: number for number, name in enumerate(sorted(set(names), key=_place), start=1)}


def in_sequence(names: Iterable[str]) -> tuple[dict[str, int], str | None]:
    """The numbers of a run's iterations by their names, from 0, and what the names are where they state no order.

    Numbers, ISO times, and names that share all but a number at their end are in their order. Others, such as times in
    other forms and random identifiers, are in the order of their rows.
    """
    rows, unsorted = list(names), None
    try:
        rows = _sorted(rows) if len(rows) > 1 else rows
    except ValueError:
        unsorted = NO_TIMES
    except TypeError:
        unsorted = MIXED
    return {name: number for number, name in enumerate(rows)}, unsorted


def order_of_names(columns: Mapping[str, str], unsorted: list[str | None]) -> str:
    """A line on the order in which iterations that are named by text are numbered.

    Args:
        columns: of the log, by their fields.
        unsorted: what the names of each run are where they state no order, else None.
    """
    why = next(filter(None, unsorted), None)
    if why is None:
        column = columns.get("step", columns["iteration"])
        return (
            f"iterations are named by times or other text, and numbered from 0 in each run, in the order of {column!r}"
        )
    most = sum(each is not None for each in unsorted)
    where = f" in {most} of {len(unsorted)} runs" if most < len(unsorted) else ""
    column = columns["iteration"]
    return f"iterations of {column!r} are {why}{where}; rows are taken in their order in the file"


def _sorted(names: list[str]) -> list[str]:
    try:
        return sorted(names, key=float)
    except ValueError:
        parts = [re.fullmatch("([^0-9]*)[0-9]+", name) for name in names]
        is_counted = len({part and part[1] for part in parts}) == 1 and parts[0] is not None
        return sorted(names, key=_place if is_counted else _instant)


def _instant(name: str) -> tuple[datetime, str]:
    """An ISO time; the parser reads no more than six digits of its fraction, so that all of them are apart."""
    fraction = re.search("[.,]([0-9]+)", name)
    return datetime.fromisoformat(name), fraction[1].rstrip("0") if fraction else ""


def _place(name: str) -> tuple[list[str | int], str]:
    parts = re.split("([0-9]+)", name)
    return [int(part) if place % 2 else part for place, part in enumerate(parts)], name
