import hashlib
import struct

import pytest

from collector.errors import UsageError
from collector.llm.local.gguf import read_gguf
from tests.collector.llm.local.gguf_files import PAIRS, number, pair, texts, write_gguf


def test_a_header_states_what_the_model_is(tmp_path):
    path = write_gguf(tmp_path / "m.gguf")
    file = read_gguf(path)
    assert (file.quantisation, file.trained_context, file.has_chat_template, file.complete) == (
        "Q4_K_M",
        4096,
        True,
        True,
    )
    assert file.sha256() == hashlib.sha256(path.read_bytes()).hexdigest()
    assert file.size == path.stat().st_size
    assert "tokenizer.ggml.tokens" in file.metadata
    assert file.metadata["tokenizer.ggml.tokens"] is None  # a vocabulary is passed over


def test_the_memory_of_a_context_is_that_of_keys_and_values(tmp_path):
    # By hand: key and value, 2 bytes a number, 2 layers, 2 heads of 64 / 8 = 8 numbers, 100 tokens.
    assert read_gguf(write_gguf(tmp_path / "m.gguf")).context_bytes(100) == 2 * 2 * 2 * 2 * 8 * 100
    # Heads given for each layer count as their largest.
    heads = pair("llama.attention.head_count_kv", 9, struct.pack("<IQII", 4, 2, 2, 4))
    pairs = (*(each for each in PAIRS if b"head_count_kv" not in each), heads)
    assert read_gguf(write_gguf(tmp_path / "m.gguf", pairs)).context_bytes(1) == 2 * 2 * 2 * 4 * 8


def test_a_model_that_states_little_is_read(tmp_path):
    file = read_gguf(write_gguf(tmp_path / "m.gguf", ()))
    assert (file.quantisation, file.trained_context, file.has_chat_template) == ("unknown", None, False)
    assert file.context_bytes(100) == 0
    odd = read_gguf(write_gguf(tmp_path / "odd.gguf", (number("general.file_type", 999),)))
    assert odd.quantisation == "type 999"
    assert not read_gguf(write_gguf(tmp_path / "m.gguf", weights=64)).complete  # its last tensor is missing


ONE = b"GGUF" + struct.pack("<IQQ", 3, 0, 1)
WRONG = [
    (b"", "is not a GGUF file but empty"),
    (b"hello, world", "is not a GGUF file; name"),
    (b"GGUF" + struct.pack("<IQQ", 1, 0, 0), "of version 1; versions 2 and 3"),
    (b"GGUF" + struct.pack("<IQQ", 3, 0, 2**63), "truncated or damaged"),
    (b"GGUF" + struct.pack("<IQQ", 3, 2**63, 0), "truncated or damaged"),
    (ONE + pair("a", 77, b"\0" * 64), "truncated or damaged"),
    (ONE + pair("a", 9, struct.pack("<IQ", 9, 1) * 5000), "truncated or damaged"),
    (ONE + texts("a", ["b"])[:-1], "truncated or damaged"),
]


def test_what_is_no_model_is_one_line(tmp_path):
    path = write_gguf(tmp_path / "m.gguf")
    whole = path.read_bytes()
    cut = [(whole[:length], r"m\.gguf is truncated or damaged") for length in (4, 8, 24, 30, 200)]
    for content, message in WRONG + cut:
        path.write_bytes(content)
        with pytest.raises(UsageError, match=message):
            read_gguf(path)
    for unreadable in (tmp_path / "none.gguf", tmp_path):
        with pytest.raises(UsageError, match="cannot read the model"):
            read_gguf(unreadable)
