"""The compact protocol of Thrift, in which the footers of Parquet files are written.

A struct is a dict from the number of a field to its type and value; a list is a type and the elements of that type.
https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
"""

from __future__ import annotations

from typing import Any, Final

Struct = dict[int, tuple[int, Any]]

_TRUE: Final = 1
_FALSE: Final = 2
INTEGER: Final = 6
_INTEGERS: Final = {4, 5, INTEGER}
_BINARY: Final = 8
LIST: Final = 9
STRUCT: Final = 12
_SHORT: Final = 15
"""Fields further apart, and lists of so many elements, have a longer header."""


def decode(data: bytes) -> Struct:
    """Read a struct.

    Raises:
        ValueError: it has a set or a map, which Parquet has none of.
        IndexError: it breaks off.
    """
    return _Reader(data).struct()


def encode(struct: Struct) -> bytes:
    """Write a struct as `decode` reads it; those within that are bytes have been written before."""
    out = bytearray()
    _write_struct(out, struct)
    return bytes(out)


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def struct(self) -> Struct:
        found: Struct = {}
        number = 0
        while header := self._byte():
            number = number + (header >> 4) if header >> 4 else self._signed()
            kind = header & 15
            found[number] = kind, self._value(kind)
        return found

    def _value(self, kind: int) -> Any:
        match kind:
            case 1 | 2:
                found: Any = kind == _TRUE
            case 3:
                found = self._byte()
            case 4 | 5 | 6:
                found = self._signed()
            case 7:
                found = self._take(8)
            case 8:
                found = self._take(self._unsigned())
            case 9:
                found = self._list()
            case 12:
                found = self.struct()
            case _:
                raise ValueError(f"a value of type {kind} in a footer")
        return found

    def _list(self) -> tuple[int, list[Any]]:
        header = self._byte()
        size = header >> 4 if header >> 4 < _SHORT else self._unsigned()
        kind = header & 15
        # In a list a boolean is a byte; in a struct it is the type of the field.
        return kind, [self._byte() if kind <= _FALSE else self._value(kind) for _ in range(size)]

    def _byte(self) -> int:
        self._at += 1
        return self._data[self._at - 1]

    def _take(self, size: int) -> bytes:
        self._at += size
        return self._data[self._at - size : self._at]

    def _unsigned(self) -> int:
        found = shift = 0
        while (byte := self._byte()) > 127:
            found |= (byte & 127) << shift
            shift += 7
        return found | byte << shift

    def _signed(self) -> int:
        found = self._unsigned()
        return found >> 1 ^ -(found & 1)


def _write_struct(out: bytearray, struct: Struct) -> None:
    before = 0
    for number, (kind, value) in sorted(struct.items()):
        if 0 < number - before <= _SHORT:
            out.append(number - before << 4 | kind)
        else:
            out.append(kind)
            _write_signed(out, number)
        before = number
        if kind > _FALSE:
            _write_value(out, kind, value)
    out.append(0)


def _write_value(out: bytearray, kind: int, value: Any) -> None:
    if kind in _INTEGERS:
        _write_signed(out, value)
    elif kind == _BINARY:
        _write_unsigned(out, len(value))
        out += value
    elif isinstance(value, bytes):
        out += value
    elif kind == STRUCT:
        _write_struct(out, value)
    elif kind == LIST:
        of, values = value
        out.append(min(len(values), _SHORT) << 4 | of)
        if len(values) >= _SHORT:
            _write_unsigned(out, len(values))
        for each in values:
            _write_value(out, of, each)
    else:
        out.append(value)


def _write_unsigned(out: bytearray, value: int) -> None:
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)


def _write_signed(out: bytearray, value: int) -> None:
    _write_unsigned(out, value << 1 if value >= 0 else (-value << 1) - 1)
