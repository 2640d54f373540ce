"""What a run is asked to be, and whether records on disk are of such a run."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from collector.budget import EXCERPTS
from collector.methods import Method
from collector.prompts import Prompts, templates
from collector.records import Run, TauRule, WarmupTrial
from collector.remedies import Remedy, remedies_of
from collector.switches import switched
from collector.system.versions import versions
from collector.tasks import LinearSpace, Task, get_task

_LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSpec:
    """One run of one method on one task, with all that it depends on.

    Attributes:
        task: the task, as the switches leave it.
        tau_c: threshold of the revision rule; none where the method has no rule, it is off, or `tau_rule` chooses it.
        tau_rule: chooses the threshold in each iteration, from the run's record.
        warmup: number of random parameter vectors that open the history.
        options: what the model is given besides the prompt, without secrets.
        switches: departures from the method as published that change something here.
        prompt_folder: a user's templates, in place of the project's own of the same name.
    """

    condition: str
    task: Task
    method: Method
    run: int
    seed: int
    iterations: int
    rollouts: int
    tau_c: float | None
    warmup: int
    backend: str
    model: str
    options: dict[str, Any]
    switches: dict[str, Any]
    prompt_folder: Path | None = None
    tau_rule: TauRule | None = None

    @property
    def folder(self) -> Path:
        """Where the run lives below the output folder."""
        return Path(self.condition) / self.task.id / self.method.id / f"run-{self.run:02d}"

    @property
    def purpose(self) -> tuple[str, str, int]:
        """The part of a random draw's key that names the run."""
        return (self.task.id, self.method.id, self.run)

    @property
    def identity(self) -> dict[str, Any]:
        """The fields that open each of the run's records."""
        return {"condition": self.condition, "env": self.task.id, "variant": self.method.id, "run": self.run}

    @property
    def cell(self) -> tuple[str, str, str]:
        """Condition, task and method."""
        return self.condition, self.task.id, self.method.id

    @property
    def prompts(self) -> Prompts:
        """The prompts for the task."""
        return Prompts(self.task, self.prompt_folder)

    @property
    def excerpts(self) -> int:
        """Trajectories excerpted in the history."""
        if self.method.history != "excerpts":
            return 0
        return int(self.switches.get("excerpts", EXCERPTS))

    @property
    def named_iterations(self) -> int:
        """The number of iterations that prompts name."""
        return int(self.switches.get("named_iterations", self.iterations))

    @property
    def remedies(self) -> tuple[Remedy, ...]:
        """What else is done with the evidence and the answers."""
        return remedies_of(self.switches.get("remedies", ()))

    @property
    def calls(self) -> int:
        """Calls in the run, without answers asked for again."""
        return self.iterations * (self.method.calls + sum(remedy.calls for remedy in self.remedies))

    @property
    def episodes(self) -> int:
        """Rollouts in the run, without warm-up; with remedies, the most that there can be."""
        further = sum(remedy.rollouts(self.rollouts) for remedy in self.remedies)
        return self.iterations * (self.method.calls * self.rollouts + further)

    def record(self, warmup: list[WarmupTrial]) -> Run:
        """The `run.json` of a run that starts now."""
        space = self.task.space
        names = ("seed", "iterations", "rollouts", "tau_c", "backend", "model", "options", "switches")
        return Run(
            **self.identity,
            **{name: getattr(self, name) for name in names},
            tau_rule=self.tau_rule or msgspec.UNSET,
            optimum=self.task.optimum,
            step_size=space.step_size if isinstance(space, LinearSpace) else None,
            warmup=warmup,
            thresholds=self.task.thresholds,
            method=self.method.facts,
            prompts=templates.hashes(self.prompt_folder),
            versions=versions(*(["xllamacpp"] if self.backend == "local" else [])),
            started_at=datetime.now(UTC).isoformat(timespec="seconds"),
        )

    def differences(self, found: Run) -> list[str]:
        """The settings in which records on disk are of another run than this one, as `name is found, not asked`."""
        different = [
            text
            for name, asked in msgspec.structs.asdict(self.record(found.warmup)).items()
            if name not in {"versions", "started_at", "schema"}
            # Records of earlier versions do not describe their method.
            and not (name == "method" and not found.method)
            for text in _differences(name, getattr(found, name), asked)
        ]
        if len(found.warmup) != self.warmup:
            different.append(f"warmup is {len(found.warmup)}, not {self.warmup}")
        return different


def _differences(name: str, kept: Any, asked: Any) -> list[str]:
    """How two values of a setting differ; of settings with parts, which parts do."""
    if kept == asked:
        return []
    if name in {"prompts", "thresholds"}:
        return [f"{name} differ"]
    kept, asked = _plain(kept), _plain(asked)
    if not (isinstance(kept, dict) and isinstance(asked, dict)):
        return [f"{name} is {kept}, not {asked}"]
    parts = dict.fromkeys([*kept, *asked])
    return [text for part in parts for text in _differences(f"{name}.{part}", kept.get(part), asked.get(part))]


def _plain(value: Any) -> Any:
    """A record as a dict, and a field that is not there as None."""
    if isinstance(value, msgspec.Struct):
        return msgspec.structs.asdict(value)
    return None if value is msgspec.UNSET else value


def recorded_task(run: Run) -> Task:
    """The task that a record was made on, under its switches: what a rollout is run again with.

    Raises:
        UsageError: the task is not known here.
    """
    return switched(get_task(run.env), run.switches)


def slug(name: str) -> str:
    """A name as a part of a condition: `gpt-oss:20b` becomes `gpt-oss-20b`."""
    return re.sub(r"[^A-Za-z0-9._]+", "-", name).strip("-.")


def is_label(condition: str) -> bool:
    """Whether a condition can name a folder."""
    return _LABEL.fullmatch(condition) is not None
