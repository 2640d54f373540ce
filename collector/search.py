"""The loop: one method on one task, one run."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeVar

from collector import evidence, policy, prompts, seeding
from collector.errors import CollectorError
from collector.llm.faults import EmptyAnswerError
from collector.llm.protocol import Completion, Model
from collector.policy import UnreadableAnswer
from collector.prompts import Review, Trial
from collector.records import Call, Candidate, Episode, Evidence, RevisionStatus, Selected, Source, Truth, WarmupTrial
from collector.rollout import Evaluation, evaluate
from collector.run_folder import RunFolder
from collector.spec import RunSpec

ATTEMPTS: Final = 5
"""So often one answer is asked for, if it cannot be read."""

T = TypeVar("T")


class Offload(Protocol):
    """Runs a function of picklable arguments somewhere else than in the event loop."""

    async def __call__(self, function: Callable[..., T], *args: Any) -> T:
        """The function's result."""
        ...


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is: iterations finished, the latest kept mean return and the best one, calls and tokens spent."""

    spec: RunSpec
    finished: int
    current: float | None
    best: float | None
    calls: int
    tokens: int | None


Report = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class _Answer:
    """A readable answer."""

    params: list[float]
    text: str
    thinking: str | None


async def search(spec: RunSpec, folder: RunFolder, model: Model, offload: Offload, report: Report) -> None:
    """Run, or go on with, one run until all its iterations are recorded.

    Args:
        spec: what the run is.
        folder: its open folder; what it holds already is continued.
        model: answers the prompts.
        offload: where rollouts are run.
        report: told of every finished iteration and call.

    Raises:
        CollectorError: the records on disk are of another run, cannot be written, the model fails, or a search answer
            stays unreadable.
    """
    await _Search(spec, folder, model, offload, report).run()


class _Search:
    def __init__(self, spec: RunSpec, folder: RunFolder, model: Model, offload: Offload, report: Report) -> None:
        self.spec, self.folder, self.model = spec, folder, model
        self.offload, self.report = offload, report
        self.episodes = list(folder.episodes)
        self.excerpts: dict[int, str] = {}
        self.calls = 0
        self.tokens: int | None = None

    async def run(self) -> None:
        if self.folder.run is None:
            self.folder.begin(self.spec.record(await self.offload(warm_up, self.spec)))
        elif different := self.spec.differences(self.folder.run):
            raise CollectorError(
                f"{self.folder.path} holds another run ({'; '.join(different)}); choose another --condition or --out"
            )
        self._tell()
        for iteration in range(len(self.episodes), self.spec.iterations):
            episode = await self._iterate(iteration)
            await asyncio.to_thread(self.folder.append, episode)
            self.episodes.append(episode)
            self._tell()

    async def _iterate(self, iteration: int) -> Episode:
        spec, started = self.spec, time.monotonic()
        prompt = prompts.search(spec.task, self._trials(), iteration, spec.iterations)
        proposal = await self._ask(iteration, "search", prompt)
        if proposal is None:
            raise CollectorError(
                f"{self.folder.path}: no readable search answer in {ATTEMPTS} attempts at iteration {iteration}; "
                f"see calls.jsonl there, and resume to ask again"
            )
        initial = await self._evaluate(iteration, "initial", proposal, "search")
        shown = evidence.gather(spec.task, _evaluation(initial), spec.method.evidence)
        revision = await self._ask(iteration, "critic", await self._critic_prompt(initial, shown))
        revised = await self._evaluate(iteration, "revised", revision, "critic") if revision else None
        status: RevisionStatus = "ok" if revised else "unreadable"
        return Episode(
            **spec.identity,
            iteration=iteration,
            initial=initial,
            revised=revised,
            revision_status=status,
            selected=select(spec.method.commits, initial, revised),
            evidence=shown,
            seconds=time.monotonic() - started,
        )

    async def _critic_prompt(self, initial: Candidate, shown: Evidence) -> str:
        spec = self.spec
        assert initial.seeds is not None
        review = Review(
            params=initial.params,
            mean_return=initial.mean_return,
            rollouts=spec.rollouts,
            kind=shown.kind,
            shown=await self.offload(evidence.write, spec.task, initial.params, initial.seeds, shown),
            statistics=shown.statistics,
            tau_c=spec.tau_c,
        )
        await self._write_excerpts()
        return prompts.critic(spec.task, spec.method, self._trials(), review)

    async def _write_excerpts(self) -> None:
        """Excerpts of the latest kept trajectories, for the methods whose history has them."""
        if self.spec.method.history != "excerpts" or not self.spec.excerpts:
            return
        known, self.excerpts = self.excerpts, {}
        for episode in self.episodes[-self.spec.excerpts :]:
            text = known.get(episode.iteration)
            if text is None:
                text = await self.offload(evidence.excerpt, self.spec.task, episode.kept)
            self.excerpts[episode.iteration] = text

    def _trials(self) -> list[Trial]:
        """The history: the warm-up's trials, then the candidate kept in each iteration."""
        assert self.folder.run is not None
        random = [Trial(trial.params, trial.return_, single=True) for trial in self.folder.run.warmup]
        kept = [
            Trial(episode.kept.params, episode.kept.mean_return, excerpt=self.excerpts.get(episode.iteration))
            for episode in self.episodes
        ]
        return random + kept

    async def _evaluate(self, iteration: int, role: Selected, answer: _Answer, source: Source) -> Candidate:
        spec = self.spec
        seeds = seeding.seeds(spec.seed, spec.rollouts, *spec.purpose, iteration, role)
        result = await self.offload(evaluate, spec.task, answer.params, seeds)
        return Candidate(
            params=answer.params,
            out_of_range=policy.out_of_range(spec.task.space, answer.params),
            source=source,
            answer=answer.text,
            thinking=answer.thinking,
            returns=result.returns,
            lengths=result.lengths,
            seeds=result.seeds,
            ended=result.ended,
            mean_return=result.mean_return,
        )

    async def _ask(self, iteration: int, role: Source, prompt: str) -> _Answer | None:
        """Ask until an answer can be read; none if it never can. Calls on disk are used before new ones are made."""
        stored = {call.attempt: call for call in self._stored(iteration, role, prompt)}
        for attempt in self._attempts(role, len(stored)):
            call = stored.get(attempt) or await self._call(iteration, role, attempt, prompt)
            self._count(call)
            if call.error is None:
                params = policy.from_text(self.spec.task.space, call.completion)
                return _Answer(params, call.completion, call.thinking)
        return None

    def _attempts(self, role: Source, stored: int) -> Iterator[int]:
        """Numbers of the attempts to make. A search that gave up is given as many again when it is resumed."""
        given_up = role == "search" and stored >= ATTEMPTS
        return iter(range(1, (stored if given_up else 0) + ATTEMPTS + 1))

    def _stored(self, iteration: int, role: Source, prompt: str) -> list[Call]:
        calls = [call for call in self.folder.pending if (call.iteration, call.role) == (iteration, role)]
        if any(call.prompt != prompt for call in calls):
            raise CollectorError(
                f"{self.folder.path / 'calls.jsonl'}: the prompt of iteration {iteration} is not the one that this "
                f"version would send; choose another --condition or --out"
            )
        return calls

    async def _call(self, iteration: int, role: Source, attempt: int, prompt: str) -> Call:
        """Make one call and record it, before anything is done with the answer."""
        started = time.monotonic()
        # 31 bits, since some servers keep seeds as signed numbers.
        seed = seeding.seeds(self.spec.seed, 1, *self.spec.purpose, iteration, role, attempt)[0] >> 1
        try:
            completion = await self.model.complete(prompt, seed=seed)
        except EmptyAnswerError as error:
            completion = error.completion  # unreadable like any other answer without values, and recorded like one
        call = Call(
            **self.spec.identity,
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
        )
        if completion.truth is not None:
            truth = Truth(**self.spec.identity, iteration=iteration, attempt=attempt, **completion.truth)
            await asyncio.to_thread(self.folder.append, truth)
        await asyncio.to_thread(self.folder.append, call)
        return call

    def _unreadable(self, completion: Completion) -> str | None:
        try:
            policy.from_text(self.spec.task.space, completion.text)
        except UnreadableAnswer as error:
            return str(error)
        return None

    def _count(self, call: Call) -> None:
        self.calls += 1
        if call.prompt_tokens is not None or call.completion_tokens is not None:
            self.tokens = (self.tokens or 0) + (call.prompt_tokens or 0) + (call.completion_tokens or 0)
        self._tell()

    def _tell(self) -> None:
        returns = [episode.kept.mean_return for episode in self.episodes]
        self.report(
            Progress(
                spec=self.spec,
                finished=len(returns),
                current=returns[-1] if returns else None,
                best=max(returns, default=None),
                calls=self.calls,
                tokens=self.tokens,
            )
        )


def select(commits: str, initial: Candidate, revised: Candidate | None) -> Selected:
    """Which candidate enters the history: the revised one if it is no worse, or always where the method says so."""
    if revised is None:
        return "initial"
    if commits == "revised" or revised.mean_return >= initial.mean_return:
        return "revised"
    return "initial"


def warm_up(spec: RunSpec) -> list[WarmupTrial]:
    """Random parameter vectors, rolled out once each."""
    trials = []
    for index in range(spec.warmup):
        rng = seeding.generator(spec.seed, *spec.purpose, "warm-up", index, "params")
        params = policy.random_params(spec.task.space, rng)
        seeds = seeding.seeds(spec.seed, 1, *spec.purpose, "warm-up", index, "rollout")
        result = evaluate(spec.task, params, seeds)
        trials.append(WarmupTrial(params=params, return_=result.returns[0], seed=seeds[0]))
    return trials


def _evaluation(candidate: Candidate) -> Evaluation:
    assert candidate.seeds is not None
    return Evaluation(candidate.seeds, candidate.returns, candidate.lengths, candidate.ended)
