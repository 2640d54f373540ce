"""Obtaining readable answers: an unreadable one is requested again, and none is paid for twice."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Final

from msgspec import UNSET

from collector import policy, seeding
from collector.errors import CollectorError
from collector.llm.faults import UnusableAnswerError
from collector.llm.form import vector_form
from collector.llm.protocol import Completion, Model
from collector.policy import UnreadableAnswer
from collector.records import Call, RolloutLabel, Source, Truth
from collector.run_folder import RunFolder
from collector.spec import RunSpec

ATTEMPTS: Final = 5
"""Attempts at a readable answer before giving up."""
LONGEST: Final = 1_000_000
"""Longest answer or thinking that is read, in characters."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A readable answer."""

    params: list[float]
    text: str
    thinking: str | None
    attempt: int


@dataclass(frozen=True, slots=True)
class Unreadable:
    """No readable answer in so many attempts, and why the last could not be read."""

    attempts: int
    error: str


class Asker:
    """Asks one run's questions, in order.

    Calls that the folder holds of an unfinished iteration are taken up in the order in which they were made; the model
    is asked only when they are used up.

    Args:
        spec: what the run is.
        folder: its open folder.
        model: answers.
        report: called with every call that is made here, once it is recorded.
    """

    def __init__(self, spec: RunSpec, folder: RunFolder, model: Model, report: Callable[[Call], None]) -> None:
        self.spec, self.folder, self.model, self.report = spec, folder, model, report
        self.stored = deque(folder.pending)

    async def ask(
        self,
        iteration: int,
        slot: str,
        role: Source,
        prompt: str,
        *,
        asked: int = 0,
        labels: Mapping[str, RolloutLabel] | None = None,
    ) -> Answer | Unreadable:
        """Ask until an answer can be read, or until too many cannot.

        Args:
            iteration: index of the iteration.
            slot: which of its calls this is, `first` or `second`: part of the key of the model's seed.
            role: who is asked.
            prompt: the prompt.
            asked: calls that have asked it before in the iteration, for other answers: attempts are numbered on.
            labels: the roles of rollouts by what the prompt calls them, where that is something else.

        Raises:
            CollectorError: a search answer stays unreadable and the run does not skip such iterations, or a stored call
                was made with another prompt.
            ModelError: the model fails.
        """
        stops = role == "search" and self.spec.switches.get("on_unreadable") != "skip"
        attempt, made, error = 0, 0, ""
        # A run that stopped here asks as often again when it is resumed.
        while attempt < ATTEMPTS or (stops and made < ATTEMPTS and attempt > made):
            attempt += 1
            number = asked + attempt
            call = self._take_up(iteration, role, number, prompt)
            if call is None:
                call = await self._call(iteration, slot, role, number, prompt, labels or {})
                made += 1
                self.report(call)
            if call.error is None:
                return Answer(self._read(call.completion), call.completion, call.thinking, number)
            error = call.error
        if stops:
            raise CollectorError(
                f"{self.folder.path}: no readable search answer in {attempt} attempts at iteration {iteration} "
                f"(the last: {error}); see calls.jsonl there; resume to ask again, or begin anew with "
                f"--on-unreadable skip"
            )
        return Unreadable(attempt, error)

    async def ask_critic(
        self, iteration: int, prompt: str, count: int, labels: Mapping[str, RolloutLabel]
    ) -> list[Answer]:
        """Ask a critic for so many answers; those that can be read.

        Args:
            iteration: index of the iteration.
            prompt: the prompt.
            count: how many answers to ask for.
            labels: as `ask` has them.
        """
        asked, readable = 0, []
        for _ in range(count):
            answer = await self.ask(iteration, "second", "critic", prompt, asked=asked, labels=labels)
            if isinstance(answer, Unreadable):
                asked += answer.attempts
            else:
                asked = answer.attempt
                readable.append(answer)
        return readable

    def _take_up(self, iteration: int, role: Source, attempt: int, prompt: str) -> Call | None:
        """The next stored call, if it is an answer to this question."""
        if not self.stored or (self.stored[0].role, self.stored[0].attempt) != (role, attempt):
            return None
        call = self.stored.popleft()
        if call.iteration != iteration or call.prompt != prompt:
            raise CollectorError(
                f"{self.folder.path / 'calls.jsonl'}: the prompt of iteration {iteration} is not the one that this "
                f"version would send; choose another --condition or --out"
            )
        return call

    async def _call(
        self, iteration: int, slot: str, role: Source, attempt: int, prompt: str, labels: Mapping[str, RolloutLabel]
    ) -> Call:
        """Make one call and record it, before anything is done with the answer."""
        spec, started = self.spec, time.monotonic()
        # 31 bits, since some servers keep seeds as signed numbers.
        seed = seeding.seeds(spec.seed, 1, *spec.purpose, iteration, "call", slot, attempt)[0] >> 1
        try:
            completion = await self.model.complete(prompt, seed=seed, form=vector_form(spec.task.space))
        except UnusableAnswerError as error:
            completion = error.completion  # recorded like any other answer that cannot be read
        call = Call(
            **spec.identity,
            iteration=iteration,
            role=role,
            attempt=attempt,
            prompt=prompt,
            completion=completion.text,
            thinking=completion.thinking,
            model=self.model.name,
            prompt_tokens=completion.prompt_tokens,
            completion_tokens=completion.completion_tokens,
            seconds=time.monotonic() - started,
            error=self._unreadable(completion),
            cut=UNSET if completion.cut is None else completion.cut,
            raw=UNSET if completion.raw is None else completion.raw,
            **self._probabilities(completion.logprobs),
        )
        if completion.truth is not None:
            # The record leaves out what its labels imply.
            given = completion.truth
            known = {name: labels.get(given[name], given[name]) for name in Truth.__struct_fields__ if name in given}
            truth = Truth(**spec.identity, iteration=iteration, attempt=attempt, **known)
            await asyncio.to_thread(self.folder.append, truth)
        await asyncio.to_thread(self.folder.append, call)
        return call

    def _unreadable(self, completion: Completion) -> str | None:
        if completion.fault is not None:
            return completion.fault
        longest = max(len(completion.text), len(completion.thinking or ""))
        if longest > LONGEST:
            return f"{longest:,} characters; answers of more than {LONGEST:,} are not read"
        try:
            self._read(completion.settled)
        except UnreadableAnswer as error:
            return completion.cut or str(error)
        return None

    def _read(self, text: str) -> list[float]:
        """The vector in an answer.

        Where the first line's form is enforced, it alone counts: what comes after it is free, and may name parameters
        that do not exist. A server that ignored the form has answered as without it.

        Raises:
            UnreadableAnswer: there is none.
        """
        if self.model.options.get("structured"):
            with contextlib.suppress(UnreadableAnswer):
                return policy.from_text(self.spec.task.space, text.partition("\n")[0])
        return policy.from_text(self.spec.task.space, text)

    def _probabilities(self, logprobs: list[tuple[str, float]] | None) -> dict[str, Any]:
        """The mean log-probability, and those of the tokens where they are to be kept."""
        if not logprobs:
            return {}
        mean = {"mean_logprob": fmean(logprob for _, logprob in logprobs)}
        return {**mean, "logprobs": logprobs} if self.model.options.get("logprobs") else mean
