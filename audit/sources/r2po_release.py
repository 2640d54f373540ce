"""The logs of the released reference code: a folder per task and method, run and iteration, of text files.

Each iteration is translated into a native record line as soon as its files have been seen.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any, ClassVar, Final, Literal

import msgspec

from audit.output.errors import count
from audit.records.locating import Found
from audit.sources.intake import Intake, RunFacts
from audit.sources.iterations import Candidate, Capabilities, ShownEvidence, Translated
from audit.sources.r2po_rollouts import (
    LARGEST,
    Answers,
    FormatError,
    Rollouts,
    is_text,
    read_answers,
    read_log,
    read_outcome,
    read_params,
    read_rollouts,
)
from audit.vocabulary.methods import method_facts
from audit.vocabulary.thresholds import presets
from collector.records import Selected, Source

SOURCE: Final = "r2po_release"
CONDITION: Final = "released"
RANGE: Final = 6.0
"""Largest magnitude of a linear policy's parameter that the prompts allow."""
LARGEST_TEXT: Final = 128 * 2**20
"""Bytes of the largest file that is read."""

_METHODS: Final = {
    "three_traj": "threetraj",
    "reflective": "reptraj",
    "reflective_prompted_policy_optimization": "r2po",
    "always_critic": "alwayscritic",
    "critic_only": "criticonly",
    "pure_search": "puresearch",
    "actor_second_pass": "actorsecondpass",
    "props": "props",
    "propsp": "propsplus",
}
_TAU: Final = "tau_c_sensitivity_"

_FILES: Final = {
    "initial_proposal_rollout.txt": "first",
    "proposal_a_rollout.txt": "first",
    "training_rollout.txt": "first",
    "revised_proposal_rollout.txt": "second",
    "proposal_b_rollout.txt": "second",
    "parameters_reasoning.txt": "answers",
    "reflection_outcome.txt": "outcome",
    "selection_outcome.txt": "outcome",
}
_PARTS: Final = {
    "first": "the first proposal's rollouts",
    "second": "the second proposal's rollouts",
    "answers": "parameters_reasoning.txt",
    "outcome": "the outcome",
}
_RUN: Final = re.compile(r"run_(\d+)")
_EPISODE: Final = re.compile(r"episode_(\d+)")

Kind = Literal["critic", "selection", "one call"]
Run = tuple[str, ...]


@dataclass
class Parts:
    """What has been read of one iteration so far."""

    label: str
    names: set[str] = field(default_factory=set)
    first: Rollouts | None = None
    second: Rollouts | None = None
    answers: Answers | None = None
    outcome: dict[str, str] | None = None
    failed: bool = False

    def kind(self) -> Kind:
        """Which of the three kinds of iteration it is, judged by the names of its files."""
        if self.names & {"training_rollout.txt", "critic_only_outcome.txt"}:
            return "one call"
        return "selection" if self.names & {"proposal_a_rollout.txt", "selection_outcome.txt"} else "critic"

    def missing(self) -> list[str]:
        """Which parts are still to come."""
        one_call = self.kind() == "one call"
        wanted = ("first", "answers") if one_call else ("first", "second", "answers", "outcome")
        return [part for part in wanted if getattr(self, part) is None]


class ReleaseSource:
    """Puts the files of each iteration together."""

    # Mean returns are written with four decimals.
    capabilities: ClassVar = {SOURCE: Capabilities(Translated, precision_of_mean=5.1e-5)}
    looked_for = "<task>_<method>/run_<n>/episode_<i> (logs of the released R2PO code)"

    def __init__(self) -> None:
        self._runs: dict[Run, tuple[RunFacts, Path] | None] = {}
        self._open: dict[Run, dict[int, Parts]] = {}
        self._not_text: list[str] = []

    def claims(self, found: Found) -> bool:
        """Whether the file is one that the released code writes, at a place where it writes it."""
        if found.name == "overall_log.txt":
            return _RUN.fullmatch(found.parts[-2]) is not None if len(found.parts) > 2 else False
        if found.name not in _FILES or len(found.parts) < 4:
            return False
        return bool(_EPISODE.fullmatch(found.parts[-2]) and _RUN.fullmatch(found.parts[-3]))

    def take(self, found: Found, intake: Intake) -> None:
        """Read a file, and hand over its iteration when that is complete."""
        log = found.name == "overall_log.txt"
        folder = found.folder if log else found.folder[:-1]
        known = self._run(folder, found, intake)
        if known is None:
            return
        facts, path = known
        if log:
            _take_log(found, facts, intake)
            return
        iteration = _counted(found.parts[-2].removeprefix("episode_"))
        if iteration is None:
            intake.problem(found.label, None, "the number of the iteration is too large; left out")
            return
        parts = self._open.setdefault(folder, {}).setdefault(iteration, Parts(found.label.rpartition("/")[0]))
        if _take_part(parts, found, intake):
            self._not_text.append(found.label)
        if not parts.failed and not parts.missing():
            del self._open[folder][iteration]
            _hand_over(parts, facts, iteration, path, intake)

    def finish(self, intake: Intake) -> None:
        """Name incomplete iterations, such as the last one of an interrupted run, and files that are not text."""
        if self._not_text:
            files = f"{count(len(self._not_text), 'file')} of answers, the first {self._not_text[0]}"
            intake.notes.append(f"bytes that are not UTF-8 are read as U+FFFD, in {files}")
        for iterations in self._open.values():
            for _, parts in sorted(iterations.items()):
                if not parts.failed:
                    lacks = ", ".join(_PARTS[part] for part in parts.missing())
                    intake.problem(parts.label, None, f"the iteration is incomplete, it lacks {lacks}; left out")

    def _run(self, folder: Run, found: Found, intake: Intake) -> tuple[RunFacts, Path] | None:
        if folder not in self._runs:
            label = found.label.rpartition("/run_")[0] or found.label
            self._runs[folder] = _known_run(folder, label, intake)
        return self._runs[folder]


def _known_run(folder: Run, label: str, intake: Intake) -> tuple[RunFacts, Path] | None:
    name, run = folder[-2], _counted(folder[-1].removeprefix("run_"))
    if run is None:
        intake.problem(f"{label}/{folder[-1]}", None, "the number of the run is too large; left out")
        return None
    env = next((task for task in presets() if name.startswith(f"{task}_")), None)
    method = name.removeprefix(f"{env}_")
    tau = method.removeprefix(_TAU) if method.startswith(_TAU) else None
    variant = "r2po" if tau else _METHODS.get(method)
    if env is None or variant is None:
        unknown = "task" if env is None else "method"
        intake.problem(f"{label}/{folder[-1]}", None, f"folder name {name!r} holds no known {unknown}; left out")
        return None
    condition = f"{CONDITION}+tau-{tau}" if tau else CONDITION
    facts = RunFacts(condition=condition, env=env, variant=variant, run=run, source=SOURCE)
    intake.add_run(facts)
    path = intake.new_file("translated")
    path.touch()
    intake.add_file(path, f"{label}/{folder[-1]}", facts)
    return facts, path


def _take_part(parts: Parts, found: Found, intake: Intake) -> bool:
    """Read a file; returns whether it should be text and is not all UTF-8."""
    part = _FILES[found.name]
    parts.names.add(found.name)
    read = {"answers": read_answers, "outcome": read_outcome}.get(part, read_rollouts)
    try:
        content = found.read(LARGEST_TEXT)
        setattr(parts, part, read(content))
    except (FormatError, OSError) as error:
        reason = f"cannot be read ({error.strerror or error})" if isinstance(error, OSError) else str(error)
        intake.problem(found.label, None, f"{reason}; the iteration is left out")
        parts.failed = True
        return False
    return part == "answers" and not is_text(content)


def _take_log(found: Found, facts: RunFacts, intake: Intake) -> None:
    try:
        returns, faults = read_log(found.read(LARGEST_TEXT))
    except OSError as error:
        intake.problem(found.label, None, f"cannot be read ({error.strerror or error})")
        return
    for number, fault in faults:
        intake.problem(found.label, number, fault)
    shared = {**_identity(facts), "origin": found.label.rpartition("/")[0]}
    logged = ({**shared, "iteration": iteration, "logged_return": value} for iteration, value in returns)
    intake.append(intake.logged_returns, *logged)


def _hand_over(parts: Parts, facts: RunFacts, iteration: int, path: Path, intake: Intake) -> None:
    try:
        record = _record(parts, facts, iteration)
    except FormatError as error:
        intake.problem(parts.label, None, f"{error}; the iteration is left out")
        return
    if not intake.append_record(path, record):
        intake.problem(parts.label, None, "the iteration's answers are longer than 16 MiB; left out")


def _counted(digits: str) -> int | None:
    """A number in a folder's name; None where it is beyond all counting."""
    number = int(digits) if len(digits) < 20 else LARGEST + 1
    return number if number <= LARGEST else None


def _record(parts: Parts, facts: RunFacts, iteration: int) -> Translated:
    outcome = parts.outcome or {}
    answers = parts.answers or Answers("", None)
    evidence = method_facts(facts.variant).evidence
    critic = evidence is not None
    first, second = (
        ("initial_reward", "revised_reward") if parts.kind() == "critic" else ("proposal_a_reward", "proposal_b_reward")
    )
    initial = _candidate(parts.first, answers.first, outcome.get(first), facts, "search")
    revised = None
    if parts.second is not None:
        revised = _candidate(
            parts.second, answers.second or "", outcome.get(second), facts, "critic" if critic else "search"
        )
    return Translated(
        **_identity(facts),
        iteration=iteration,
        initial=initial,
        revised=revised,
        revision_status="none" if revised is None else "ok",
        selected=_selected(outcome, revised is not None),
        evidence=ShownEvidence(kind=evidence) if evidence else None,
        tau_c=msgspec.UNSET if answers.tau_c is None else answers.tau_c,
        origin=parts.label,
    )


def _candidate(
    rollouts: Rollouts | None, answer: str, reward: str | None, facts: RunFacts, source: Source
) -> Candidate:
    if rollouts is None:
        raise FormatError("holds no rollouts")
    params = read_params(answer) if rollouts.params is None else rollouts.params
    linear = presets()[facts.env]["policy"] == "linear"
    try:
        mean_return = fmean(rollouts.returns) if reward is None else float(reward)
    except (ValueError, OverflowError):
        wrong = "the returns have no mean" if reward is None else f"the outcome's reward {reward!r} is not a number"
        raise FormatError(wrong) from None
    return Candidate(
        recorded_params=params,
        out_of_range=linear and any(abs(value) > RANGE for value in params),
        source=source,
        answer=answer,
        recorded_returns=rollouts.returns,
        recorded_lengths=rollouts.lengths,
        mean_return=mean_return,
    )


def _selected(outcome: dict[str, str], two_calls: bool) -> Selected:
    if not two_calls:
        return "initial"
    winners: dict[str, Selected] = {
        "revision_won": "revised",
        "revision_forced": "revised",
        "original_won": "initial",
        "proposal_a": "initial",
        "proposal_b": "revised",
    }
    winner = outcome.get("winner")
    if winner not in winners:
        raise FormatError(f"the outcome's winner {winner!r} is not one of {', '.join(winners)}")
    return winners[winner]


def _identity(facts: RunFacts) -> dict[str, Any]:
    return {"condition": facts.condition, "env": facts.env, "variant": facts.variant, "run": facts.run}
