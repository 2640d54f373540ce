"""File systems elsewhere, by fsspec: which one a URL names, what errors mean, how often a request is repeated."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final, TypeVar

from audit.output.errors import AuditError, UsageError
from audit.output.escaping import in_line
from audit.remote.urls import Address

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

Result = TypeVar("Result")

EXTRA: Final = 'in a clone: pip install ".[remote]"'
PAUSES: Final = (0.25, 0.5, 1.0, 2.0)
"""Seconds before a request is repeated that failed for a reason that may pass."""
TIMEOUT: Final = 20.0
"""Seconds for which a server may be silent."""

_TRANSIENT: Final = frozenset({408, 425, 429, 500, 502, 503, 504})
_SILENT: Final = ("Timeout", "TimedOut")
_BROKEN: Final = (
    *("PayloadError", "IncompleteRead", "ServerDisconnected", "ConnectionReset", "ConnectionClosed", "ProtocolError"),
    *("BrokenPipe", "StreamingError", "RemoteDisconnected"),
)
_UNREACHABLE: Final = ("EndpointConnectionError", "ClientConnector", "ConnectError", "ConnectionError", "gaierror")
_NO_CREDENTIALS: Final = ("NoCredentials", "PartialCredentials", "DefaultCredentialsError", "TokenNotFound")

_NOTHING: Final = "no such object, folder or bucket"
_USUAL_PLACES: Final = {
    "s3": "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, AWS_PROFILE, ~/.aws, or the machine's role",
    "gs": "GOOGLE_APPLICATION_CREDENTIALS, `gcloud auth application-default login`, or the machine's account",
    "hf": "HF_TOKEN, or `hf auth login`",
}
_SAME: Final = {"s3a": "s3", "gcs": "gs"}


def system_of(address: Address) -> tuple[AbstractFileSystem, str]:
    """The file system that a URL names, and the name in it.

    Raises:
        UsageError: fsspec, or what it needs for this kind of URL, is not installed, or there is no such kind.
    """
    scheme = address.scheme
    try:
        from fsspec import get_filesystem_class

        kind = get_filesystem_class(scheme)
    except ImportError:
        raise UsageError(f"{address.shown}: records at {scheme}:// need more packages: {EXTRA}") from None
    except ValueError:
        raise UsageError(f"{address.shown}: no URLs begin with {scheme}://; there are s3, gs, https and hf") from None
    try:
        system = kind(**kind._get_kwargs_from_urls(address.url) | _options(scheme))
        name = kind._strip_protocol(address.url)
    except Exception as error:
        raise explained(error, address) from None
    if hasattr(system, "retries"):
        system.retries = 1  # `patiently` repeats
    return system, name


def _options(scheme: str) -> dict[str, Any]:
    always = {"skip_instance_cache": True, "use_listings_cache": False}
    if scheme in {"s3", "s3a"}:
        return {
            **always,
            "config_kwargs": {
                "retries": {"total_max_attempts": 1},
                "connect_timeout": TIMEOUT / 2,
                "read_timeout": TIMEOUT,
            },
        }
    if scheme in {"http", "https"}:
        from aiohttp import ClientTimeout

        timeout = ClientTimeout(total=None, sock_connect=TIMEOUT / 2, sock_read=TIMEOUT)
        client = {"timeout": timeout, "trust_env": True, "headers": {"Accept-Encoding": "identity"}}
        return {**always, "encoded": True, "client_kwargs": client}
    return {"skip_instance_cache": scheme != "memory"} if scheme in {"memory", "hf"} else always


def patiently(request: Callable[[], Result], address: Address) -> Result:
    """The result of a request, which is repeated a few times while a server is busy or a connection breaks.

    Raises:
        AuditError: it fails; one line states why.
    """
    for pause in (*PAUSES, None):
        try:
            return request()
        except AuditError:
            raise
        except Exception as error:
            if pause is None or not _may_pass(error):
                raise explained(error, address) from None
            time.sleep(pause)
    raise AssertionError


def explained(error: Exception, address: Address) -> AuditError:
    """What a failed request means, in one line without secrets."""
    return AuditError(f"{address.shown}: {_reason(error, address)}")


def _reason(error: Exception, address: Address) -> str:
    places = _USUAL_PLACES.get(_SAME.get(address.scheme, address.scheme))
    given = f"credentials are taken from {places}" if places else "a signed URL may have expired"
    attempts = f"after {len(PAUSES) + 1} attempts"
    status = _status(error)
    reasons: tuple[tuple[bool, str], ...] = (
        (_is(error, _NO_CREDENTIALS), f"no credentials; {given}"),
        (_is(error, _SILENT), f"the server does not answer, {attempts} of {TIMEOUT:.0f} s"),
        (_is(error, _BROKEN), f"the connection breaks off, {attempts}; try again later"),
        (_is(error, _UNREACHABLE), "the server cannot be reached; is there a network, and is the address right?"),
        (status in {401, 403} or _is(error, ("PermissionError", "GatedRepo")), f"access is refused; {given}"),
        (status in {404, 410}, _NOTHING),
        (status in {429, 503}, f"the server is busy (status {status}), {attempts}; try again later"),
        ((status or 0) >= 500, f"the server fails (status {status}), {attempts}; try again later"),
        (_is(error, ("FileNotFoundError", "NotFound", "NotADirectoryError")), _NOTHING),
    )
    for applies, reason in reasons:
        if applies:
            return reason
    known = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return in_line(known.replace(address.url, address.shown).strip().splitlines()[0])


def _may_pass(error: Exception) -> bool:
    return _is(error, (*_SILENT, *_BROKEN, *_UNREACHABLE)) or _status(error) in _TRANSIENT


def _status(error: BaseException) -> int | None:
    """The HTTP status that an error stems from; libraries report it in different ways."""
    for each in _chain(error):
        response = getattr(each, "response", None)
        metadata = response.get("ResponseMetadata", {}) if isinstance(response, dict) else {}
        candidates = (
            # Where aiohttp's errors have a status, their code is the same, and deprecated.
            getattr(each, "status", None) if hasattr(each, "status") else getattr(each, "code", None),
            metadata.get("HTTPStatusCode"),
            getattr(response, "status_code", None),
        )
        for status in candidates:
            if isinstance(status, int | str) and str(status).isdigit() and 400 <= int(status) < 600:
                return int(status)
    return None


def _is(error: BaseException, parts: tuple[str, ...]) -> bool:
    """Whether the name of an error's class, or of one that it stems from, has one of some parts."""
    names = [kind.__name__ for each in _chain(error) for kind in type(each).__mro__]
    return any(part in name for name in names for part in parts)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
