"""A recorder for anybody's loop: what a reflector was shown, what it answered, and how its revision scored."""

from __future__ import annotations

import atexit
import contextlib
import functools
import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from types import TracebackType
from typing import Any, Concatenate, Final, ParamSpec, Self

import msgspec

from audit.recorders.candidates import Text, components
from audit.recorders.iteration import Iteration, RunLog, current
from audit.recorders.run_files import RecorderError, RunFiles
from audit.recorders.troubles import guarded
from collector.records import TEXT_SCHEMA, EvidenceKind, MethodFacts, PoolMember, Run, SelectionRule

_P = ParamSpec("_P")

SHARED: Final = (
    "a second iteration began while one is open, in another thread or task: record each within "
    "`with recorder.iteration() as it:`, by the calls of `it`"
)


def _routed(
    method: Callable[Concatenate[Any, _P], None], *, begins: bool = False, alone: bool = False
) -> Callable[Concatenate[Any, _P], None]:
    """A call of an iteration as one of the recorder, which finds the iteration: one of its own, where it is `alone`."""

    @functools.wraps(method)
    def call(self: Recorder, /, *args: _P.args, **kwargs: _P.kwargs) -> None:
        with self._log.lock if begins else contextlib.nullcontext():
            method(Iteration(self._log) if alone else self._here(begins=begins), *args, **kwargs)

    return call


class Recorder:
    """Records a loop as native records, by three calls per iteration: `shown`, `answered`, `scored`.

    An interrupted run continues: the same folder, labels and run number append to its records, with the next iteration
    number. Where iterations overlap, in threads or tasks, each needs a handle: `with recorder.iteration() as it:`.
    The calls are those of `Iteration`; without a handle, they raise `RecorderError` in a thread or task beside the one
    that has an iteration open.

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

    shown = _routed(Iteration.shown, begins=True)
    answered = _routed(Iteration.answered)
    scored = _routed(Iteration.scored)
    failed = _routed(Iteration.failed)
    passed = _routed(Iteration.passed, alone=True)

    @guarded
    def joined(
        self,
        candidate: str | int,
        text: Text | None = None,
        *,
        parents: Sequence[str | int] = (),
        iteration: int | None = None,
        scores: Mapping[Any, float] | float | None = None,
    ) -> None:
        """Record that a candidate joined the pool, for `audit lineage`.

        Args:
            candidate: its name in the loop.
            text: all of its components.
            parents: names of those that it was made from: none of a seed, two of a merge.
            iteration: the iteration that revised its parent.
            scores: on the validation set, by example, or their mean.
        """
        by_example = (
            {str(name): float(score) for name, score in scores.items()} if isinstance(scores, Mapping) else None
        )
        mean = scores if by_example is None else statistics.fmean(by_example.values()) if by_example else None
        self.files.append(
            PoolMember(
                candidate=str(candidate),
                parents=[str(parent) for parent in parents],
                role="merge" if len(parents) > 1 else "revision" if parents else "seed",
                iteration=iteration,
                text=None if text is None else components(text),
                validation=None if mean is None else float(mean),  # type: ignore[arg-type]
                validation_scores=by_example,
            )
        )

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
