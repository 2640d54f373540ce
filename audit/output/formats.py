"""Rows for programs: JSON, CSV and Markdown. Numbers go out unrounded, save in Markdown."""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TextIO

from audit.output.escaping import cell, escape_json, escape_markdown, in_line

MOST_DECIMALS: Final = 4
"""Decimals that the numbers of a column for people have at most."""

Row = Mapping[str, Any]
Writer = Callable[[Sequence[str], Iterable[Row], TextIO, str | None], None]


def write_json(columns: Sequence[str], rows: Iterable[Row], stream: TextIO, caption: str | None = None) -> None:
    """A list of objects, one a line; what cannot be computed is null. A caption has no place in it."""
    del caption
    stream.write("[")
    for number, row in enumerate(rows):
        stream.write(",\n " if number else "\n ")
        stream.write(as_json({column: row[column] for column in columns}))
    stream.write("\n]\n")


def write_csv(columns: Sequence[str], rows: Iterable[Row], stream: TextIO, caption: str | None = None) -> None:
    """Comma-separated values with a header; an empty field is null, and a list is its items with spaces between.

    Texts are what `cell` makes of them, so that a spreadsheet can open the file.
    """
    del caption
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(map(cell, columns))
    writer.writerows([_field(row[column]) for column in columns] for row in rows)


def write_markdown(columns: Sequence[str], rows: Iterable[Row], stream: TextIO, caption: str | None = None) -> None:
    """A pipe table, numbers to the right."""
    kept = list(rows)
    stream.write("| " + " | ".join(map(escape_markdown, columns)) + " |\n")
    marks = ["---:" if is_number_column(kept, column) else "---" for column in columns]
    stream.write("| " + " | ".join(marks) + " |\n")
    for row in kept:
        cells = [escape_markdown(rounded(row[column])) for column in columns]
        stream.write("| " + " | ".join(cells) + " |\n")
    if caption:
        stream.write(f"\n{escape_markdown(caption)}\n")


WRITERS: Final[dict[str, Writer]] = {
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
    if isinstance(value, bool):
        return "yes" if value else "no"
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
    values = [row[column] for row in rows if row[column] is not None]
    return bool(values) and all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)


def is_nested(value: Any) -> bool:
    """Whether a value is an object, or a list of such or of lists: formats without them have it as JSON."""
    return isinstance(value, dict) or (isinstance(value, list) and any(isinstance(item, dict | list) for item in value))


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
    if is_nested(value):
        return cell(as_json(value))
    if isinstance(value, list):
        return cell(" ".join(str(item) for item in value))
    return cell(value) if isinstance(value, str) else _finite(value)
