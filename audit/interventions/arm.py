"""What an arm of an experiment is: one way to ask, and what is around the rollouts that it shows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from audit.interventions import showing
from audit.interventions.showing import Call, Shows
from collector.prompt_dialects import Placebo
from collector.prompt_parts import CriticPrompt
from collector.remedies import Remedy

Needs = Literal["prompt", "record", "rollouts", "policy"]


def neutral(call: Call) -> CriticPrompt:
    """The recorded prompt in words that state neither the order nor the number of rollouts."""
    return call.evidence.prompt.neutral()


def placebo(kind: Placebo) -> Callable[[Call], CriticPrompt]:
    """The same in another way that means as much."""
    return lambda call: neutral(call).placebo(kind)


def trials_shuffled(call: Call) -> CriticPrompt:
    """The recorded prompt with earlier trials in random order."""
    recorded = call.evidence.prompt
    return recorded.with_trials(call.rng.permutation(recorded.trials).tolist())


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """One way to ask.

    Attributes:
        id: its name.
        meaning: what is changed, in a few words.
        control: the arm it is compared with; None if it has no control.
        needs: the recorded `prompt` alone; the `record` of its evaluation, of which any rollout can be written out;
            other recorded `rollouts` of the policy; or the `policy`, run on fresh seeds.
        frame: what is around the rollouts.
        shows: the rollouts that a call shows.
        draws: calls of a unit have prompts of their own; otherwise all have the same.
        runs: the policies of its answers are run, since their returns are compared.
        factor: what an effect of it is called.
        changing: the same as a cause in a sentence, "exchanging the labels".
        caption: the same in the row of a figure.
        takes_away: a rollout, as its control does: which of the two leads farther from the whole evidence?
        remedy: the prompt is as this remedy of `collect` makes it.
        text: what is compared of answers' texts, whose arm and control both show the worst rollout: what they go by
            (`driver`), or also the `names` that they use, which the arm changes.
    """

    id: str
    meaning: str
    control: str | None = None
    needs: Needs = "prompt"
    frame: Callable[[Call], CriticPrompt] = neutral
    shows: Shows = showing.recorded
    draws: bool = False
    runs: bool = False
    factor: str = ""
    changing: str = ""
    caption: str = ""
    takes_away: bool = False
    remedy: Remedy | None = None
    text: Literal["driver", "names"] | None = None
