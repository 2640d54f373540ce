"""Objects elsewhere: what identifies a state of one, and its bytes by ranges, all of that state."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from audit.remote.systems import ChangedError, ShortReadError, patiently
from audit.remote.urls import Address
from collector.system.secrets import WEB

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

_ETAGS: Final = ("ETag", "etag")
_STATE: Final = (
    *_ETAGS,
    *("generation", "md5Hash", "Content-MD5", "Digest", "blob_id", "xet_hash"),
    *("LastModified", "Last-Modified", "last_modified", "updated", "mtime", "created"),
)
"""What file systems state of an object that changes when it is written anew."""
_S3: Final = ("s3", "s3a")


@dataclass(frozen=True, slots=True)
class RemoteObject:
    """One object in one state.

    `relative` is its name below the address; `state` identifies what it holds, and is None where nothing does; `size`
    is None where the server does not state it.
    """

    address: Address
    system: AbstractFileSystem
    name: str
    relative: str
    size: int | None
    state: str | None
    tag: str | None

    def has_ranges(self) -> bool:
        """Whether parts of the object can be read, and are surely of this state."""
        if self.size is None or self.state is None:
            return False
        if self.address.scheme not in WEB:
            return True
        return bool(patiently(lambda: in_loop(self.system, _has_ranges(self.system, self.name)), self.address))

    def read(self, start: int, end: int) -> bytes:
        """The bytes from one place to before another.

        Raises:
            AuditError: they cannot be had, or the object has changed.
        """
        return patiently(lambda: self._read(start, end), self.address)

    def _read(self, start: int, end: int) -> bytes:
        if self.address.scheme in _S3:
            data = in_loop(self.system, _range_of_s3(self.system, self.name, start, end, self.tag))
        elif self.address.scheme in WEB:
            data = in_loop(self.system, _range_of_web(self.system, self.name, start, end, self))
        elif self.address.scheme in {"gs", "gcs"} and self.tag is not None:
            data = self.system.cat_file(self.name, start=start, end=end, generation=self.tag)
        else:
            data = self.system.cat_file(self.name, start=start, end=end)
        if len(data) != end - start:
            raise ShortReadError(f"{len(data)} bytes came of {end - start}")
        return bytes(data)


def object_of(address: Address, system: AbstractFileSystem, relative: str, info: Mapping[str, Any]) -> RemoteObject:
    """An object as its file system describes it.

    Args:
        address: the URL that was given.
        system: where it is.
        relative: its name below the URL; "" for the object that the URL names.
        info: what `info` or `find` of the file system states.
    """
    size = info.get("size")
    known = [f"{key}={info[key]}" for key in _STATE if info.get(key) is not None]
    if address.scheme in {"gs", "gcs"}:
        tag = info.get("generation")
    else:
        tag = next((info[key] for key in _ETAGS if info.get(key)), None)
    state = f"size={size} {' '.join(known)}" if known else None
    return RemoteObject(address, system, str(info["name"]), relative, size, state, None if tag is None else str(tag))


def in_loop(system: Any, coroutine: Any) -> Any:
    """The result of a coroutine, which runs where a file system's connections are."""
    from fsspec.asyn import sync

    async def run() -> Any:
        return await coroutine

    return sync(system.loop, run)


async def _range_of_s3(system: Any, name: str, start: int, end: int, tag: str | None) -> bytes:
    bucket, key, _ = system.split_path(name)
    match = {} if tag is None else {"IfMatch": tag}
    answer = await system._call_s3("get_object", Bucket=bucket, Key=key, Range=f"bytes={start}-{end - 1}", **match)
    async with answer["Body"] as body:
        data: bytes = await body.read()
        return data


async def _range_of_web(system: Any, url: str, start: int, end: int, wanted: RemoteObject) -> bytes:
    session = await system.set_session()
    headers = {"Range": f"bytes={start}-{end - 1}", "Accept-Encoding": "identity"}
    if wanted.tag is not None and not wanted.tag.startswith("W/"):
        headers["If-Match"] = wanted.tag
    async with session.get(system.encode_url(url), headers=headers) as answer:
        answer.raise_for_status()
        total = re.search(r"/(\d+)$", answer.headers.get("Content-Range", ""))
        tag = answer.headers.get("ETag")
        if (
            answer.status != 206
            or (total and int(total[1]) != wanted.size)
            or (tag and wanted.tag and tag != wanted.tag)
        ):
            raise ChangedError
        data = bytearray()
        async for chunk in answer.content.iter_chunked(2**16):
            data += chunk
            if len(data) > end - start:
                raise ChangedError
        return bytes(data)


async def _has_ranges(system: Any, url: str) -> bool:
    session = await system.set_session()
    headers = {"Range": "bytes=0-0", "Accept-Encoding": "identity"}
    async with session.get(system.encode_url(url), headers=headers) as answer:
        answer.raise_for_status()
        # Leaving without reading closes the connection: a server that knows no ranges sends everything.
        return bool(answer.status == 206)
