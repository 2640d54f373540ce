"""Asking a model for judgements, through the collector's backends: several questions at once, each answer kept at once.

The one module here that needs a model client.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from audit.judging.file import JudgementFile
from audit.judging.questions import Question, sha256
from audit.judging.verdicts import VERDICT_FORM, UnreadableVerdictError, Verdict, is_quoted, read_verdict
from audit.output.errors import AuditError, UsageError
from audit.output.escaping import visible
from audit.sources.judgements import Judgement
from collector import errors, seeding
from collector.llm.backends import make_model
from collector.llm.faults import UnusableAnswerError
from collector.llm.protocol import Completion, Model

Judge: TypeAlias = Model
"""The model that is asked, for modules that need nothing else of the collector."""

BACKENDS: Final = ("local", "ollama", "openai")
ATTEMPTS: Final = 3
"""Attempts at one judgement whose reply cannot be read."""


@dataclass(frozen=True, slots=True)
class Task:
    """A question to be asked, after so many attempts that earlier judgements made."""

    question: Question
    attempts_before: int = 0


@dataclass(slots=True)
class _Cost:
    """What the attempts at one judgement took; tokens are None where the server does not count them."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    began: float = field(default_factory=time.monotonic)

    def add(self, completion: Completion) -> None:
        self.prompt_tokens = _sum(self.prompt_tokens, completion.prompt_tokens)
        self.completion_tokens = _sum(self.completion_tokens, completion.completion_tokens)


def make_judge(backend: str, *, on_wait: Callable[[str, float], None], **options: Any) -> Judge:
    """The model that judges.

    Args:
        backend: `local`, `ollama` or `openai`.
        on_wait: called before a wait, with its reason and its seconds.
        options: as `collector.llm.backends.make_model` takes them.

    Raises:
        UsageError: no such backend, or an option that it does not support.
    """
    if backend == "simulated":
        raise UsageError(
            "the simulated backend has no judge; --backend local, ollama or openai asks a model, and the rules of the "
            "detector driver need none"
        )
    if backend not in BACKENDS:
        raise UsageError(f"unknown backend '{backend}'; choose from {', '.join(BACKENDS)}")
    with _translated():
        return make_model(backend, on_wait=on_wait, **options)


def ask_all(
    tasks: Sequence[Task],
    model: Model,
    file: JudgementFile,
    *,
    concurrency: int,
    seed: int,
    on_judged: Callable[[], None],
) -> None:
    """Ask all questions, so many of them at once.

    When the model or the disk fails, no further question is asked, and what is in flight is waited for.

    Args:
        tasks: what to ask.
        model: the judge; it is closed at the end.
        file: where judgements go.
        concurrency: calls in flight at once.
        seed: the calls' seeds are made from it, from the prompt and from the number of the attempt.
        on_judged: called after each judgement, which is on the disk by then.

    Raises:
        AuditError: the model cannot be used or fails, or the file cannot be written.
        KeyboardInterrupt: Ctrl-C; what was judged is in the file.
    """

    async def run() -> None:
        try:
            await model.check()
            await _work(tasks, model, file, concurrency, seed, on_judged)
        finally:
            await model.aclose()

    with _translated():
        asyncio.run(run())


async def _work(
    tasks: Sequence[Task],
    model: Model,
    file: JudgementFile,
    concurrency: int,
    seed: int,
    on_judged: Callable[[], None],
) -> None:
    waiting = iter(tasks)
    failures: list[Exception] = []

    async def work() -> None:
        for task in waiting:
            try:
                judgement = await _judge(task, model, seed)
                # Not in a thread: an interrupt must find a judgement written or not begun.
                file.append(judgement)
            except (errors.CollectorError, AuditError) as error:
                failures.append(error)
                return
            on_judged()
            if failures:
                return

    async with asyncio.TaskGroup() as group:
        for _ in range(min(concurrency, len(tasks))):
            group.create_task(work())
    if failures:
        raise failures[0]


async def _judge(task: Task, model: Model, seed: int) -> Judgement:
    question, prompt = task.question, task.question.prompt()
    prompt_sha256 = sha256(prompt)
    cost = _Cost()
    verdict: Verdict | None = None
    for attempt in range(task.attempts_before + 1, task.attempts_before + ATTEMPTS + 1):
        # 31 bits, since some servers keep seeds as signed numbers.
        call_seed = seeding.seeds(seed, 1, "judge", prompt_sha256, attempt)[0] >> 1
        completion = await _complete(model, prompt, call_seed)
        cost.add(completion)
        if (error := completion.fault) is not None:
            continue
        try:
            verdict = read_verdict(completion.text)
            break
        except UnreadableVerdictError as reason:
            error = completion.cut or str(reason)
    condition, env, variant, run, iteration = question.identity
    return Judgement(
        condition=condition,
        env=env,
        variant=variant,
        run=run,
        iteration=iteration,
        answer_sha256=question.answer_sha256,
        prompt_sha256=prompt_sha256,
        backend=model.backend,
        model=model.name,
        options=model.options,
        seed=call_seed,
        attempts=attempt,
        driver=verdict.driver if verdict else None,
        sentence=verdict.sentence if verdict else None,
        quoted=is_quoted(verdict.sentence, visible(question.answer)) if verdict else None,
        mentions_worst=verdict.mentions_worst if verdict else None,
        discounts_worst=verdict.discounts_worst if verdict else None,
        error=error,
        prompt_tokens=cost.prompt_tokens,
        completion_tokens=cost.completion_tokens,
        seconds=time.monotonic() - cost.began,
        prompt=prompt,
        completion=completion.text,
        thinking=completion.thinking,
    )


async def _complete(model: Model, prompt: str, seed: int) -> Completion:
    try:
        return await model.complete(prompt, seed=seed, form=VERDICT_FORM)
    except UnusableAnswerError as error:
        return error.completion  # unreadable like any other reply without a driver


@contextlib.contextmanager
def _translated() -> Iterator[None]:
    """Raise the collector's errors as those of the audit."""
    try:
        yield
    except errors.UsageError as error:
        raise UsageError(str(error)) from None
    except errors.CollectorError as error:
        raise AuditError(str(error)) from None


def _sum(total: int | None, more: int | None) -> int | None:
    return total if more is None else (total or 0) + more
