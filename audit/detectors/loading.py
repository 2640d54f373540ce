"""Finds a detector by its name or file: one of the audit's own, a TOML or Python file, or an installed package's."""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import re
import sys
import tomllib
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Final

import msgspec

from audit.detectors.about import About, parse_about
from audit.detectors.detector import Detector, Rubric
from audit.output.errors import UsageError
from audit.vocabulary.detectors import DETECTORS, PATTERNS, RELATIONS, patterns_for
from audit.vocabulary.drivers import DRIVERS

GROUP: Final = "salience_audit.detectors"
"""Entry points of installed packages; each names a function `detect(answer, evidence)`."""
FUNCTION: Final = "detect"
"""The function of a Python file, where none is named."""

_PYTHON: Final = re.compile(r"(?P<path>.+\.py)(?::(?P<function>\w+))?", re.DOTALL)
_NAME: Final = re.compile(r"[A-Za-z][\w-]{0,63}", re.ASCII)
_FLAGS: Final = frozenset("ims")


class _File(msgspec.Struct, forbid_unknown_fields=True):
    """A detector's TOML file."""

    name: str | None = None
    about: str = "worst"
    pattern: str | list[str] | None = None
    flags: str = ""
    question: str | None = None
    categories: dict[str, str] = {}
    counts: list[str] = []


def load_detector(given: str, about: str | None = None) -> Detector:
    """Find a detector.

    Args:
        given: a name of `DETECTORS`, a path `FILE.toml`, `FILE.py` or `FILE.py:FUNCTION`, or an entry point's name.
        about: the item that is asked about; None for the detector's own choice, which is the worst one unless a
            user's file states another.

    Raises:
        UsageError: there is none, it cannot be read, or it cannot answer what is asked about.
    """
    if given in DETECTORS:
        return _built_in(given, parse_about(about or "worst"))
    if given.endswith(".toml"):
        return _from_toml(Path(given), about)
    if match := _PYTHON.fullmatch(given):
        return _from_python(Path(match["path"]), match["function"] or FUNCTION, about)
    installed = {entry.name: entry for entry in entry_points(group=GROUP)}
    if given in installed:
        return _from_entry_point(installed[given], about)
    names = ", ".join((*DETECTORS, *sorted(installed)))
    raise UsageError(f"no detector {given!r}; detectors are {names}, or a file FILE.toml or FILE.py[:FUNCTION]")


def _built_in(name: str, about: About) -> Detector:
    if name == "resolved":
        if about.kind == "own":
            raise UsageError("--about own is for a detector from a file")
        return Detector(name, about, relation=RELATIONS[name])
    if name in PATTERNS:
        if about.kind not in {"role", "label"}:
            raise UsageError(f"--detector {name} looks for a name, which {about.text} is not; use --detector resolved")
        written = about.name if about.kind == "role" else rf"\b{re.escape(about.name)}\b"
        return Detector(name, about, pattern=patterns_for(written)[name])
    if about.text not in DRIVERS:
        named = ", ".join(DRIVERS)
        raise UsageError(f"--detector {name} knows what a change is justified by, which is {named}; not {about.text}")
    return Detector(name, about, relation=RELATIONS[name])


def _from_toml(path: Path, asked: str | None) -> Detector:
    content = _read(path)
    try:
        file = msgspec.convert(tomllib.loads(content.decode()), _File)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, msgspec.ValidationError) as error:
        raise UsageError(f"{path}: {error}") from None
    name = file.name or path.stem
    if not _NAME.fullmatch(name) or name in DETECTORS:
        raise UsageError(
            f"{path}: name = {name!r} must be letters, digits, - and _, and none of {', '.join(DETECTORS)}"
        )
    about = _about(path, file.about)
    if asked is not None and asked != about.text:
        raise UsageError(
            f'{path} is about {about.text}; what it finds is not about {asked}: set about = "{asked}" in it'
        )
    if (file.pattern is None) == (file.question is None):
        raise UsageError(f"{path}: give either a pattern or a question with categories")
    digest = hashlib.sha256(content).hexdigest()
    if file.question is None:
        return Detector(name, about, pattern=_pattern(path, file), content=digest)
    rubric = _rubric(path, name, file)
    return Detector(name, about, relation="rubric_references", rubric=rubric, content=digest)


def _about(where: object, text: str) -> About:
    try:
        return parse_about(text)
    except UsageError:
        raise UsageError(f"{where}: about is empty") from None


def _pattern(path: Path, file: _File) -> str:
    """The alternatives as one expression, which is compiled once to see whether RE2 takes it."""
    import duckdb

    given = [file.pattern] if isinstance(file.pattern, str) else file.pattern or []
    if file.categories or file.counts:
        raise UsageError(f"{path}: categories and counts belong to a question, not to a pattern")
    if unknown := sorted(set(file.flags) - _FLAGS):
        raise UsageError(
            f"{path}: no flag {', '.join(unknown)}; flags are i (any case), m (^ and $ at lines), s (. is any)"
        )
    # The detectors' expressions ignore case; a user's only with the flag i.
    flags = "".join(sorted(file.flags)) if "i" in file.flags else f"{''.join(sorted(file.flags))}-i"
    for each in given:
        try:
            [found] = duckdb.execute("select regexp_matches('', ?)", [f"(?{flags}:{each})"]).fetchone() or [False]
        except duckdb.Error as error:
            reason = str(error).partition("\n")[0].partition(": ")[2]
            raise UsageError(f"{path}: pattern {each!r} is not a regular expression of RE2: {reason}") from None
        if found:
            raise UsageError(f"{path}: pattern {each!r} matches the empty text, and so every answer")
    if not given:
        raise UsageError(f"{path}: the list of patterns is empty")
    return "|".join(f"(?{flags}:{each})" for each in given)


def _rubric(path: Path, name: str, file: _File) -> Rubric:
    wrong = None
    if not (file.question or "").strip():
        wrong = "the question is empty"
    elif len(file.categories) < 2:
        wrong = "a question needs two categories or more, under [categories]"
    elif bad := [each for each in file.categories if not _NAME.fullmatch(each)]:
        wrong = f"category {bad[0]!r} must be letters, digits, - and _"
    elif not file.counts or set(file.counts) - file.categories.keys():
        wrong = f"counts lists the categories that count as a reference, among {', '.join(file.categories)}"
    elif file.flags:
        wrong = "flags belong to a pattern, not to a question"
    if wrong:
        raise UsageError(f"{path}: {wrong}")
    return Rubric(name, (file.question or "").strip(), file.categories, tuple(file.counts))


def _from_python(path: Path, function: str, about: str | None) -> Detector:
    content = _read(path)
    module = _imported(path)
    name = path.stem if function == FUNCTION else f"{path.stem}:{function}"
    return _from_function(getattr(module, function, None), name, f"{path}:{function}", content, about)


def _from_entry_point(entry: EntryPoint, about: str | None) -> Detector:
    where = f"entry point {entry.name} ({entry.value})"
    try:
        function = entry.load()
        source = inspect.getsourcefile(function)
    except Exception as error:
        raise UsageError(f"{where}: {type(error).__name__}: {error}") from None
    version = entry.dist.version if entry.dist else ""
    content = (Path(source).read_bytes() if source else b"") + f"{entry.value} {version}".encode()
    return _from_function(function, entry.name, where, content, about)


def _from_function(function: object, name: str, where: str, content: bytes, about: str | None) -> Detector:
    if not callable(function):
        raise UsageError(f"{where} is not a function; a detector is a function detect(answer, evidence)")
    asked = _about(where, about if about is not None else getattr(function, "about", "worst"))
    digest = hashlib.sha256(content).hexdigest()
    return Detector(name, asked, relation="found_references", function=function, content=digest)


def _imported(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"salience_audit_detector_{path.stem}", path.resolve())
    if spec is None or spec.loader is None:
        raise UsageError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module.__name__] = module  # data classes look their module up
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[module.__name__]
        raise UsageError(f"{path}: {type(error).__name__}: {error}") from None
    return module


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read the detector {path}: {error.strerror or error}") from None
