"""The arms of an experiment, each stated once: what a call's prompt changes, and what a report says of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from audit.interventions import showing
from audit.interventions.prompt import CriticPrompt
from audit.interventions.showing import Call, Evidence, Shown, Shows

QUANTILES: Final = (0.0, 0.1, 0.25, 0.5)
BASE: Final = "N0"
"""The arm that shows the whole evidence in the neutral frame."""
WORDING: Final = "P1"
REDRAWN: Final = "P2"

Needs = Literal["prompt", "rollouts", "policy"]


def _neutral(call: Call) -> CriticPrompt:
    return call.evidence.prompt.neutral()


def _trials_shuffled(call: Call) -> CriticPrompt:
    recorded = call.evidence.prompt
    return recorded.with_trials(call.rng.permutation(recorded.trials).tolist())


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """One way to ask.

    Attributes:
        id: its name.
        meaning: what is changed, in a few words.
        control: the arm it is compared with; None if it has no control.
        needs: the recorded `prompt` alone; other recorded `rollouts` of the policy; or the `policy`, run on fresh
            seeds.
        frame: what is around the rollouts.
        shows: the rollouts that a call shows.
        draws: calls of a unit have prompts of their own; otherwise all have the same.
        factor: what an effect of it is called.
        changing: the same as a cause in a sentence, "exchanging the labels".
        caption: the same in the row of a figure.
        takes_away: a rollout, as its control does: which of the two leads farther from the whole evidence?
        text: what is compared of answers' texts, whose arm and control both show the worst rollout: what they go by
            (`driver`), or also the `names` that they use, which the arm changes.
    """

    id: str
    meaning: str
    control: str | None = None
    needs: Needs = "prompt"
    frame: Callable[[Call], CriticPrompt] = _neutral
    shows: Shows = showing.recorded
    draws: bool = False
    factor: str = ""
    changing: str = ""
    caption: str = ""
    takes_away: bool = False
    text: Literal["driver", "names"] | None = None


_EVERY: Final = (
    Arm(id="A0", meaning="the recorded prompt, asked again", frame=lambda call: call.evidence.prompt),
    Arm(
        id=BASE,
        meaning="a neutral frame that states neither the order nor the number of rollouts",
        control="A0",
        factor="frame",
        changing="the neutral frame",
        caption="neutral frame",
    ),
    Arm(
        id="N0h",
        meaning="the neutral frame with returns hidden",
        control=BASE,
        shows=showing.hidden,
        factor="numbers",
        changing="hiding returns",
        caption="returns hidden",
    ),
    Arm(
        id=WORDING,
        meaning="the neutral frame, reworded and laid out differently",
        control=BASE,
        frame=lambda call: _neutral(call).placebo(),
        factor="wording",
        changing="rewording the prompt",
        caption="reworded: placebo",
        text="driver",
    ),
    Arm(
        id=REDRAWN,
        meaning="other evidence of the same policy: rollouts on fresh seeds, selected anew",
        control=BASE,
        needs="policy",
        shows=showing.redrawn,
        draws=True,
        factor="other rollouts",
        changing="drawing the evidence again",
        caption="rollouts redrawn",
    ),
    Arm(
        id="C",
        meaning="order, labels and numbers drawn independently for every call",
        shows=showing.conjoint,
        draws=True,
    ),
    Arm(
        id="XL",
        meaning="the labels of worst and best exchanged, returns hidden",
        control="N0h",
        shows=showing.labels_exchanged,
        factor="label",
        changing="exchanging the labels of worst and best",
        caption="labels exchanged",
        text="names",
    ),
    Arm(
        id="XA",
        meaning="Rollout A, B, C in place of the labels",
        control=BASE,
        shows=showing.letters,
        factor="labels instead of letters",
        changing="Rollout A, B, C in place of the labels",
        caption="letters for labels",
        text="names",
    ),
    Arm(
        id="XP",
        meaning="the rollouts in reverse order",
        control=BASE,
        shows=showing.turned,
        factor="position",
        changing="reversing the order of rollouts",
        caption="order reversed",
        text="driver",
    ),
    Arm(
        id="XN",
        meaning="the numbers of worst and best exchanged",
        control=BASE,
        shows=showing.numbers_exchanged,
        factor="number",
        changing="exchanging the numbers of worst and best",
        caption="numbers exchanged",
        text="driver",
    ),
    Arm(
        id="RW",
        meaning="another rollout near the median in place of the worst; no labels, random order",
        control="RM",
        needs="rollouts",
        shows=showing.replaced("worst"),
        draws=True,
        factor="presence",
        changing="replacing the worst rollout",
        caption="worst replaced",
        takes_away=True,
    ),
    Arm(
        id="RM",
        meaning="the same rollout in place of the median one; no labels, random order",
        needs="rollouts",
        shows=showing.replaced("median"),
        draws=True,
    ),
    Arm(
        id="RB",
        meaning="the same rollout in place of the best; no labels, random order",
        control="RM",
        needs="rollouts",
        shows=showing.replaced("best"),
        draws=True,
        factor="presence of the best",
        changing="replacing the best rollout",
        caption="best replaced",
        takes_away=True,
    ),
    *(
        Arm(
            id=f"D{quantile:g}",
            meaning=f"the worst replaced by the rollout at quantile {quantile:g}",
            control="D0",
            needs="rollouts",
            shows=showing.dosed(quantile),
        )
        for quantile in QUANTILES
    ),
    Arm(
        id="DW",
        meaning="without the worst rollout",
        control="DM",
        shows=showing.without("worst"),
        factor="presence",
        changing="leaving the worst rollout out",
        caption="worst left out",
        takes_away=True,
    ),
    Arm(id="DM", meaning="without the median rollout", shows=showing.without("median")),
    Arm(
        id="DB",
        meaning="without the best rollout",
        control="DM",
        shows=showing.without("best"),
        factor="presence of the best",
        changing="leaving the best rollout out",
        caption="best left out",
        takes_away=True,
    ),
    Arm(id="S_w", meaning="the worst rollout alone, without a label", shows=showing.alone("worst")),
    Arm(id="S_m", meaning="the median rollout alone, without a label", shows=showing.alone("median")),
    Arm(id="S_b", meaning="the best rollout alone, without a label", shows=showing.alone("best")),
    Arm(
        id="I",
        meaning="without the instructions that mention the worst rollout",
        control="A0",
        frame=lambda call: call.evidence.prompt.without_warnings(),
        factor="instructions",
        changing="leaving out the instructions that mention the worst rollout",
        caption="instructions left out",
        text="names",
    ),
    Arm(
        id="H",
        meaning="earlier trials in random order",
        control="A0",
        frame=_trials_shuffled,
        draws=True,
        factor="order of trials",
        changing="shuffling earlier trials",
        caption="trials shuffled",
    ),
)
ARMS: Final[Mapping[str, Arm]] = {arm.id: arm for arm in _EVERY}

FRAMES: Final = (BASE, "N0h")
"""Arms that serve as controls; their own effect is tested only where their own control is asked as well."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A prompt of an arm, and the rollouts that it shows, in order."""

    prompt: str
    shown: tuple[Shown, ...]


def ask(arm: str, evidence: Evidence, rng: np.random.Generator, replicate: int = 0) -> Asked:
    """Make the prompt of one call.

    Args:
        arm: one of `ARMS`.
        evidence: of the unit.
        rng: draws what the arm leaves to chance.
        replicate: number of the call in its unit and arm, from 0: which fresh rollouts `P2` shows.
    """
    call = Call(evidence, rng, replicate)
    frame = ARMS[arm].frame(call)
    shown = ARMS[arm].shows(call)
    return Asked(str(frame.with_blocks([each.block for each in shown])), tuple(shown))
