"""Critics' prompts made again from records, and further rollouts of the policies under review."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Final

import numpy as np

from audit.interventions.arms import QUANTILES
from audit.interventions.showing import ROLES
from audit.interventions.showing import Evidence as PromptEvidence
from audit.sources.iterations import Iteration
from collector import evidence, seeding
from collector.budget import EXCERPTS
from collector.evidence import ShownRollout
from collector.prompt_parts import Block, CriticPrompt
from collector.prompts import Prompts, Review, Trial
from collector.records import Evidence, Run
from collector.remedies import Situation, recorded
from collector.rollouts.evaluate import evaluate

if TYPE_CHECKING:
    from pathlib import Path

    from collector.tasks import Task

LENGTHS_ALIKE: Final = 0.1
"""Relative difference of two texts' lengths up to which one may replace the other."""
DRAWS: Final = 50
"""Draws of fresh rollouts among which one with three different returns is looked for."""


@dataclass(frozen=True)
class Rendering:
    """What prompts of one run are made with.

    Attributes:
        run: its `run.json`.
        task: the task, under the run's switches.
        templates: a user's templates; None for the project's own.
    """

    run: Run
    task: Task
    templates: Path | None = None

    def prompt(self, iterations: Sequence[Iteration], place: int) -> str:
        """The critic's prompt of an iteration.

        Args:
            iterations: all of the run, in order.
            place: which of them.

        Raises:
            ValueError: the record lacks what it is made from.
        """
        iteration = iterations[place]
        shown = _evidence(iteration)
        history = [Trial(trial.params, trial.return_, single=True) for trial in self.run.warmup]
        first = place - self._excerpts if self._excerpts else place
        for number, earlier in enumerate(iterations[:place]):
            kept = earlier.kept
            excerpt = evidence.excerpt(self.task, kept) if number >= first else None  # type: ignore[arg-type]
            history.append(Trial(kept.params, kept.mean_return, excerpt=excerpt))
        review = Review(
            params=iteration.initial.params,
            mean_return=iteration.initial.mean_return,
            rollouts=len(iteration.initial.returns),
            kind=shown.kind,
            shown=self._write(iteration, shown),
            statistics=shown.statistics,
            tau_c=self.run.tau_c,
        )
        prompt = Prompts(self.task, self.templates).critic(history, review)
        instructs = [each for each in recorded(self.run.switches) if each.acts == "instruction"]
        for remedy in instructs:
            parts = CriticPrompt.read(prompt, shows_three=False)
            initial, rng = iteration.initial, np.random.default_rng(0)  # nothing is left to chance
            block, success = partial(self._block, iteration), self.task.success_return
            prompt = str(remedy.rewrite(Situation(parts, initial.returns, initial.lengths, success, block, rng)))
        return prompt

    def others(self, iteration: Iteration, shown: Mapping[str, Block]) -> dict[str, Block]:
        """Rollouts of the evaluation that were not shown: `other`, nearest to the median, and one for each quantile.

        `other` is the nearest whose text is about as long as the median's, and the nearest of all where none is. A
        content is missing where every rollout of the evaluation is among those shown.
        """
        returns = iteration.initial.returns
        taken = {block.rollout for block in shown.values()}
        free = [index for index in range(len(returns)) if index not in taken]
        if not free:
            return {}
        found: dict[str, Block] = {}
        centre = float(np.median(returns))
        near = [self._block(iteration, index) for index in sorted(free, key=lambda index: abs(returns[index] - centre))]
        length = len(shown["median"].text)
        alike = [block for block in near if abs(len(block.text) - length) <= LENGTHS_ALIKE * length]
        found["other"] = (alike or near)[0]
        shown_besides = {shown["median"].rollout, shown["best"].rollout}
        for quantile in QUANTILES:
            wanted = float(np.quantile(returns, quantile))
            index = min(
                (index for index in range(len(returns)) if index not in shown_besides),
                key=lambda index: (abs(returns[index] - wanted), index),
            )
            found[f"q{quantile:g}"] = self._block(iteration, index)
        return found

    def fresh(self, iteration: Iteration, seed: int, *purpose: str | int) -> dict[str, Block]:
        """The evidence of a new evaluation of the same policy.

        Of draws of as many rollouts on fresh seeds the first counts whose three rollouts return differently.
        """
        kind = _evidence(iteration).kind
        for draw in range(DRAWS):
            seeds = seeding.seeds(seed, len(iteration.initial.returns), *purpose, draw)
            result = evaluate(self.task, iteration.initial.params, seeds)
            shown = evidence.gather(self.task, result, kind)
            returns = [each.return_ for each in shown.shown]
            if draw == 0 or returns[0] < returns[1] < returns[2]:
                written = evidence.write(self.task, iteration.initial.params, seeds, shown)
            if returns[0] < returns[1] < returns[2]:
                break
        return {role: Block.of(each) for role, each in zip(ROLES, written, strict=True)}

    def situation(self, iteration: Iteration, shown: PromptEvidence) -> Callable[[np.random.Generator], Situation]:
        """What remedies rewrite the prompt of an iteration from; rollouts that it shows are as it shows them.

        Args:
            iteration: of the prompt.
            shown: the prompt, and what it shows.
        """
        known = {block.rollout: block for block in shown.contents.values()}

        @cache
        def block(rollout: int) -> Block:
            return known.get(rollout) or self._block(iteration, rollout)

        initial, success = iteration.initial, self.task.success_return
        return lambda rng: Situation(shown.prompt, initial.returns, initial.lengths, success, block, rng)

    @property
    def _excerpts(self) -> int:
        if not self.run.method or self.run.method.history != "excerpts":
            return 0
        return int(self.run.switches.get("excerpts", EXCERPTS))

    def _write(self, iteration: Iteration, shown: Evidence) -> list[ShownRollout]:
        return evidence.write(self.task, iteration.initial.params, iteration.initial.seeds or [], shown)

    def _block(self, iteration: Iteration, rollout: int) -> Block:
        from collector.records import Shown

        shown = _evidence(iteration)
        one = Shown(
            label="median",
            rollout=rollout,
            return_=iteration.initial.returns[rollout],
            length=iteration.initial.lengths[rollout],
        )
        return Block.of(self._write(iteration, Evidence(kind=shown.kind, shown=[one]))[0])


def _evidence(iteration: Iteration) -> Evidence:
    """The evidence as `collect` records it.

    Raises:
        ValueError: something is missing.
    """
    from collector.records import Shown

    stated, initial = iteration.evidence, iteration.initial
    if stated is None or not initial.seeds or not initial.params or not initial.lengths:
        raise ValueError
    shown = []
    for each in stated.shown:
        if each.label == "item" or each.rollout is None or each.return_ is None or each.length is None:
            raise ValueError
        shown.append(Shown(label=each.label, rollout=each.rollout, return_=each.return_, length=each.length))
    return Evidence(kind=stated.kind, shown=shown, statistics=stated.statistics)
