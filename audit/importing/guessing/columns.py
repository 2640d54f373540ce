"""The columns of a sample, also those inside of objects and lists, and the shapes of their values."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Final, Literal

from audit.importing.fields import NUMBER, NUMBERS, nested
from audit.importing.guessing.sample import Sample
from audit.importing.guessing.words import COSTS, LABELS, LOST, MEASURES, SCORES, WON, words_of
from audit.importing.rows import EACH

Shape = Literal["flag", "whole", "number", "text", "texts", "numbers", "scored", "names", "objects", "object", "mixed"]
NUMERIC: Final = frozenset({"flag", "whole", "number"})
LISTS: Final = frozenset({"numbers", "scored"})
WRITTEN: Final = frozenset({"text", "texts"})
OPEN: Final = frozenset({"texts", "numbers", "scored", "names", "objects", "object"})
"""Shapes of lists and objects, which may be empty in some rows."""
DEEPEST: Final = 5
WIDEST: Final = 40
"""Entries of an object that are columns of their own."""


@dataclass(frozen=True)
class Column:
    """A column.

    Attributes:
        path: its name, or the path that leads to it.
        values: one per row, read as JSON has them; None where a row has none.
        cells: the same as they are written in the log.
        shape: of all values; `scored` is an object of numbers by name, `names` a list of texts.
        words: of its path.
    """

    path: str
    values: Sequence[Any]
    cells: Sequence[Any]
    shape: Shape
    words: tuple[str, ...]

    @property
    def present(self) -> list[Any]:
        """The values that are there."""
        return [value for value in self.values if value is not None]

    def distinct(self) -> list[Any]:
        """The values that are there, each once, in the order of the rows."""
        return list({repr(value): value for value in self.present}.values())

    def worth(self, row: int) -> list[float] | None:
        """The scores of a row, as a list."""
        value = self.values[row]
        if value is None:
            return None
        items = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else [value]
        numbers = [score_of(item) for item in items]
        return None if not numbers or any(number is None for number in numbers) else numbers  # type: ignore[return-value]

    def mean(self, row: int) -> float | None:
        """The mean score of a row."""
        scores = self.worth(row)
        return None if scores is None else fmean(scores)


def score_of(value: Any) -> float | None:
    """A number, or the number that true, `pass` and the like are worth; None for anything else."""
    if isinstance(value, bool | int | float):
        return float(value) if math.isfinite(value) else None
    word = str(value).lower()
    return 1.0 if word in WON else 0.0 if word in LOST else None


def columns_of(sample: Sample) -> dict[str, Column]:
    """All columns of a sample by path."""
    values: dict[str, list[Any]] = {}
    cells: dict[str, list[Any]] = {}
    for number, row in enumerate(sample.rows):
        for name, cell in row.items():
            for path, value, written in _walk(name, _read(cell, sample), cell, sample, 0):
                for table, entry in ((values, value), (cells, written)):
                    table.setdefault(path, [None] * len(sample.rows))[number] = entry
    return {
        path: Column(path, each, cells[path], shape_of([value for value in each if value is not None]), words_of(path))
        for path, each in values.items()
        if any(value is not None for value in each)
    }


def _walk(path: str, value: Any, cell: Any, sample: Sample, depth: int) -> Iterator[tuple[str, Any, Any]]:
    yield path, value, cell
    if depth == DEEPEST:
        return
    if isinstance(value, dict) and len(value) <= WIDEST and _shape(value) != "scored":
        for name, entry in value.items():
            yield from _walk(f"{path}.{name}", _opened(entry), entry, sample, depth + 1)
    elif isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        for name in dict.fromkeys(name for item in value for name in item):
            items = [item.get(name) for item in value]
            yield from _walk(f"{path}.{EACH}.{name}", items, items, sample, depth + 1)
    elif isinstance(value, list) and len(value) == 2 and not all(_is_number(item) for item in value):
        for number, entry in enumerate(value):
            yield from _walk(f"{path}.{number}", _opened(entry), entry, sample, depth + 1)


def _opened(value: Any) -> Any:
    return nested(value) if isinstance(value, str) else value


def _read(cell: Any, sample: Sample) -> Any:
    """A cell as JSON would have it."""
    if not sample.is_table or not isinstance(cell, str):
        return _opened(cell)
    if not cell.strip():
        return None
    source = sample.source
    if source.separator is not None:
        split = NUMBERS.from_cell(cell, source.separator, source.decimal or ".")
        if isinstance(split, list) and len(split) > 1 and all(_is_number(item) for item in split):
            return split
    value = nested(cell.strip())
    return NUMBER.from_cell(cell, None, source.decimal or ".") if isinstance(value, str) else value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float)


def shape_of(values: Sequence[Any]) -> Shape:
    """The shape that all values have."""
    shapes = {_shape(value) for value in values}
    if len(shapes) > 1 and shapes - {"empty"} <= OPEN:
        shapes.discard("empty")
    if shapes <= {"whole", "number"} and shapes:
        return "number" if "number" in shapes else "whole"
    return shapes.pop() if len(shapes) == 1 and shapes != {"empty"} else "mixed"  # type: ignore[return-value]


def _shape(value: Any) -> str:
    if isinstance(value, bool):
        return "flag"
    if isinstance(value, int | float):
        return "whole" if isinstance(value, int) or (value.is_integer() and abs(value) < 2**53) else "number"
    if isinstance(value, list):
        return _list_shape(value)
    if isinstance(value, dict):
        return _object_shape(value)
    return "text" if isinstance(value, str) else "mixed"


def _list_shape(value: list[Any]) -> str:
    if not value:
        return "empty"
    if all(_is_number(item) for item in value):
        return "numbers"
    if all(isinstance(item, str) for item in value):
        return "names"
    return "objects" if all(isinstance(item, dict) for item in value) else "mixed"


def _object_shape(value: Mapping[str, Any]) -> str:
    if not value:
        return "empty"
    words = {word for name in value for word in words_of(name)}
    if all(_is_number(entry) for entry in value.values()):
        return "object" if words & (SCORES | COSTS | MEASURES | LABELS) else "scored"
    is_texts = all(isinstance(entry, str) for entry in value.values()) and not words & (MEASURES | LABELS)
    return "texts" if is_texts else "object"
