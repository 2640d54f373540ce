"""A recorder for anybody's loop: what a reflector was shown, what it answered, and how its revision scored."""

from __future__ import annotations

import atexit
import math
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import msgspec

from audit.recorders.candidates import Item, Scores, Text
from audit.recorders.iteration import Iteration, RunLog, current
from audit.recorders.run_files import RecorderError, RunFiles
from collector.records import TEXT_SCHEMA, EvidenceKind, MethodFacts, Run, SelectionRule

SHARED: Final = (
    "a second iteration began while one is open, in another thread or task: record each within "
    "`with recorder.iteration() as it:`, by the calls of `it`"
)


class Recorder:
    """Records a loop as native records, by three calls per iteration: `shown`, `answered`, `scored`.

    An interrupted run continues: the same folder, labels and run number append to its records, with the next iteration
    number. Where iterations overlap, in threads or tasks, each needs a handle: `with recorder.iteration() as it:`.

    Args:
        folder: the folder of the data set, which may hold many runs.
        env: the task.
        condition: a label for all that was chosen besides task and method.
        run: the number of the run, from 1.
        variant: the method's name.
        evidence: what the reflector is shown: a `batch` of the candidate's scored examples, a `pair` of a worse
            and a better one, or other `programs`.
        selection_rule: which candidate is kept: the revised one where its mean is not lower (`better`), where it
            is higher (`strict`), `always`, or all of them in a `pool`. Rounding makes no mean higher or lower.
        score_range: the lowest and the highest score that an example can have, where they are known. An iteration with
            a score beyond them is left out, which is a trouble.
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
        if score_range is not None and not -math.inf < score_range[0] < score_range[1] < math.inf:
            raise RecorderError(f"score_range is {tuple(score_range)}, not a lowest and a highest score")
        self._open = True
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
        self._log = RunLog(self.files, evidence)
        self.troubles = self._log.troubles
        self._own = Iteration(self._log)
        self._opened: ContextVar[object] = ContextVar("opened", default=None)
        atexit.register(self.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def iteration(self) -> Iteration:
        """A handle of one iteration, for a `with` block: of several at once, in threads or tasks, each has its own.

        It has the calls of the recorder. Within the block, the calls of the recorder itself are the handle's too, in
        the same thread or task and in tasks that begin there.
        """
        return Iteration(self._log)

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

        Raises:
            RecorderError: another thread or task has an iteration open, and neither has a handle.
        """
        with self._log.lock:
            self._here(begins=True).shown(
                text, scores, ids=ids, items=items, prompt=prompt, iteration=iteration, started=started
            )

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

        Raises:
            RecorderError: it is of a thread or task whose `shown` was refused.
        """
        self._here().answered(answer, text, thinking=thinking, completion=completion)

    def scored(self, scores: Scores, *, ids: Sequence[Any] | None = None, accepted: bool | None = None) -> None:
        """End the iteration: how the revised candidate scored, and whether it was kept.

        Args:
            scores: its score on each example.
            ids: which examples these are; without it, those of the initial candidate.
            accepted: whether it was kept; without it, by the selection rule.

        Raises:
            RecorderError: see `answered`.
        """
        self._here().scored(scores, ids=ids, accepted=accepted)

    def failed(self, error: BaseException | str) -> None:
        """End the iteration: the reflector was asked, and the call failed.

        Args:
            error: why; the first 1,000 characters are recorded.

        Raises:
            RecorderError: see `answered`.
        """
        self._here().failed(error)

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
        Iteration(self._log).passed(text, scores, ids=ids, iteration=iteration, error=error)

    def close(self) -> None:
        """Close the files, and warn of what could not be recorded."""
        if not self._open:
            return
        self._open = False
        self._own.end(None)
        self.files.close()
        self.troubles.summarize()
        atexit.unregister(self.close)

    def _here(self, *, begins: bool = False) -> Iteration:
        """The iteration that a call belongs to: of the innermost block around this thread or task, or the only one."""
        mine = (each for each in reversed(current.get()) if each.log is self._log and not each.left)
        found = next(mine, self._own)
        is_opener = found.opener is self._opened.get()
        if found.is_open and not is_opener and (begins or found.is_shared):
            if begins:
                self.troubles.note("shown", SHARED)
            found.is_shared = True
            raise RecorderError(SHARED)
        if begins:
            found.opener = object()
            self._opened.set(found.opener)
        return found


def _versions(packages: Sequence[str]) -> dict[str, str]:
    """Versions of those packages that are installed."""
    found = {}
    for package in packages:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found
