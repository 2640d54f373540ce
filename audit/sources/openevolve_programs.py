"""Programs in the checkpoints of an OpenEvolve run, and which of them are copies that OpenEvolve made by itself.

It copies its best program into an island that is empty, and programs that migrate into others. A migrant is marked; the
other kind has all of its parent, and nothing of what an answer leaves (`changes`, `parent_metrics`, prompts).
"""

from __future__ import annotations

import functools
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from audit.output.escaping import excerpt
from audit.sources.intake import Intake
from audit.sources.tool_runs import LogError, index, mean_of, number, optional, required, text_of
from collector.system.regular_files import read_regular

_LARGEST: Final = 64 * 2**20
"""Bytes of the largest program that is read."""
_TIMEOUT: Final = re.compile(r"(stage\d+_)?timeout")


@dataclass(frozen=True, slots=True)
class Program:
    """What is known of a program without its texts; `content` stands for its code and metrics."""

    parent: str | None
    iteration: int
    time: float | None
    content: int
    is_migrant: bool
    is_answer: bool


@dataclass
class Checkpoints:
    """The files of a run's checkpoints by their numbers: program → those that state it, and each `metadata.json`."""

    programs: dict[str, dict[int, tuple[str, Path]]] = field(default_factory=dict)
    metadata: dict[int, tuple[str, Path]] = field(default_factory=dict)
    label: str = ""


class Programs:
    """The programs of a run's checkpoints."""

    def __init__(self, checkpoints: Checkpoints, intake: Intake) -> None:
        self._checkpoints = checkpoints
        self._intake = intake
        self._paths: dict[str, Path] = {}
        self.known: dict[str, Program] = {}
        self.text = functools.lru_cache(64)(self._text)
        for name in sorted(checkpoints.programs):
            self._take(name)
        self.copies = {name for name in self.known if self._is_copy(name)}
        self.saved = {name: min(checkpoints.programs[name]) for name in self.known}
        self.checkpoints = sorted({each for files in checkpoints.programs.values() for each in files})
        for checkpoint in self.checkpoints:
            self._check(checkpoint)

    def original(self, program: str) -> str:
        """The program that another one is a copy of; itself where it is none."""
        seen: set[str] = set()
        while program in self.copies and program not in seen:
            seen.add(program)
            program = self.known[program].parent or program
        return program

    def _take(self, name: str) -> None:
        """Note the latest file of a program that can be read, and whether earlier ones say the same."""
        latest: bytes | None = None
        for _, (label, path) in sorted(self._checkpoints.programs[name].items(), reverse=True):
            try:
                data = _read(path)
                if data == latest:
                    continue
                found = _facts(_program(data, name))
            except LogError as error:
                self._intake.problem(label, None, f"{error}; left out")
                continue
            if name not in self.known:
                latest, self.known[name], self._paths[name] = data, found, path
            elif (found.content, found.parent, found.iteration) != (
                self.known[name].content,
                self.known[name].parent,
                self.known[name].iteration,
            ):
                self._intake.problem(
                    label, None, "says otherwise than a later checkpoint of the same program; left out"
                )

    def _text(self, name: str) -> dict[str, Any]:
        """All that a file says of a program; nothing where there is none."""
        path = self._paths.get(name)
        return {} if path is None else _program(_read(path), name)

    def _is_copy(self, name: str) -> bool:
        program = self.known[name]
        if program.parent is None:
            return False
        parent = self.known.get(program.parent)
        is_same = parent is None or parent.content == program.content
        if program.is_migrant and not is_same:
            label, _ = self._checkpoints.programs[name][max(self._checkpoints.programs[name])]
            self._intake.problem(label, None, "is marked as a migrant, and differs from its parent; left out")
        return program.is_migrant or (is_same and not program.is_answer)

    def _check(self, checkpoint: int) -> None:
        """Hold what a checkpoint says to contain against its programs."""
        here = {name for name, files in self._checkpoints.programs.items() if checkpoint in files}
        place = f"{self._checkpoints.label}/checkpoint_{checkpoint}"
        if checkpoint not in self._checkpoints.metadata:
            self._intake.notes.append(f"{place}: without metadata.json, missing programs cannot be noticed")
            return
        label, path = self._checkpoints.metadata[checkpoint]
        try:
            islands = json.loads(_read(path))["islands"]
            named = {name for island in islands for name in island}
        except (ValueError, RecursionError, KeyError, TypeError):
            self._intake.problem(label, None, "has no lists of islands, so that missing programs cannot be noticed")
            return
        if missing := sorted(map(str, named - here)):
            more = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
            self._intake.problem(place, None, f"programs/{missing[0]}.json is missing{more}")


def score(metrics: Mapping[str, Any], role: str) -> float | None:
    """A program's score: its `combined_score`, else the mean of its metrics, of which flags are none.

    That is OpenEvolve's own rule, but for metrics that its configuration declares to be features. None where the
    evaluation failed, of which OpenEvolve writes `error` as 0 and nothing that was measured, or took too long, of which
    it keeps what the stages before had measured.

    Raises:
        LogError: there is none.
    """
    if any(value is True and _TIMEOUT.fullmatch(name) for name, value in metrics.items()):
        return None
    if "combined_score" in metrics:
        return number(metrics["combined_score"])
    measured = [name for name in metrics if name not in ("error", "timeout", "stage1_passed") and name[:4] != "llm_"]
    if metrics.get("error") == 0 and not measured:
        return None
    numbers = [each for each in metrics.values() if isinstance(each, int | float) and not isinstance(each, bool)]
    finite = [number(each) for each in numbers if math.isfinite(each)]
    if not finite:
        raise LogError(f"the {role} has no score")
    return mean_of(finite)


def time_of(record: Mapping[str, Any]) -> float | None:
    """When an entry was written, where it says so.

    Raises:
        LogError: it is no number.
    """
    value = record.get("timestamp")
    if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
        return value
    raise LogError(f"timestamp is not a number: {excerpt(value)}")


def _read(path: Path) -> bytes:
    try:
        return read_regular(path, _LARGEST)
    except OSError as error:
        raise LogError(f"cannot be read ({error.strerror or error})") from None


def _program(data: bytes, name: str) -> dict[str, Any]:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        raise LogError("is torn, or not JSON") from None
    if not isinstance(value, dict):
        raise LogError("is not a JSON object")
    if text_of(value, "id") != name:
        raise LogError(f"id is not the name of the file: {excerpt(value['id'])}")
    return value


def _facts(value: Mapping[str, Any]) -> Program:
    metadata = required(value, "metadata", dict)
    metrics = required(value, "metrics", dict)
    if metadata.get("migrant") not in (None, True, False):
        raise LogError(f"migrant is not true or false: {excerpt(metadata['migrant'])}")
    parent = None if value.get("parent_id") is None else text_of(value, "parent_id")
    is_answer = bool(optional(value, "prompts", dict)) or "changes" in metadata or "parent_metrics" in metadata
    if parent is None and is_answer:
        raise LogError("parent_id is missing")
    return Program(
        parent=parent,
        iteration=index(value.get("iteration_found"), "iteration_found"),
        time=time_of(value),
        content=hash((text_of(value, "code"), json.dumps(metrics, sort_keys=True))),
        is_migrant=metadata.get("migrant") is True,
        is_answer=is_answer,
    )
