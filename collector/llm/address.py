"""Where a server is, what may be shown of that, and whether a key can be sent there."""

from __future__ import annotations

import ipaddress
import os
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from collector.errors import UsageError


@dataclass(frozen=True, slots=True)
class Address:
    """A server's address.

    Attributes:
        url: the address as a client needs it; it may hold a password, so it is never printed.
        shown: the same without user, password and query, for messages.
        host: the host alone.
    """

    url: str = field(repr=False)
    shown: str
    host: str

    def direct_routes(self) -> dict[str, None]:
        """Routes for an HTTP client that keep calls to this machine away from any proxy.

        A proxy named in the environment cannot reach the caller's own loopback; Ollama's command line
        bypasses it too.
        """
        if not _is_this_machine(self.host):
            return {}
        host = f"[{self.host}]" if ":" in self.host else self.host
        return {f"all://{host}": None}

    def is_same_server(self, scheme: str, host: str, port: int | None) -> bool:
        """Whether a place is on this server: the same host and port, or with HTTPS in place of HTTP its usual port.

        Args:
            scheme: `http` or `https`.
            host: in lower case, without brackets.
            port: None for the usual one.
        """
        own = urlsplit(self.url)
        ports = {"http": 80, "https": 443}
        mine, theirs = own.port or ports[own.scheme], port or ports.get(scheme)
        is_upgrade = (own.scheme, mine, scheme, theirs) == ("http", 80, "https", 443)
        return host == own.hostname and (is_upgrade or (scheme, theirs) == (own.scheme, mine))


def parse_address(text: str, *, source: str, port: int | None = None) -> Address:
    """Read a server's address from an option or a variable.

    Args:
        text: a URL, or `host`, `host:port`, `:port` with an optional path, which are taken as plain HTTP.
        source: the option or variable to name when it cannot be read.
        port: the port of an address that has neither a scheme nor a port.

    Raises:
        UsageError: it is not an HTTP address.
    """
    bare = "://" not in text
    try:
        parts = urlsplit(f"http://{text.strip()}" if bare else text.strip())
        host = parts.hostname or ("127.0.0.1" if bare else "")
        number = parts.port or (port if bare else None)
        host.encode("idna")
    except ValueError:
        # The text is not quoted, here or below: it may hold a password.
        raise UsageError(f"{source} is not an address: write it like http://HOST:PORT") from None
    if parts.scheme not in {"http", "https"} or not host or any(character.isspace() for character in host):
        raise UsageError(f"{source} is not an HTTP address: write it like http://HOST:PORT")
    place = f"[{host}]" if ":" in host else host
    if number:
        place += f":{number}"
    user = f"{parts.netloc.rpartition('@')[0]}@" if "@" in parts.netloc else ""
    path = parts.path.rstrip("/")
    query = f"?{parts.query}" if parts.query else ""
    shown = f"{parts.scheme}://{place}{path}"
    return Address(url=f"{parts.scheme}://{user}{place}{path}{query}", shown=shown, host=host)


def read_key(variable: str) -> str | None:
    """The API key in an environment variable, if there is one.

    Raises:
        UsageError: no HTTP header can carry it, as it holds a line break, a blank or a character that is not ASCII.
    """
    key = os.environ.get(variable) or None
    if key and not (key.isascii() and key.isprintable() and " " not in key):
        raise UsageError(f"{variable} holds a blank, a line break or a non-ASCII character: set it to the key alone")
    return key


def _is_this_machine(host: str) -> bool:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
    return address.is_loopback or address.is_unspecified
