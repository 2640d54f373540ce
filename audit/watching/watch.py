"""`audit.watch`: revisions as they are written, and alarms that hold whenever one looks."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Unpack

from audit.arguments import Data, RevisionSelection, request_of
from audit.output.errors import AuditError, UsageError, count
from audit.vocabulary.keys import RunKey
from audit.watching.alarms import THRESHOLD, Alarm, alarms
from audit.watching.changes import PAUSE
from audit.watching.following import Follower, Revision
from collector.errors import cannot_write

MEANINGS: Final = {
    "regressions": "revisions regress more often than the null allows",
    "citing": "revisions whose answer cites the item asked about regress more often than others of the same ten",
}


@dataclass(frozen=True, slots=True)
class Step:
    """What was added at one look.

    Attributes:
        revisions: that are new, in the order in which the alarms took them.
        alarms: both, as they are afterwards.
        raised: those that were raised by these revisions.
        notes: what the user should know of the records.
    """

    revisions: list[Revision]
    alarms: tuple[Alarm, Alarm]
    raised: list[Alarm]
    notes: list[str] = field(default_factory=list)


def watch(
    data: Data,
    *,
    p0: float = 0.5,
    stop_file: str | Path | None = None,
    once: bool = False,
    **options: Unpack[RevisionSelection],
) -> Iterator[Step]:
    """Follow folders of records, the first step being what is there already.

    Args:
        data: folders of records, which may still be empty.
        p0: the chance of a regression under the null of the alarm on regressions.
        stop_file: a file that is made when an alarm is raised, for a loop that stops when it is there.
        once: whether to end after the first step.
        options: which groups, and how records are opened and classified.

    Yields:
        A step wherever something was added.

    Raises:
        UsageError: not a folder, `p0` is not between 0 and 1, or the stop file is there already or has no folder.
        AuditError: there is no such folder; `once`, and there are no records; the records have problems, and are to be
            strict; the stop file cannot be written, which is raised after the step that raised the alarm.
    """
    both = alarms(p0)
    follower = Follower(request_of(data, RevisionSelection, options))
    target = None if stop_file is None else Path(stop_file)
    if target is not None and not target.parent.is_dir():
        raise UsageError(f"--stop-file {target}: {target.parent} is not a folder")
    if target is not None and target.exists():
        raise UsageError(f"--stop-file {target}: it is there already; remove it, or name another one")
    found = follower.begin(is_final=once)
    while True:
        raised = take(found, both)
        failure = _write_stop(target, both) if raised and target is not None else None
        yield Step(found, both, raised, follower.take_notes())
        if failure is not None:
            raise AuditError(cannot_write(target, failure, "--stop-file"))
        if once:
            return
        found = []
        while not (found or follower.notes):
            time.sleep(PAUSE)
            found = follower.poll()


def take(found: Sequence[Revision], both: tuple[Alarm, Alarm]) -> list[Alarm]:
    """Give revisions to the alarms, in their order; returns those that are raised by them."""
    before = [alarm.raised for alarm in both]
    keys = [RunKey(*(row[name] for name in RunKey._fields)) for row in found]
    for alarm in both:
        for key in dict.fromkeys(keys):
            alarm.begin(key)
        for key, row in zip(keys, found, strict=True):
            alarm.add(key, row["direction"], row["cites"])
    return [alarm for alarm, was in zip(both, before, strict=True) if alarm.raised is not None and was is None]


def _write_stop(path: Path, both: Sequence[Alarm]) -> OSError | None:
    """Make the file, complete from the moment that it is there; returns why that failed."""
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        partial.write_text("".join(f"{sentence(each)}\n" for each in both if each.raised), encoding="utf-8")
        partial.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            partial.unlink()
        return error
    return None


def sentence(alarm: Alarm) -> str:
    """An alarm that was raised, in words, with the wealth by which it was."""
    assert alarm.raised is not None
    null = f" (null: a chance of at most {alarm.p0:g})" if alarm.name == "regressions" else ""
    return (
        f"alarm after {count(alarm.raised, 'revision')}: {MEANINGS[alarm.name]}{null}; "
        f"wealth {alarm.curve[alarm.raised - 1]:.3g}, threshold {THRESHOLD:g}"
    )
