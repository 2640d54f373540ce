"""One thing wrong with one record: a value, a field, or the bytes of its line."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from random import Random
from typing import Any, Final

Record = dict[str, Any]
Place = tuple[str | int, ...]

_HERE: Final = "@@here@@"
_KEY: Final = "@@key@@"

TOKENS: Final = (
    *(
        "null",
        "true",
        "false",
        "0",
        "1",
        "-1",
        "-5",
        "2",
        "5.0",
        "5.4",
        "24.6",
        "1e0",
        "1E5",
        "1e-7",
        "-0",
        "-0.0",
        "0.1",
    ),
    *('"5"', '"0.5"', '"-1"', '"nan"', '"NaN"', '"Infinity"', '"null"', '"true"', '""', '" "', '"initial"', '"itial"'),
    *(str(2**63 - 1), str(2**63), str(-(2**63)), str(-(2**63) - 1), str(2**64 - 1), str(2**64), "1" + "0" * 30),
    *("1e308", "1e309", "-1e400", "1e-400", "9" * 400, "0." + "1" * 400, "1e" + "9" * 50),
    *("NaN", "Infinity", "-Infinity", "nan", "inf", "None", "True", "undefined", "0x10", "01", "+1", ".5", "1.", "1e"),
    *("1_0", "１", "- 1", "1 0", "--1", "1,5", "'a'", "a", "/*x*/1", "1//x", ""),
    *("[]", "{}", "[null]", "[[]]", "[1]", "[true]", '["a"]', '{"a":1}', '{"a":1,"a":2}', '{"mean":1,"mean":2}'),
    *('"\\ud83d"', '"\\ude00\\ud83d"', '"\\ud83d\\ude00"', '"\\u0000"', '"\\x"', '"\\u12"', '"\x01"', '"\t"', '"a'),
    *('"three"', '"threee"', '"exploded"', '"terminated"', '"worst"', '"\\u0077orst"', '"OK"', '"ok "', '"search"'),
    *("[" * 50 + "]" * 50, "[" * 2000 + "]" * 2000, '{"a":' * 2000 + "1" + "}" * 2000, '"' + "x" * 5000 + '"'),
)
KEYS: Final = (
    "note",
    "x",
    "",
    "Iteration",
    "iteration ",
    "origin",
    "file",
    "schema",
    "\\u0000",
    "a.b",
    "$",
    "\\ud83d",
    "é",
)
INSERTS: Final = (
    *(
        b"\x0b",
        b"\x0c",
        b"\x00",
        b"\x1b",
        b"\x1c",
        b"\x85",
        b"\xc2\x85",
        b"\xe2\x80\xa8",
        b"\xef\xbb\xbf",
        b"\xa0",
        b"\xc2\xa0",
    ),
    *(
        b" ",
        b"\t",
        b"\r",
        b"\n",
        b",",
        b":",
        b"}",
        b"]",
        b"{",
        b"[",
        b'"',
        b"\\",
        b"\xff",
        b"\xc0\x80",
        b"\xed\xa0\x80",
        b"\xf5",
    ),
    *(b"//", b"#", b"null", b"{}", b"/**/", b"\x7f", b"\xf4\x90\x80\x80"),
)


def mutate(rng: Random, record: Record) -> tuple[bytes, str]:
    """A line with one thing wrong, or not: that is for others to judge; and what was done, in words."""
    kinds = (_value, _value, _near, _near, _field_gone, _field_new, _twice, _renamed, _items, _swapped, _bytes, _bytes)
    return rng.choice(kinds)(rng, record)


def _places(value: Any, place: Place = ()) -> Iterator[Place]:
    if place:
        yield place
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, inner in pairs:
        yield from _places(inner, (*place, name))


def _at(record: Record, place: Place) -> Any:
    value: Any = record
    for name in place:
        value = value[name]
    return value


def _copy(record: Record) -> Record:
    copied: Record = json.loads(json.dumps(record))
    return copied


def _put(record: Record, place: Place, token: str) -> bytes:
    """The record with the text of a value at a place, whatever that text is."""
    changed = _copy(record)
    _at(changed, place[:-1])[place[-1]] = _HERE
    return _line(changed).replace(f'"{_HERE}"'.encode(), token.encode("utf-8", "surrogatepass"))


def _line(record: Record) -> bytes:
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode()


def named(place: Place) -> str:
    """A place in words, list positions left out."""
    return ".".join("[]" if isinstance(name, int) else name for name in place).replace(".[]", "[]")


def _short(token: str) -> str:
    return token if len(token) <= 24 else f"{token[:12]}…({len(token)} characters)"


def _value(rng: Random, record: Record) -> tuple[bytes, str]:
    place, token = rng.choice(list(_places(record))), rng.choice(TOKENS)
    return _put(record, place, token), f"{named(place)} = {_short(token)}"


def _near(rng: Random, record: Record) -> tuple[bytes, str]:
    place = rng.choice(list(_places(record)))
    value = _at(record, place)
    text = json.dumps(value, ensure_ascii=False)
    ways: list[tuple[str, Callable[[], str]]] = [
        ("in a list", lambda: f"[{text}]"),
        ("in an object", lambda: f'{{"a":{text}}}'),
    ]
    if isinstance(value, bool):
        ways += [
            ("as a number", lambda: str(int(value))),
            ("as text", lambda: f'"{text}"'),
            ("turned", lambda: str(not value).lower()),
        ]
    elif isinstance(value, int | float):
        ways += [
            ("as text", lambda: f'"{text}"'),
            ("with .0", lambda: f"{text}.0"),
            ("with .4", lambda: f"{text}.4"),
            ("with e0", lambda: f"{text}e0"),
            ("negative", lambda: json.dumps(-value)),
            ("plus 1", lambda: json.dumps(value + 1)),
            ("plus a billionth", lambda: json.dumps(value + 1.01e-9 * max(1, abs(value)))),
            ("by far more digits", lambda: f"{text}{'' if '.' in text else '.'}{'0' * 40}"),
        ]
    elif isinstance(value, str):
        inner = text[1:-1]
        ways += [
            ("with its last letter twice", lambda: f'"{inner}{inner[-1:]}"'),
            ("in capitals", lambda: text.upper() if "\\" not in text else text),
            ("with a space", lambda: f'"{inner} "'),
            ("with a byte that is no UTF-8", lambda: f'"{inner}\udcff"'),
            ("with half a surrogate pair", lambda: f'"{inner}\\udc00"'),
            ("with NUL", lambda: f'"{inner}\\u0000"'),
            ("escaped", lambda: '"' + "".join(f"\\u{ord(each):04x}" for each in value if ord(each) < 2**16) + '"'),
            ("as a number", lambda: "5"),
        ]
    elif isinstance(value, list | dict):
        ways += [("as text", lambda: json.dumps(text)), ("with a comma at its end", lambda: f"{text[:-1]},{text[-1]}")]
    name, way = rng.choice(ways)
    return _put(record, place, way()), f"{named(place)} {name}"


def _field_gone(rng: Random, record: Record) -> tuple[bytes, str]:
    place = rng.choice([each for each in _places(record) if isinstance(each[-1], str)])
    changed = _copy(record)
    del _at(changed, place[:-1])[place[-1]]
    return _line(changed), f"{named(place)} left out"


def _objects(record: Record) -> list[Place]:
    return [(), *(place for place in _places(record) if isinstance(_at(record, place), dict))]


def _with_key(rng: Random, record: Record, place: Place, key: str, token: str) -> bytes:
    """The record with one more pair in the object at a place, first or last."""
    changed = _copy(record)
    holder = _at(changed, place)
    pairs = [*holder.items()]
    pairs.insert(rng.choice((0, len(pairs))), (_KEY, _HERE))
    holder.clear()
    holder.update(pairs)
    return _line(changed).replace(f'"{_KEY}":"{_HERE}"'.encode(), f'"{key}":{token}'.encode("utf-8", "surrogatepass"))


def _field_new(rng: Random, record: Record) -> tuple[bytes, str]:
    place, key, token = rng.choice(_objects(record)), rng.choice(KEYS), rng.choice(TOKENS)
    return _with_key(rng, record, place, key, token), f"{named(place)} with a new field {key!r} = {_short(token)}"


def _twice(rng: Random, record: Record) -> tuple[bytes, str]:
    place = rng.choice([each for each in _places(record) if isinstance(each[-1], str)])
    key = _in_quotes(place)
    same = json.dumps(_at(record, place), ensure_ascii=False)
    token, what = rng.choice(((same, "the same"), (rng.choice(TOKENS), "something else")))
    if rng.random() < 0.3:
        key = _escaped(place)
    return _with_key(rng, record, place[:-1], key, token), f"{named(place)} twice, {what}"


def _renamed(rng: Random, record: Record) -> tuple[bytes, str]:
    place = rng.choice([each for each in _places(record) if isinstance(each[-1], str)])
    key = _in_quotes(place)
    other = rng.choice((key.upper(), key + " ", key[:-1].removesuffix("\\"), _escaped(place)))
    changed = _copy(record)
    holder = _at(changed, place[:-1])
    pairs = [(_KEY if name == place[-1] else name, value) for name, value in holder.items()]
    holder.clear()
    holder.update(pairs)
    return _line(changed).replace(_KEY.encode(), other.encode()), f"{named(place)} called {other!r}"


def _in_quotes(place: Place) -> str:
    """The key at the end of a place as it is between the quotes of JSON."""
    return json.dumps(place[-1], ensure_ascii=False)[1:-1]


def _escaped(place: Place) -> str:
    """The same key, its first character by number; an empty one becomes another."""
    key = str(place[-1])
    return f"\\u{ord(key[:1] or 'x'):04x}{_in_quotes((key[1:],))}"


def _items(rng: Random, record: Record) -> tuple[bytes, str]:
    lists = [place for place in _places(record) if isinstance(_at(record, place), list)]
    if not lists:
        return _value(rng, record)
    place = rng.choice(lists)
    changed = _copy(record)
    held = _at(changed, place)
    if held and rng.random() < 0.4:
        held.pop(rng.randrange(len(held)))
        return _line(changed), f"{named(place)} one shorter"
    token = json.dumps(rng.choice(held)) if held and rng.random() < 0.3 else rng.choice(TOKENS)
    held.insert(rng.randint(0, len(held)), _HERE)
    line = _line(changed).replace(f'"{_HERE}"'.encode(), token.encode("utf-8", "surrogatepass"))
    return line, f"{named(place)} with {_short(token)} added"


def _swapped(rng: Random, record: Record) -> tuple[bytes, str]:
    first, second = rng.sample(list(_places(record)), 2)
    value = json.dumps(_at(record, second), ensure_ascii=False)
    return _put(record, first, value), f"{named(first)} = that of {named(second)}"


def _bytes(rng: Random, record: Record) -> tuple[bytes, str]:
    line = _line(record)
    at = rng.choice((0, len(line), rng.randint(0, len(line))))
    end = min(len(line), at + rng.choice((1, 1, 2, 10, 100)))
    added = rng.choice(INSERTS)
    ways: dict[str, Callable[[], bytes]] = {
        f"{added!r} put in": lambda: line[:at] + added + line[at:],
        f"{added!r} for a byte": lambda: line[:at] + added + line[at + 1 :],
        "a bit turned": lambda: (
            line[: at - 1] + bytes([line[at - 1] ^ 1 << rng.randrange(8)]) + line[at:] if at else line
        ),
        "bytes lost": lambda: line[:at] + line[end:],
        "bytes twice": lambda: line[:end] + line[at:],
        "bytes zeroed": lambda: line[:at] + bytes(end - at) + line[end:],
        "cut off": lambda: line[:at],
        "its beginning lost": lambda: line[at:],
        "two records on a line": lambda: line + line,
        "all in Latin-1": lambda: line.decode().encode("latin-1", "replace"),
        "all in UTF-16": lambda: line.decode().encode("utf-16"),
        "white space between": lambda: line.replace(b",", b" ,\t\r ").replace(b":", b" : "),
        "a form feed between": lambda: line.replace(b",", b",\x0c"),
        "white space around": lambda: b" \t\r " + line + b" \t\r",
        "every / escaped": lambda: line.replace(b"/", b"\\/"),
        "single quotes": lambda: line.replace(b'"', b"'"),
    }
    name = rng.choice(list(ways))
    return ways[name](), name
