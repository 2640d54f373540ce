"""One question to the judge: asked until a verdict can be read, or until it was enough."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, Final, cast

from audit.asking.together import AskedModel, complete, open_model
from audit.judging.plan import Asked
from audit.judging.verdicts import (
    VERDICT_FORM,
    UnreadableVerdictError,
    Verdict,
    category_form,
    is_quoted,
    read_verdict,
)
from audit.output.errors import UsageError
from audit.output.escaping import visible
from audit.sources.judgements import Judgement
from audit.vocabulary.drivers import DriverName
from collector import seeding
from collector.llm.protocol import Completion

BACKENDS: Final = ("local", "ollama", "openai")
ATTEMPTS: Final = 3
"""Attempts at one judgement whose reply cannot be read."""


def make_judge(backend: str, *, on_wait: Callable[[str, float], None], **options: Any) -> AskedModel:
    """The model that judges.

    Args:
        backend: `local`, `ollama` or `openai`.
        on_wait: called before a wait, with its reason and its seconds.
        options: as `collector.llm.backends.make_model` takes them.

    Raises:
        UsageError: no such backend, or an option that it does not support.
    """
    if backend == "simulated":
        raise UsageError("the simulated backend has no judge; --backend local, ollama or openai asks a model")
    if backend not in BACKENDS:
        raise UsageError(f"unknown backend '{backend}'; choose from {', '.join(BACKENDS)}")
    return open_model(backend, on_wait=on_wait, **options)


async def ask_judge(asked: Asked, model: AskedModel, seed: int) -> Judgement:
    """One judgement; the calls' seeds are made from a seed, from the prompt and from the number of the attempt.

    Raises:
        CollectorError: the model fails.
    """
    question, prompt, prompt_sha256 = asked.question, asked.question.prompt(), asked.prompt_sha256
    began, completions, rubric = time.monotonic(), list[Completion](), question.rubric
    before = asked.judged.attempts if asked.judged else 0
    form = VERDICT_FORM if rubric is None else category_form(rubric.categories)
    verdict: Verdict | None = None
    for attempt in range(before + 1, before + ATTEMPTS + 1):
        # 31 bits, since some servers keep seeds as signed numbers.
        call_seed = seeding.seeds(seed, 1, "judge", prompt_sha256, attempt)[0] >> 1
        completion = await complete(model, prompt, call_seed, form)
        completions.append(completion)
        if (error := completion.fault) is not None:
            continue
        try:
            verdict = read_verdict(completion.text, rubric.categories if rubric else None)
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
        driver=cast("DriverName", verdict.driver) if verdict and rubric is None else None,
        sentence=verdict.sentence if verdict else None,
        quoted=is_quoted(verdict.sentence, visible(question.answer)) if verdict else None,
        mentions_worst=verdict.mentions_worst if verdict else None,
        discounts_worst=verdict.discounts_worst if verdict else None,
        error=error,
        prompt_tokens=_total([each.prompt_tokens for each in completions]),
        completion_tokens=_total([each.completion_tokens for each in completions]),
        seconds=time.monotonic() - began,
        rubric=rubric.name if rubric else None,
        rubric_sha256=rubric.sha256 if rubric else None,
        category=verdict.driver if verdict and rubric is not None else None,
        prompt=prompt,
        completion=completion.text,
        thinking=completion.thinking,
    )


def _total(tokens: Sequence[int | None]) -> int | None:
    """The sum of all attempts; None where the server does not count tokens."""
    known = [number for number in tokens if number is not None]
    return sum(known) if known else None
