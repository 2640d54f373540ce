"""A strict reading of records, written from docs/records.md alone: what is accepted, and what must be named.

It shares no code with the project. Where the document leaves a question open the verdict is open too, and all that is
asked of a reader is to accept or to name the line.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

Record = dict[str, Any]
Check = Callable[[Any, str], None]

LONGEST: Final = 16 * 2**20
"""Bytes of a line."""
DEEPEST: Final = 60
"""Levels of nesting that every reader must take; beyond, it may refuse."""
TOLERANCE: Final = 1e-9
TASKS: Final = """
    cartpole pong frozenlake nim maze swimmer mountaincar mountaincarcontinuous invertedpendulum inverteddoublependulum
    """.split()  # noqa: SIM905 - lists with a quote round every word would be no easier to read
METHODS: Final = """
    props propsplus criticonly puresearch actorsecondpass alwayscritic reptraj threetraj r2po
    sb3-a2c sb3-ppo sb3-trpo sb3-dqn sb3-sac sb3-td3 sb3-ddpg
    """.split()  # noqa: SIM905


@dataclass(frozen=True, slots=True)
class Verdict:
    """What becomes of a line: `record` where it is accepted, `field` and `why` where it is not; open: either.

    A contradiction is refused for what its fields state together, each being of its type.
    """

    record: Record | None
    field: str = ""
    why: str = ""
    is_open: bool = False
    is_contradiction: bool = False

    @property
    def accepted(self) -> bool:
        """Whether it is in every result."""
        return self.record is not None and not self.is_open


class _RefusedError(Exception):
    def __init__(self, field: str, why: str, *, is_contradiction: bool = False) -> None:
        super().__init__(field, why)
        self.field, self.why, self.is_contradiction = field, why, is_contradiction


class _OpenError(Exception):
    pass


def read_line(line: bytes, run: Mapping[str, Any], earlier: set[int]) -> Verdict:
    """Judge a line of `episodes.jsonl`, without its line break.

    Args:
        line: its bytes.
        run: the `run.json` beside it, accepted.
        earlier: iterations of accepted lines before it; an accepted line's is added.
    """
    imported, textual = "imported_from" in run["options"], run.get("candidates") == "text"

    def check(record: Record) -> None:
        if imported:
            _complete(record)
            _object(IMPORTED_EPISODE, THRESHOLD)(record, "")
        elif textual:
            _object(TEXT_EPISODE)(record, "")
            _forget(record)
        else:
            _object(EPISODE, THRESHOLD)(record, "")
        for field, value in _contradictions(record, run):
            raise _RefusedError(field, value, is_contradiction=True)
        if record["iteration"] in earlier:
            raise _RefusedError("iteration", "is in an earlier line")
        for shown in (record["evidence"] or {"shown": []})["shown"]:
            shown |= {"name": shown.get("name"), "text": shown.get("text")}  # what is not there is null in relations

    if abs(len(line) - LONGEST) < 16:
        return Verdict({}, is_open=True)
    if len(line) > LONGEST:
        return Verdict(None, "", "the line is too long")
    verdict = _judge(line, check)
    if verdict.accepted and verdict.record is not None:
        earlier.add(verdict.record["iteration"])
    return verdict


def read_run(data: bytes) -> Verdict:
    """Judge a `run.json`."""
    return _judge(data, _check_run)


def is_blank(line: bytes) -> bool:
    """Whether a line holds nothing but JSON's white space."""
    return not line.strip(b" \t\r\n")


def _judge(data: bytes, check: Callable[[Record], None]) -> Verdict:
    try:
        record, is_extreme = _parse(data)
        check(record)
    except _RefusedError as refused:
        return Verdict(None, refused.field, refused.why, is_contradiction=refused.is_contradiction)
    except _OpenError:
        return Verdict({}, is_open=True)
    # A number beyond all doubles, which no known field takes, is in an unused field.
    return Verdict(record, is_open=is_extreme)


def _parse(data: bytes) -> tuple[Record, bool]:
    extremes: list[str] = []

    def whole(text: str) -> int:
        number = int(text) if len(text) < 400 else (-1 if text[0] == "-" else 1) * 10**400
        if len(text) > 300 and abs(number) >= 2**1024:
            extremes.append(text)
        return number

    def fraction(text: str) -> float:
        number = float(text)
        if math.isinf(number):
            extremes.append(text)
        return number

    if _depth(data) > DEEPEST:
        raise _OpenError
    try:
        record = json.loads(
            data.decode(),
            object_pairs_hook=_without_duplicates,
            parse_constant=_no_constant,
            parse_int=whole,
            parse_float=fraction,
        )
    except UnicodeDecodeError:
        raise _RefusedError("", "not UTF-8") from None
    except json.JSONDecodeError as error:
        raise _RefusedError("", f"not JSON: {error}") from None
    if re.search(rb"\\u[dD][89a-fA-F]", data) and any(_is_half(text) for text in _texts(record)):
        raise _RefusedError("", "half of a surrogate pair")
    if not isinstance(record, dict):
        raise _RefusedError("", "not an object")
    return record, bool(extremes)


def _depth(data: bytes) -> int:
    if data.count(b"[") + data.count(b"{") <= DEEPEST:
        return 0
    depth = deepest = 0
    for opening in re.findall(rb"[\[\]{}]", re.sub(rb'"(?:[^"\\]|\\.)*"', b"", data)):
        depth += 1 if opening in b"[{" else -1
        deepest = max(deepest, depth)
    return deepest


def _without_duplicates(pairs: list[tuple[str, Any]]) -> Record:
    record = dict(pairs)
    if len(record) < len(pairs):
        names = [name for name, _ in pairs]
        raise _RefusedError(next(name for name in names if names.count(name) > 1), "is there twice")
    return record


def _no_constant(text: str) -> None:
    raise _RefusedError("", f"{text} is no JSON")


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield name
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)


def _is_half(text: str) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in text)


# Types ---------------------------------------------------------------------------------------------------------------


def _is(kind: type, what: str) -> Check:
    def check(value: Any, field: str) -> None:
        if type(value) is not kind:
            raise _RefusedError(field, f"is no {what}")

    return check


def _whole(low: int, high: int = 2**63 - 1) -> Check:
    def check(value: Any, field: str) -> None:
        if type(value) is not int or not low <= value <= high:
            raise _RefusedError(field, f"is no whole number from {low} to {high}")

    return check


def _texts_by_name(value: Any, field: str) -> None:
    _is(dict, "object")(value, field)
    for each in value.values():
        _is(str, "text")(each, field)


def _number(value: Any, field: str) -> None:
    if type(value) not in (int, float):
        raise _RefusedError(field, "is no number")
    try:
        finite = math.isfinite(float(value))
    except OverflowError:
        finite = False
    if not finite:
        raise _RefusedError(field, "is no finite number")


def _one_of(*words: str) -> Check:
    def check(value: Any, field: str) -> None:
        if type(value) is not str or value not in words:
            raise _RefusedError(field, f"is none of {', '.join(words)}")

    return check


def _list(inner: Check) -> Check:
    def check(value: Any, field: str) -> None:
        if type(value) is not list:
            raise _RefusedError(field, "is no list")
        for each in value:
            inner(each, field)

    return check


def _object(fields: Mapping[str, Check], optional: Mapping[str, Check] | None = None) -> Check:
    def check(value: Any, field: str) -> None:
        if type(value) is not dict:
            raise _RefusedError(field, "is no object")
        dot = f"{field}." if field else ""
        for name, inner in fields.items():
            if name not in value:
                raise _RefusedError(f"{dot}{name}", "is missing")
            inner(value[name], f"{dot}{name}")
        for name, inner in (optional or {}).items():
            if name in value:
                inner(value[name], f"{dot}{name}")

    return check


def _or_null(inner: Check) -> Check:
    def check(value: Any, field: str) -> None:
        if value is not None:
            inner(value, field)

    return check


_text, _flag, _any_object = _is(str, "text"), _is(bool, "true or false"), _is(dict, "object")
_range = _object({"mean": _number, "min": _number, "max": _number})
_statistics = _object({"returns": _range, "lengths": _range, "successes": _whole(0), "rollouts": _whole(0)})

SOURCE: Final = _one_of("search", "critic", "baseline", "parent")
KIND: Final = _one_of("median", "three", "representative", "batch", "pair", "programs")
CANDIDATE: Final[dict[str, Check]] = {
    "params": _list(_number),
    "out_of_range": _flag,
    "source": SOURCE,
    "answer": _text,
    "thinking": _or_null(_text),
    "returns": _list(_number),
    "lengths": _list(_whole(0)),
    "seeds": _or_null(_list(_whole(0, 2**64 - 1))),
    "ended": _list(_one_of("terminated", "truncated")),
    "mean_return": _number,
}
SHOWN: Final[dict[str, Check]] = {
    "label": _one_of("worst", "median", "best", "representative"),
    "rollout": _whole(0),
    "return": _number,
    "length": _whole(0),
}


TEXT_CANDIDATE: Final[dict[str, Check]] = {
    "text": _or_null(_texts_by_name),
    "source": SOURCE,
    "answer": _or_null(_text),
    "returns": _or_null(_list(_number)),
    "example_ids": _or_null(_list(_text)),
    "mean_return": _number,
}
ITEM: Final[dict[str, Check]] = {
    "label": _one_of("item", "worst", "median", "best", "representative"),
    "rollout": _or_null(_whole(0)),
    "return": _or_null(_number),
    "name": _or_null(_text),
}
UNSTATED: Final = ("params", "out_of_range", "lengths", "seeds", "ended")
"""What a candidate that is a text never has, whatever a field of that name holds."""


def _episode(
    candidate: Check, shown: Check, seconds: Check, statistics: Mapping[str, Check] | None = None
) -> dict[str, Check]:
    evidence = _object({"kind": KIND, "shown": _list(shown)}, statistics)
    return {
        "condition": _text,
        "env": _text,
        "variant": _text,
        "run": _whole(1),
        "iteration": _whole(0),
        "initial": candidate,
        "revised": _or_null(candidate),
        "revision_status": _one_of("ok", "unreadable", "none"),
        "selected": _one_of("initial", "revised"),
        "evidence": _or_null(evidence),
        "seconds": seconds,
    }


def _may_be_null(fields: Mapping[str, Check]) -> dict[str, Check]:
    return {name: check if name in NEVER_NULL else _or_null(check) for name, check in fields.items()}


def _complete(record: Record) -> None:
    """Put null where an imported record has no such field, which means the same."""
    evidence = record.get("evidence")
    shown = evidence.setdefault("shown", []) if isinstance(evidence, dict) else None
    _set_null(record, ("revised", "evidence", "seconds"))
    for role in ("initial", "revised"):
        _set_null(record.get(role), (CANDIDATE | TEXT_CANDIDATE).keys() - NEVER_NULL)
    for each in shown if isinstance(shown, list) else ():
        _set_null(each, (SHOWN | ITEM).keys() - NEVER_NULL)


def _forget(record: Record) -> None:
    """Put null for what a record of texts does not have, and where it may leave out a field."""
    for candidate in filter(None, (record["initial"], record["revised"])):
        candidate.update(dict.fromkeys(UNSTATED))
        candidate.setdefault("thinking")
    for name in THRESHOLD:
        record.pop(name, None)
    if record["evidence"] is not None:
        record["evidence"].pop("statistics", None)
        for shown in record["evidence"]["shown"]:
            shown["length"] = None


def _set_null(value: Any, names: Iterable[str]) -> None:
    if isinstance(value, dict):
        for name in names:
            value.setdefault(name)


THRESHOLD: Final = {"tau_c": _or_null(_number), "restrained": _or_null(_flag)}
NEVER_NULL: Final = frozenset({"source", "mean_return", "label"})
STATISTICS: Final = {"statistics": _or_null(_statistics)}
EPISODE: Final = _episode(_object(CANDIDATE), _object(SHOWN, {"name": _text}), _number, STATISTICS)
TEXT_EPISODE: Final = _episode(
    _object(TEXT_CANDIDATE, {"thinking": _or_null(_text)}), _object(ITEM, {"text": _or_null(_text)}), _or_null(_number)
)
IMPORTED_EPISODE: Final = _episode(
    _object(_may_be_null(TEXT_CANDIDATE | CANDIDATE)),
    _object(_may_be_null(SHOWN | ITEM), {"text": _or_null(_text)}),
    _or_null(_number),
    STATISTICS,
)


# Fields that contradict --------------------------------------------------------------------------------------------


def _contradictions(record: Record, run: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for field in ("condition", "env", "variant", "run"):
        if record[field] != run[field]:
            yield field, "is not that of run.json"
    for role in ("initial", "revised"):
        if record[role] is not None:
            for field, why in _candidate_contradictions(record[role], run.get("rollouts")):
                yield f"{role}.{field}", why
    initial, revised = record["initial"], record["revised"]
    if revised is not None:
        before, after = initial["params"], revised["params"]
        if before is not None and after is not None and len(before) != len(after):
            yield "params", "differ in number"
    elif record["selected"] == "revised":
        yield "selected", "is revised, which is not there"
    if (record["revision_status"] == "ok") != (revised is not None):
        yield "revision_status", "does not fit the revised candidate"
    for shown in (record["evidence"] or {"shown": []})["shown"]:
        rollouts = run.get("rollouts") if initial["returns"] is None else len(initial["returns"])
        if shown["rollout"] is not None and rollouts is None:
            raise _OpenError
        if shown["rollout"] is not None and shown["rollout"] >= rollouts:
            yield "rollout", "is none of the rollouts"


def _candidate_contradictions(candidate: Record, rollouts: int | None) -> Iterator[tuple[str, str]]:
    returns = candidate["returns"]
    if candidate["params"] == [] and candidate["source"] != "baseline":
        yield "params", "is empty"
    if candidate["params"] is not None and candidate.get("text") is not None:
        yield "params", "are there, and text"
    if returns == []:
        yield "returns", "is empty"
    if returns is None:
        return
    for field in ("lengths", "seeds", "ended", "example_ids"):
        if candidate.get(field) is not None and len(candidate[field]) != len(returns):
            yield field, "are not as many as returns"
    if rollouts is not None and len(returns) != rollouts:
        yield "returns", "are not as many as the run's rollouts"
    mean, stated = math.nan, candidate["mean_return"]
    if max(map(abs, returns)) < 1e300 and abs(stated) < 1e300:
        mean = math.fsum(returns) / len(returns)
    off = abs(stated - mean) / max(1.0, abs(stated))
    # Sums of doubles differ in their last bits, and by how much they may near the edge is not specified.
    if math.isnan(off) or TOLERANCE * 0.9 < off < TOLERANCE * 1.1:
        raise _OpenError
    if off > TOLERANCE:
        yield "mean_return", "is not the mean of the returns"


# run.json ------------------------------------------------------------------------------------------------------------

_warmup = _list(_object({"params": _list(_number), "return": _number, "seed": _whole(-(2**63))}))
_count = _whole(-(2**63))
_thresholds = _object(
    {"partial": _number, "high": _number, "near_zero": _number, "meaningful": _number}
    | dict.fromkeys(("surgical_max", "redesign_min", "multi_state_min"), _count),
    {"floor": _number, "origin": _text},
)


def _score_range(value: Any, field: str) -> None:
    _list(_number)(value, field)
    if len(value) != 2 or not value[0] < value[1]:
        raise _RefusedError(field, "is not a lowest and a highest score")


NULLABLE_IN_IMPORTS: Final = {
    "seed": _is(int, "whole number"),
    "iterations": _count,
    "rollouts": _count,
    "optimum": _number,
    "model": _text,
    "started_at": _text,
}
RUN: Final[dict[str, Check]] = {
    "schema": _is(int, "whole number"),
    "condition": _text,
    "env": _text,
    "variant": _text,
    "run": _whole(1),
    **{name: _or_null(check) for name, check in NULLABLE_IN_IMPORTS.items()},
    "tau_c": _or_null(_number),
    "step_size": _or_null(_number),
    "warmup": _warmup,
    "backend": _text,
    "options": _any_object,
    "switches": _any_object,
    "thresholds": _or_null(_thresholds),
    "prompts": _texts_by_name,
    "versions": _texts_by_name,
}
MAY_BE_LEFT_OUT: Final[dict[str, Check]] = {
    "tau_rule": _or_null(_object({"id": _text, "options": _any_object})),
    "method": _or_null(
        _object(
            {},
            {
                "first": _or_null(_one_of("search", "informed_search", "solo_critic")),
                "second": _or_null(_one_of("repeat", "search", "critic")),
                "evidence": _or_null(KIND),
                "history": _one_of("returns", "excerpts"),
                "revision_rule": _flag,
                "commits": _one_of("first", "better", "revised"),
                "training_rollouts": _whole(0),
            },
        )
    ),
    "candidates": _one_of("params", "text"),
    "selection_rule": _one_of("better", "strict", "always", "pool"),
    "score_range": _or_null(_score_range),
}


def _check_run(run: Record) -> None:
    if type(run.get("schema")) is int and run["schema"] > 2:
        raise _RefusedError("schema", "is newer")
    _object(RUN, MAY_BE_LEFT_OUT)(run, "")
    imported, textual = "imported_from" in run["options"], run.get("candidates") == "text"
    if not textual and run["env"] not in TASKS and run["thresholds"] is None:
        raise _RefusedError("env", "is not known, and there are no thresholds")
    for name in ("condition", "env", "variant"):
        if "\0" in run[name]:
            raise _RefusedError(name, "holds a NUL character")
    if run["variant"] not in METHODS and not run.get("method") and not imported:
        raise _RefusedError("variant", "is not known")
    lists = isinstance(run["options"].get("imported_from", []), list)
    nulls = not imported and not textual and any(run[name] is None for name in NULLABLE_IN_IMPORTS)
    counts = [run["iterations"], run["rollouts"], *(run["thresholds"] or {"": 1}).values()]
    negative = any(type(count) is int and count < 1 for count in counts)
    if run["schema"] != 1 + textual or nulls or negative or not lists or not -(2**63) <= (run["seed"] or 0) < 2**63:
        raise _OpenError
