"""The relations of the analysis: one SQL file each below `audit/models`, described in the `schema.toml` beside it."""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Iterator, Mapping
from importlib import resources
from typing import Any, Final

from audit.measures import rounding
from audit.vocabulary import patterns, thresholds

FOLDERS: Final = ("staging", "core", "references", "marts", "interventions")
"""Folders of the models, in the order in which a record passes through them."""

STORED: Final = frozenset(
    {
        "run_records",
        "logged_returns",
        "skipped",
        "presets",
        "overrides",
        "thresholds",
        "edit_thresholds",
        "changes",
        "evidence",
        "mentions",
        "shown_mentions",
        "findings",
        "imitations",
        "associations",
        "association_tests",
        "citing_rates",
        "noise",
        "start_bins",
        "references",
        "iterations",
        "salience_criteria",
        "patterns",
        "text_edits",
    }
)
"""Relations that are computed once and stored, since they are narrow and read by several others. The rest are views, so
that memory does not grow with the lists and texts of a data set."""


PASSED_ON: Final = frozenset({"judged", "written"})
"""Relations that are another's rows as they are, and so are views even where all others are tables."""

KEPT: Final = frozenset(
    {
        "run_records",
        "run_facts",
        "run_rates",
        "runs",
        "summary",
        "salience",
        "citing_rates",
        "base_rates",
        "noise_summary",
        "controls",
        "severity_summary",
        "agreement_summary",
        "patterns_summary",
        "positions",
        "holdings",
        "unread_answers",
        "thresholds",
        "edit_thresholds",
        "revisions",
    }
)
"""Relations that are kept from one audit to the next: those with a few rows per run or method, and those in `LONG`."""

LONG: Final = frozenset({"revisions"})
"""Relations among them with a row per revision. They are views, of a file where they are kept."""

BATCHED: Final = frozenset(
    {
        "changes",
        "evidence",
        "iterations",
        "references",
        "mentions",
        "shown_mentions",
        "findings",
        "noise",
        "text_edits",
    }
)
"""Relations that are functions of each run's own lines, and are kept for a batch of files at a time."""

WITHIN: Final = {"shown_mentions": "mentions"}
"""Relations among them that are rows of another, read by the same SELECT; the other is taken where it is there."""


@functools.cache
def models() -> dict[str, str]:
    """The SELECT of every relation, by name."""
    found: dict[str, str] = {}
    for folder in FOLDERS:
        found |= _files(f"models/{folder}")
    found |= {part: found[whole].replace(whole, part) for part, whole in WITHIN.items()}
    return dict(sorted(found.items()))


@functools.cache
def functions() -> dict[str, str]:
    """The statements that create the functions which models call, by name."""
    return {**_files("models/functions"), "edit_pattern": patterns.macro(), **thresholds.MACROS, **rounding.MACROS}


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


@functools.cache
def cases() -> dict[str, str]:
    """Queries that find and score revisions which make worked examples, by the name of the case."""
    return _files("models/cases")


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
    described: dict[str, dict[str, Any]] = {}
    for folder in FOLDERS:
        described |= tomllib.loads(resources.files("audit").joinpath(f"models/{folder}/schema.toml").read_text("utf-8"))
    for relation in described.values():
        relation["columns"] = dict(_columns(relation["columns"], described))
    return described


def _columns(stated: Mapping[str, str], described: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The columns of a relation; `NAME.*` stands for those of another one before it, but for some."""
    for name, text in stated.items():
        if name.endswith(".*"):
            every = described[name.removesuffix(".*")]["columns"].items()
            yield from ((each, meaning) for each, meaning in every if each not in text.split())
        else:
            yield name, text


def _files(folder: str) -> dict[str, str]:
    entries = sorted(resources.files("audit").joinpath(folder).iterdir(), key=lambda entry: entry.name)
    return {
        entry.name.removesuffix(".sql"): entry.read_text("utf-8") for entry in entries if entry.name.endswith(".sql")
    }
