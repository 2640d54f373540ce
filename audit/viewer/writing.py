"""The one request that writes: a code or a note, into the file of labels that was named."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse

from audit.output.errors import AuditError
from audit.output.escaping import in_line
from audit.validation.coding.filling import ChangedError
from audit.viewer.coding import save

if TYPE_CHECKING:
    from audit.viewer.session import Session

LARGEST: Final = 2**17
"""Bytes of the largest request; the longest note takes half of it."""


class Change(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a request asks for; see `audit.viewer.coding.save`."""

    row: int
    column: str
    value: str
    expected: str


async def put_label(session: Session, request: Request) -> JSONResponse:
    """Write a code or a note, if the request comes from a page of this server.

    A page of another site can neither read the secret in the address nor send JSON here without asking first, which
    nothing here answers; its name in the header `Origin` is refused all the same.

    Returns:
        The codes as they are now; status 409 where another program wrote the file, with a line on what to do.
    """
    origin = request.headers.get("origin")
    if origin is not None and origin != f"{request.url.scheme}://{request.headers.get('host')}":
        return _refused(403, "labels are written from the viewer's own page alone")
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        return _refused(415, "a label is sent as application/json")
    body = b""
    try:
        async for piece in request.stream():
            body += piece
            if len(body) > LARGEST:
                return _refused(413, f"a label of more than {LARGEST:,} bytes")
        change = msgspec.json.decode(body, type=Change)
        return JSONResponse(await run_in_threadpool(save, session, **msgspec.structs.asdict(change)))
    except ChangedError as error:
        return _refused(409, str(error))
    except (AuditError, msgspec.DecodeError, ClientDisconnect) as error:
        return _refused(400, str(error))


def _refused(status: int, reason: str) -> JSONResponse:
    return JSONResponse({"error": in_line(reason)}, status)
