"""`audit.view`: opens the pages of a data set in a browser or a notebook, or writes them to a folder."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import time
import webbrowser
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, Self, Unpack

import duckdb

from audit.interventions.plan import read_plan
from audit.marks.marks import marks_for
from audit.options import Data, RevisionSelection, options_of
from audit.output.errors import AuditError, UsageError
from audit.output.escaping import in_line
from audit.viewer.following import PAUSE, Follower
from audit.viewer.live import Live
from audit.viewer.pages import about, overview
from audit.viewer.session import Session

LOOPBACK: Final = "127.0.0.1"
STARTED: Final = 20.0
"""Seconds that a server may take to start."""


class View(contextlib.AbstractContextManager["View"]):
    """A viewer that is being served: a context manager, which a notebook shows inline.

    Attributes:
        address: of its first page, with its secret.

    Args:
        session: what is shown; closed with the view.
        host: the address of this machine to listen on.
        port: 0 for any that is free.
        live: follows the records; None where they are shown as they were.
    """

    def __init__(self, session: Session, host: str, port: int, live: Live | None = None) -> None:
        import uvicorn

        from audit.viewer.server import application, names_of_this_machine, new_secret

        self._live = live or Live(session)
        self._socket = _listening(host, port)
        # As all connections have from it: else a short answer's body waits 40 ms until its header is acknowledged.
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        secret = new_secret()
        is_local = host in {LOOPBACK, "::1", "localhost"}
        app = application(self._live, secret, [] if is_local else names_of_this_machine())
        config = uvicorn.Config(
            app, log_level="error", access_log=False, lifespan="off", server_header=False, timeout_graceful_shutdown=1
        )
        self._server = uvicorn.Server(config)
        port = self._socket.getsockname()[1]
        shown = {"0.0.0.0": socket.gethostname(), "::": socket.gethostname()}.get(host, host)  # noqa: S104
        page = "#/coding" if session.coding else ""
        self.address = f"http://{f'[{shown}]' if ':' in shown else shown}:{port}/{secret}/{page}"
        self._threads: list[threading.Thread] = []

    def wait(self) -> None:
        """Return when the server has stopped, or raise at Ctrl-C."""
        while any(thread.is_alive() for thread in self._threads[:1]):
            time.sleep(PAUSE)  # Ctrl-C while a thread is joined would make Python 3.11 take it for one that has ended

    def start(self) -> Self:
        """Serve in a thread of its own, until `close`.

        Raises:
            AuditError: the server did not start.
        """
        serving = threading.Thread(target=self._server.run, kwargs={"sockets": [self._socket]}, daemon=True)
        serving.start()
        self._threads.append(serving)
        until = time.monotonic() + STARTED
        while not self._server.started:
            if not serving.is_alive() or time.monotonic() > until:
                raise AuditError("the viewer's server did not start")
            time.sleep(0.01)
        warming = threading.Thread(target=self._warm, daemon=True)
        warming.start()
        self._threads.append(warming)
        if self._live.is_followed:
            following = threading.Thread(target=self._live.run, daemon=True)
            following.start()
            self._threads.append(following)
        return self

    @property
    def _session(self) -> Session:
        """What is shown at present."""
        return self._live.session

    def _warm(self) -> None:
        """Compute what every visitor will ask for, the first page before the rest."""
        # A visitor who asks for the same gets the error; here it is most often that of a viewer that is being closed.
        with contextlib.suppress(AuditError, duckdb.Error):
            about(self._session)
            overview(self._session)
        with contextlib.suppress(AuditError, duckdb.Error):
            self._session.warm()

    def open_in_browser(self) -> None:
        """Open a browser at the first page, if there is one."""
        with contextlib.suppress(webbrowser.Error):
            threading.Thread(target=webbrowser.open, args=(self.address,), daemon=True).start()

    def close(self) -> None:
        """Stop serving and close the records."""
        self._server.should_exit = True
        self._live.stop()
        self._session.interrupt()
        for thread in self._threads:
            thread.join()
        self._socket.close()
        self._live.close()

    def _repr_html_(self) -> str:
        # The link is for notebooks that show no frames of this machine, as those of another one do.
        return (
            f'<iframe src="{self.address}" width="100%" height="720" title="audit view"></iframe>'
            f'<a href="{self.address}" target="_blank">Open in a tab</a>'
        )

    def __repr__(self) -> str:
        return f"<audit.View at {self.address}>"

    def __exit__(self, *_: object) -> None:
        self.close()


def view(
    data: Data,
    *,
    host: str = LOOPBACK,
    port: int = 0,
    labels: Sequence[str | Path] = (),
    coder: str | None = None,
    task_modules: Sequence[str | Path] = (),
    plan: str | Path | Sequence[str | Path] = (),
    follow: bool = False,
    marks: str | Path | None = None,
    author: str | None = None,
    **keywords: Unpack[RevisionSelection],
) -> View:
    """Serve the pages of a data set: tables whose numbers lead to revisions, and these to their answers and rollouts.

    The result is shown inline by a notebook. Its `address` has a secret; only this machine is listened to, unless
    another host is named.

    Args:
        data: records.
        host: the address of this machine to listen on.
        port: 0 for any that is free.
        labels: the sheet of labels to fill in, and the other coder's if that is another file; beside it marks alone are
            written.
        coder: whose rows are filled in; None where the sheet has one coder.
        task_modules: Python files with tasks of your own, for replays.
        plan: experiments to show as well: the file of a plan or several.
        follow: whether pages say when revisions were added, and show them on demand.
        marks: the file of stars, tags and notes; None for `audit-marks.jsonl` in the first folder of records.
        author: of the marks that are made; None for the user's login.
        keywords: which groups, and how records are opened and classified.

    Returns:
        The view, which is served until it is closed.

    Raises:
        UsageError: the address or the port cannot be listened on, the sheet has no such coder, or a file of tasks
            or an author's name cannot be used.
        AuditError: the records, the labels or a plan cannot be read.
    """
    sheets, modules = [Path(path) for path in labels], [Path(path) for path in task_modules]
    # A connection of its own, since a store that is open serves one query at a time.
    options = replace(options_of(data, RevisionSelection, keywords), store=None)
    if plans := [Path(file) for file in ([plan] if isinstance(plan, str | Path) else plan)]:
        options = replace(options, plans=plans)
        for path in plans:
            read_plan(path)  # it is read again for each page, since answers come while the viewer is open
    if follow and sheets:
        raise UsageError("--follow shows new revisions, and --labels a sheet of those that there are; leave one out")
    follower = Follower(options) if follow else None
    if follower:
        follower.wait()
    session = Session(options, sheets, coder, modules, marks_for(options.paths, marks, author))
    try:
        return View(session, host, port, Live(session, follower)).start()
    except BaseException:
        session.close()
        raise


def _listening(host: str, port: int) -> socket.socket:
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family)
    except (OSError, OverflowError) as error:
        number = getattr(error, "errno", None)
        reason = os.strerror(number) if number and number > 0 else getattr(error, "strerror", None) or str(error)
        raise UsageError(f"cannot listen on {in_line(host)} port {port} ({reason}); try another --port") from None
