"""Errors that servers report in JSON: their words, and the status that they mean."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from collector.records import words_in

_WORDS: Final = ("message", "error", "detail", "msg", "errors", "reason", "title")
"""Fields of an error that hold its words, or an object or a list with them."""
_STATUSES: Final = ("code", "status", "status_code", "statusCode", "http_status")
_KINDS: Final = (
    (429, r"rate.?limit|too.?many.?requests|insufficient_quota|resource.?exhausted|throttl"),
    (503, r"overloaded|unavailable|server.?error|internal|timeout|upstream"),
    (401, r"authentication|unauthorized|invalid.?api.?key"),
    (403, r"permission|forbidden"),
    (404, r"not.?found"),
    (400, r"invalid.?request|bad.?request|context.?length"),
)
"""Statuses, and the names of errors that mean them."""


def decoded(body: str | bytes) -> Any:
    """The JSON of a body; None where it is none."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def words_of(body: str) -> str:
    """The words of an error's body: those in its JSON, or a short plain text; none of a page of HTML."""
    return words_in(decoded(body), _WORDS, "; ") or ("" if "<" in body else body)


def reported(content: Any) -> tuple[int | None, str] | None:
    """The error in a reply whose status is that of a success.

    Args:
        content: the JSON of a reply, or one of its choices.

    Returns:
        The status that it names or means, None if it does neither, and its JSON; None where there is no error.
    """
    if not isinstance(content, Mapping):
        return None
    error = content.get("error")
    if not error and content.get("object") != "error":
        is_answer = content.get("choices") or isinstance(content.get("message"), Mapping)
        if is_answer or not any(content.get(name) for name in ("detail", "message", "errors")):
            return None
    places = [each for each in (error, content) if isinstance(each, Mapping)]
    return _status(places), json.dumps(error or content)


def _status(places: list[Mapping[str, Any]]) -> int | None:
    for place in places:
        for name in _STATUSES:
            number = str(place.get(name))
            if re.fullmatch(r"[45]\d\d", number):
                return int(number)
    named = " ".join(str(place.get(name) or "") for place in places for name in ("code", "type", "status"))
    return next((status for status, kind in _KINDS if re.search(kind, named, re.IGNORECASE)), None)
