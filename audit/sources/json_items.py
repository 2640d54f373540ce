"""The items of a long JSON array one at a time, so that a log of a million entries takes the memory of one."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from typing import IO, Any, Final

LARGEST: Final = 64 * 2**20
"""Characters of the largest item that is read."""
_PIECE: Final = 2**20
_ENDS: Final = frozenset(" \t\r\n,]")
_SPACE: Final = re.compile(r"[ \t\r\n]*")


class ItemsError(ValueError):
    """The array breaks off or is none; the message states it. The items before were given."""


def items(stream: IO[bytes]) -> Iterator[Any]:
    """Read an array item by item.

    `NaN` and `Infinity`, which Python's writer of JSON leaves in, are numbers here as they are there.

    Args:
        stream: the file from its beginning, in UTF-8.

    Raises:
        ItemsError: there is no array, or it is torn.
        OSError: the file cannot be read.
    """
    text = _Text(stream)
    if text.peek() != "[":
        raise ItemsError("is not a JSON array" if text.peek() else "is empty")
    text.at += 1
    mark = text.peek() if text.peek() == "]" else ","
    text.at += mark == "]"
    while mark == ",":
        yield text.item()
        mark = text.peek()
        text.at += 1
        if mark not in (",", "]"):
            raise ItemsError("is not JSON behind what was read" if mark else "is torn, as while it is being written")
    if text.peek():
        raise ItemsError("goes on behind the end of its array")


class _Text:
    """What has been read of the file and not been used yet."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._scan = json.JSONDecoder().raw_decode
        self._buffer = ""
        self.at = 0

    def peek(self) -> str:
        """The next character that is no white space; nothing at the end."""
        while True:
            match = _SPACE.match(self._buffer, self.at)
            self.at = match.end() if match else self.at
            if self.at < len(self._buffer):
                return self._buffer[self.at]
            if not self._more():
                return ""

    def item(self) -> Any:
        """The next value."""
        self.peek()
        while True:
            try:
                value, end = self._scan(self._buffer, self.at)
            except json.JSONDecodeError:
                if not self._more():
                    raise ItemsError("is torn, or not JSON, behind what was read") from None
            except (RecursionError, ValueError) as error:
                raise ItemsError(f"holds what cannot be read ({error})") from None
            else:
                # A number at the end of the buffer may go on behind it.
                if self._buffer[end : end + 1] in _ENDS or not self._more():
                    self.at = end
                    return value

    def _more(self) -> bool:
        rest = self._buffer[self.at :]
        if len(rest) > LARGEST:
            raise ItemsError(f"holds an item longer than {LARGEST >> 20} MiB, or is not JSON")
        piece = self._stream.read(max(_PIECE, len(rest)))
        try:
            self._buffer = rest + self._decoder.decode(piece, final=not piece)
        except UnicodeDecodeError:
            raise ItemsError("is not UTF-8 behind what was read") from None
        self.at = 0
        return bool(piece)
