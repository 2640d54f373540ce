"""What a run's calls of its model took: answers, those that were discarded, tokens and seconds, from `calls.jsonl`."""

from __future__ import annotations

import contextlib
import math
from typing import TYPE_CHECKING, Any, Final

import msgspec

from audit.output.errors import AuditError
from audit.remote.urls import local_of
from audit.sources.prompts import CALLS, calls_beside
from audit.vocabulary.keys import RunKey

if TYPE_CHECKING:
    from pathlib import Path

    from audit.viewer.session import Session

MOST: Final = 2**28
"""Bytes of calls that are read for the list of runs; those of later runs are not counted."""


class Call(msgspec.Struct, frozen=True):
    """What is read of a call."""

    seconds: float | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    error: str | None = None


def calls_of(records: Path) -> dict[str, Any] | None:
    """Sums over the calls beside a file of records; None where none are recorded, or they cannot be read.

    Returns:
        `calls`, `discarded` (answers that could not be read), `seconds`, and the tokens: null where a call that was
        answered does not state them, since a sum of the others would be taken for that of all.
    """
    try:
        calls = [call for call in calls_beside(records, Call) if call is not None]
    except AuditError:
        return None
    if not calls:
        return None
    return {
        "calls": len(calls),
        "discarded": sum(call.error is not None for call in calls),
        "seconds": _sum([call.seconds for call in calls]),
        "prompt_tokens": _sum([call.prompt_tokens for call in calls]),
        "completion_tokens": _sum([call.completion_tokens for call in calls]),
    }


def _sum(values: list[Any]) -> float | None:
    return None if None in values else math.fsum(values)


def calls(session: Session) -> dict[str, Any]:
    """The same for all runs, in a list with their keys; `left` is how many were not counted, as there is too much."""
    return session.once("calls", lambda: _calls(session))


def _calls(session: Session) -> dict[str, Any]:
    columns = ", ".join(RunKey._fields)
    # The lock is held by `once`.
    found = session.store.relation("episodes").aggregate(f"{columns}, min(file)", columns).order(columns).fetchall()
    rows, left, size = [], 0, 0
    for *key, file in found:
        records = local_of(file)
        with contextlib.suppress(OSError):
            size += records.with_name(CALLS).stat().st_size
        if size > MOST:
            left += 1
        elif (sums := calls_of(records)) is not None:
            rows.append({**dict(zip(RunKey._fields, key, strict=True)), **sums})
    return {"rows": rows, "left": left}
