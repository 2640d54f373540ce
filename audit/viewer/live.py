"""Records that are shown while they are written: what was added is counted at once, and shown when one asks for it."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from audit.request import note
from audit.viewer.query import Query
from audit.watching.alarms import THRESHOLD, alarms
from audit.watching.changes import PAUSE
from audit.watching.following import Revision
from audit.watching.watch import sentence, take

if TYPE_CHECKING:
    from audit.viewer.session import Session
    from audit.watching.following import Follower

POINTS: Final = 500
"""Points of a wealth's curve that are sent; of a longer one every n-th."""
KEPT: Final = 60.0
"""Seconds that records stay open for requests that began before they were opened anew."""


class Live:
    """The session that is shown, which is another one after `renew`.

    Args:
        session: the first one.
        follower: finds what was added; None where nothing is followed.
        found: what it found before.
    """

    def __init__(self, session: Session, follower: Follower | None = None, found: Sequence[Revision] = ()) -> None:
        self.session = session
        self._follower = follower
        self._alarms = alarms()
        self._old: list[tuple[float, Session]] = []
        self._renewing = threading.Lock()
        self._stopped = threading.Event()
        take(found, self._alarms)
        self._added = max(0, len(found) - session.table.count(Query())) if follower else 0
        self._latest: dict[str, Any] | None = None
        self._problem = ""

    @property
    def is_followed(self) -> bool:
        """Whether new revisions are looked for."""
        return self._follower is not None

    def run(self) -> None:
        """Look for new revisions until `stop`."""
        assert self._follower is not None
        while not self._stopped.wait(PAUSE):
            try:
                found = self._follower.poll()
            except Exception as error:  # the pages stay as they are, and say why nothing comes
                self._problem = str(error)
                continue
            self._problem = ""
            for line in self._follower.take_notes():
                note(line)
            if found:
                take(found, self._alarms)
                self._added += len(found)
                self._latest = found[-1]

    def state(self) -> dict[str, Any]:
        """How many revisions were added since the records were opened, the last one, and the alarms."""
        return {
            "followed": self.is_followed,
            "index": self.session.table.texts.is_awaited,
            "added": self._added,
            "latest": self._latest,
            "problem": self._problem,
            "threshold": THRESHOLD,
            "alarms": [
                {
                    "name": alarm.name,
                    "wealth": alarm.wealth,
                    "raised": alarm.raised,
                    "sentence": sentence(alarm) if alarm.raised else "",
                    "every": (every := -(-len(alarm.curve) // POINTS) or 1),
                    "curve": alarm.curve[::every],
                }
                for alarm in self._alarms
            ],
        }

    def renew(self) -> None:
        """Open the records anew, with what was added."""
        from audit.viewer.session import Session

        with self._renewing:
            counted = self._added
            session = Session(self.session.request, task_modules=self.session.task_modules, marks=self.session.marks)
            now = time.monotonic()
            self._old.append((now, self.session))
            self.session = session
            self._added -= counted
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
