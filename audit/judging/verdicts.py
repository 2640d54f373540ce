"""Reads a judge's reply, and checks whether the sentence that it quotes is in the answer."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from audit.sources.judgements import LONGEST_READ
from audit.vocabulary.drivers import DRIVERS
from collector.llm.form import Form, object_form

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


def category_form(categories: Collection[str]) -> Form:
    """The requested reply to a user's question, likewise."""
    return object_form({"category": {"type": "string", "enum": list(categories)}, "sentence": {"type": "string"}})


_BEGINS: Final = re.compile(r"\{(?=\s{0,20}\")")
_LINE: Final = re.compile(
    r"(?im)^[\s>*_#-]{0,8}(driver|category|sentence|mentions[_ ]worst|discounts[_ ]worst)[*_ ]{0,4}[:=](.*)$"
)
_WRAPPING: Final = " \t*_`\"'.,;“”‘’"
_QUOTES: Final = ' \t*_`"“”'
_YES_NO: Final = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


class UnreadableVerdictError(ValueError):
    """A reply without a driver, with several, or with a driver but no sentence that it was read from."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A parsed reply; `driver` is a category where a user's question was asked. Flags that are not stated are None."""

    driver: str
    sentence: str
    mentions_worst: bool | None = None
    discounts_worst: bool | None = None


def read_verdict(reply: str, categories: Collection[str] | None = None) -> Verdict:
    """Read a reply: a JSON object, whatever surrounds it, or lines such as `driver: worst`.

    Args:
        reply: the model's.
        categories: of a user's question; None where the driver was asked.

    Raises:
        UnreadableVerdictError: the message is the reason.
    """
    text = reply[-LONGEST_READ:]
    key = "driver" if categories is None else "category"
    codes = {code.lower(): code for code in (DRIVERS if categories is None else categories)}
    found = [fields for fields in _objects(text) if key in fields] or [_lines(text, key)]
    verdicts = [verdict for fields in found if (verdict := _verdict(fields, key, codes)) is not None]
    if not verdicts:
        given = [str(fields[key]) for fields in found if key in fields]
        raise UnreadableVerdictError(f"no such {key}: {given[-1][:40]!r}" if given else f"no {key} in the reply")
    if len({verdict.driver for verdict in verdicts}) > 1:
        raise UnreadableVerdictError(_several(key))
    verdict = verdicts[-1]
    if not verdict.sentence and categories is None and verdict.driver != "none":
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


def _several(key: str) -> str:
    return f"several {'drivers' if key == 'driver' else 'categories'} in the reply"


def _lines(text: str, wanted: str) -> dict[str, Any]:
    """Lines of the form `key: value`; a code given twice with different values makes the reply unreadable."""
    fields: dict[str, Any] = {}
    for key, value in _LINE.findall(text):
        name = key.lower().replace(" ", "_")
        stripped = value.strip(_QUOTES)
        if name == wanted and fields.get(name, stripped).lower() != stripped.lower():
            raise UnreadableVerdictError(_several(wanted))
        fields[name] = stripped
    return fields


def _verdict(fields: dict[str, Any], key: str, codes: Mapping[str, str]) -> Verdict | None:
    value = fields.get(key)
    code = value.strip(_WRAPPING).lower() if isinstance(value, str) else ""
    if code not in codes:
        return None
    sentence = fields.get("sentence")
    return Verdict(
        codes[code],
        sentence.strip() if isinstance(sentence, str) else "",
        _flag(fields.get("mentions_worst")),
        _flag(fields.get("discounts_worst")),
    )


def _flag(value: object) -> bool | None:
    return value if isinstance(value, bool) else _YES_NO.get(str(value).strip(_WRAPPING).lower())
