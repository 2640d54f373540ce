"""Small GGUF files written by hand, after the format's specification."""

import struct
from pathlib import Path

TEXT = 8


def text(value: str) -> bytes:
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def pair(key: str, kind: int, value: bytes) -> bytes:
    return text(key) + struct.pack("<I", kind) + value


def number(key: str, value: int) -> bytes:
    return pair(key, 4, struct.pack("<I", value))


def texts(key: str, values: list[str]) -> bytes:
    return pair(key, 9, struct.pack("<IQ", TEXT, len(values)) + b"".join(map(text, values)))


PAIRS = (
    pair("general.architecture", TEXT, text("llama")),
    number("general.file_type", 15),
    number("llama.context_length", 4096),
    number("llama.block_count", 2),
    number("llama.embedding_length", 64),
    number("llama.attention.head_count", 8),
    number("llama.attention.head_count_kv", 2),
    texts("tokenizer.ggml.tokens", [f"token {index}" for index in range(1000)]),
    pair("tokenizer.chat_template", TEXT, text("{{ messages }}")),
)


def write_gguf(
    path: Path, pairs: tuple[bytes, ...] = PAIRS, *, version: int = 3, tensors: int = 2, weights: int = 128
) -> Path:
    """A file with so many tensors of 64 bytes, of which only `weights` bytes are there."""
    header = b"GGUF" + struct.pack("<IQQ", version, tensors, len(pairs)) + b"".join(pairs)
    for index in range(tensors):
        header += text(f"blk.{index}.weight") + struct.pack("<IQQIQ", 2, 4, 4, 0, 64 * index)
    path.write_bytes(header + b"\0" * (-len(header) % 32) + b"\1" * weights)
    return path
