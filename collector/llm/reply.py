"""The body of a reply: bounded while it is read, and decoded to no more than what is used of it."""

from __future__ import annotations

import re
import sys
import zlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, TypeVar

import msgspec

from collector.llm.faults import Server
from collector.llm.protocol import Completion
from collector.llm.reported import decoded, reported

if TYPE_CHECKING:
    import httpx

T = TypeVar("T")

LONGEST: Final = 32 * 2**20
"""Bytes of a reply, unpacked: more than the longest answer that is read can take."""
LONGEST_ERROR: Final = 64 * 1024
"""Bytes of an error's body; its message is at the beginning."""
KEPT: Final = 1_000_000
"""Bytes kept from the beginning of a reply that is not an answer."""
PACKED: Final = {"Accept-Encoding": "gzip"}
"""Header of requests: the one packing that is undone here, since the clients' own unpacking has no bound."""
HALVES: Final = "an answer with half of a surrogate pair"

_GZIP: Final = 16 + zlib.MAX_WBITS
_ESCAPE: Final = re.compile(
    rb"((?:\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\[^u]){1,999})|\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
)
"""Whole surrogate pairs and escapes of one character, as a group; or half a pair."""


async def receive(response: httpx.Response, server: Server) -> bytes:
    """Read a reply's body in place of the client, which then finds it unpacked.

    To be called by the client's hook for responses. Of an error or a redirection, no more is kept than its beginning.

    Args:
        response: whose body has not been read; of `httpx` or `httpx2`.
        server: who sent it.

    Returns:
        The body, unpacked.

    Raises:
        CallError: the body is too long, or packed in a way that was not asked for; or the client would be redirected
            to another server.
    """
    if response.has_redirect_location:
        _check_redirect(response, server)
    encoding = response.headers.pop("content-encoding", "").strip().lower()
    if encoding not in {"", "identity", "gzip"}:
        raise server.unreadable()
    unpacker = zlib.decompressobj(_GZIP) if encoding == "gzip" else None
    longest = LONGEST if response.is_success else LONGEST_ERROR
    body, read = bytearray(), 0
    async for part in response.stream:  # type: ignore[union-attr]  # an asynchronous client's response
        read += len(part)
        try:
            body += unpacker.decompress(part, longest + 1 - len(body)) if unpacker else part
        except zlib.error:
            raise server.unreadable() from None
        if max(read, len(body)) > longest:
            break
    await response.stream.aclose()  # type: ignore[union-attr]
    if len(body) > longest and response.is_success:
        raise server.unusable(f"a reply of more than {LONGEST // 2**20} MB", begin(bytes(body)))
    kept = bytes(body[:longest])
    put(response, kept)
    return kept


def _check_redirect(response: httpx.Response, server: Server) -> None:
    """Refuse to be sent elsewhere, unless that is allowed, and back to the same place."""
    library = sys.modules[type(response).__module__.split(".")[0]]  # httpx or httpx2
    try:
        target = response.url.join(response.headers["location"])
    except (ValueError, library.InvalidURL):
        return  # the client refuses what is no address
    if target == response.url:
        raise server.circling()
    if not server.allow_redirects and not server.address.is_same_server(target.scheme, target.host, target.port):
        raise server.redirected(f"{target.scheme}://{target.host}" + (f":{target.port}" if target.port else ""))


def put(response: httpx.Response, body: bytes) -> None:
    """Give a response another body, for the client to read."""
    response.stream = type(response)(response.status_code, content=body).stream


def begin(body: bytes) -> Completion:
    """The beginning of a reply that is no answer, as far as it is text."""
    return Completion(body[:KEPT].decode(errors="replace"))


def decode(body: bytes, shape: type[T], server: Server, headers: Mapping[str, str] | None = None) -> tuple[T, bool]:
    r"""Decode a reply's JSON; of what the shape does not name, no objects are made.

    Args:
        body: the reply.
        shape: what is used of it.
        server: who sent it.
        headers: of the reply.

    Returns:
        The reply, and whether it holds halves of surrogate pairs. They are no characters, and no UTF-8 can hold them:
        they are spelled out, as in `\ud800`.

    Raises:
        CallError: it is not of that shape, nested too deeply to be read, or the report of an error.
    """
    text = _ESCAPE.sub(lambda escape: escape[1] or b"\\" + escape[0], body) if b"\\u" in body else body
    try:
        whole = msgspec.json.decode(text, type=msgspec.Raw)  # no shape hides nesting from this
        return msgspec.json.decode(whole, type=shape), text != body
    except RecursionError:
        raise server.unusable("a reply that is nested too deeply", begin(body)) from None
    except (msgspec.MsgspecError, UnicodeDecodeError):
        if len(body) <= LONGEST_ERROR and (found := reported(decoded(body))):
            raise server.reported(*found, headers or {}) from None
        raise server.unreadable(begin(body).text) from None
