"""Serves the pages of a viewer on this machine, below an address that only its user knows.

Labels and marks alone are written (`audit/viewer/writing.py`).
"""

from __future__ import annotations

import ipaddress
import mimetypes
import re
import secrets
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

import duckdb
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from audit.output.errors import AuditError, UsageError
from audit.output.escaping import in_line
from audit.output.formats import as_json
from audit.viewer import charts, interventions, pages
from audit.viewer.beside import beside
from audit.viewer.coding import sheet
from audit.viewer.compare import compare
from audit.viewer.lineage import blamed, lineage
from audit.viewer.marking import mark_of, tags
from audit.viewer.query import Query, columns_in, whole
from audit.viewer.revision import revision
from audit.viewer.run import run
from audit.viewer.snippets import snippets
from audit.viewer.writing import put_label, put_mark
from audit.vocabulary.keys import RevisionKey, RunKey

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from audit.viewer.live import Live
    from audit.viewer.session import Session

PLOT_STYLE: Final = "sha256-jSYQUrW7J0b3jPqhZP9C2Xh1PyJKHKXd4s0fpGGKrww="
"""Of the one style sheet that Observable Plot writes into each chart; its legends would write others."""
POLICY: Final = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": f"'self' '{PLOT_STYLE}'",
    "img-src": "'self' data:",
    "connect-src": "'self'",
    "base-uri": "'none'",
    "form-action": "'none'",
    "frame-ancestors": "'self' http://localhost:* http://127.0.0.1:* vscode-webview: vscode-file:",
}
"""What a page may load. Notebooks on this machine may show it in a frame: Jupyter's and those of VS Code."""
HEADERS: Final = {
    "content-security-policy": "; ".join(f"{name} {value}" for name, value in POLICY.items()),
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}
LONGEST_LINE: Final = 500
"""Characters of a message; it may quote what was asked for."""
ONLY_HERE: Final = "not found: open the address that audit view printed\n"

Answer = Callable[["Session", Request], dict[str, Any]]


def application(live: Live, secret: str, names: Sequence[str]) -> ASGIApp:
    """The pages as an ASGI application.

    Args:
        live: what is shown.
        secret: the first part of every path.
        names: of this machine, which a request's Host header may have beside numeric addresses.
    """
    routes = [
        *(Route(f"/{secret}/api/{path}", partial(_answered, live, answer)) for path, answer in ANSWERS.items()),
        Route(f"/{secret}/api/live", partial(_followed, live)),
        Route(f"/{secret}/api/coding/labels", partial(put_label, live.session), methods=["PUT"]),
        Route(f"/{secret}/api/marks", partial(put_mark, live), methods=["PUT"]),
        Route(f"/{secret}/api/download", partial(_downloaded, live)),
        *(Route(f"/{secret}/{path}", file, methods=["GET"]) for path, file in _files()),
    ]
    handlers: dict[Any, Any] = {404: _not_found, AuditError: _refused, duckdb.Error: _failed, OSError: _failed}
    return _Guarded(Starlette(routes=routes, exception_handlers=handlers), names)


def _files() -> Iterator[tuple[str, Response]]:
    """The pages' files, read once: the first page needs fifty of them."""
    folder = Path(str(resources.files("audit.viewer").joinpath("static")))
    for path in filter(Path.is_file, folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        file = Response(path.read_bytes(), media_type=mimetypes.guess_type(path.name)[0])
        yield from ((each, file) for each in {name, name.removesuffix("index.html")})


def new_secret() -> str:
    """A part of an address that cannot be guessed."""
    return secrets.token_urlsafe(16)


class _Guarded:
    """Refuses requests that name another host than this machine, and adds headers to every answer."""

    def __init__(self, application: ASGIApp, names: Sequence[str]) -> None:
        self._application = application
        self._names = {name.lower() for name in ("localhost", *names)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [
                    *((name, value) for name, value in message["headers"] if name.decode() not in HEADERS),
                    *((name.encode(), value.encode()) for name, value in HEADERS.items()),
                ]
            await send(message)

        if not self._is_here(scope):
            await PlainTextResponse(ONLY_HERE, 421)(scope, receive, send_with_headers)
            return
        await self._application({**scope, "path": _with_parts(scope["raw_path"])}, receive, send_with_headers)

    def _is_here(self, scope: Scope) -> bool:
        """Whether the Host header is numeric or a name of this machine; any other can be made to lead here."""
        hosts = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
        if len(hosts) != 1:
            return False
        host = hosts[0].rsplit(":", 1)[0] if not hosts[0].endswith("]") else hosts[0]
        if host.lower() in self._names:
            return True
        try:
            ipaddress.ip_address(host.strip("[]"))
        except ValueError:
            return False
        return True


def _with_parts(raw: bytes) -> str:
    """A path decoded but for slashes and percent signs within its parts, as names may have; `_part` decodes them."""
    escaped = raw.decode("latin-1").replace("%25", "%2525")
    return unquote(re.sub("%2f", "%252F", escaped, flags=re.IGNORECASE))


def _part(request: Request, name: str) -> str:
    return unquote(request.path_params[name])


def names_of_this_machine() -> list[str]:
    """Names that other machines may reach this one by."""
    return [name for name in {socket.gethostname(), socket.getfqdn()} if name]


def _answered(live: Live, answer: Answer, request: Request) -> Response:
    return Response(as_json(answer(live.session, request)), media_type="application/json")


def _followed(live: Live, request: Request) -> Response:
    """What was added since the records were opened; opens them anew where that is asked for."""
    if "open" in request.query_params:
        live.renew()
    return Response(as_json(live.state()), media_type="application/json")


def _downloaded(live: Live, request: Request) -> Response:
    session = live.session
    pieces = pages.csv(session, _query(session, request), _columns(request))
    headers = {"content-disposition": 'attachment; filename="revisions.csv"'}
    return StreamingResponse(pieces, media_type="text/csv; charset=utf-8", headers=headers)


def _refused(_: Request, error: Exception) -> Response:
    """What is wrong with the request, in one line."""
    status = 400 if isinstance(error, UsageError) else 404
    line = in_line(str(error))
    return JSONResponse({"error": line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}…"}, status)


def _not_found(_: Request, __: Exception) -> Response:
    return PlainTextResponse(ONLY_HERE, 404)


def _failed(_: Request, error: Exception) -> Response:
    """A full disk, records that were removed, a query that ran out of memory."""
    return JSONResponse({"error": in_line(str(error).strip().splitlines()[0] if str(error) else repr(error))}, 500)


def _query(session: Session, request: Request) -> Query:
    return Query.parse(request.query_params.multi_items(), session.table.kinds)


def _columns(request: Request, name: str = "columns") -> Sequence[str]:
    return columns_in(request.query_params.get(name, ""))


def _run(request: Request, which: str = "") -> RunKey:
    condition, env, variant = (_part(request, f"{which}{name}") for name in ("condition", "env", "variant"))
    return RunKey(condition, env, variant, whole(request.path_params[f"{which}run"]))


def _revision(request: Request, which: str = "") -> RevisionKey:
    return RevisionKey(*_run(request, which), whole(request.path_params[f"{which}iteration"]))


RUN: Final = "{condition}/{env}/{variant}/{run}"
REVISION: Final = f"{RUN}/{{iteration}}"
OTHER: Final = REVISION.replace("{", "{other_")

ANSWERS: Final[Mapping[str, Answer]] = {
    "about": lambda session, _: pages.about(session),
    "overview": lambda session, _: pages.overview(session),
    "revisions": lambda session, request: pages.revisions(session, _query(session, request), _columns(request)),
    "tags": lambda session, request: tags(session, _query(session, request)),
    "snippets": lambda session, request: snippets(session, _query(session, request)),
    "facets": lambda session, request: pages.facets(session, _query(session, request), _columns(request, "facets")),
    f"revision/{REVISION}": lambda session, request: revision(session, _revision(request), _query(session, request)),
    f"mark/{REVISION}": lambda session, request: mark_of(session, _revision(request)),
    f"beside/{REVISION}/with/{OTHER}": lambda session, request: beside(
        session, _revision(request), _revision(request, "other_")
    ),
    "coding/sheet": lambda session, _: sheet(session),
    "runs": lambda session, _: pages.runs(session),
    f"replay/{REVISION}": lambda session, request: session.replays.replay(_revision(request)),
    f"run/{RUN}": lambda session, request: run(session, _run(request)),
    f"lineage/{RUN}": lambda session, request: lineage(session, _run(request)),
    f"blame/{RUN}/{{candidate}}": lambda session, request: blamed(session, _run(request), _part(request, "candidate")),
    "curves": lambda session, _: charts.curves(session),
    "compare": lambda session, request: compare(
        session, _query(session, request), **{name: request.query_params.get(name, "") for name in ("by", "a", "b")}
    ),
    "interventions": lambda session, _: interventions.plans(session),
    "interventions/{plan}": lambda session, request: interventions.plan(session, whole(request.path_params["plan"])),
    "interventions/{plan}/report": lambda session, request: interventions.report(
        session, whole(request.path_params["plan"])
    ),
    "interventions/{plan}/unit/{unit}": lambda session, request: interventions.unit(
        session, whole(request.path_params["plan"]), whole(request.path_params["unit"])
    ),
}
"""What answers requests, by the paths below `api`."""
