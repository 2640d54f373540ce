"""Sound records, drawn by the types of the strict reading, and records with one thing wrong."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from random import Random
from typing import Any, Final

from benchmarks.torture.oracle import METHODS, OF_IMPORTS, OF_PARAMS, OF_TEXTS, RANGES, RUN, Objects, Record

Place = tuple[str | int, ...]

TEXTS: Final = (
    *("The worst rollout fell at step 12, so params[0] goes up.", "Ä ö ü — 好 \U0001f600, the median one is typical."),
    *("params[0]: 1.5, params[1]: -2\nBoth work.", 'quotes " and \\ and / and \t', ""),
)
COMPONENTS: Final = ("instruction", 'user\'s "part"', "a.b", "", "$", "drop table runs; --")


def sound(rng: Random, kind: str, objects: Objects) -> Any:
    """A value of a type."""
    if kind.endswith("?"):
        return sound(rng, kind[:-1], objects) if rng.random() < 0.8 else None
    if kind.startswith("["):
        return [sound(rng, kind[1:-1], objects) for _ in range(rng.randint(0, 3))]
    if kind in objects:
        names = (name for name in objects[kind] if not name.endswith("?") or rng.random() < 0.7)
        return {name.rstrip("?"): sound(rng, objects[kind][name], objects) for name in names}
    if kind in RANGES:
        return rng.getrandbits(rng.choice((8, 40, 64))) if kind == "seed" else rng.randint(1, 500)
    words: dict[str, Callable[[], Any]] = {
        "text": lambda: rng.choice(TEXTS),
        "texts": lambda: {name: rng.choice(TEXTS) for name in rng.sample(COMPONENTS, rng.randint(1, 3))},
        "number": lambda: rng.choice((0.0, 1.0, -3.0, round(rng.uniform(-50, 500), 3))),
        "integer": lambda: rng.choice((0, 7, 2**40)),
        "flag": lambda: rng.random() < 0.5,
        "object": dict,
    }
    return words[kind]() if kind in words else rng.choice(kind.split("|"))


def sound_run(rng: Random, condition: str) -> Record:
    """What a run is; a quarter of them are imported, and hold less; a third revise texts."""
    run: Record = sound(rng, "run", RUN)
    is_imported, is_textual = rng.random() < 0.25, rng.random() < 1 / 3
    if not is_imported:
        run |= {
            "seed": 7,
            "iterations": 100,
            "optimum": 500.0,
            "model": "by-hand",
            "started_at": "2026-01-01T00:00:00Z",
        }
    run |= {"schema": 1, "condition": condition, "run": rng.randint(1, 12), "variant": rng.choice(METHODS)}
    run |= {
        "env": rng.choice(("cartpole", "pong", "frozenlake")),
        "rollouts": rng.randint(1, 4),
        "candidates": "params",
    }
    run |= {
        "options": {"imported_from": ["log.csv"]} if is_imported else {},
        "score_range": rng.choice((None, [-3.0, 5e2])),
    }
    if is_textual:
        run |= {"schema": 2, "candidates": "text", "env": "sums", "rollouts": None, "thresholds": None}
        run["variant"], run["method"] = rng.choice(("gepa", "by-hand")), {"second": "critic", "commits": "better"}
    return run


def sound_line(rng: Random, run: Record, iteration: int) -> Record:
    """A sound line of the run's `episodes.jsonl`."""
    is_textual, is_imported = run["candidates"] == "text", "imported_from" in run["options"]
    objects = OF_IMPORTS if is_imported else OF_TEXTS if is_textual else OF_PARAMS
    record: Record = sound(rng, "episode", objects)
    record |= {name: run[name] for name in ("condition", "env", "variant", "run")} | {"iteration": iteration}
    size = rng.randint(1, 3)
    for candidate in filter(None, (record["initial"], record.get("revised"))):
        count = run["rollouts"] or rng.randint(1, 4)
        for name, kind in objects["candidate"].items():
            if (each := kind.rstrip("?").strip("[]")) != kind.rstrip("?") and candidate.get(
                name.rstrip("?")
            ) is not None:
                many = range(size if name.startswith("params") else count)
                candidate[name.rstrip("?")] = [sound(rng, each, objects) for _ in many]
        if candidate.get("params") is not None:
            candidate.pop("text", None)
        if candidate.get("returns"):
            candidate["mean_return"] = math.fsum(candidate["returns"]) / count
    has_two = record.get("revised") is not None
    record["revision_status"] = "ok" if has_two else rng.choice(("unreadable", "none"))
    record["selected"] = rng.choice(("initial", "revised")) if has_two else "initial"
    returns = record["initial"].get("returns") or [None] * (run["rollouts"] or 0)
    for shown in (record.get("evidence") or {}).get("shown") or ():
        if shown.get("rollout") is not None:
            shown["rollout"] = rng.randrange(len(returns)) if returns else None
    return record


def line_of(record: Record) -> bytes:
    """A record as `collect` writes it, line break left out."""
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode()


# One thing wrong -----------------------------------------------------------------------------------------------------

_KEY, _HERE = "@@key@@", "@@here@@"
TOKENS: Final = """
    null true false 0 1 -1 -5 2 5.0 5.4 24.6 1e0 1E5 1e-7 -0 -0.0 0.1 1e308 1e309 -1e400 1e-400 1e99999 NaN Infinity
    -Infinity nan inf None undefined 0x10 01 +1 .5 1. 1e 1_0 １ --1 1,5 'a' a /*x*/1 1//x [] {} [null] [[]] [1] [true]
    ["a"] {"a":1} {"a":1,"a":2} {"mean":1,"mean":2} "5" "0.5" "-1" "nan" "Infinity" "null" "true" "" "a
    "\\ud83d" "\\ude00\\ud83d" "\\ud83d\\ude00" "\\u0000" "\\x" "\\u12" "\x01" "threee" "terminated" "\\u0077orst" "OK"
    """.split()  # noqa: SIM905 - as many quotes again would be no easier to read
TOKENS += ["- 1", "1 0", "", '" "', '"ok "', '"\t"', '"initial"', '"search"', '"three"', '"worst"', "1" + "0" * 30]
TOKENS += [str(sign * 2**power + more) for power in (63, 64) for sign in (1, -1) for more in (-1, 0)]
TOKENS += ["9" * 400, "0." + "1" * 400, "[" * 50 + "]" * 50, "[" * 2000 + "]" * 2000, '{"a":' * 2000 + "1" + "}" * 2000]
KEYS: Final = ("", "iteration ", "note", "Iteration", "origin", "file", "schema", "\\u0000", "a.b", "$", "\\ud83d", "é")
INSERTS: Final = (
    *(bytes([code]) for code in b'\x00\x0b\x0c\x1b\x1c\x7f\x85\xa0\xff\xf5 \t\r\n,:}]{["\\#'),
    *"\x85 \u2028 \ufeff \xa0 // null {} /**/".encode().split(b" "),
    *(b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80"),
)
NEAR: Final = {
    "number": ('"{0}"', "{0}.0", "{0}.4", "{0}e0", "-{0}", "1{0}", "{0}.00000000000000000000", "{1}", "{2}", "{3}"),
    "text": ('"{0}{0}"', '"{0} "', '"{0}\udcff"', '"{0}\\udc00"', '"{0}\\u0000"', "{0}", '["{0}"]', '"{1}"', '"{2}"'),
    "others": ('"{0}"', "[{0}]", "{0},", "{0}{0}"),
}
"""A value's text, and what is close to it."""
WAYS: Final = ("value", "value", "near", "near", "swapped", "gone", "new", "twice", "renamed", "item")


def mutated(rng: Random, record: Record) -> tuple[bytes, str]:
    """A line with one thing wrong, or not: that is for others to judge; and what was done, in words."""
    if rng.random() < 0.17:
        return _with_other_bytes(rng, line_of(record))
    changed = json.loads(json.dumps(record))
    place = rng.choice(list(_places(changed)))
    name, holder, value, way = place[-1], _at(changed, place[:-1]), _at(changed, place), rng.choice(WAYS)
    token, key = json.dumps(value, ensure_ascii=False), str(name)
    if way in ("value", "new", "item"):
        token = rng.choice(TOKENS)
    if way == "near":
        token = rng.choice(_near(value, token))
    elif way == "swapped":
        token = json.dumps(_at(changed, rng.choice(list(_places(changed)))), ensure_ascii=False)
    elif way == "new":
        key = rng.choice(KEYS)
    elif way == "twice":
        token, key = rng.choice((token, rng.choice(TOKENS))), rng.choice((_inner(key), _escaped(key)))
    elif way == "renamed":
        key = rng.choice((_inner(key).upper(), f"{_inner(key)} ", _inner(key[:-1]), _escaped(key)))
    if way == "item" and isinstance(value, list):
        value.insert(rng.randint(0, len(value)), _HERE)
    elif way == "gone":
        del holder[name]
    elif way in ("new", "twice", "renamed") and isinstance(holder, dict):
        pairs = [pair for pair in holder.items() if way != "renamed" or pair[0] != name]
        pairs.insert(rng.choice((len(pairs), 0)), (_KEY, _HERE))
        holder.clear()
        holder.update(pairs)
    else:
        holder[name] = _HERE
    line = line_of(changed).replace(f'"{_KEY}"'.encode(), f'"{key}"'.encode())
    return line.replace(f'"{_HERE}"'.encode(), token.encode("utf-8", "surrogatepass")), f"{place} {way} {token[:30]}"


def _places(value: Any, place: Place = ()) -> Iterator[Place]:
    if place:
        yield place
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, inner in pairs:
        yield from _places(inner, (*place, name))


def _at(value: Any, place: Place) -> Any:
    for name in place:
        value = value[name]
    return value


def _near(value: Any, text: str) -> list[str]:
    if isinstance(value, bool | list | dict | None):
        return [each.format(text) for each in NEAR["others"]]
    if isinstance(value, str):
        codes = "".join(f"\\u{ord(each):04x}" for each in value if ord(each) < 2**16)
        return [each.format(text[1:-1], text[1:-1].upper(), codes) for each in NEAR["text"]]
    close = [json.dumps(value + off * max(1, abs(value))) for off in (0.8e-9, 1.2e-9)]
    return [each.format(text, *close, value + 1) for each in NEAR["number"]]


def _inner(key: str) -> str:
    return json.dumps(key, ensure_ascii=False)[1:-1]


def _escaped(key: str) -> str:
    """The same key, its first character by number; an empty one becomes another."""
    return f"\\u{ord(key[:1] or 'x'):04x}{_inner(key[1:])}"


def _with_other_bytes(rng: Random, line: bytes) -> tuple[bytes, str]:
    at, added = rng.randint(0, len(line)), rng.choice(INSERTS)
    end = min(len(line), at + rng.choice((1, 2, 10, 100)))
    bit = bytes(each ^ 1 << rng.randint(0, 7) for each in line[at : at + 1])
    ways = {
        f"{added!r} put in": line[:at] + added + line[at:],
        f"{added!r} for a byte": line[:at] + added + line[at + 1 :],
        f"{added!r} around": added + line + added,
        "a bit turned": line[:at] + bit + line[at + 1 :],
        "bytes lost": line[:at] + line[end:],
        "bytes twice": line[:end] + line[at:],
        "bytes zeroed": line[:at] + bytes(end - at) + line[end:],
        "cut off": line[:at],
        "its beginning lost": line[at:],
        "two records on a line": line + line,
        "in Latin-1": line.decode().encode("latin-1", "replace"),
        "in UTF-16": line.decode().encode("utf-16"),
        "white space": line.replace(b",", b" ,\t\r ").replace(b":", b" : ").join((b" \t\r ", b" \t\r")),
        "a form feed between": line.replace(b",", b",\x0c"),
        "every / escaped": line.replace(b"/", b"\\/"),
        "single quotes": line.replace(b'"', b"'"),
    }
    name = rng.choice(list(ways))
    return ways[name], name
