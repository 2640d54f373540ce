"""A strict reading of records, written from docs/records.md alone: what is accepted, and what must be named.

It shares no code with the project. Where the document leaves a question open the verdict is open too, and all that is
asked of a reader is to accept or to name the line.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

Record = dict[str, Any]

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
    sb3-a2c sb3-ppo sb3-trpo sb3-dqn sb3-sac sb3-td3 sb3-ddpg gepa simba reflexion textgrad openevolve shinkaevolve
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
    def __init__(self, field: str, why: str) -> None:
        super().__init__(field, why)
        self.field, self.why = field, why


class _ContradictionError(_RefusedError):
    pass


class _OpenError(Exception):
    pass


# Types ---------------------------------------------------------------------------------------------------------------

Objects = dict[str, dict[str, str]]
WORDS: Final = {"text": str, "flag": bool, "object": dict, "integer": int}
RANGES: Final = {"count": range(2**63), "from1": range(1, 2**63), "seed": range(2**64), "whole": range(-(2**63), 2**63)}


def _objects(text: str) -> Objects:
    """Objects, each with its fields and their types.

    A type is a word above, an object, words with | between them, or one of these in brackets for a list. A ? behind a
    type means that null is one, behind a name that the field may be left out.
    """
    text = text.replace("KINDS", "median|three|representative|batch|pair|programs")
    parts = (part.split(": ") for part in " ".join(text.split()).split("; "))
    return {name: dict(pair.split() for pair in fields.split(", ")) for name, fields in parts}


RUN: Final = _objects("""
    run: schema integer, condition text, env text, variant text, run from1, seed integer?, iterations whole?,
        rollouts whole?, optimum number?, model text?, started_at text?, tau_c number?, tau_rule? rule?,
        step_size number?, warmup [trial], backend text, options object, switches object, thresholds thresholds?,
        method? method?, prompts texts, versions texts, candidates? params|text,
        selection_rule? better|strict|always|pool, score_range? [number]?;
    trial: params [number], return number, seed whole;
    rule: id text, options object;
    thresholds: partial number, high number, near_zero number, meaningful number, floor? number, origin? text,
        surgical_max whole, redesign_min whole, multi_state_min whole;
    method: first? search|informed_search|solo_critic?, second? repeat|search|critic?, evidence? KINDS?,
        history? returns|excerpts, revision_rule? flag, commits? first|better|revised, training_rollouts? count
    """)
OF_PARAMS: Final = _objects("""
    episode: condition text, env text, variant text, run from1, iteration count, initial candidate, revised candidate?,
        revision_status ok|unreadable|none, selected initial|revised, evidence evidence?, seconds number,
        tau_c? number?, restrained? flag?, answers? answers?, acceptance? acceptance?;
    answers: rule text, asked count, readable count, attempt count, rollouts count;
    acceptance: rule text, pairs count, accepted flag, value number, rollouts count;
    candidate: params [number], out_of_range flag, source search|critic|baseline|parent, answer text, thinking text?,
        returns [number], lengths [count], seeds [seed]?, ended [terminated|truncated], mean_return number;
    evidence: kind KINDS, shown [shown], statistics? statistics?;
    statistics: returns range, lengths range, successes count, rollouts count;
    range: mean number, min number, max number;
    shown: label worst|median|best|representative, rollout count, return number, length count, name? text
    """)
OF_TEXTS: Final = _objects("""
    episode: condition text, env text, variant text, run from1, iteration count, initial candidate, revised candidate?,
        revision_status ok|unreadable|none, selected initial|revised, evidence evidence?, seconds number?;
    candidate: text texts?, source search|critic|baseline|parent, answer text?, thinking? text?, returns [number]?,
        example_ids [text]?, mean_return number;
    evidence: kind KINDS, shown [shown];
    shown: label item|worst|median|best|representative, rollout count?, return number?, name text?, text? text?
    """)
OF_IMPORTS: Final = _objects("""
    episode: condition text, env text, variant text, run from1, iteration count, initial candidate, revised? candidate?,
        revision_status ok|unreadable|none, selected initial|revised, evidence? evidence?, seconds? number?,
        tau_c? number?, restrained? flag?, answers? answers?, acceptance? acceptance?;
    answers: rule text, asked count, readable count, attempt count, rollouts count;
    acceptance: rule text, pairs count, accepted flag, value number, rollouts count;
    candidate: params? [number]?, out_of_range? flag?, source search|critic|baseline|parent, answer? text?,
        thinking? text?, returns? [number]?, lengths? [count]?, seeds? [seed]?, ended? [terminated|truncated]?,
        text? texts?, example_ids? [text]?, mean_return number;
    evidence: kind KINDS, shown? [shown], statistics? statistics?;
    statistics: returns range, lengths range, successes count, rollouts count;
    range: mean number, min number, max number;
    shown: label item|worst|median|best|representative, rollout? count?, return? number?, length? count?, name? text?,
        text? text?
    """)
NULLABLE_IN_IMPORTS: Final = ("seed", "iterations", "rollouts", "optimum", "model", "started_at")


def _check(value: Any, kind: str, objects: Objects, field: str = "") -> None:
    if kind.endswith("?"):
        if value is not None:
            _check(value, kind[:-1], objects, field)
    elif kind.startswith("["):
        for each in _typed(value, list, field):
            _check(each, kind[1:-1], objects, field)
    elif kind == "texts":
        for each in _typed(value, dict, field).values():
            _typed(each, str, field)
    elif kind in objects:
        known = {name.rstrip("?") for name in objects[kind]}
        for key in _typed(value, dict, field).keys() - known:
            del value[key]
        for name, inner in objects[kind].items():
            key = name.rstrip("?")
            if key in value:
                _check(value[key], inner, objects, f"{field}.{key}".lstrip("."))
            elif key == name:
                raise _RefusedError(f"{field}.{key}".lstrip("."), "is missing")
    else:
        _check_word(value, kind, field)


def _check_word(value: Any, kind: str, field: str) -> None:
    if kind in WORDS:
        _typed(value, WORDS[kind], field)
    elif kind in RANGES:
        if type(value) is not int or value not in RANGES[kind]:
            raise _RefusedError(field, f"is no whole number from {RANGES[kind][0]} to {RANGES[kind][-1]}")
    elif kind == "number":
        if type(value) not in (int, float) or not abs(value) < 2**1024:
            raise _RefusedError(field, "is no finite number")
    elif type(value) is not str or value not in kind.split("|"):
        raise _RefusedError(field, f"is none of {kind}")


def _typed(value: Any, kind: type, field: str) -> Any:
    if type(value) is not kind:
        raise _RefusedError(field, f"is no {kind.__name__}")
    return value


# Lines ---------------------------------------------------------------------------------------------------------------


def is_blank(line: bytes) -> bool:
    """Whether a line holds nothing but JSON's white space."""
    return not line.strip(b" \t\r\n")


def read_line(line: bytes, run: Mapping[str, Any], earlier: set[int]) -> Verdict:
    """Judge a line of `episodes.jsonl`, without its line break.

    Args:
        line: its bytes.
        run: the `run.json` beside it, accepted.
        earlier: iterations of accepted lines before it; an accepted line's is added.
    """
    if abs(len(line) - LONGEST) < 16:
        return Verdict({}, is_open=True)
    if len(line) > LONGEST:
        return Verdict(None, "", "the line is too long")
    verdict = _judge(line, partial(_check_episode, run=run, earlier=earlier))
    if verdict.accepted and verdict.record is not None:
        earlier.add(verdict.record["iteration"])
    return verdict


def read_run(data: bytes) -> Verdict:
    """Judge a `run.json`."""
    return _judge(data, _check_run)


def _judge(data: bytes, check: Callable[[Record], None]) -> Verdict:
    try:
        record, is_extreme = _parse(data)
        check(record)
    except _RefusedError as refused:
        return Verdict(None, refused.field, refused.why, is_contradiction=isinstance(refused, _ContradictionError))
    except _OpenError:
        return Verdict({}, is_open=True)
    # A number beyond all doubles, which no known field takes, is in an unused field.
    return Verdict(record, is_open=is_extreme)


def _parse(data: bytes) -> tuple[Record, bool]:
    extremes: list[float] = []

    def number(kind: type[float], text: str) -> float:
        # Of so many digits no int is made.
        value = kind(text) if len(text) < 4000 else math.inf if kind is float else 10**400
        if abs(value) >= 2**1024:
            extremes.append(value)
        return value

    def refuse(text: str) -> None:
        raise _RefusedError("", f"{text} is no JSON")

    if _depth(data) > DEEPEST:
        raise _OpenError
    readers: Record = {"parse_int": partial(number, int), "parse_float": partial(number, float)}
    try:
        record = json.loads(data.decode(), object_pairs_hook=_unique, parse_constant=refuse, **readers)
        json.dumps(record, ensure_ascii=False).encode()
    except UnicodeDecodeError:
        raise _RefusedError("", "not UTF-8") from None
    except UnicodeEncodeError:
        raise _RefusedError("", "half of a surrogate pair") from None
    except json.JSONDecodeError as error:
        raise _RefusedError("", f"not JSON: {error}") from None
    if not isinstance(record, dict):
        raise _RefusedError("", "not an object")
    return record, bool(extremes)


def _depth(data: bytes) -> int:
    depth = deepest = 0
    if data.count(b"[") + data.count(b"{") > DEEPEST:
        for bracket in re.findall(rb"[\[\]{}]", re.sub(rb'"(?:[^"\\]|\\.)*"', b"", data)):
            depth += 1 if bracket in b"[{" else -1
            deepest = max(deepest, depth)
    return deepest


def _unique(pairs: list[tuple[str, Any]]) -> Record:
    names = [name for name, _ in pairs]
    if repeated := [name for name in names if names.count(name) > 1]:
        raise _RefusedError(repeated[0], "is there twice")
    return dict(pairs)


# What fields state together ------------------------------------------------------------------------------------------


def _check_episode(record: Record, run: Mapping[str, Any], earlier: set[int]) -> None:
    is_textual = run.get("candidates") == "text"
    _check(record, "episode", OF_IMPORTS if _is_imported(run) else OF_TEXTS if is_textual else OF_PARAMS)
    for field, why in _contradictions(record, run):
        raise _ContradictionError(field, why)
    if record["iteration"] in earlier:
        raise _RefusedError("iteration", "is in an earlier line")


def _is_imported(run: Mapping[str, Any]) -> bool:
    return "imported_from" in run["options"]


def _contradictions(record: Record, run: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for field in ("condition", "env", "variant", "run"):
        if record[field] != run[field]:
            yield field, "is not that of run.json"
    initial, revised = record["initial"], record.get("revised")
    for role, candidate in (("initial", initial), ("revised", revised)):
        for field, why in () if candidate is None else _candidate_contradictions(candidate, run.get("rollouts")):
            yield f"{role}.{field}", why
    if revised is None and record["selected"] == "revised":
        yield "selected", "is revised, which is not there"
    before, after = (None if each is None else each.get("params") for each in (initial, revised))
    if before is not None and after is not None and len(before) != len(after):
        yield "params", "differ in number"
    if (record["revision_status"] == "ok") != (revised is not None):
        yield "revision_status", "does not fit the revised candidate"
    rollouts = run.get("rollouts") if initial.get("returns") is None else len(initial["returns"])
    for shown in (record.get("evidence") or {}).get("shown", ()):
        if shown.get("rollout") is not None and rollouts is None:
            raise _OpenError
        if shown.get("rollout") is not None and shown["rollout"] >= rollouts:
            yield "rollout", "is none of the rollouts"


def _candidate_contradictions(candidate: Record, rollouts: int | None) -> Iterator[tuple[str, str]]:
    params, returns, stated = candidate.get("params"), candidate.get("returns"), candidate["mean_return"]
    if params == [] and candidate["source"] != "baseline":
        yield "params", "is empty"
    if params is not None and candidate.get("text") is not None:
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
    # Sums of doubles differ in their last bits, and by how much they may near the edge is not specified.
    if max(map(abs, (*returns, stated))) >= 1e300:
        raise _OpenError
    off = abs(stated - math.fsum(returns) / len(returns)) / max(1.0, abs(stated))
    if TOLERANCE * 0.9 < off < TOLERANCE * 1.1:
        raise _OpenError
    if off > TOLERANCE:
        yield "mean_return", "is not the mean of the returns"


def _check_run(run: Record) -> None:
    if type(run.get("schema")) is int and run["schema"] > 2:
        raise _RefusedError("schema", "is newer")
    _check(run, "run", RUN)
    scores = run.get("score_range")
    if scores is not None and not (len(scores) == 2 and scores[0] < scores[1]):
        raise _RefusedError("score_range", "is not a lowest and a highest score")
    imported, textual = _is_imported(run), run.get("candidates") == "text"
    if not textual and run["env"] not in TASKS and run["thresholds"] is None:
        raise _RefusedError("env", "is not known, and there are no thresholds")
    for name in ("condition", "env", "variant"):
        if "\0" in run[name]:
            raise _RefusedError(name, "holds a NUL character")
    if run["variant"] not in METHODS and run.get("method") is None and not imported:
        raise _RefusedError("variant", "is not known")
    lists = isinstance(run["options"].get("imported_from", []), list)
    nulls = not imported and not textual and any(run[name] is None for name in NULLABLE_IN_IMPORTS)
    counts = [run["iterations"], run["rollouts"], *(run["thresholds"] or {"": 1}).values()]
    negative = any(type(each) is int and each < 1 for each in counts)
    if run["schema"] != 1 + textual or nulls or negative or not lists or (run["seed"] or 0) not in RANGES["whole"]:
        raise _OpenError
