"""Output folders of OpenEvolve: its evolution trace, and its checkpoints for what the trace lacks.

An iteration revises one program after a model has seen others with their scores; all that were evaluated join the
population. The trace has a line for each. Checkpoints hold the programs that survived: their code, which a trace leaves
out by default, and programs of iterations that no trace has.
"""

from __future__ import annotations

import functools
import gzip
import json
import math
import os
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, ClassVar, Final, cast

from audit.output.errors import count
from audit.sources.archives import RATIO, UNPACKED
from audit.sources.files import Found
from audit.sources.intake import Intake, RunFacts
from audit.sources.iterations import Candidate, Capabilities, ShownEvidence, Translated
from audit.sources.program_headings import shown_programs
from audit.sources.run_names import Folder, run_names
from audit.sources.tool_runs import (
    LogError,
    ToolRun,
    candidate,
    index,
    joined,
    kept,
    left_out,
    mean_of,
    number,
    revision,
)
from collector.records import LONGEST_LINE, PoolMember, Proposer
from collector.system.regular_files import open_regular, read_regular

SOURCE: Final = "openevolve"
_TRACES: Final = ("evolution_trace.jsonl", "evolution_trace.jsonl.gz")
_CHECKPOINT: Final = re.compile(r"checkpoint_(\d{1,12})")
_LARGEST: Final = 64 * 2**20
"""Bytes of the largest program that is read."""


@dataclass
class _Folder:
    """What has been found of one run: its trace, and for each program the file of the latest checkpoint that has it."""

    label: str = ""
    trace: Path | None = None
    programs: dict[str, tuple[int, Path]] = field(default_factory=dict)


class OpenEvolveSource:
    """Puts the trace and the checkpoints of each output folder together."""

    capabilities: ClassVar = {SOURCE: Capabilities(Translated)}
    remarks: ClassVar = {
        SOURCE: (
            "OpenEvolve logs only iterations that gave a program it could run: failed ones cannot be counted.",
            "Without an evolution trace, programs that left the population before a checkpoint are not known either.",
            "What its prompts show are other programs with one score each, not scored examples of the program revised.",
            "Every program joins the population, so that none is refused.",
        )
    }
    looked_for = "evolution_trace.jsonl or checkpoints/checkpoint_<n> (an output folder of OpenEvolve)"

    def __init__(self) -> None:
        self._folders: dict[Folder, _Folder] = {}

    def claims(self, found: Found) -> bool:
        """Whether it is a trace, or a program of a checkpoint."""
        return found.name in _TRACES or _checkpoint(found) is not None

    def take(self, found: Found, intake: Intake) -> None:
        """Remember where a file is."""
        checkpoint = _checkpoint(found)
        folder = found.folder if checkpoint is None else found.folder[:-3]
        known = self._folders.setdefault(folder, _Folder())
        try:
            if checkpoint is None:
                known.trace, known.label = kept(found, intake), found.label
                return
            program = found.name.removesuffix(".json")
            if known.programs.get(program, (-1, None))[0] < checkpoint:
                known.programs[program] = (checkpoint, kept(found, intake))
            known.label = known.label or found.label.rpartition("/checkpoint_")[0]
        except OSError as error:
            left_out(found, error, intake)

    def finish(self, intake: Intake) -> None:
        """Write the iterations of each run."""
        folders = {key: folder for key, folder in self._folders.items() if folder.trace or folder.programs}
        copies: dict[str, str] = {}
        for key, name in run_names(folders, intake).items():
            _Writer(folders[key], name, intake).write(copies)


def _checkpoint(found: Found) -> int | None:
    """The number of the checkpoint that a program's file belongs to."""
    if len(found.parts) < 5 or found.parts[-2] != "programs" or found.parts[-4] != "checkpoints":
        return None
    match = _CHECKPOINT.fullmatch(found.parts[-3])
    return int(match[1]) if match and found.name.endswith(".json") else None


class _Writer:
    """Writes one run."""

    def __init__(self, folder: _Folder, name: tuple[str, int], intake: Intake) -> None:
        self._folder = folder
        self._name = name
        self._intake = intake
        self._run = ToolRun(folder.label, intake)
        self._program = functools.lru_cache(64)(self._read)

    def write(self, copies: dict[str, str]) -> None:
        traced: set[str] = set()
        for place, value in enumerate(self._traced()):
            child = value.get("child_id")
            if isinstance(child, str):
                traced.add(child)
            self._add(place, value, value.get("prompt"), value.get("llm_response"))
        migrants = 0
        for program in sorted(self._folder.programs.keys() - traced):
            value = self._program(program)
            metadata = value.get("metadata")
            facts = metadata if isinstance(metadata, dict) else {}
            if facts.get("migrant"):
                migrants += 1
            elif value.get("parent_id") is not None:
                parent = {} if value["parent_id"] in self._folder.programs else {"metrics": facts.get("parent_metrics")}
                prompt, answer = _prompt(value)
                line = {
                    "iteration": value.get("iteration_found"),
                    "parent_id": value["parent_id"],
                    "child_id": program,
                    "child_metrics": value.get("metrics"),
                    "parent_metrics": parent.get("metrics"),
                }
                self._add(None, line, prompt, answer)
        if migrants:
            self._intake.notes.append(f"{self._folder.label}: {count(migrants, 'copy')} for other islands dropped")
        env, run = self._name
        self._run.close(
            RunFacts(
                condition=SOURCE,
                env=env,
                variant=SOURCE,
                run=run,
                source=SOURCE,
                backend=SOURCE,
                candidates="text",
                selection_rule="pool",
            ),
            copies,
        )

    def _add(self, place: int | None, value: Mapping[str, Any], prompt: object, answer: object) -> None:
        iteration = value.get("iteration")
        try:
            number_of_iteration = index(iteration, "iteration")
            initial = self._candidate("parent", value, "parent")
            revised = self._candidate("critic", value, "child", answer if isinstance(answer, str) else None)
            asked = prompt if isinstance(prompt, dict) else {}
            user = asked.get("user")
            shown = shown_programs(user) if isinstance(user, str) else []
            evidence = ShownEvidence(kind="programs", shown=shown) if shown else None
            fields = revision(initial, revised, evidence, accepted=True)
            whole = joined(asked.get("system"), user)
            self._run.write(self._name, SOURCE, number_of_iteration, prompt=whole, **fields)
            self._run.joined(
                PoolMember(
                    candidate=str(value.get("child_id")),
                    parents=[self._original(str(value.get("parent_id")))],
                    role="revision",
                    iteration=number_of_iteration,
                )
            )
        except LogError as error:
            self._run.fault(str(error), iteration if isinstance(iteration, int) else place)

    def _candidate(self, source: Proposer, value: Mapping[str, Any], role: str, answer: str | None = None) -> Candidate:
        program = self._program(str(value.get(f"{role}_id")))
        code = value.get(f"{role}_code", program.get("code"))
        metrics = value.get(f"{role}_metrics") or program.get("metrics")
        text = {"program": code} if isinstance(code, str) else None
        return candidate(source, text, None, mean=_fitness(metrics, role), answer=answer)

    def _original(self, program: str) -> str:
        """The program that another one is a copy of, made for another island; itself where it is none."""
        seen = {program}
        while True:
            value = self._program(program)
            metadata, parent = value.get("metadata"), value.get("parent_id")
            is_copy = isinstance(metadata, dict) and metadata.get("migrant")
            if not is_copy or not isinstance(parent, str) or parent in seen:
                return program
            seen.add(parent)
            program = parent

    def _read(self, program: str) -> dict[str, Any]:
        """A program of a checkpoint; an empty one where there is none."""
        if program not in self._folder.programs:
            return {}
        path = self._folder.programs[program][1]
        try:
            value = json.loads(read_regular(path, _LARGEST))
        except OSError as error:
            self._intake.problem(str(path), None, f"cannot be read ({error.strerror or error}); left out")
        except (ValueError, RecursionError):
            self._intake.problem(str(path), None, "is torn, or not JSON; left out")
        else:
            if isinstance(value, dict):
                return value
            self._intake.problem(str(path), None, "is not a JSON object; left out")
        return {}

    def _traced(self) -> Iterator[dict[str, Any]]:
        """The lines of the trace."""
        path = self._folder.trace
        if path is None:
            return
        try:
            with open_regular(path) as packed:
                is_packed = path.suffix == ".gz"
                left = max(UNPACKED, RATIO * packed.seek(0, os.SEEK_END)) if is_packed else math.inf
                packed.seek(0)
                stream = cast("IO[bytes]", gzip.GzipFile(fileobj=packed)) if is_packed else packed
                for place, line in enumerate(_lines(stream, left)):
                    try:
                        value = json.loads(line)
                    except (ValueError, RecursionError):
                        self._run.fault("the line is torn, too long, or not JSON", place)
                        continue
                    if isinstance(value, dict):
                        yield value
                    else:
                        self._run.fault("the line is not a JSON object", place)
        except (OSError, EOFError, zlib.error) as error:
            reason = getattr(error, "strerror", None) or error
            self._intake.problem(self._folder.label, None, f"cannot be read to its end ({reason})")


def _lines(stream: IO[bytes], left: float) -> Iterator[bytes]:
    while left > 0 and (line := stream.readline(LONGEST_LINE)):
        left -= len(line)
        if line.strip():
            yield line
    if left <= 0 and stream.read(1):
        raise OSError("it unpacks to more than it should; unpack it, and name the folder")


def _prompt(program: Mapping[str, Any]) -> tuple[object, object]:
    """The prompt that a program's file keeps, and the answer, by whatever name its template has."""
    prompts = program.get("prompts")
    for prompt in prompts.values() if isinstance(prompts, dict) else ():
        if isinstance(prompt, dict):
            responses = prompt.get("responses")
            return prompt, responses[-1] if isinstance(responses, list) and responses else None
    return None, None


def _fitness(metrics: object, role: str) -> float:
    """A program's score: its `combined_score`, else the mean of its metrics, of which flags are none.

    That is OpenEvolve's own rule, but for metrics that its configuration declares to be features.
    """
    values = metrics if isinstance(metrics, dict) else {}
    if "combined_score" in values:
        return number(values["combined_score"])
    scores = [each for each in values.values() if isinstance(each, int | float) and not isinstance(each, bool)]
    finite = [number(each) for each in scores if math.isfinite(each)]
    if not finite:
        raise LogError(f"the {role} has no score")
    return mean_of(finite)
