"""Puts Parquet files together from columns of others, as these are compressed already.

A Parquet file has the columns of its first rows, a row group, then those of the next, and a footer that says where each
is and how it is read. Here the bytes of columns are copied, and a footer is written for their new places.
https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import IO, Final, Self

from audit.packing.thrift import INTEGER, LIST, STRUCT, Struct, decode, encode

_MAGIC: Final = b"PAR1"

# Numbers of fields: of FileMetaData, SchemaElement, RowGroup, ColumnChunk and ColumnMetaData.
_SCHEMA, _ALL_ROWS, _ROW_GROUPS = 2, 3, 4
_NAME, _CHILDREN = 4, 5
_COLUMNS, _SIZE, _ROWS, _START, _COMPRESSED = 1, 2, 3, 5, 6
_OFFSET, _META = 2, 3
_PATH, _META_SIZE, _META_COMPRESSED, _DATA, _DICTIONARY, _FILTER, _FILTER_SIZE = 3, 6, 7, 9, 11, 14, 15

_KEPT: Final = {1, 2, 3, 4, 5, 6, 7, 8, 12, 13, 16}
"""Fields of a column that are the same at every place. All but these and those above are optional, and left out."""


class ParquetError(ValueError):
    """Columns do not fit together."""


class Assembled:
    """A Parquet file that is being put together; it is whole when the context ends without an error.

    Args:
        path: of the file.
        like: a Parquet file with all its columns.
    """

    def __init__(self, path: Path, like: Path) -> None:
        with like.open("rb") as stream:
            source = _Source(stream)
            self._footer, self._columns = source.footer, source.columns
        self._row_groups: list[bytes] = []
        self._rows = 0
        self._file = path.open("wb")
        self._place = self._file.write(_MAGIC)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._file:
            if kind is None:
                rows, groups = (INTEGER, self._rows), (LIST, (STRUCT, self._row_groups))
                footer = encode({**self._footer, _ALL_ROWS: rows, _ROW_GROUPS: groups})
                self._file.write(footer + len(footer).to_bytes(4, "little") + _MAGIC)

    def add(self, *files: Path) -> None:
        """Add rows.

        Args:
            files: Parquet files with equal row groups, which together have all columns; a column of several is taken
                from the first, and other columns are left out.

        Raises:
            ParquetError: a column is missing or has another type, or row groups have different numbers of rows.
        """
        with ExitStack() as streams:
            sources = [_Source(streams.enter_context(file.open("rb"))) for file in files]
            if any(source.rows != sources[0].rows for source in sources):
                raise ParquetError("row groups have different numbers of rows")
            of = [
                (name, next((s for s in sources if s.columns.get(name) == elements), None))
                for name, elements in self._columns.items()
            ]
            for name, source in of:
                if source is None:
                    raise ParquetError(f"no column {name.decode()} of the same type")
            for number, rows in enumerate(sources[0].rows):
                chunks = [self._copied(leaf, s) for name, s in of if s is not None for leaf in s.leaves(number, name)]
                self._add_row_group(chunks, rows)

    def _copied(self, leaf: Struct, source: _Source) -> Struct:
        """Copy a column of a row group; returns what the footer says of it."""
        pages = leaf[_DATA][1]
        start = min(pages, leaf[_DICTIONARY][1]) if _DICTIONARY in leaf else pages
        moved = self._place - start
        self._place += self._file.write(source.read(start, leaf[_META_COMPRESSED][1]))
        more = {at: (INTEGER, leaf[at][1] + moved) for at in (_DATA, _DICTIONARY) if at in leaf}
        if _FILTER in leaf and _FILTER_SIZE in leaf:
            more |= {_FILTER: (INTEGER, self._place), _FILTER_SIZE: leaf[_FILTER_SIZE]}
            self._place += self._file.write(source.read(leaf[_FILTER][1], leaf[_FILTER_SIZE][1]))
        return {number: value for number, value in leaf.items() if number in _KEPT} | more

    def _add_row_group(self, leaves: Sequence[Struct], rows: int) -> None:
        start = min(leaf[at][1] for leaf in leaves for at in (_DATA, _DICTIONARY) if at in leaf)
        group: Struct = {
            _COLUMNS: (LIST, (STRUCT, [{_OFFSET: (INTEGER, 0), _META: (STRUCT, leaf)} for leaf in leaves])),
            _SIZE: (INTEGER, sum(leaf[_META_SIZE][1] for leaf in leaves)),
            _ROWS: (INTEGER, rows),
            _START: (INTEGER, start),
            _COMPRESSED: (INTEGER, sum(leaf[_META_COMPRESSED][1] for leaf in leaves)),
        }
        self._row_groups.append(encode(group))
        self._rows += rows


class _Source:
    """A Parquet file that columns are copied from; `columns` has the schema of each, and `rows` those of row groups."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        size = stream.seek(0, 2)
        length = int.from_bytes(self.read(size - 8, 4), "little")
        self.footer = decode(self.read(size - 8 - length, length))
        root, *elements = self.footer[_SCHEMA][1][1]
        self.columns: dict[bytes, list[Struct]] = {}
        for _ in range(root[_CHILDREN][1]):
            count = _elements(elements, 0)
            self.columns[elements[0][_NAME][1]] = elements[:count]
            elements = elements[count:]
        self._groups: list[Struct] = self.footer[_ROW_GROUPS][1][1]
        self.rows = [group[_ROWS][1] for group in self._groups]

    def leaves(self, row_group: int, column: bytes) -> list[Struct]:
        """What the footer says of a column in a row group, by leaf."""
        found = [chunk[_META][1] for chunk in self._groups[row_group][_COLUMNS][1][1]]
        return [leaf for leaf in found if leaf[_PATH][1][1][0] == column]

    def read(self, start: int, size: int) -> bytes:
        """Some of the bytes."""
        self._stream.seek(start)
        return self._stream.read(size)


def _elements(elements: Sequence[Struct], place: int) -> int:
    """How many elements of a schema, from a place on, are one with what is below it."""
    end = place + 1
    for _ in range(elements[place].get(_CHILDREN, (INTEGER, 0))[1]):
        end += _elements(elements, end)
    return end - place
