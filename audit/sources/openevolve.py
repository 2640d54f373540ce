"""Output folders of OpenEvolve: its evolution trace, and its checkpoints for what the trace lacks.

An iteration revises one program after a model has seen others with their scores; all that were evaluated join the
population. The trace has a line for each. Checkpoints hold the programs that survived: their code, which a trace leaves
out by default, and programs of iterations that no trace has.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Final

from audit.output.errors import count
from audit.output.escaping import excerpt
from audit.records.locating import Found
from audit.sources.intake import Intake, RunFacts
from audit.sources.iterations import Candidate, Capabilities, ShownEvidence, Translated
from audit.sources.openevolve_branches import Step, left_behind
from audit.sources.openevolve_programs import Checkpoints, Programs, score, time_of
from audit.sources.openevolve_trace import check_gain, lines_of
from audit.sources.program_headings import shown_programs
from audit.sources.run_names import Folder, run_names
from audit.sources.tool_runs import (
    LogError,
    ToolRun,
    candidate,
    gaps,
    index,
    joined,
    optional,
    required,
    revision,
    text_of,
    unread,
)
from collector.records import PoolMember

SOURCE: Final = "openevolve"
_TRACE: Final = re.compile(r"evolution_trace[\w.-]*\.jsonl(?:[.-]\d+)?(?:\.gz)?")
"""A trace, packed or not, under its own name or one that tells it from an earlier one."""
_CHECKPOINT: Final = re.compile(r"checkpoint_(\d{1,12})")
_METADATA: Final = "metadata.json"
_OPTIONAL: Final = ("parent_code", "child_code", "system", "user", "llm_response")
"""Fields of the trace and its prompts that a configuration leaves out: of all entries or of none."""


@dataclass
class _Folder:
    """What has been found of one run: its traces, several where they were packed or renamed, and its checkpoints."""

    traces: list[tuple[str, Path]] = field(default_factory=list)
    checkpoints: Checkpoints = field(default_factory=Checkpoints)

    @property
    def label(self) -> str:
        """What people know it by."""
        return self.traces[0][0] if self.traces else self.checkpoints.label


class OpenEvolveSource:
    """Puts the trace and the checkpoints of each output folder together."""

    capabilities: ClassVar = {SOURCE: Capabilities(Translated)}
    remarks: ClassVar = {
        SOURCE: (
            "OpenEvolve logs only iterations that gave a program: failed ones cannot be counted.",
            "Programs whose evaluation failed or took too long have no score, and count as unreadable answers.",
            "Without an evolution trace, programs that left the population before a checkpoint are not known either.",
            "What its prompts show are other programs with one score each, not scored examples of the program revised.",
            "Every program joins the population, so that none is refused.",
        )
    }
    looked_for = "evolution_trace.jsonl or checkpoints/checkpoint_<n> (an output folder of OpenEvolve)"

    def __init__(self) -> None:
        self._folders: dict[Folder, _Folder] = {}

    def claims(self, found: Found) -> bool:
        """Whether it is a trace, or a program of a checkpoint, or what that says to contain."""
        return _TRACE.fullmatch(found.name) is not None or _checkpoint(found) is not None

    def take(self, found: Found, intake: Intake) -> None:  # noqa: ARG002 - as every source
        """Remember where a file is."""
        checkpoint = _checkpoint(found)
        is_metadata = found.name == _METADATA
        folder = found.folder if checkpoint is None else found.folder[: -2 if is_metadata else -3]
        known = self._folders.setdefault(folder, _Folder())
        if checkpoint is None:
            known.traces.append((found.label, found.path))
            return
        checkpoints = known.checkpoints
        checkpoints.label = found.label.rpartition("/checkpoint_")[0]
        if is_metadata:
            checkpoints.metadata[checkpoint] = (found.label, found.path)
        else:
            files = checkpoints.programs.setdefault(found.name.removesuffix(".json"), {})
            files[checkpoint] = (found.label, found.path)

    def finish(self, intake: Intake) -> None:
        """Write the iterations of each run."""
        folders = {key: folder for key, folder in self._folders.items() if folder.traces or folder.checkpoints.programs}
        copies: dict[str, str] = {}
        for key, name in run_names(folders, intake).items():
            _Writer(folders[key], name, intake).write(copies)


def _checkpoint(found: Found) -> int | None:
    """The number of the checkpoint that a program's file belongs to, or that with the names of its programs."""
    folders = found.folder[:-1] if found.folder[-1:] == ("programs",) else found.folder
    is_program = folders != found.folder and found.name.endswith(".json")
    if len(folders) < 3 or folders[-2] != "checkpoints" or not (is_program or found.name == _METADATA):
        return None
    match = _CHECKPOINT.fullmatch(folders[-1])
    return int(match[1]) if match else None


class _Writer:
    """Writes one run."""

    def __init__(self, folder: _Folder, name: tuple[str, int], intake: Intake) -> None:
        self._folder = folder
        self._name = name
        self._intake = intake
        self._run = ToolRun(folder.label, intake)
        self._programs = Programs(folder.checkpoints, intake)
        self._scores: dict[str, float | None] = {}
        self._lines: Counter[str] = Counter()
        self._lacking: Counter[tuple[str, str]] = Counter()
        self._failed = 0

    def write(self, copies: dict[str, str]) -> None:
        steps = self._steps()
        counted = self._counted(steps)
        for place, (_, value) in enumerate(lines_of(self._folder.traces, self._intake)):
            if place in counted and value is not None:
                self._add(value)
        for step in steps:
            if step.place is None and step.child in counted:
                self._add_program(step)
        self._note()
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

    def _look(self, what: str, value: Mapping[str, Any], *, is_scored: bool) -> None:
        """Count the fields that an entry lacks, or has empty."""
        self._lines[what] += 1
        self._lacking.update((what, name) for name in _OPTIONAL if not value.get(name))
        if is_scored:
            scored = f"scored {what}"
            metrics = value.get("child_metrics") or self._programs.text(str(value["child_id"])).get("metrics", {})
            self._lines[scored] += 1
            self._lacking[scored, "combined_score"] += "combined_score" not in metrics

    def _note(self) -> None:
        """Say what OpenEvolve copied, and what some entries lack that others have."""
        label = self._folder.label
        if made := len(self._programs.copies):
            copied = "1 copy" if made == 1 else f"{made} copies"
            self._intake.notes.append(f"{label}: left out: {copied} that OpenEvolve made for other islands")
        if self._failed:
            failed = f"{count(self._failed, 'program')} whose evaluation failed or took too long: unreadable answers"
            self._intake.notes.append(f"{label}: {failed}")
        for (what, name), lacking in self._lacking.items():
            if 0 < lacking < self._lines[what]:
                self._intake.notes.append(f"{label}: {lacking} of {count(self._lines[what], what)} without {name}")

    def _steps(self) -> list[Step]:
        """What each iteration made, in the order in which it was made as far as that is known."""
        steps: list[Step] = []
        fault = functools.partial(self._run.fault, unit="line")
        for place, (line, value) in enumerate(lines_of(self._folder.traces, self._intake, fault)):
            if value is None:
                continue
            try:
                number_of_iteration = index(value.get("iteration"), "iteration")
                child, parent = text_of(value, "child_id"), text_of(value, "parent_id")
                steps.append(Step(number_of_iteration, child, parent, time_of(value), place))
            except LogError as error:
                fault(str(error), line)
        traced = {step.child for step in steps}
        known = self._programs.known
        others = [
            Step(known[name].iteration, name, str(known[name].parent), known[name].time, None)
            for name in sorted(known.keys() - traced - self._programs.copies)
            if known[name].parent is not None
        ]
        if all(step.time is not None for step in (*steps, *others)):
            return sorted((*steps, *others), key=lambda step: step.time or 0.0)
        return [*steps, *others]

    def _counted(self, steps: Sequence[Step]) -> set[int | str]:
        """Which of them count: by their lines in the trace, or by their programs."""
        again = len(steps) - len({step.iteration for step in steps})
        # One iteration twice in a single checkpoint may as well be a wrong number.
        may_be_resumed = again > 1 or self._folder.traces or len(self._programs.checkpoints) > 1
        lost = left_behind(steps, self._programs.saved) if may_be_resumed else set()
        if lost:
            numbers = [steps[place].iteration for place in lost]
            self._intake.notes.append(
                f"{self._folder.label}: left out: {count(len(lost), 'revision')} (iterations {min(numbers)} to "
                f"{max(numbers)}) of a branch that ended where the run was resumed from an earlier checkpoint"
            )
        made = {step.child: step for step in steps}
        counted: set[int | str] = set()
        children: set[str] = set()
        numbers_seen: set[int] = set()
        for place, step in enumerate(steps):
            if place in lost:
                continue
            parent = made.get(self._programs.original(step.parent))
            file = self._programs.known.get(step.child)
            if step.child in children:
                self._run.fault(f"its program is in another line too: {excerpt(step.child)}", step.iteration)
            elif step.iteration in numbers_seen:
                self._run.fault("another entry has the same iteration", step.iteration)
            elif file is not None and (file.iteration, file.parent) != (step.iteration, step.parent):
                self._run.fault("the file of its program says another iteration or parent", step.iteration)
            elif parent is not None and parent.iteration >= step.iteration and not _is_later(step, parent):
                self._run.fault(f"its parent is not an earlier program: {excerpt(step.parent)}", step.iteration)
            else:
                counted.add(step.child if step.place is None else step.place)
                numbers_seen.add(step.iteration)
            children.add(step.child)
        self._intake.notes += [f"{self._folder.label}: {gap}" for gap in gaps(numbers_seen, "iteration")]
        return counted

    def _add(self, value: Mapping[str, Any], what: str = "line") -> None:
        number_of_iteration = index(value["iteration"], "iteration")
        try:
            answer = optional(value, "llm_response", str)
            asked = optional(value, "prompt", dict) or {}
            user = optional(asked, "user", str)
            shown = shown_programs(user) if user else []
            evidence = ShownEvidence(kind="programs", shown=shown) if shown else None
            whole = joined(optional(asked, "system", str), user)
            initial, after = self._initial(value), self._scored(value, "child")
            self._look(what, {**asked, **value}, is_scored=after is not None)
            code = self._code(value, "child")
            if after is None:
                self._failed += 1
                self._run.write(
                    self._name, SOURCE, number_of_iteration, prompt=whole, answer=answer, **unread(initial, evidence)
                )
                return
            check_gain(value, initial.mean_return, after)
            revised = candidate("critic", code, None, mean=after, answer=answer)
            fields = revision(initial, revised, evidence, accepted=True)
            self._run.write(self._name, SOURCE, number_of_iteration, prompt=whole, **fields)
            self._run.joined(
                PoolMember(
                    candidate=str(value["child_id"]),
                    parents=[self._programs.original(str(value["parent_id"]))],
                    role="revision",
                    iteration=number_of_iteration,
                )
            )
        except LogError as error:
            self._run.fault(str(error), number_of_iteration)

    def _add_program(self, step: Step) -> None:
        """Add the iteration of a program that only checkpoints have."""
        line = {"iteration": step.iteration, "parent_id": step.parent, "child_id": step.child}
        try:
            value = self._programs.text(step.child)
            prompt, answer = _prompt(value)
        except LogError as error:
            self._run.fault(str(error), step.iteration)
            return
        metrics = value["metadata"].get("parent_metrics")
        self._add({**line, "parent_metrics": metrics, "prompt": prompt, "llm_response": answer}, "program")

    def _initial(self, value: Mapping[str, Any]) -> Candidate:
        before = self._scored(value, "parent")
        if before is None:
            raise LogError("the evaluation of its parent failed, so that there is no score to compare with")
        return candidate("parent", self._code(value, "parent"), None, mean=before)

    def _scored(self, value: Mapping[str, Any], role: str) -> float | None:
        """A program's score, by the entry and by whatever else says it; None where its evaluation failed."""
        name = str(value[f"{role}_id"])
        stated = optional(value, f"{role}_metrics", dict), self._programs.text(name).get("metrics")
        scores = [score(each, role) for each in stated if each]
        if not scores:
            raise LogError(f"the {role} has no score")
        scores.append(self._scores.setdefault(name, scores[0]))
        for other in scores:
            if other != scores[0]:
                raise LogError(f"scores of the {role} contradict each other: {scores[0]} and {other}")
        return scores[0]

    def _code(self, value: Mapping[str, Any], role: str) -> dict[str, str] | None:
        name, field_name = str(value[f"{role}_id"]), f"{role}_code"
        stated = text_of(value, field_name) if field_name in value else None
        filed = self._programs.text(name).get("code")
        if stated is not None and filed is not None and stated != filed:
            raise LogError(f"the {role}'s code is not that of its file")
        code = filed if stated is None else stated
        return None if code is None else {"program": code}


def _is_later(step: Step, parent: Step) -> bool:
    """Whether an iteration was made after its parent's, as a resumed run may count fewer than it has."""
    return step.time is not None and parent.time is not None and step.time > parent.time


def _prompt(program: Mapping[str, Any]) -> tuple[object, object]:
    """The prompt that a program's file keeps, and the answer, by whatever name its template has."""
    prompts = optional(program, "prompts", dict) or {}
    for template in prompts:
        prompt = required(prompts, template, dict)
        responses = optional(prompt, "responses", list)
        return prompt, responses[-1] if responses else None
    return None, None
