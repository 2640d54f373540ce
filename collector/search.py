"""The loop: one method on one task, one run."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeVar

from msgspec import UNSET

from collector import evidence, policy, seeding
from collector.asking import Answer, Asker, Unreadable
from collector.deciding import choose, decide
from collector.errors import CollectorError
from collector.llm.protocol import Model
from collector.prompts import Trial, Turn
from collector.records import (
    Acceptance,
    Answers,
    Call,
    Candidate,
    Episode,
    Evidence,
    RevisionStatus,
    Selected,
    Skipped,
    Source,
    WarmupTrial,
)
from collector.remedies import ANSWERS, acting_on
from collector.revision_rule import progress
from collector.rewriting import Rewritten, critic_prompt, rewrite
from collector.rollouts.evaluate import Evaluation, evaluate, is_quick
from collector.rollouts.workers import Offload
from collector.run_folder import RunFolder
from collector.spec import RunSpec

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is.

    Attributes:
        spec: the run.
        finished: iterations finished, those that proposed nothing included.
        skipped: those that proposed nothing.
        current: the latest kept mean return.
        best: the best one.
        calls: calls made since the run was opened.
        call: the call that was just made, where that is what is reported.
    """

    spec: RunSpec
    finished: int
    skipped: int
    current: float | None
    best: float | None
    calls: int
    call: Call | None

    @classmethod
    def of(
        cls,
        spec: RunSpec,
        episodes: Sequence[Episode],
        *,
        skipped: int = 0,
        calls: int = 0,
        call: Call | None = None,
    ) -> Progress:
        """The progress of a run with these iterations, and so many that proposed nothing."""
        returns = [episode.kept.mean_return for episode in episodes]
        current = returns[-1] if returns else None
        best = max(returns, default=None)
        return cls(spec, len(returns) + skipped, skipped, current, best, calls, call)


Report = Callable[[Progress], None]


async def search(spec: RunSpec, folder: RunFolder, model: Model, offload: Offload, report: Report) -> None:
    """Start or resume one run and complete all its iterations.

    Args:
        spec: what the run is.
        folder: its open folder; what it holds already is continued.
        model: answers the prompts.
        offload: where rollouts are run.
        report: called for every finished iteration and call.

    Raises:
        CollectorError: the records on disk are of another run, cannot be written, the model fails, or a search answer
            stays unreadable in a run that does not skip such iterations.
    """
    await _Search(spec, folder, model, offload, report).run()


class _Revision(NamedTuple):
    """The second candidate, what its critic was shown, and how it was chosen, where several answers were asked for."""

    candidate: Candidate | None
    status: RevisionStatus
    shown: Evidence | None = None
    answers: Answers | None = None


class _Search:
    def __init__(self, spec: RunSpec, folder: RunFolder, model: Model, offload: Offload, report: Report) -> None:
        self.spec, self.folder, self.offload, self.report = spec, folder, offload, report
        self.asker = Asker(spec, folder, model, self._count)
        self.episodes = list(folder.episodes)
        self.skipped = len(folder.skipped)
        self.excerpts: dict[int, str] = {}
        self.calls = 0

    async def run(self) -> None:
        if self.folder.run is None:
            # Syncing takes some 10 ms, during which other runs would wait.
            await asyncio.to_thread(self.folder.begin, self.spec.record(await self._roll_out(warm_up, self.spec)))
        elif different := self.spec.differences(self.folder.run):
            raise CollectorError(
                f"{self.folder.path} holds another run ({'; '.join(different)}); choose another --condition or --out"
            )
        self._report()
        for iteration in range(len(self.episodes) + self.skipped, self.spec.iterations):
            record = await self._iterate(iteration)
            await asyncio.to_thread(self.folder.append, record)
            if isinstance(record, Skipped):
                self.skipped += 1
            else:
                self.episodes.append(record)
            self._report()

    async def _iterate(self, iteration: int) -> Episode | Skipped:
        spec, started = self.spec, time.monotonic()
        prompt = first_prompt(spec, self._trials(), iteration)
        proposal = await self.asker.ask(iteration, "first", "search", prompt)
        if isinstance(proposal, Unreadable):
            return Skipped(
                **spec.identity,
                iteration=iteration,
                attempts=proposal.attempts,
                error=proposal.error,
                seconds=time.monotonic() - started,
            )
        initial = await self._evaluate(iteration, "initial", proposal, "search")
        revision = await self._revise(iteration, prompt, initial)
        selected = select(spec.method.commits, initial, revision.candidate)
        acceptance = await self._test(iteration, initial, revision.candidate)
        if acceptance:
            selected = "revised" if acceptance.accepted else "initial"
        return Episode(
            **spec.identity,
            iteration=iteration,
            initial=initial,
            revised=revision.candidate,
            revision_status=revision.status,
            selected=selected,
            evidence=revision.shown,
            seconds=time.monotonic() - started,
            **self._restraint(initial),
            answers=revision.answers or UNSET,
            acceptance=acceptance or UNSET,
        )

    async def _revise(self, iteration: int, opening: str, initial: Candidate) -> _Revision:
        """The second candidate, if the method has one and its answer can be read."""
        match self.spec.method.second:
            case None:
                return _Revision(None, "none")
            case "repeat":
                prompt = opening
            case "search":
                seen = [*self._trials(), Trial(initial.params, initial.mean_return)]
                prompt = first_prompt(self.spec, seen, iteration)
            case "critic":
                return await self._criticise(iteration, initial)
        answer = await self.asker.ask(iteration, "second", "search", prompt)
        if isinstance(answer, Unreadable):
            return _Revision(None, "unreadable")
        return _Revision(await self._evaluate(iteration, "revised", answer, "search"), "ok")

    async def _criticise(self, iteration: int, initial: Candidate) -> _Revision:
        """What a critic makes of the first candidate."""
        spec = self.spec
        assert spec.method.evidence is not None
        shown = evidence.gather(spec.task, _evaluation(initial), spec.method.evidence)
        made = await self._critic_prompt(iteration, initial, shown)
        rule = acting_on(spec.remedies, "answers")
        answers = await self.asker.ask_critic(iteration, made.prompt, ANSWERS if rule else 1, made.labels)
        candidate, chosen = await choose(
            rule, answers, spec.task.space, lambda answer: self._evaluate(iteration, "revised", answer, "critic")
        )
        return _Revision(candidate, "ok" if candidate else "unreadable", made.shown, chosen)

    async def _test(self, iteration: int, initial: Candidate, revised: Candidate | None) -> Acceptance | None:
        """Whether the revised candidate is kept, where a remedy decides it."""
        spec, rule = self.spec, acting_on(self.spec.remedies, "acceptance")
        if rule is None or revised is None:
            return None
        return await decide(
            rule.id,
            initial,
            revised,
            lambda count: seeding.seeds(spec.seed, count, *spec.purpose, iteration, "acceptance"),
            lambda params, seeds: self._roll_out(evaluate, spec.task, params, seeds),
        )

    async def _critic_prompt(self, iteration: int, initial: Candidate, shown: Evidence) -> Rewritten:
        spec = replace(self.spec, tau_c=self._tau_c())
        assert initial.seeds is not None
        written = await self._roll_out(evidence.write, spec.task, initial.params, initial.seeds, shown)
        await self._write_excerpts()
        prompt = critic_prompt(spec, self._trials(), initial, shown, written)
        rewriting = [remedy.id for remedy in spec.remedies if remedy.rewrites]
        if not rewriting:
            return Rewritten(prompt, shown, {})
        rng = seeding.generator(spec.seed, *spec.purpose, iteration, "remedy")
        return await self._roll_out(rewrite, rewriting, prompt, shown, spec.task, initial, rng)

    def _tau_c(self) -> float | None:
        if self.spec.tau_rule is None:
            return self.spec.tau_c
        assert self.folder.run is not None
        return progress(self.folder.run.warmup, self.spec.task.optimum)

    def _restraint(self, initial: Candidate) -> dict[str, Any]:
        """What the record states of the threshold, where the rule chooses it."""
        if self.spec.tau_rule is None:
            return {}
        tau_c = self._tau_c()
        return {"tau_c": tau_c, "restrained": tau_c is not None and initial.mean_return >= tau_c}

    async def _write_excerpts(self) -> None:
        """Excerpts of the latest kept trajectories, for the methods whose history has them."""
        known, self.excerpts = self.excerpts, {}
        for episode in self.episodes[-self.spec.excerpts :] if self.spec.excerpts else []:
            text = known.get(episode.iteration)
            if text is None:
                text = await self._roll_out(evidence.excerpt, self.spec.task, episode.kept)
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

    async def _evaluate(self, iteration: int, role: Selected, answer: Answer, source: Source) -> Candidate:
        spec = self.spec
        paired = spec.switches.get("paired_seeds", False)
        seeds = seeding.seeds(spec.seed, spec.rollouts, *spec.purpose, iteration, "initial" if paired else role)
        result = await self._roll_out(evaluate, spec.task, answer.params, seeds)
        return Candidate(
            params=answer.params,
            out_of_range=policy.out_of_range(spec.task.space, answer.params),
            source=source,
            answer=answer.text,
            thinking=answer.thinking,
            **result.record,
        )

    async def _roll_out(self, function: Callable[..., T], *args: Any) -> T:
        return function(*args) if is_quick(self.spec.task) else await self.offload(function, *args)

    def _count(self, call: Call) -> None:
        self.calls += 1
        self._report(call)

    def _report(self, call: Call | None = None) -> None:
        self.report(Progress.of(self.spec, self.episodes, skipped=self.skipped, calls=self.calls, call=call))


def first_prompt(spec: RunSpec, history: Sequence[Trial], iteration: int) -> str:
    """The prompt that opens an iteration."""
    turn = Turn(iteration, spec.named_iterations)
    if spec.method.first == "solo_critic":
        return spec.prompts.solo(history, turn)
    return spec.prompts.search(history, turn, informed=spec.method.first == "informed_search")


def select(commits: str, initial: Candidate, revised: Candidate | None) -> Selected:
    """Which candidate enters the history: the revised one if it is no worse, or in any case if the method does so."""
    if revised is None or commits == "first":
        return "initial"
    if commits == "revised" or revised.mean_return >= initial.mean_return:
        return "revised"
    return "initial"


def warm_up(spec: RunSpec) -> list[WarmupTrial]:
    """Random parameter vectors, rolled out once each."""
    clip = spec.switches.get("warmup_range") != "unbounded"
    trials = []
    for index in range(spec.warmup):
        rng = seeding.generator(spec.seed, *spec.purpose, "warm-up", index, "params")
        params = policy.random_params(spec.task.space, rng, clip=clip)
        seeds = seeding.seeds(spec.seed, 1, *spec.purpose, "warm-up", index, "rollout")
        result = evaluate(spec.task, params, seeds)
        trials.append(WarmupTrial(params=params, return_=result.returns[0], seed=seeds[0]))
    return trials


def _evaluation(candidate: Candidate) -> Evaluation:
    assert candidate.seeds is not None
    return Evaluation(candidate.seeds, candidate.returns, candidate.lengths, candidate.ended)
