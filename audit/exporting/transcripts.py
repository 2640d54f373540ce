"""Calls of a model one by one: prompt, answer, and which candidate of the records the answer proposed."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from audit.records.lines import RecordedRun, Records
from audit.sources.iterations import Iteration
from audit.sources.prompts import CALLS, calls_in, released_prompt
from audit.vocabulary.keys import RunKey
from collector.records import split_thinking

ID_DIGITS = 22
"""Hexadecimal digits of an identifier: 88 bits."""


class RecordedCall(msgspec.Struct, frozen=True, kw_only=True):
    """What is read of a line of `calls.jsonl`; only `iteration` and `role` have to be in it."""

    condition: str | None = None
    env: str | None = None
    variant: str | None = None
    run: int | None = None
    iteration: int
    role: str
    attempt: int | None = None
    prompt: str | None = None
    completion: str | None = None
    thinking: str | None = None
    model: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    seconds: float | None = None
    error: str | None = None
    cut: str | None = None

    def is_of(self, run: RunKey) -> bool:
        """Whether nothing in the line names another run."""
        named = (self.condition, self.env, self.variant, self.run)
        return all(value is None or value == own for value, own in zip(named, run, strict=True))


class Transcript(msgspec.Struct, frozen=True, kw_only=True):
    """A prompt and its answer; None where it is not recorded.

    Attributes:
        key, iteration, role: whose it is; the role is `search` or `critic`.
        attempt: from 1; None where the calls of the run are not recorded.
        repeat: how many earlier calls have the same iteration, role and attempt: the second call of a control, or that
            of a run that was interrupted and resumed.
        candidate: `initial` or `revised`, whichever the answer proposed; None for an answer that proposed neither,
            since it was discarded.
        source_uri: the file that it is from, as people know it.
        started_at: when the run began.
        options: of the model, as JSON.
        seconds: how long the call took.
        error: why the answer was discarded.
        cut: why the answer ends early.
    """

    key: RunKey
    iteration: int
    role: str
    attempt: int | None
    repeat: int
    candidate: str | None
    source_uri: str
    started_at: str | None
    options: str | None
    prompt: str | None
    answer: str | None
    thinking: str | None
    model: str | None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    seconds: float | None = None
    error: str | None = None
    cut: str | None = None

    @property
    def transcript_id(self) -> str:
        """An identifier that depends on which call it is, and on nothing else: the same in every export."""
        parts = [*self.key, self.iteration, self.role, "" if self.attempt is None else self.attempt]
        parts += [self.repeat] if self.repeat else []
        return hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()[:ID_DIGITS]


@dataclass
class Tally:
    """What was found while transcripts were read.

    Attributes:
        transcripts: their number.
        without_prompt: those whose prompt is not recorded.
        no_calls: lines of `calls.jsonl` that are no calls of their run.
    """

    transcripts: int = 0
    without_prompt: int = 0
    no_calls: int = 0


@dataclass
class _Run:
    """A run that is read.

    Attributes:
        pending: hashes of the answers that proposed candidates, by iteration, of which no call has been found yet.
    """

    records: Records
    recorded: RecordedRun
    role: str
    tally: Tally
    pending: dict[int, tuple[tuple[str, int], ...]] = field(default_factory=dict)

    def transcripts(self) -> Iterator[Transcript]:
        # Texts are not kept: a run may have more of them than fit into memory.
        for iteration in self.records.iterations(self.recorded):
            if found := tuple((name, hash(answer)) for name, answer, _ in _answers(iteration, self.role)):
                self.pending[iteration.iteration] = found
        yield from self._of_calls()
        if self.pending:
            yield from self._of_records()

    def _of_calls(self) -> Iterator[Transcript]:
        repeats: Counter[tuple[int, int | None]] = Counter()
        for file in self.recorded.files:
            uri = str(Path(file.label).with_name(CALLS))
            for call in calls_in(file, RecordedCall):
                if call is None or not call.is_of(self.recorded.identity):
                    self.tally.no_calls += 1
                elif call.role == self.role:
                    yield self._of_call(call, uri, repeats)

    def _of_call(self, call: RecordedCall, uri: str, repeats: Counter[tuple[int, int | None]]) -> Transcript:
        repeat = repeats[call.iteration, call.attempt]
        repeats[call.iteration, call.attempt] += 1
        return self._made(
            iteration=call.iteration,
            attempt=call.attempt,
            repeat=repeat,
            candidate=None if call.error is not None else self._proposed(call),
            source_uri=uri,
            prompt=call.prompt,
            answer=call.completion,
            thinking=call.thinking,
            model=call.model,
            prompt_tokens=call.prompt_tokens,
            completion_tokens=call.completion_tokens,
            seconds=call.seconds,
            error=call.error,
            cut=call.cut,
        )

    def _proposed(self, call: RecordedCall) -> str | None:
        """The candidate that a call's answer proposed, which no other call's answer did."""
        pending = self.pending.get(call.iteration, ())
        digest = hash(call.completion)
        found = next((entry for entry in pending if entry[1] == digest), None)
        if found is None:
            return None
        rest = tuple(entry for entry in pending if entry is not found)
        if rest:
            self.pending[call.iteration] = rest
        else:
            del self.pending[call.iteration]
        return found[0]

    def _of_records(self) -> Iterator[Transcript]:
        """The answers whose calls are not recorded."""
        for iteration in self.records.iterations(self.recorded):
            wanted = {name for name, _ in self.pending.get(iteration.iteration, ())}
            for name, answer, thinking in _answers(iteration, self.role):
                if name in wanted:
                    yield self._made(
                        iteration=iteration.iteration,
                        attempt=None,
                        repeat=0 if self.role == "critic" or name == "initial" else 1,
                        candidate=name,
                        source_uri=getattr(iteration, "origin", self.recorded.files[0].label),
                        prompt=released_prompt(iteration, self.role),
                        answer=answer,
                        thinking=thinking,
                        model=None,
                    )

    def _made(self, *, answer: str | None, thinking: str | None, **facts: object) -> Transcript:
        run = self.recorded.run
        self.tally.transcripts += 1
        self.tally.without_prompt += facts["prompt"] is None
        if answer is not None:
            answer, thinking = split_thinking(answer, thinking)
        return Transcript(
            key=self.recorded.identity,
            role=self.role,
            started_at=run.started_at if run else None,
            options=msgspec.json.encode(run.options).decode() if run else None,
            answer=answer,
            thinking=thinking,
            **facts,  # type: ignore[arg-type]
        )


def transcripts(records: Records, runs: list[RecordedRun], role: str, tally: Tally) -> Iterator[Transcript]:
    """The calls of some runs that have a role, discarded answers included.

    An answer that no recorded call has is a transcript of its own, with the prompt if the log has it elsewhere.

    Args:
        records: where the runs are from.
        runs: those to read, in this order.
        role: `critic` or `search`.
        tally: counts what is found.
    """
    for run in runs:
        yield from _Run(records, run, role, tally).transcripts()


def _answers(iteration: Iteration, role: str) -> Iterator[tuple[str, str, str | None]]:
    """Candidates that a role proposed, with their answers and thinking."""
    for name, candidate in iteration.candidates():
        if candidate.source == role and candidate.answer is not None:
            yield name, candidate.answer, candidate.thinking
