"""Records that are shown while they are written: what was added is counted at once, and shown when one asks for it."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any, Final

from audit.viewer.query import Query

if TYPE_CHECKING:
    from audit.viewer.following import Follower
    from audit.viewer.session import Session

KEPT: Final = 60.0
"""Seconds that records stay open for requests that began before they were opened anew."""


class Live:
    """The session that is shown, which is another one after `renew`.

    Args:
        session: the first one.
        follower: counts the revisions while they are written; None where nothing is followed.
    """

    def __init__(self, session: Session, follower: Follower | None = None) -> None:
        self.session = session
        self._follower = follower
        self._old: list[tuple[float, Session]] = []
        self._renewing = threading.Lock()
        self._stopped = threading.Event()
        self._problem = ""

    @property
    def is_followed(self) -> bool:
        """Whether new revisions are looked for."""
        return self._follower is not None

    def run(self) -> None:
        """Look for new revisions until `stop`."""
        assert self._follower is not None
        while not self._stopped.wait(self._follower.pause):
            try:
                self._follower.look()
                self._problem = ""
            except Exception as error:  # the pages stay as they are, and say why nothing comes
                self._problem = str(error)

    def state(self) -> dict[str, Any]:
        """How many revisions were added since the records were opened, and why they cannot be counted, if so."""
        added = self._follower.revisions - self.session.table.count(Query()) if self._follower else 0
        return {"followed": self.is_followed, "added": max(0, added), "problem": self._problem}

    def renew(self) -> None:
        """Open the records anew, with what was added."""
        from audit.viewer.session import Session

        with self._renewing:
            session = Session(self.session.options, task_modules=self.session.task_modules, marks=self.session.marks)
            now = time.monotonic()
            self._old.append((now, self.session))
            self.session = session
            for since, old in list(self._old):
                if now - since > KEPT:
                    old.close()
                    self._old.remove((since, old))

    def stop(self) -> None:
        """Look for nothing more."""
        self._stopped.set()

    def close(self) -> None:
        """Close all sessions."""
        for _, old in self._old:
            old.close()
        self.session.close()
