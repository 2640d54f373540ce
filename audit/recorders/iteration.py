"""One iteration while it is recorded, and what the iterations of a run share."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import msgspec

from audit.measures.rounding import sign_of_change
from audit.recorders.candidates import Item, Scores, Text, candidate, components, shown_items
from audit.recorders.messages import words
from audit.recorders.run_files import RunFiles
from audit.recorders.troubles import Troubles, guarded
from collector.records import Call, EvidenceKind, ShownItems, TextCandidate, TextEpisode, split_thinking


@dataclass(kw_only=True)
class _Draft:
    """What is known of an iteration so far."""

    iteration: int
    started: float
    initial: TextCandidate
    evidence: ShownItems | None
    prompt: str | None
    answer: str | None = None
    thinking: str | None = None
    completion: str | None = None
    tokens: tuple[int | None, int | None] = (None, None)
    text: dict[str, str] | None = None
    answered: bool = False


class RunLog:
    """What all iterations of a run are written to, from several threads at once.

    Args:
        files: the run's files.
        evidence: what the reflector is shown.

    Attributes:
        lock: held while a number is taken and while records are written.
    """

    def __init__(self, files: RunFiles, evidence: EvidenceKind) -> None:
        self.files = files
        self.evidence: EvidenceKind = evidence
        self.troubles = Troubles(files.folder)
        self.lock = threading.RLock()
        self._taken: set[int] = set()
        self._process = os.getpid()

    def take(self, iteration: int | None) -> int:
        """Take a number for an iteration, the next free one unless it is given.

        Raises:
            ValueError: it is taken, or this is a fork of the process that opened the run.
        """
        # Of two processes each would take the same numbers.
        if os.getpid() != self._process:
            raise ValueError("a recorder belongs to the process that opened it; open one here, with another run number")
        with self.lock:
            recorded = self.files.recorded
            if iteration is None:
                iteration = max(max(recorded, default=-1), max(self._taken, default=-1)) + 1
            if iteration in recorded or iteration in self._taken:
                raise ValueError(
                    f"iteration {iteration} is already recorded and is left out; another run needs another run number"
                )
            self._taken.add(iteration)
            return iteration

    def free(self, iteration: int) -> None:
        """Give back the number of an iteration that is not recorded, or is by now."""
        with self.lock:
            self._taken.discard(iteration)

    def keeps(self, initial: TextCandidate, revised: TextCandidate) -> bool:
        """Whether the run's rule of selection keeps a revised candidate."""
        run = self.files.run
        scores = (*(initial.returns or ()), *(revised.returns or ()))
        change = sign_of_change(initial.mean_return, revised.mean_return, run.score_range or None, scores)
        return change > 0 if run.selection_rule == "strict" else run.selection_rule != "better" or change >= 0

    def write(
        self, draft: _Draft, revised: TextCandidate | None, *, accepted: bool = False, error: str | None = None
    ) -> None:
        """Write the records of an iteration.

        Raises:
            RecordError: a value that its field cannot have.
            OSError: they cannot be written.
        """
        run = self.files.run
        seconds = time.monotonic() - draft.started
        identity: dict[str, Any] = {
            "condition": run.condition,
            "env": run.env,
            "variant": run.variant,
            "run": run.run,
            "iteration": draft.iteration,
        }
        call = Call(
            **identity,
            role="critic",
            attempt=1,
            prompt=draft.prompt or "",
            completion=draft.completion or "",
            thinking=draft.thinking,
            model=run.model or "",
            prompt_tokens=draft.tokens[0],
            completion_tokens=draft.tokens[1],
            seconds=seconds,
            error=None if revised else error or "no revised text in the answer",
        )
        episode = TextEpisode(
            **identity,
            initial=draft.initial,
            revised=revised,
            revision_status="ok" if revised else "unreadable" if draft.answered else "none",
            selected="revised" if revised and accepted else "initial",
            evidence=draft.evidence,
            seconds=seconds,
            error=msgspec.UNSET if error is None else error,
        )
        with self.lock:
            if draft.prompt is not None and draft.answered:
                self.files.append(call)
            self.files.append(episode)


class Iteration:
    """Records one iteration by three calls: `shown`, `answered`, `scored`.

    `Recorder.iteration` gives one, as a context manager. An exception that leaves its block before `answered` is
    recorded as that of a failed reflection; after it, the iteration is left out, which is a trouble.

    Attributes:
        log: what it is written to.
        troubles: what could not be recorded.
        left: whether its block has ended.
        opener: marks the thread or task that began it by a call of the recorder.
        is_shared: whether another one has tried to.
    """

    def __init__(self, log: RunLog) -> None:
        self.log = log
        self.troubles = log.troubles
        self._draft: _Draft | None = None
        # One iteration, one trouble: what belongs to an iteration that cannot be recorded is passed over.
        self._lost = False
        self.left = False
        self.opener: object = None
        self.is_shared = False

    @property
    def is_open(self) -> bool:
        """Whether something was shown, and the iteration has not ended yet."""
        return self._draft is not None

    def __enter__(self) -> Self:
        current.set((*current.get(), self))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        current.set(tuple(each for each in current.get() if each is not self))
        self.left = True
        self.end(value)

    @guarded
    def shown(
        self,
        text: Text,
        scores: Scores,
        *,
        ids: Sequence[Any] | None = None,
        items: Sequence[str | Item] | None = None,
        prompt: str | None = None,
        iteration: int | None = None,
        started: float | None = None,
    ) -> None:
        """Begin an iteration: a candidate, how it scored, and what the reflector is shown of that.

        Args:
            text: the candidate that is to be revised.
            scores: its score on each example.
            ids: which examples these are. Revisions are compared on the same examples where both have them.
            items: what is shown, in the order of display: a text per score, or items. Without it, all examples are
                shown in their order, as "Example 1" and so on; an empty list where it is not known.
            prompt: the reflector's prompt in full.
            iteration: its number, where the loop counts by itself; it must not be recorded yet.
            started: when it began, by `time.monotonic`; now, if it is not given.
        """
        self.end(None)
        self._lost = True
        draft = self._begin(text, scores, ids, iteration, prompt)
        try:
            draft.started = draft.started if started is None else started
            if shown := shown_items(draft.initial, items):
                draft.evidence = ShownItems(kind=self.log.evidence, shown=shown)
        except Exception:
            self.log.free(draft.iteration)
            raise
        self._draft, self._lost = draft, False

    @guarded
    def answered(
        self,
        answer: str | None,
        text: Text | None,
        *,
        thinking: str | None = None,
        completion: str | None = None,
        tokens: tuple[int | None, int | None] = (None, None),
    ) -> None:
        """Add the reflector's answer.

        Args:
            answer: the model's text in full; None where it is not known. Thinking inside it is taken out.
            text: the revised candidate: all components, or those that the answer changes. None where the answer has
                none, which ends the iteration.
            thinking: the model's thinking, if it gives any.
            completion: what the model wrote, where `answer` is the part of it that gives reasons.
            tokens: of the prompt and of the completion, where they are counted.
        """
        if self._lost:
            return
        with self._closing("answered") as draft:
            if draft.answered:
                raise ValueError("answered twice; iterations that overlap need `recorder.iteration()` each")
            parts = {} if text is None else components(text)
            completion, thought = _apart(answer if completion is None else completion, thinking, parts)
            draft.answer, draft.thinking = _apart(answer, thinking, parts)
            draft.thinking = draft.thinking or thought
            draft.completion, draft.answered, draft.tokens = completion, True, tokens
            if text is None:
                self.log.write(draft, None)
            else:
                draft.text = {**(draft.initial.text or {}), **parts}
                self._draft = draft

    @guarded
    def scored(self, scores: Scores, *, ids: Sequence[Any] | None = None, accepted: bool | None = None) -> None:
        """End the iteration: how the revised candidate scored, and whether it was kept.

        Args:
            scores: its score on each example.
            ids: which examples these are; without it, those of the initial candidate.
            accepted: whether it was kept; without it, by the selection rule.
        """
        if self._lost:
            return
        if self._draft is not None and self._draft.text is None:
            raise ValueError("no answer with a text came before")
        with self._closing("scored") as draft:
            names = draft.initial.example_ids if ids is None else ids
            answer = {"answer": draft.answer, "thinking": draft.thinking}
            revised = candidate(draft.text or {}, scores, names, self.log.files.run.score_range or None, **answer)
            kept = self.log.keeps(draft.initial, revised) if accepted is None else accepted
            self.log.write(draft, revised, accepted=kept)

    @guarded
    def failed(self, error: BaseException | str) -> None:
        """End the iteration: the reflector was asked, and the call failed.

        Args:
            error: why; the first 1,000 characters are recorded.
        """
        if self._lost:
            return
        with self._closing("failed") as draft:
            if draft.answered:
                raise ValueError("an answer came before, so the reflection has not failed")
            draft.answered = True
            self.log.write(draft, None, error=words(error))

    @guarded
    def passed(
        self,
        text: Text,
        scores: Scores,
        *,
        ids: Sequence[Any] | None = None,
        iteration: int | None = None,
        error: BaseException | str | None = None,
    ) -> None:
        """Record an iteration in which the reflector was not asked, such as one with perfect scores.

        Args:
            text: the candidate.
            scores: its score on each example.
            ids: which examples these are.
            iteration: its number, where the loop counts by itself.
            error: what failed before it could be asked.
        """
        draft = self._begin(text, scores, ids, iteration, None)
        try:
            self.log.write(draft, None, error=None if error is None else words(error))
        finally:
            self.log.free(draft.iteration)

    def end(self, error: BaseException | None) -> None:
        """End whatever is open: a reflection that failed by an exception, or what was never scored."""
        draft = self._draft
        if draft is None:
            return
        if isinstance(error, Exception) and not draft.answered:
            self.failed(error)
            return
        self._draft = None
        self.log.free(draft.iteration)
        why = "" if error is None else f" ({words(error)})"
        self.troubles.note("shown", f"iteration {draft.iteration} was never scored{why}; it is left out")

    def _begin(
        self, text: Text, scores: Scores, ids: Sequence[Any] | None, iteration: int | None, prompt: str | None
    ) -> _Draft:
        initial = candidate(components(text), scores, ids, self.log.files.run.score_range or None)
        number = self.log.take(iteration)
        return _Draft(iteration=number, started=time.monotonic(), initial=initial, evidence=None, prompt=prompt)

    @contextlib.contextmanager
    def _closing(self, event: str) -> Any:
        """The draft, which is no longer open within the block, and is lost unless that ends well."""
        draft, self._draft = self._draft, None
        if draft is None:
            raise ValueError(f"nothing was shown before {event}")
        self._lost = True
        try:
            yield draft
        finally:
            if self._draft is None:
                self.log.free(draft.iteration)
        self._lost = False


current: ContextVar[tuple[Iteration, ...]] = ContextVar("current", default=())
"""The iterations within whose blocks this thread or task is, of any recorder."""


def _apart(text: str | None, thinking: str | None, proposed: dict[str, str]) -> tuple[str | None, str | None]:
    return (text, thinking) if text is None else split_thinking(text, thinking, proposed=proposed.values())
