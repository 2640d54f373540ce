"""A recorder for anybody's loop: what a reflector was shown, what it answered, and how its revision scored."""

from __future__ import annotations

import atexit
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec

from audit.recorders.candidates import Item, Scores, Text, candidate, components, shown_items
from audit.recorders.run_files import RunFiles
from audit.recorders.troubles import Troubles, guarded
from collector.records import (
    TEXT_SCHEMA,
    Call,
    EvidenceKind,
    MethodFacts,
    Run,
    SelectionRule,
    ShownItems,
    TextCandidate,
    TextEpisode,
    split_thinking,
)


@dataclass(kw_only=True)
class _Draft:
    """An iteration that is being recorded."""

    iteration: int
    started: float
    initial: TextCandidate
    evidence: ShownItems | None
    prompt: str | None
    answer: str | None = None
    thinking: str | None = None
    completion: str | None = None
    text: dict[str, str] | None = None
    answered: bool = False


class Recorder:
    """Records a loop as native records, by three calls per iteration: `shown`, `answered`, `scored`.

    An interrupted run continues: the same folder, labels and run number append to its records, with the next iteration
    number. One recorder serves one loop, and is not to be called from several threads at once.

    Args:
        folder: the folder of the data set, which may hold many runs.
        env: the task.
        condition: a label for all that was chosen besides task and method.
        run: the number of the run, from 1.
        variant: the method's name.
        evidence: what the reflector is shown: a `batch` of the candidate's scored examples, a `pair` of a worse
            and a better one, or other `programs`.
        selection_rule: which candidate is kept: the revised one where its mean is not lower (`better`), where it
            is higher (`strict`), `always`, or all of them in a `pool`.
        score_range: the lowest and the highest score that an example can have, where they are known.
        model: the reflector's model.
        backend: the tool that runs the loop.
        seed: the run's seed.
        iterations: iterations planned.
        options: settings of the tool; no secrets.
        packages: installed packages whose versions are recorded.

    Attributes:
        troubles: what could not be recorded.

    Raises:
        RecorderError: the folder cannot be recorded into.
    """

    def __init__(
        self,
        folder: str | Path,
        *,
        env: str,
        condition: str = "recorded",
        run: int = 1,
        variant: str = "recorded",
        evidence: EvidenceKind = "batch",
        selection_rule: SelectionRule = "better",
        score_range: tuple[float, float] | None = None,
        model: str | None = None,
        backend: str = "recorder",
        seed: int | None = None,
        iterations: int | None = None,
        options: Mapping[str, Any] | None = None,
        packages: Sequence[str] = (),
    ) -> None:
        self._rule = selection_rule
        self._kind = evidence
        self._draft: _Draft | None = None
        self._open = True
        # One iteration, one trouble: what belongs to an iteration that cannot be recorded is passed over.
        self._lost = False
        self.files = RunFiles(
            Path(folder),
            Run(
                condition=condition,
                env=env,
                variant=variant,
                run=run,
                seed=seed,
                iterations=iterations,
                rollouts=None,
                tau_c=None,
                optimum=None,
                step_size=None,
                warmup=[],
                backend=backend,
                model=model,
                options=dict(options or {}),
                switches={},
                thresholds=None,
                method=MethodFacts(
                    second="critic",
                    evidence=evidence,
                    commits="better" if selection_rule in ("better", "strict") else "revised",
                ),
                prompts={},
                versions=_versions(packages),
                started_at=datetime.now(UTC).isoformat(timespec="seconds"),
                candidates="text",
                selection_rule=selection_rule,
                score_range=msgspec.UNSET if score_range is None else score_range,
                schema=TEXT_SCHEMA,
            ),
        )
        self.troubles = Troubles(self.files.folder)
        atexit.register(self.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

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
        before, self._draft, self._lost = self._draft, None, True
        self._draft = self._begin(text, scores, ids, iteration, prompt)
        self._draft.started = self._draft.started if started is None else started
        if shown := shown_items(self._draft.initial, items):
            self._draft.evidence = ShownItems(kind=self._kind, shown=shown)
        if before is not None:
            self.troubles.note("shown", f"iteration {before.iteration} was never scored; it is left out")
        self._lost = False

    @guarded
    def answered(
        self, answer: str | None, text: Text | None, *, thinking: str | None = None, completion: str | None = None
    ) -> None:
        """Add the reflector's answer.

        Args:
            answer: the model's text in full; None where it is not known. Thinking inside it is taken out.
            text: the revised candidate: all components, or those that the answer changes. None where the answer has
                none, which ends the iteration.
            thinking: the model's thinking, if it gives any.
            completion: what the model wrote, where `answer` is the part of it that gives reasons.
        """
        if self._lost:
            return
        draft = self._current("answered")
        self._draft, self._lost = None, True
        proposed = [] if text is None else list(components(text).values())
        completion, thought = _apart(answer if completion is None else completion, thinking, proposed)
        draft.answer, draft.thinking = _apart(answer, thinking, proposed)
        draft.thinking = draft.thinking or thought
        draft.completion, draft.answered = completion, True
        if text is None:
            self._write(draft, None, accepted=False)
        else:
            draft.text = {**(draft.initial.text or {}), **components(text)}
            self._draft = draft
        self._lost = False

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
        draft = self._current("scored")
        if draft.text is None:
            raise ValueError("no answer with a text came before")
        names = draft.initial.example_ids if ids is None else ids
        revised = candidate(draft.text, scores, names, answer=draft.answer, thinking=draft.thinking)
        self._write(draft, revised, accepted=self._kept(draft.initial, revised) if accepted is None else accepted)

    @guarded
    def passed(
        self, text: Text, scores: Scores, *, ids: Sequence[Any] | None = None, iteration: int | None = None
    ) -> None:
        """Record an iteration in which the reflector was not asked, such as one with perfect scores."""
        self._draft = self._begin(text, scores, ids, iteration, None)
        self._write(self._draft, None, accepted=False)

    def close(self) -> None:
        """Close the files, and warn of what could not be recorded."""
        if not self._open:
            return
        self._open = False
        if self._draft is not None:
            self.troubles.note("close", f"iteration {self._draft.iteration} was never scored; it is left out")
        self.files.close()
        self.troubles.summarize()
        atexit.unregister(self.close)

    def _begin(
        self, text: Text, scores: Scores, ids: Sequence[Any] | None, iteration: int | None, prompt: str | None
    ) -> _Draft:
        number = max(self.files.recorded, default=-1) + 1 if iteration is None else iteration
        if number in self.files.recorded:
            raise ValueError(
                f"iteration {number} is already recorded and is left out; another run needs another run number"
            )
        initial = candidate(components(text), scores, ids)
        return _Draft(iteration=number, started=time.monotonic(), initial=initial, evidence=None, prompt=prompt)

    def _current(self, event: str) -> _Draft:
        if self._draft is None:
            raise ValueError(f"nothing was shown before {event}")
        return self._draft

    def _kept(self, initial: TextCandidate, revised: TextCandidate) -> bool:
        if self._rule == "strict":
            return revised.mean_return > initial.mean_return
        return self._rule != "better" or revised.mean_return >= initial.mean_return

    def _write(self, draft: _Draft, revised: TextCandidate | None, *, accepted: bool) -> None:
        self._draft = None
        run = self.files.run
        seconds = time.monotonic() - draft.started
        identity: dict[str, Any] = {
            "condition": run.condition,
            "env": run.env,
            "variant": run.variant,
            "run": run.run,
            "iteration": draft.iteration,
        }
        if draft.prompt is not None and draft.answered:
            self.files.append(
                Call(
                    **identity,
                    role="critic",
                    attempt=1,
                    prompt=draft.prompt,
                    completion=draft.completion or "",
                    thinking=draft.thinking,
                    model=run.model or "",
                    prompt_tokens=None,
                    completion_tokens=None,
                    seconds=seconds,
                    error=None if revised else "no revised text in the answer",
                )
            )
        self.files.append(
            TextEpisode(
                **identity,
                initial=draft.initial,
                revised=revised,
                revision_status="ok" if revised else "unreadable" if draft.answered else "none",
                selected="revised" if revised and accepted else "initial",
                evidence=draft.evidence,
                seconds=seconds,
            )
        )


def _apart(
    text: str | None, thinking: str | None, proposed: Sequence[str]
) -> tuple[str | None, str | None]:
    return (text, thinking) if text is None else split_thinking(text, thinking, proposed=proposed)


def _versions(packages: Sequence[str]) -> dict[str, str]:
    """Versions of those packages that are installed."""
    found = {}
    for package in packages:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found
