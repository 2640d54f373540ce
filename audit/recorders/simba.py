"""Record DSPy's SIMBA, which keeps nothing on the disk: `with simba.record("data/runs", env="tickets"): …`.

SIMBA runs several programs on each example of a batch. For an example with a better and a worse run it shows a model
both trajectories, the worse one first, and appends the advice that it gets to the instructions of a program of its
pool. Each such step is an iteration; the candidate is the program's instructions, and every candidate joins the pool.
"""

from __future__ import annotations

import contextlib
import functools
import json
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from audit.recorders.candidates import Item
from audit.recorders.messages import answer_fields, plain_text, words
from audit.recorders.recorder import Recorder
from audit.recorders.run_files import RecorderError
from audit.recorders.troubles import Troubles, guarded

__all__ = ["SIMBARecorder", "record"]

_MODULE: Final = "dspy.teleprompt.simba"
_ADVISING: Final = "append_a_rule"
"""The strategy that asks a model for advice."""


@dataclass(eq=False)
class _Run:
    """A program on an example; `program` is its number in the pool, or None for a new candidate."""

    program: int | None = None
    candidate: Any = None
    example: Any = None
    score: float | None = None


@dataclass(kw_only=True, eq=False)
class _Step:
    """One use of the strategy that asks for advice."""

    number: int
    system: Any
    before: dict[str, str]
    scores: list[float]
    ids: list[str]
    asked: bool = False
    items: list[Item] = field(default_factory=list)
    after: dict[str, str] | None = None
    prompt: str | None = None
    answer: str | None = None
    error: str | None = None
    started: float = field(default_factory=time.monotonic)


@contextlib.contextmanager
def record(
    folder: str | Path,
    *,
    env: str,
    condition: str = "simba",
    run: int = 1,
    score_range: tuple[float, float] | None = None,
    model: str | None = None,
) -> Iterator[SIMBARecorder]:
    """Record every `SIMBA.compile` within the block, one after another.

    The initial candidate's scores are those of the runs of its program on the same batch, or else its latest ones. They
    are not of the same examples as the revised candidate's, and are sampled at a temperature of 1.

    Args:
        folder: the folder of the data set, which may hold many runs.
        env: the task.
        condition: a label for all that was chosen besides task and method.
        run: the number of the run, from 1.
        score_range: the lowest and the highest score that an example can have, where they are known.
        model: the model that gives advice.

    Raises:
        RecorderError: DSPy is not imported, or the folder cannot be recorded into.
    """
    module = sys.modules.get(_MODULE)
    if module is None:
        raise RecorderError("DSPy's SIMBA is not imported; `import dspy` before recording it")
    if not hasattr(module, "wrap_program") or not hasattr(module, "SIMBA"):
        raise RecorderError("this version of DSPy has another SIMBA than 3.4, which cannot be recorded")
    recorder = SIMBARecorder(
        Recorder(
            folder,
            env=env,
            condition=condition,
            run=run,
            variant="simba",
            evidence="pair",
            selection_rule="pool",
            score_range=score_range,
            model=model,
            backend="simba",
            packages=("dspy",),
        )
    )
    try:
        with _observed(module, recorder):
            yield recorder
    finally:
        recorder.close()


@contextlib.contextmanager
def _observed(module: ModuleType, recorder: SIMBARecorder) -> Iterator[None]:
    """Put the recorder between SIMBA and the functions that it calls."""
    wrap_program, compile_ = module.wrap_program, module.SIMBA.compile
    alone = threading.Lock()

    @functools.wraps(compile_)
    def compile_recorded(optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        if not alone.acquire(blocking=False):
            raise RecorderError("a second SIMBA.compile began meanwhile; only one at a time can be recorded")
        try:
            return compile_alone(optimizer, *args, **kwargs)
        finally:
            alone.release()

    def compile_alone(optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        strategies = getattr(optimizer, "strategies", [])
        advising = [each for each in strategies if getattr(each, "__name__", "") == _ADVISING]
        optimizer.strategies = [recorder.around(each, advises=each in advising) for each in strategies]
        recorder.began(kwargs, advised=bool(advising))
        try:
            return compile_(optimizer, *args, **kwargs)
        finally:
            optimizer.strategies = strategies
            recorder.ended()

    def wrap_recorded(program: Any, metric: Callable[..., Any]) -> Callable[[Any], Any]:
        wrapped, run = wrap_program(program, metric), _Run()
        recorder.wrapped(run, program)

        def call(example: Any) -> Any:
            result = wrapped(example)
            recorder.ran(run, example, result)
            return result

        return call

    module.wrap_program, module.SIMBA.compile = wrap_recorded, compile_recorded  # type: ignore[attr-defined]
    try:
        yield
    finally:
        module.wrap_program, module.SIMBA.compile = wrap_program, compile_  # type: ignore[attr-defined]


class SIMBARecorder:
    """What `record` gives: joins what SIMBA's functions are called with into iterations.

    Attributes:
        troubles: what could not be recorded.
    """

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._next = max(recorder.files.recorded, default=-1) + 1
        self._ids: dict[int, str] = {}
        self._trainset: list[Any] = []
        self._steps: list[_Step] = []
        self._made: list[Any] = []
        self._runs: list[_Run] = []
        self._known: dict[int, list[_Run]] = {}

    @property
    def troubles(self) -> Troubles:
        """What could not be recorded."""
        return self._recorder.troubles

    def close(self) -> None:
        """Close the files, and warn of what could not be recorded."""
        self._recorder.close()

    @guarded
    def began(self, arguments: Mapping[str, Any], *, advised: bool) -> None:
        """SIMBA begins: examples are named by their place in the training set."""
        if not advised:
            self.troubles.note("began", f"no strategy of SIMBA is {_ADVISING}; nothing is recorded")
        self._trainset = list(arguments.get("trainset") or [])
        self._ids = {id(example): str(place) for place, example in enumerate(self._trainset)}
        self._recorder.files.describe(seed=arguments.get("seed", 0), options={"trainset_size": len(self._trainset)})

    @guarded
    def ended(self) -> None:
        """SIMBA ends."""
        self._finish_batch()
        self._known.clear()

    @guarded
    def wrapped(self, run: _Run, program: Any) -> None:
        """A program is about to run on an example: one of the pool, or a candidate that the strategies have made."""
        if any(program is made for made in self._made):
            run.candidate = program
        else:
            if self._runs and self._runs[-1].candidate is not None:
                self._finish_batch()
            run.program = getattr(program, "simba_idx", None)
        self._runs.append(run)

    @guarded
    def ran(self, run: _Run, example: Any, result: Mapping[str, Any]) -> None:
        """It has run."""
        run.score, run.example = float(result["score"]), example

    def around(self, strategy: Callable[..., Any], *, advises: bool) -> Callable[..., Any]:
        """A strategy whose candidates are known, and whose uses are recorded if it asks for advice."""

        @functools.wraps(strategy)
        def call(bucket: list[dict[str, Any]], system: Any, **options: Any) -> Any:
            self._made.append(system)
            if not advises:
                return strategy(bucket, system, **options)
            history = getattr(options.get("prompt_model"), "history", None) or []
            last = history[-1] if history else None
            self.step_began(system)
            done, error = False, None
            try:
                done = strategy(bucket, system, **options)
            except Exception as raised:
                error = words(raised)
                raise
            finally:
                self.step_ended(bucket, system, options.get("prompt_model"), last, done, error)
            return done

        return call

    @guarded
    def step_began(self, system: Any) -> None:
        """A program of the pool is about to be revised."""
        number: int = system.simba_idx
        here = [run for run in self._runs if run.program == number and run.score is not None]
        runs = here or self._known.get(number, [])
        self._steps.append(
            _Step(
                number=self._next,
                system=system,
                before=_instructions(system),
                scores=[run.score for run in runs if run.score is not None],
                ids=[self._example_id(run.example) for run in runs],
            )
        )
        self._next += 1

    @guarded
    def step_ended(
        self, bucket: list[dict[str, Any]], system: Any, model: Any, last: Any, done: bool, error: str | None
    ) -> None:
        """It is revised, or the model was not asked, or its advice could not be used."""
        step = next(step for step in reversed(self._steps) if step.system is system)
        call = _last_call(model, last)
        step.asked, step.error = bool(done) or call is not None, error
        if not step.asked:
            return
        step.prompt, step.answer = call or (None, None)
        # The strategy has replaced the score of a side that it does not show.
        step.items = [
            Item(
                label="worst", score=_number(bucket[-1]), text=_trajectory(bucket[-1]), name="worse_program_trajectory"
            ),
            Item(label="best", score=_number(bucket[0]), text=_trajectory(bucket[0]), name="better_program_trajectory"),
        ]
        if done:
            step.after = _instructions(system)

    def _finish_batch(self) -> None:
        """Record the steps of a batch: their candidates have been scored and are in the pool."""
        steps, self._steps = self._steps, []
        runs, self._runs = self._runs, []
        self._made = []
        latest: dict[int, list[_Run]] = {}
        for run in runs:
            # In the pool, a candidate has a number of its own.
            number = run.program if run.candidate is None else getattr(run.candidate, "simba_idx", None)
            if number is not None and run.score is not None:
                latest.setdefault(number, []).append(run)
        self._known |= latest
        for step in steps:
            self._record(step, [run for run in runs if run.candidate is step.system and run.score is not None])

    def _record(self, step: _Step, runs: list[_Run]) -> None:
        if not step.asked:
            self._recorder.passed(step.before, step.scores, ids=step.ids, iteration=step.number, error=step.error)
            return
        it = self._recorder.iteration()
        it.shown(
            step.before,
            step.scores,
            ids=step.ids,
            items=step.items,
            prompt=step.prompt,
            iteration=step.number,
            started=step.started,
        )
        reasons = answer_fields(step.answer or "").get("discussion", step.answer)
        it.answered(reasons, step.after, completion=step.answer)
        if step.after is not None:
            scores = [run.score for run in runs if run.score is not None]
            it.scored(scores, ids=[self._example_id(run.example) for run in runs], accepted=True)

    def _example_id(self, example: Any) -> str:
        return self._ids.get(id(example)) or next(
            (str(place) for place, each in enumerate(self._trainset) if each == example), repr(example)
        )


def _instructions(system: Any) -> dict[str, str]:
    return {name: predictor.signature.instructions for name, predictor in system.named_predictors()}


def _number(run: Mapping[str, Any]) -> float | None:
    return float(run["score"]) if isinstance(run["score"], (int, float)) else None


def _trajectory(run: Mapping[str, Any]) -> str:
    """The inputs and outputs of a run's calls, as JSON."""
    calls = [{"inputs": dict(inputs), "outputs": dict(outputs)} for _, inputs, outputs in run["trace"] or []]
    return json.dumps(calls, default=str, ensure_ascii=False)


def _last_call(model: Any, last: Any) -> tuple[str, str] | None:
    """Prompt and answer of the newest call in the history of a model of DSPy, if it is newer than `last`."""
    history = getattr(model, "history", None) or []
    if not history or history[-1] is last:
        return None
    entry = history[-1]
    return plain_text(entry.get("messages") or entry.get("prompt") or ""), plain_text((entry.get("outputs") or [""])[0])
