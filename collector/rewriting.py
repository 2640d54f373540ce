"""A critic's prompt, as it is rendered and as remedies rewrite it, and the evidence as it is shown then."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from collector import evidence
from collector.evidence import ShownRollout
from collector.prompt_parts import Block, CriticPrompt
from collector.prompts import Review, Trial
from collector.records import Candidate, Evidence, EvidenceKind, RolloutLabel, Shown
from collector.remedies import Situation, acting_on, remedies_of
from collector.spec import RunSpec
from collector.tasks import Task


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A prompt, what it shows, and the roles of rollouts by what it calls them, where that is something else."""

    prompt: str
    shown: Evidence
    labels: Mapping[str, RolloutLabel]


def critic_prompt(
    spec: RunSpec,
    history: Sequence[Trial],
    reviewed: Candidate | Trial,
    shown: Evidence,
    written: Sequence[ShownRollout],
) -> str:
    """The critic's prompt.

    Args:
        spec: what the run is.
        history: earlier trials.
        reviewed: the candidate under review.
        shown: its evidence.
        written: the rollouts of the evidence, written out.
    """
    review = Review(
        params=reviewed.params,
        mean_return=reviewed.mean_return,
        rollouts=spec.rollouts,
        kind=shown.kind,
        shown=written,
        statistics=shown.statistics,
        tau_c=spec.tau_c,
    )
    return spec.prompts.critic(history, review)


def rewrite(
    names: Sequence[str], prompt: str, shown: Evidence, task: Task, reviewed: Candidate, rng: np.random.Generator
) -> Rewritten:
    """Rewrite a critic's prompt.

    Args:
        names: remedies that rewrite it.
        prompt: as it was rendered.
        shown: the evidence in it.
        task: what rollouts are run again on.
        reviewed: the candidate under review.
        rng: draws what is left to chance.
    """

    def block(rollout: int) -> Block:
        assert reviewed.seeds is not None
        one = Shown(
            label="representative",
            rollout=rollout,
            return_=reviewed.returns[rollout],
            length=reviewed.lengths[rollout],
        )
        chosen = Evidence(kind=shown.kind, shown=[one])
        return Block.of(evidence.write(task, reviewed.params, reviewed.seeds, chosen)[0])

    remedies = remedies_of(names)
    chooses = acting_on(remedies, "evidence")
    parts = CriticPrompt.read(prompt, shows_three=chooses is not None)
    for remedy in remedies:
        parts = remedy.rewrite(Situation(parts, reviewed.returns, reviewed.lengths, task.success_return, block, rng))
    if chooses is None:
        return Rewritten(str(parts), shown, {})
    displayed = _displayed(parts.blocks, shown, chooses.kind, reviewed, task)
    # As a model that states what it went by calls them: `rollout A`.
    labels = {f"{each.name[0].lower()}{each.name[1:]}": each.label for each in displayed.shown if each.name}
    return Rewritten(str(parts), displayed, labels)


def _displayed(
    blocks: Sequence[Block], shown: Evidence, kind: EvidenceKind, reviewed: Candidate, task: Task
) -> Evidence:
    """The evidence in the order and under the headings of a prompt."""
    left = list(shown.shown)
    displayed = []
    for block in blocks:
        label: RolloutLabel = "representative"
        if kind != "representative":
            # One rollout may be shown in two roles.
            alike = [each for each in left if each.rollout == block.rollout]
            role = next((each for each in alike if each.label == block.label), alike[0])
            left.remove(role)
            label = role.label
        one = Shown(
            label=label,
            rollout=block.rollout,
            return_=reviewed.returns[block.rollout],
            length=reviewed.lengths[block.rollout],
        )
        displayed.append(one if block.label == label else msgspec.structs.replace(one, name=block.name))
    counted = evidence.statistics(task.success_return, reviewed.returns, reviewed.lengths)
    return Evidence(kind=kind, shown=displayed, statistics=counted if kind == "median" else None)
