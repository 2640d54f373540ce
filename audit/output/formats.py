"""Rows for programs: JSON, CSV and Markdown. Numbers go out unrounded, save in Markdown."""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final, Protocol, TextIO, runtime_checkable

from audit.output.escaping import cell, escape_json, escape_markdown, in_line

MOST_DECIMALS: Final = 4
"""Decimals that the numbers of a column for people have at most."""

BATCH: Final = 1024
"""Rows of which the values of a column are converted together."""

Row = Mapping[str, Any]


@runtime_checkable
class Columnar(Protocol):
    """Rows that are values already, of which no mappings need to be made."""

    columns: Sequence[str]

    def values(self) -> Iterator[Sequence[Any]]:
        """Iterate over the rows, each the values of all columns."""


def write_json(columns: Sequence[str], rows: Iterable[Row], stream: TextIO) -> None:
    """A list of objects, one a line; what cannot be computed is null."""
    wanted = list(dict.fromkeys(columns))
    line = ", ".join(f"{as_json(column).replace('%', '%%')}: %s" for column in wanted).join("{}")
    before = "[\n "
    for batch in _batches(wanted, rows):
        stream.write(before + ",\n ".join(map(line.__mod__, _spelled(batch, as_json))))
        before = ",\n "
    stream.write("[\n]\n" if before == "[\n " else "\n]\n")


def write_csv(columns: Sequence[str], rows: Iterable[Row], stream: TextIO) -> None:
    """Comma-separated values with a header; an empty field is null, and a list is its items with spaces between.

    Texts are what `cell` makes of them, so that a spreadsheet can open the file.
    """
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(map(cell, columns))
    for batch in _batches(columns, rows):
        writer.writerows(_spelled(batch, _field))


def write_markdown(columns: Sequence[str], rows: Iterable[Row], stream: TextIO) -> None:
    """A pipe table, numbers to the right."""
    lines: list[Sequence[Any]] = []
    kinds: list[set[type]] = [set() for _ in columns]
    for batch in _batches(columns, rows):
        for found, values in zip(kinds, batch, strict=True):
            found.update(map(type, values))
        lines += _spelled(batch, _markdown_cell)
    ends = ["---:" if _are_numbers(found) else "---" for found in kinds]
    for line in ([*map(escape_markdown, columns)], ends, *lines):
        stream.write(f"| {' | '.join(map(str, line))} |\n")


WRITERS: Final[dict[str, Callable[[Sequence[str], Iterable[Row], TextIO], None]]] = {
    "json": write_json,
    "csv": write_csv,
    "markdown": write_markdown,
}


def as_json(value: Any, indent: int | None = None) -> str:
    """JSON that every reader accepts, and no terminal obeys: no NaN, no infinity, no control character as it is."""
    return escape_json(json.dumps(_finite(value), ensure_ascii=False, allow_nan=False, indent=indent))


def rounded(value: Any) -> str:
    """A value for people: four significant digits below a thousand, one decimal above."""
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return ""
    if isinstance(value, int):
        return str(value) if not isinstance(value, bool) else "yes" if value else "no"
    if isinstance(value, float):
        text = f"{value:.1f}" if abs(value) >= 1000 else f"{value:.4g}"
        return "0" if text == "-0" else text
    if is_nested(value):
        return in_line(as_json(value))
    if isinstance(value, list):
        return " ".join(rounded(item) for item in value)
    return in_line(str(value))


def aligned(values: Sequence[float | None], digits: int = 4) -> list[str]:
    """The numbers of a column for people, with their decimal points below each other; nulls are empty.

    All have as many decimals as the one that needs most of them for its significant digits, which are `digits` below a
    thousand, but no more than `MOST_DECIMALS`. Whole numbers have none, and a number so small that it would lose its
    digits keeps them.
    """
    known = [value for value in values if isinstance(value, float) and math.isfinite(value)]
    needed = (f"{value:.1f}" if abs(value) >= 1000 else f"{value:.{digits}g}" for value in known)
    places = max((len(text.partition(".")[2].rstrip("0")) for text in needed if "e" not in text), default=0)
    texts = [_with_decimals(value, min(places, MOST_DECIMALS), digits) for value in values]
    heads = [len(re.split("[.e]", text)[0]) for text in texts]
    tail = max((len(text) - head for text, head in zip(texts, heads, strict=True)), default=0)
    before = max(heads, default=0)
    return [f"{text.rjust(len(text) + before - head):{before + tail}}" for text, head in zip(texts, heads, strict=True)]


def _with_decimals(value: float | None, places: int, digits: int) -> str:
    if not isinstance(value, float):
        return "" if value is None else str(value)
    if not math.isfinite(value):
        return ""
    text = f"{value:.{digits}g}" if 0 < abs(value) < 10.0 ** (1 - places) else f"{value:.{places}f}"
    return text if re.search("[1-9]", text) else text.replace("-", "")


def is_number_column(rows: Sequence[Row], column: str) -> bool:
    """Whether a column holds numbers and nothing else, nulls aside."""
    return _are_numbers({type(row[column]) for row in rows})


def is_nested(value: Any) -> bool:
    """Whether a value is an object, or a list of such or of lists: formats without them have it as JSON."""
    return isinstance(value, dict) or (isinstance(value, list) and any(isinstance(item, dict | list) for item in value))


def _batches(columns: Sequence[str], rows: Iterable[Row]) -> Iterator[list[Sequence[Any]]]:
    """Some columns of rows, a batch of rows at a time: for each column its values."""
    if isinstance(rows, Columnar):
        values, places = rows.values(), [list(rows.columns).index(column) for column in columns]
    else:
        values, places = ([row[column] for column in columns] for row in rows), list(range(len(columns)))
    while batch := list(islice(values, BATCH)):
        every = list(zip(*batch, strict=True))
        yield [every[place] for place in places]


def _spelled(batch: Iterable[Sequence[Any]], spelled: Callable[[Any], Any]) -> Iterator[tuple[Any, ...]]:
    """Rows whose values a function has spelled, columns of whole numbers and, but for Markdown, of numbers aside."""
    return zip(*(_column(values, spelled) for values in batch), strict=True)


def _column(values: Sequence[Any], spelled: Callable[[Any], Any]) -> Iterable[Any]:
    # What a value becomes is a matter of its type, which nearly always all of a column share, and few texts are many.
    kinds = set(map(type, values)) - {type(None)}
    is_finite = kinds == {float} and all(map(math.isfinite, filter(None, values)))
    if kinds <= {int} or (is_finite and spelled is not _markdown_cell):
        null = spelled(None)
        return [null if value is None else value for value in values]
    if kinds in ({str}, {bool}):
        return map({value: spelled(value) for value in set(values)}.__getitem__, values)
    return map(spelled, values)


def _are_numbers(kinds: set[type]) -> bool:
    """Whether values of some types are numbers, nulls aside."""
    some = kinds - {type(None)}
    return bool(some) and all(issubclass(kind, int | float) and kind is not bool for kind in some)


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value


def _field(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return cell(value)
    if is_nested(value):
        return cell(as_json(value))
    return cell(" ".join(map(str, value))) if isinstance(value, list) else _finite(value)


def _markdown_cell(value: Any) -> str:
    text = rounded(value)
    return text if isinstance(value, int | float) else escape_markdown(text)
