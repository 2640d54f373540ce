"""What a model file says of itself, in its header: GGUF, version 2 or 3, little-endian.

Source: the format's specification in the repository of ggml (docs/gguf.md).
"""

from __future__ import annotations

import hashlib
import mmap
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from collector.errors import UsageError

MAGIC: Final = b"GGUF"
VERSIONS: Final = (2, 3)

_NUMBERS: Final = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}
_TEXT, _ARRAY = 8, 9
_SHORT: Final = 64
"""Arrays of more elements are passed over: they are vocabularies."""

_TYPES: Final = {
    0: "F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 7: "Q8_0", 8: "Q5_0", 9: "Q5_1", 10: "Q2_K", 11: "Q3_K_S", 12: "Q3_K_M",
    13: "Q3_K_L", 14: "Q4_K_S", 15: "Q4_K_M", 16: "Q5_K_S", 17: "Q5_K_M", 18: "Q6_K", 19: "IQ2_XXS", 20: "IQ2_XS",
    21: "Q2_K_S", 22: "IQ3_XS", 23: "IQ3_XXS", 24: "IQ1_S", 25: "IQ4_NL", 26: "IQ3_S", 27: "IQ3_M", 28: "IQ2_S",
    29: "IQ2_M", 30: "IQ4_XS", 31: "IQ1_M", 32: "BF16", 36: "TQ1_0", 37: "TQ2_0", 38: "MXFP4_MOE",
}  # fmt: skip
"""Names of `general.file_type`: how most of the weights are quantised."""


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A GGUF file.

    Attributes:
        path: where it is.
        size: bytes.
        metadata: its keys and values, without long arrays.
        complete: whether the file reaches as far as its last tensor.
    """

    path: Path
    size: int
    metadata: dict[str, Any]
    complete: bool

    @property
    def quantisation(self) -> str:
        """How most of the weights are stored."""
        number = self.metadata.get("general.file_type")
        return _TYPES.get(number, f"type {number}") if isinstance(number, int) else "unknown"

    @property
    def trained_context(self) -> int | None:
        """Tokens of the context that the model was trained with."""
        return self._number("context_length")

    @property
    def has_chat_template(self) -> bool:
        """Whether it states how a conversation is written for it, as models that follow instructions do."""
        return bool(self.metadata.get("tokenizer.chat_template"))

    def context_bytes(self, tokens: int) -> int:
        """Memory for the keys and values of so many tokens, in half precision; more than is needed, if anything.

        Two vectors (key and value) of every layer, with the width of all key-value heads.
        """
        layers, width, heads = (
            self._number(key) or 0 for key in ("block_count", "embedding_length", "attention.head_count")
        )
        grouped = self._number("attention.head_count_kv") or heads
        size = self._number("attention.key_length") or (width // heads if heads else 0)
        return 2 * 2 * layers * grouped * size * tokens

    def sha256(self) -> str:
        """SHA-256 of the file, in hexadecimal digits."""
        with self.path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def _number(self, key: str) -> int | None:
        value = self.metadata.get(f"{self.metadata.get('general.architecture')}.{key}")
        if isinstance(value, list):  # one per layer
            value = max((each for each in value if isinstance(each, int)), default=None)
        return value if isinstance(value, int) else None


def read_gguf(path: Path) -> ModelFile:
    """Read a model file's header.

    Raises:
        UsageError: there is no such file, it is no GGUF file, or its header cannot be read.
    """
    try:
        with path.open("rb") as file:
            begins = file.read(len(MAGIC))
            if begins != MAGIC:
                raise UsageError(f"{path} is not a GGUF file{_instead(begins)}; name a model in that format")
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                return _Header(data).read(path)
    except (struct.error, LookupError, UnicodeDecodeError, OverflowError, RecursionError):
        raise UsageError(
            f"{path} is truncated or damaged: its header ends too early; copy or download it again"
        ) from None
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read the model {path}: {getattr(error, 'strerror', None) or error}") from None


def _instead(begins: bytes) -> str:
    return " but empty" if not begins else ""


class _Header:
    def __init__(self, data: mmap.mmap) -> None:
        self._data = data
        self._at = len(MAGIC)

    def read(self, path: Path) -> ModelFile:
        version = self._number("<I")
        if version not in VERSIONS:
            raise UsageError(f"{path} is a GGUF file of version {version}; versions 2 and 3 can be read")
        tensors, pairs = self._number("<Q"), self._number("<Q")
        metadata = {}
        for _ in range(pairs):
            key = self._text()
            metadata[key] = self._value(self._number("<I"))
        behind = 0
        for _ in range(tensors):
            self._text()
            dimensions = self._number("<I")
            self._at += 8 * dimensions + 4
            behind = max(behind, self._number("<Q"))
        alignment = metadata.get("general.alignment", 32)
        begins = -(-self._at // alignment) * alignment
        size = len(self._data)
        return ModelFile(path, size, metadata, complete=begins + behind < size)

    def _number(self, form: str) -> Any:
        (value,) = struct.unpack_from(form, self._data, self._at)
        self._at += struct.calcsize(form)
        return value

    def _text(self) -> str:
        length = self._number("<Q")
        begins, self._at = self._at, self._at + length
        if self._at > len(self._data):
            raise IndexError
        return self._data[begins : self._at].decode()

    def _value(self, kind: int) -> Any:
        if kind == _TEXT:
            return self._text()
        if kind != _ARRAY:
            return self._number(_NUMBERS[kind])
        of, length = self._number("<I"), self._number("<Q")
        if length <= _SHORT:
            return [self._value(of) for _ in range(length)]
        if of in _NUMBERS:
            self._at += length * struct.calcsize(_NUMBERS[of])
        else:
            for _ in range(length):
                self._text()
        return None
