"""A model's pace and its tokens, measured from records."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import msgspec

from collector.baselines.methods import BASELINES
from collector.methods import METHODS
from collector.records import RecordError, Run, decode_run
from collector.system.regular_files import RECORDS, RUN, read_regular

Cell = tuple[str, str, str]


class _Call(msgspec.Struct, frozen=True):
    prompt: str
    prompt_tokens: int | None
    completion_tokens: int | None


class _Episode(msgspec.Struct, frozen=True):
    seconds: float


_Line = TypeVar("_Line", _Call, _Episode)


@dataclass(slots=True)
class Measured:
    """Sums over the runs looked at: of each condition, task and method the one that got furthest.

    Attributes:
        runs: how many were looked at.
        seconds, needed: of finished iterations, their wall time and the calls that they needed.
        counted, characters, prompt_tokens: calls whose server counted tokens, with the characters and tokens of their
            prompts.
        answered, answer_tokens: likewise of answers, thinking included.
        per_call: mean tokens of a prompt, by cell, where a run is complete.
    """

    runs: int = 0
    seconds: float = 0.0
    needed: int = 0
    counted: int = 0
    characters: int = 0
    prompt_tokens: int = 0
    answered: int = 0
    answer_tokens: int = 0
    per_call: dict[Cell, float] = field(default_factory=dict)

    @property
    def seconds_per_call(self) -> float | None:
        """Wall time of a call with its share of rollouts and repetitions, one run for itself; None without records."""
        return self.seconds / self.needed if self.needed else None

    @property
    def characters_per_token(self) -> float | None:
        """Of prompts; None where no server has counted."""
        return self.characters / self.prompt_tokens if self.prompt_tokens else None

    @property
    def tokens_per_answer(self) -> float | None:
        """Thinking included; None where no server has counted."""
        return self.answer_tokens / self.answered if self.answered else None

    def add(self, run: Run, folder: Path) -> None:
        """Count a run."""
        calls_needed = METHODS[run.variant].calls if run.variant in METHODS else 1
        episodes = list(_lines(folder / "episodes.jsonl", _Episode))
        self.runs += 1
        self.seconds += sum(episode.seconds for episode in episodes)
        self.needed += len(episodes) * calls_needed
        prompts = tokens = characters = 0
        for call in _lines(folder / "calls.jsonl", _Call):
            if call.prompt_tokens is not None:
                prompts += 1
                tokens += call.prompt_tokens
                characters += len(call.prompt)
            if call.completion_tokens is not None:
                self.answered += 1
                self.answer_tokens += call.completion_tokens
        self.counted += prompts
        self.characters += characters
        self.prompt_tokens += tokens
        if prompts and run.iterations is not None and len(episodes) >= run.iterations:
            self.per_call[run.condition, run.env, run.variant] = tokens / prompts


def measure(out: Path, backend: str, model: str) -> tuple[Measured, Measured]:
    """Look at the records of a model, and at those of baselines.

    Args:
        out: folder that holds the conditions; it need not exist.
        backend: of the model.
        model: its name.
    """
    asked, trained = Measured(), Measured()
    for run, folder in _furthest(out):
        if run.variant in BASELINES:
            trained.add(run, folder)
        elif (run.backend, run.model) == (backend, model):
            asked.add(run, folder)
    return asked, trained


def _furthest(out: Path) -> Iterator[tuple[Run, Path]]:
    """The run of each cell that holds most; what cannot be read is left to those who will need it."""
    best: dict[Cell, tuple[int, Run, Path]] = {}
    for path in sorted(out.glob("*/*/*/run-*/run.json")):
        try:
            run = decode_run(read_regular(path, RUN))
            size = (path.parent / "episodes.jsonl").stat().st_size
        except (RecordError, OSError):
            continue
        cell = (run.condition, run.env, run.variant)
        if cell not in best or size > best[cell][0]:
            best[cell] = (size, run, path.parent)
    for _, run, folder in best.values():
        yield run, folder


def _lines(path: Path, kind: type[_Line]) -> Iterator[_Line]:
    """The records of a file, those that can be read."""
    decoder = msgspec.json.Decoder(kind)
    try:
        lines = read_regular(path, RECORDS).splitlines()
    except OSError:
        return
    for line in lines:
        try:
            yield decoder.decode(line)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            continue
