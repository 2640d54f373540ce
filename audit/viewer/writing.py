"""The requests that write: a code or a note into the file of labels that was named, and marks of revisions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse

from audit.output.errors import AuditError, UsageError
from audit.output.escaping import in_line
from audit.validation.coding.filling import ChangedError
from audit.viewer.coding import save
from audit.viewer.marking import NO_FOLDER, mark_of
from audit.viewer.query import MOST_TERMS, Query
from audit.viewer.table import no_such
from audit.vocabulary.keys import RevisionKey

if TYPE_CHECKING:
    from audit.viewer.live import Live
    from audit.viewer.session import Session

LARGEST: Final = 2**17
"""Bytes of the largest request; the longest note takes half of it."""


class Change(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a request asks for; see `audit.viewer.coding.save`."""

    row: int
    column: str
    value: str
    expected: str


class Marking(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a request marks; see `audit.marks.marks.Change`.

    Attributes:
        others: further revisions of which the same is to be marked.
    """

    revision: tuple[str, str, str, int, int]
    others: Annotated[list[tuple[str, str, str, int, int]], msgspec.Meta(max_length=MOST_TERMS)] = []
    star: bool | None = None
    tag: str | None = None
    removed: bool = False
    note: str | None = None


Asked = TypeVar("Asked", bound=msgspec.Struct)


async def put_label(session: Session, request: Request) -> JSONResponse:
    """Write a code or a note.

    Returns:
        The codes as they are now; status 409 where another program wrote the file, with a line on what to do.
    """
    return await _put(request, Change, "labels", lambda change: save(session, **msgspec.structs.asdict(change)))


async def put_mark(live: Live, request: Request) -> JSONResponse:
    """Write a mark; returns what is marked at the revision now."""

    def write(asked: Marking) -> dict[str, Any]:
        session = live.session
        keys = [RevisionKey(*each) for each in (asked.revision, *asked.others)]
        if session.marks is None:
            raise UsageError(NO_FOLDER)
        known = {RevisionKey(*row) for row in session.table.all_rows(Query(keys=tuple(keys)), RevisionKey._fields)}
        if unknown := [key for key in keys if key not in known]:
            raise no_such(unknown[0])
        session.marks.add(*keys, star=asked.star, tag=asked.tag, removed=asked.removed, note=asked.note)
        return mark_of(session, keys[0])

    return await _put(request, Marking, "marks", write)


async def _put(
    request: Request, kind: type[Asked], what: str, write: Callable[[Asked], dict[str, Any]]
) -> JSONResponse:
    """Have something written, if the request comes from a page of this server.

    A page of another site can neither read the secret in the address nor send JSON here without asking first, which
    nothing here answers; its name in the header `Origin` is refused all the same.
    """
    origin = request.headers.get("origin")
    if origin is not None and origin != f"{request.url.scheme}://{request.headers.get('host')}":
        return _refused(403, f"{what} are written from the viewer's own page alone")
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        return _refused(415, f"{what} are sent as application/json")
    body = b""
    try:
        async for piece in request.stream():
            body += piece
            if len(body) > LARGEST:
                return _refused(413, f"{what} of more than {LARGEST:,} bytes")
        return JSONResponse(await run_in_threadpool(write, msgspec.json.decode(body, type=kind)))
    except ChangedError as error:
        return _refused(409, str(error))
    except (AuditError, msgspec.DecodeError, ClientDisconnect) as error:
        return _refused(400, str(error))


def _refused(status: int, reason: str) -> JSONResponse:
    return JSONResponse({"error": in_line(reason)}, status)
