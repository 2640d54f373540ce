"""What the clients of servers have in common: the library that they go by, and whom it trusts."""

from __future__ import annotations

import os
import ssl
import sys
from functools import cache
from types import ModuleType
from typing import Any, Protocol, TypeVar


class Closable(Protocol):
    """The interface that all clients have in common."""

    async def close(self) -> Any:
        """Release its connections."""


Client = TypeVar("Client", bound=Closable)


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
