"""The relations of the analysis: one SQL file each below `audit/models`, which also describes it.

The comments at the head of a file state:

- `-- One row is …`, up to the first line that ends with a full stop: what a row is;
- `-- key: NAME, NAME`: the columns that identify a row;
- `-- internal`: the relation is not offered to users;
- `-- cached`: the relation is computed once and written to a file of the cache; all others are views.

A comment that begins with `--:` describes a column. It follows the column in the last SELECT and may go on in lines of
its own. Where that SELECT names no columns, the head does: `--: NAME: …` describes one, `--: NAME, NAME` names several,
A column without a description has the meaning that it has in the relation
that it is read from, or else the one in `SHARED`.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from importlib import resources
from typing import Any, Final

from audit.measures import rounding
from audit.vocabulary import patterns, thresholds

FOLDERS: Final = ("staging", "core", "references", "marts", "interventions")
"""Folders of the models, in the order in which a record passes through them."""

SHARED: Final = {
    "condition": "what else was chosen: backend or model, settings, switches, in one label",
    "env": "task",
    "variant": "method",
    "run": "number of the run, from 1",
    "iteration": "number of the iteration, from 0",
    "about": "what is asked about: worst, or as --about has it",
    "detector": "how references are found",
}
"""What columns mean wherever no relation describes them otherwise."""

_NESTED: Final = re.compile(r"\([^()]*\)|\[[^][]*\]|\{[^{}]*\}")
_UNNESTED: Final = re.compile(r"unnest\((?:(?!unnest).)*?::struct\((.*?)\n +\)\[\],\n +max_depth := 2\n +\)", re.DOTALL)
"""A list of structs of which each becomes a row; the types of its fields are those of columns."""


@functools.cache
def models() -> dict[str, str]:
    """The SELECT of every relation, by name, in the order in which records pass through their folders."""
    return {name: text for folder in FOLDERS for name, text in _files(f"models/{folder}").items()}


@functools.cache
def functions() -> dict[str, str]:
    """The statements that create the functions which models call, by name."""
    return {
        **_files("models/macros"),
        "edit_pattern": patterns.macro(),
        **thresholds.MACROS,
        **rounding.MACROS,
    }


@functools.cache
def functions_in(text: str) -> tuple[str, ...]:
    """The functions that SQL calls, each after those that it calls itself."""
    found: dict[str, None] = {}
    for name in map(str.lower, re.findall(r"\b(\w+)\s*\(", text)):
        if name in functions() and f"create macro {name}(" not in text:
            found |= dict.fromkeys((*functions_in(functions()[name]), name))
    return tuple(found)


@functools.cache
def invariants() -> dict[str, str]:
    """Queries that find rows which must not exist, by the name of the invariant that such rows violate."""
    return _files("models/invariants")


def public() -> tuple[str, ...]:
    """The relations that users query; the others are used to read records."""
    return tuple(name for name, described in schema().items() if not described.get("internal"))


@functools.cache
def named_in(query: str) -> frozenset[str]:
    """The relations that a query names after FROM or JOIN."""
    code = re.sub(r"--.*", "", query)
    named = re.findall(r'\b(?:from|join)\s+"?(\w+)', code)
    return frozenset(named) & models().keys()


def made_with(variable: str, texts: Mapping[str, str]) -> set[str]:
    """The relations, given with their SQL, that read a variable, and those that are made of them."""
    found = {name for name, text in texts.items() if f"getvariable('{variable}')" in text}
    more = found
    while more:
        more = {name for name, text in texts.items() if name not in found and named_in(text) & more}
        found |= more
    return found


@functools.cache
def schema() -> dict[str, dict[str, Any]]:
    """Per relation what a row is, its columns in words, and the columns that identify a row."""
    described = {name: _stated(text) for name, text in models().items()}
    for name, relation in described.items():
        relation["columns"].pop(f"{name}.*", None)
    own = {name: dict(_expanded(relation["columns"], described)) for name, relation in described.items()}
    for name, relation in described.items():
        relation["columns"] = {column: _meaning(name, column, own) for column in own[name]}
    return described


@functools.cache
def is_cached(name: str) -> bool:
    """Whether a relation is computed once and written to a file of the cache, and is no view."""
    return "\n-- cached\n" in _head(models()[name])


def _stated(text: str) -> dict[str, Any]:
    """What a model's file says of its relation, columns as it names and describes them itself."""
    head = _head(text)
    [row] = re.findall(r"^-- One row is (.*?)\.$", head, re.MULTILINE | re.DOTALL)
    stated: dict[str, Any] = {"row": row.replace("\n-- ", " "), "columns": dict(_selected(text))}
    for line in re.findall("^--: (.*)", re.sub(r"\n--:  +", " ", head), re.MULTILINE):
        names, _, meaning = line.partition(": ")
        stated["columns"] |= dict.fromkeys(names.split(", "), meaning)
    if key := re.search("^-- key: (.*)", head, re.MULTILINE):
        stated["unique"] = key[1].split(", ")
    if "\n-- internal\n" in head:
        stated["internal"] = True
    return stated


def _selected(text: str) -> Iterator[tuple[str, str]]:
    """The columns of a model's last SELECT, each with its description; `RELATION.*` with those that it leaves out."""
    selected = re.split(r"^select\b", text, flags=re.MULTILINE)[-1]
    step = re.match(r" \*\s+from (\w+)", selected)
    if step and f"\n{step[1]} as (\n" in text:
        selected = text.split(f"\n{step[1]} as (\n")[1].partition("select")[2]
    selected = _UNNESTED.sub(
        lambda match: re.sub(r"^( +\"?\w+\"?) [\w\[\]]+", r"\1", match[1], flags=re.MULTILINE), selected
    )
    described = dict(re.findall(r'(\w+)"?,?\s+--: (.*(?:\n +--: .*)*)', selected))
    code = re.sub(r"--.*|'[^']*'", "", selected)
    code = re.sub(r"exclude \(([^()]*)\)", lambda match: match[1].replace(",", " "), code)
    while (simpler := _NESTED.sub(" @", code)) != code:
        code = simpler
    listed, *source = re.split(r"\bfrom\b", code, maxsplit=1)
    for first, *more in filter(None, map(str.split, listed.replace('"', "").split(","))):
        name = [first, *more][-1].rpartition(".")[-1]
        if first.endswith("*"):
            relation = first.removesuffix("*").removesuffix(".") or source[0].split()[0]
            yield f"{relation}.*", " ".join(more)
        elif name != "@":
            yield name, re.sub(r"\s+--: ", " ", described.get(name, ""))


def _expanded(columns: Mapping[str, str], described: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The columns of a relation, where `NAME.*` stands for those of another one, but for some."""
    for name, text in columns.items():
        source = name.removesuffix(".*")
        if source == name:
            yield name, text
        elif source in described:
            every = _expanded(described[source]["columns"], described)
            yield from ((each, "") for each, _ in every if each not in text.split())


def _meaning(name: str, column: str, own: Mapping[str, Mapping[str, str]]) -> str:
    """What a column is: as its relation describes it, or the nearest one that it may come from, or else `SHARED`."""
    waiting = [name]
    for relation in waiting:
        if meaning := own[relation].get(column):
            return meaning
        waiting += [source for source in sorted(named_in(models()[relation])) if source not in waiting]
    return SHARED.get(column, "the other end" if column.endswith("_high") else "")


def _head(text: str) -> str:
    """The comments that a file begins with."""
    return re.split(r"^(?!--)", text, maxsplit=1, flags=re.MULTILINE)[0]


def _files(folder: str) -> dict[str, str]:
    entries = sorted(resources.files("audit").joinpath(folder).iterdir(), key=lambda entry: entry.name)
    return {
        entry.name.removesuffix(".sql"): entry.read_text("utf-8") for entry in entries if entry.name.endswith(".sql")
    }
