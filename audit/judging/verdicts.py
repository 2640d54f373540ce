"""Reads a judge's reply, and checks whether the sentence that it quotes is in the answer."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from audit.vocabulary.drivers import DRIVERS, DriverName
from collector.llm.form import object_form

LONGEST: Final = 20_000
"""Characters of a reply that are read, from its end: the requested format fits into a few hundred."""
MOST_OBJECTS: Final = 100
"""Places where an object may begin that are tried, the last ones of a reply."""

VERDICT_FORM: Final = object_form(
    {
        "driver": {"type": "string", "enum": list(DRIVERS)},
        "sentence": {"type": "string"},
        "mentions_worst": {"type": "boolean"},
        "discounts_worst": {"type": "boolean"},
    }
)
"""The requested reply, for backends that can enforce it."""

_DRIVERS: Final = {name: name for name in DRIVERS}
_BEGINS: Final = re.compile(r"\{(?=\s{0,20}\")")
_LINE: Final = re.compile(
    r"(?im)^[\s>*_#-]{0,8}(driver|sentence|mentions[_ ]worst|discounts[_ ]worst)[*_ ]{0,4}[:=](.*)$"
)
_WRAPPING: Final = " \t*_`\"'.,;“”‘’"
_QUOTES: Final = ' \t*_`"“”'
_YES_NO: Final = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


class UnreadableVerdictError(ValueError):
    """A reply without a driver, with several, or with a driver but no sentence that it was read from."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A parsed reply; the two flags are None where it does not state them."""

    driver: DriverName
    sentence: str
    mentions_worst: bool | None = None
    discounts_worst: bool | None = None


def read_verdict(reply: str) -> Verdict:
    """Read a reply: a JSON object, whatever surrounds it, or lines such as `driver: worst`.

    Raises:
        UnreadableVerdictError: the message is the reason.
    """
    text = reply[-LONGEST:]
    found = [fields for fields in _objects(text) if "driver" in fields] or [_lines(text)]
    verdicts = [verdict for fields in found if (verdict := _verdict(fields)) is not None]
    if not verdicts:
        drivers = [str(fields["driver"]) for fields in found if "driver" in fields]
        raise UnreadableVerdictError(f"no such driver: {drivers[-1][:40]!r}" if drivers else "no driver in the reply")
    if len({verdict.driver for verdict in verdicts}) > 1:
        raise UnreadableVerdictError("several drivers in the reply")
    verdict = verdicts[-1]
    if not verdict.sentence and verdict.driver != "none":
        raise UnreadableVerdictError("no sentence in the reply")
    try:
        verdict.sentence.encode()
    except UnicodeEncodeError:
        raise UnreadableVerdictError("half of a surrogate pair in the sentence") from None
    return verdict


def is_quoted(sentence: str, answer: str) -> bool:
    """Whether a sentence is in an answer: its letters and digits in that order, in any case.

    White space, punctuation and markup are ignored, since models straighten quotes and drop asterisks. Nothing
    is quoted by a sentence without letters and digits.
    """
    wanted = _bare(sentence)
    return bool(wanted) and wanted in _bare(answer)


def _bare(text: str) -> str:
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).casefold()))


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """JSON objects, those inside others left out."""
    decoder = json.JSONDecoder(strict=False)  # models put line breaks into strings
    behind = 0
    for match in [*_BEGINS.finditer(text)][-MOST_OBJECTS:]:
        if match.start() < behind:
            continue
        try:
            value, behind = decoder.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            continue
        yield {str(key).strip().lower(): field for key, field in value.items()}


def _lines(text: str) -> dict[str, Any]:
    """Lines of the form `key: value`; a driver given twice with different values makes the reply unreadable."""
    fields: dict[str, Any] = {}
    for key, value in _LINE.findall(text):
        name = key.lower().replace(" ", "_")
        stripped = value.strip(_QUOTES)
        if name == "driver" and fields.get(name, stripped).lower() != stripped.lower():
            raise UnreadableVerdictError("several drivers in the reply")
        fields[name] = stripped
    return fields


def _verdict(fields: dict[str, Any]) -> Verdict | None:
    value = fields.get("driver")
    driver = value.strip(_WRAPPING).lower() if isinstance(value, str) else ""
    if driver not in _DRIVERS:
        return None
    sentence = fields.get("sentence")
    return Verdict(
        _DRIVERS[driver],
        sentence.strip() if isinstance(sentence, str) else "",
        _flag(fields.get("mentions_worst")),
        _flag(fields.get("discounts_worst")),
    )


def _flag(value: object) -> bool | None:
    return value if isinstance(value, bool) else _YES_NO.get(str(value).strip(_WRAPPING).lower())
