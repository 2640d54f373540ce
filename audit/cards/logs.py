"""Reading logs of Inspect, `.eval` and `.json`, without Inspect.

An `.eval` is a ZIP archive with `header.json` and a file for each sample, `samples/ID_epoch_N.json`; a log that was not
finished has `_journal/start.json` for a header. Newer ones are compressed by Zstandard, which DuckDB reads everywhere
and Python only from 3.14 on.
"""

from __future__ import annotations

import json
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final, TypeVar

import msgspec

from audit.models.settings import memory_limit, without_progress_bar
from audit.output.errors import AuditError
from collector.llm.answer import read_completion
from collector.llm.protocol import Completion
from collector.system.regular_files import open_regular

HEADER: Final = "header.json"
BEGUN: Final = "_journal/start.json"
SAMPLES: Final = "samples/"
LARGEST: Final = 268435456
"""Bytes of the largest member of an archive that is read, 256 MiB."""
LARGEST_JSON: Final = 2**31
AT_ONCE: Final = 256
"""Samples that are decompressed at a time."""
_ZSTANDARD: Final = 93
_ATTACHED: Final = "attachment://"

T = TypeVar("T")


class Part(msgspec.Struct, frozen=True):
    """A part of a message: text, reasoning, or something else."""

    type: str
    text: str = ""
    reasoning: str = ""
    summary: str | None = None
    redacted: bool = False


class Message(msgspec.Struct, frozen=True):
    """A message of a chat."""

    role: str
    content: str | list[Part] = ""


class Choice(msgspec.Struct, frozen=True):
    """An answer, and why it ended."""

    message: Message
    stop_reason: str = "stop"


class Usage(msgspec.Struct, frozen=True):
    """Tokens of a call; those of a prompt are in up to three parts."""

    input_tokens: int = 0
    output_tokens: int = 0
    input_tokens_cache_write: int | None = None
    input_tokens_cache_read: int | None = None


class Output(msgspec.Struct, frozen=True):
    """What a model gave; `time` are the seconds that it took."""

    choices: list[Choice] = []
    usage: Usage | None = None
    time: float | None = None


class Sample(msgspec.Struct, frozen=True):
    """A sample; `attachments` are texts that others point to by their digest."""

    id: str | int
    epoch: int
    input: str | list[Message]
    messages: list[Message] = []
    output: Output = Output()
    error: Any = None
    invalidation: Any = None
    model_fallbacks: Any = None
    started_at: str | None = None
    total_time: float | None = None
    working_time: float | None = None
    attachments: dict[str, str] = {}


class Config(msgspec.Struct, frozen=True):
    """How the task was run."""

    epochs: int | None = None
    limit: Any = None
    sample_id: Any = None


class Spec(msgspec.Struct, frozen=True):
    """What was run."""

    task: str
    model: str
    created: str = ""
    config: Config = Config()
    metadata: dict[str, Any] | None = None
    packages: dict[str, str] = {}
    model_generate_config: dict[str, Any] = {}


class Steps(msgspec.Struct, frozen=True):
    """The options of all calls."""

    config: dict[str, Any] = {}


class Header(msgspec.Struct, frozen=True):
    """A log but for its samples."""

    version: int
    eval: Spec
    plan: Steps = Steps()


class _Whole(Header, frozen=True):
    samples: list[Sample] | None = None


@dataclass(frozen=True)
class Log:
    """A log: its header, and its samples one after the other, some perhaps more than once."""

    header: Header
    samples: Iterator[Sample]


def open_log(path: Path) -> Log:
    """Read a log; its samples only as they are asked for.

    Raises:
        AuditError: it cannot be read, is none, or is only a part of one.
    """
    try:
        with open_regular(path) as file:
            if file.read(2) == b"PK":
                header = _header(file, path)
                return Log(header, _samples(path))
            file.seek(0)
            data = file.read(LARGEST_JSON + 1)
    except OSError as error:
        raise AuditError(f"cannot read {path}: {error.strerror or error}") from None
    if not data.lstrip()[:1] == b"{":
        raise AuditError(f"{path} is not a log of Inspect")
    if len(data) > LARGEST_JSON:
        raise AuditError(f"{path} is larger than 2 GiB; make it smaller: inspect log convert --to eval")
    whole = _decoded(data, _Whole, path)
    return Log(whole, iter(whole.samples or ()))


def completion_of(output: Output, attachments: Mapping[str, str]) -> Completion:
    """What a model gave, as the search would read it.

    Args:
        output: the output, of one choice or more, of which the first counts.
        attachments: of its sample.
    """
    choice, usage = output.choices[0], output.usage
    parts = choice.message.content
    thoughts = [] if isinstance(parts, str) else [_thought(each) for each in parts if each.type == "reasoning"]
    written = 0 if usage is None else (usage.input_tokens_cache_write or 0) + (usage.input_tokens_cache_read or 0)
    return read_completion(
        text=text_of(choice.message, attachments),
        thinking="\n".join(_resolved(each, attachments) for each in thoughts if each) or None,
        prompt_tokens=None if usage is None else usage.input_tokens + written,
        completion_tokens=None if usage is None else usage.output_tokens,
        ended=choice.stop_reason,
    )


def text_of(message: Message, attachments: Mapping[str, str]) -> str:
    """The text of a message, without reasoning."""
    parts = message.content
    texts = [parts] if isinstance(parts, str) else [each.text for each in parts if each.type == "text"]
    return "\n".join(_resolved(each, attachments) for each in texts)


def _thought(part: Part) -> str:
    return (part.summary or "") if part.redacted else part.reasoning or part.summary or ""


def _resolved(text: str, attachments: Mapping[str, str]) -> str:
    return attachments.get(text.removeprefix(_ATTACHED), text) if text.startswith(_ATTACHED) else text


def _header(file: IO[bytes], path: Path) -> Header:
    with _archive(file, path) as archive:
        name = next((each for each in (HEADER, BEGUN) if each in archive.NameToInfo), None)
        if name is None:
            raise AuditError(f"{path} is not a log of Inspect")
        [data] = _members(archive, [name], file, path)
    return _decoded(data, Header, path)


def _samples(path: Path) -> Iterator[Sample]:
    with open_regular(path) as file, _archive(file, path) as archive:
        names = [each for each in archive.NameToInfo if each.startswith(SAMPLES) and each.endswith(".json")]
        for start in range(0, len(names), AT_ONCE):
            for data in _members(archive, names[start : start + AT_ONCE], file, path):
                yield _decoded(data, Sample, path)


def _archive(file: IO[bytes], path: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(file)
    except (zipfile.BadZipFile, ValueError, NotImplementedError):
        raise _damaged(path) from None


def _members(archive: zipfile.ZipFile, names: Sequence[str], file: IO[bytes], path: Path) -> Iterator[bytes]:
    """The content of members, in some order."""
    found = [archive.NameToInfo[name] for name in names]
    if large := next((each.filename for each in found if each.file_size > LARGEST), None):
        raise AuditError(f"{path}!{large} is larger than {LARGEST >> 20} MiB")
    try:
        for each in found:
            if each.compress_type != _ZSTANDARD:
                yield archive.read(each)
        compressed = [_compressed(file, each) for each in found if each.compress_type == _ZSTANDARD]
    except (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, RuntimeError):
        raise _damaged(path) from None
    if compressed:
        yield from _decompressed(compressed, path)


def _compressed(file: IO[bytes], member: zipfile.ZipInfo) -> bytes:
    """A member as it is in the archive, behind its local header of 30 bytes, name, and further fields."""
    file.seek(member.header_offset)
    head = struct.unpack("<4s22x2H", file.read(30))
    file.seek(head[1] + head[2], 1)
    data = file.read(member.compress_size)
    if head[0] != b"PK\x03\x04" or len(data) < member.compress_size:
        raise zipfile.BadZipFile
    return data


def _decompressed(parts: Sequence[bytes], path: Path) -> list[bytes]:
    import duckdb

    with (
        tempfile.TemporaryDirectory() as name,
        closing(duckdb.connect(config={"memory_limit": memory_limit()})) as base,
    ):
        files = [Path(name) / f"{place}.json.zst" for place in range(len(parts))]
        for file, data in zip(files, parts, strict=True):
            file.write_bytes(data)
        without_progress_bar(base)
        try:
            rows = base.execute(
                "select json::varchar from read_json_objects(?, format = 'unstructured', compression = 'zstd', "
                "maximum_object_size = 268435456)",
                [list(map(str, files))],
            ).fetchall()
        except duckdb.Error:
            raise _damaged(path) from None
    return [text.encode() for (text,) in rows]


def _damaged(path: Path) -> AuditError:
    return AuditError(f"{path} is only a part of a log, or damaged; copy it again")


def _decoded(data: bytes, kind: type[T], path: Path) -> T:
    """What JSON holds; Inspect writes numbers that are none as `NaN`, which Python's own reader takes."""
    try:
        try:
            return msgspec.json.decode(data, type=kind)
        except msgspec.DecodeError:
            return msgspec.convert(json.loads(data), kind)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise AuditError(f"{path} is not a log of Inspect, or only a part of one ({error})") from None
