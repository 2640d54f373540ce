"""What a run's calls of its model took: answers, those that were discarded, tokens and seconds, from `calls.jsonl`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import msgspec

from audit.output.errors import AuditError
from audit.sources.prompts import calls_beside

if TYPE_CHECKING:
    from pathlib import Path


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
