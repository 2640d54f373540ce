"""URLs where commands take a path: what they are called, and where their files are on this machine.

A `RemotePath` is the local copy of what a URL names. The operating system gets the local path, people the URL without
its secrets, so messages and labels need no special case.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from audit.cache_folder import cache_folder
from audit.output.errors import UsageError
from collector.system.secrets import WEB, without_secrets, without_user
from collector.system.stopping import temporary_folder

_URL: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")
_COLLAPSED: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/(?!/)")
"""What `pathlib` makes of a URL."""
_CHAINED: Final = re.compile(r"::[A-Za-z][A-Za-z0-9+.-]+:/")
"""In a URL of fsspec's that is read through another, such as `simplecache::https://HOST/NAME`."""
_WITHOUT_PASSWORDS: Final = ("s3", "s3a", "gs", "gcs", "hf")
_LONGEST_NAME: Final = 200
"""Bytes; file systems allow some 255, and what is downloaded has a longer name at first."""


@dataclass(frozen=True, slots=True)
class Address:
    """What a URL names: the URL itself, how people see it, and where its files are on this machine.

    `folder` is that of all that is kept of the URL, which `local` is in.
    """

    url: str
    shown: str
    local: str
    folder: str

    @property
    def scheme(self) -> str:
        """The part before the colon, in lower case."""
        return self.url.partition("://")[0].lower()


_resources: Final = contextlib.ExitStack()
_known: Final[dict[str, Address]] = {}


class RemotePath(type(Path())):  # type: ignore[misc] # the platform's own class of paths, which 3.11 cannot derive from `Path`
    """The local copy of what a URL names, or a file in it; as text it is the URL without secrets."""

    __slots__ = ()

    def __fspath__(self) -> str:
        local: str = super().__str__()
        return local

    def __str__(self) -> str:
        return shown(super().__str__())

    def __hash__(self) -> int:
        return hash(self.as_local())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, os.PathLike) and os.fspath(self) == os.fspath(other)

    def as_local(self) -> Path:
        """The same as an ordinary path."""
        return Path(os.fspath(self))


def is_url(text: str) -> bool:
    """Whether a text is a URL rather than a path of this machine."""
    return _URL.match(text) is not None


def path_of(given: str | Path) -> Path:
    """The path that an argument of a command or function names; for a URL that of its local copy, not made yet.

    Raises:
        UsageError: a URL names nothing, has a character that no name has, or is chained to another.
    """
    if isinstance(given, RemotePath):
        return given
    text = os.fspath(given)
    if _CHAINED.search(text) and not os.path.lexists(text):
        raise UsageError(f"{text}: chained URLs are not read; name the file itself")
    if isinstance(given, Path) and _COLLAPSED.match(text) and not given.exists():
        text = text.replace(":/", "://", 1)
    if not is_url(text):
        return Path(given)
    if text.lower().startswith("file://"):
        return Path(unquote(urlsplit(text).path))
    address = _address(text)
    _known.setdefault(address.local, address)
    return RemotePath(address.local)


def address_of(path: Path) -> Address:
    """What a `RemotePath` that `path_of` has made is a copy of."""
    return _known[os.fspath(path)]


def shown(local: str) -> str:
    """A path as people know it: below the copy of what a URL names, the URL without secrets; others as they are."""
    for root, address in _known.items():
        if local == root:
            return address.shown
        if local.startswith(root) and local[len(root)] == os.sep:
            return f"{address.shown.rstrip('/')}/{local[len(root) + 1 :]}"
    return local


def local_of(label: str) -> Path:
    """The file that a label names, which `shown` has made where it is elsewhere."""
    for root, address in reversed(_known.items()):
        if label == address.shown or label.startswith(f"{address.shown.rstrip('/')}/"):
            return Path(root + label[len(address.shown.rstrip("/")) :])
    return Path(label)


def _address(url: str) -> Address:
    scheme, _, rest = url.partition("://")
    scheme = scheme.lower()
    if scheme in WEB:
        plain = without_user(rest, is_web=True)
        named = re.split(r"[?#]", plain)[0]
    else:
        plain = without_user(rest, is_web=False)
        named = without_secrets(f"{scheme}://{plain}").partition("://")[2]
        if plain != rest and scheme in _WITHOUT_PASSWORDS:
            raise UsageError(f"{scheme}://{plain}: credentials in a URL are not used; set them where {scheme} has them")
    names = [part for part in named.split("/") if part]
    if not names or "\0" in url:
        raise UsageError(f"{url}: the URL names nothing; write for example s3://BUCKET/NAME")
    digest = hashlib.blake2b(f"{scheme}://{plain}".encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()
    folder = _base() / digest
    return Address(f"{scheme}://{rest}", f"{scheme}://{named}", str(Path(folder, *map(_name, names))), str(folder))


def _name(part: str) -> str:
    """A folder's or file's name on this machine."""
    if part in {".", ".."}:
        return part.replace(".", "%2E")
    if len(part.encode("utf-8", "surrogateescape")) <= _LONGEST_NAME:
        return part
    return f"{hashlib.blake2b(part.encode('utf-8', 'surrogateescape'), digest_size=8).hexdigest()}{part[-40:]}"


def _base() -> Path:
    """Where copies are: in the cache, or where there is none, in a temporary folder."""
    cache = cache_folder()
    return _temporary() if cache is None else cache / "remote"


@functools.cache
def _temporary() -> Path:
    return _resources.enter_context(temporary_folder("audit-remote-"))
