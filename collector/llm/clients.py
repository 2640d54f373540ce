"""An HTTP client of one server for each call in flight, used again by later ones."""

from __future__ import annotations

import os
import ssl
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from types import ModuleType
from typing import Any, Generic, Protocol, TypeVar


class Closable(Protocol):
    """The interface that all clients have in common."""

    async def close(self) -> Any:
        """Release its connections."""


Client = TypeVar("Client", bound=Closable)


class Clients(Generic[Client]):
    """Makes a client whenever all others are in use.

    One client for many calls goes through all its connections several times for each. Making one takes 0.1 ms and 4 kB
    where certificates are shared.

    Args:
        make: makes one; the first is made at once, so that its errors come early.
    """

    def __init__(self, make: Callable[[], Client]) -> None:
        self._make = make
        self.all = [make()]
        self._idle = [*self.all]

    @contextmanager
    def one(self) -> Iterator[Client]:
        """A client for one call: the one that was used last, whose connection is most likely still open."""
        if not self._idle:
            self.all.append(self._make())
            self._idle.append(self.all[-1])
        client = self._idle.pop()
        try:
            yield client
        finally:
            self._idle.append(client)


def library_of(client: type) -> ModuleType:
    """The library of a client: `httpx`, or `httpx2`, by which newer versions of `openai` go.

    Args:
        client: its `AsyncClient`, or a class made from it.
    """
    return sys.modules[next(base.__module__ for base in client.__mro__ if base.__name__ == "AsyncClient").split(".")[0]]


def certificates(client: type) -> ssl.SSLContext:
    """The authorities that a client's library trusts, read once for all clients: it takes 20 ms each time.

    Args:
        client: as for `library_of`.
    """
    return _read(library_of(client), *map(os.environ.get, ("SSL_CERT_FILE", "SSL_CERT_DIR")))


@cache
def _read(library: ModuleType, *_named: str | None) -> ssl.SSLContext:
    return library.create_ssl_context()  # type: ignore[no-any-return]
