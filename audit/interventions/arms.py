"""The arms of an experiment, each stated once: what a call's prompt changes, and what a report says of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from audit.interventions import showing
from audit.interventions.arm import Arm, neutral, placebo, trials_shuffled
from audit.interventions.showing import Call, Evidence, Shown
from collector.remedies import REMEDIES

QUANTILES: Final = (0.0, 0.1, 0.25, 0.5)
BASE: Final = "N0"
"""The arm that shows the whole evidence in the neutral frame."""
WORDING: Final = "P1"
REDRAWN: Final = "P2"
CONJOINT: Final = "C"
"""The arm in which order, labels, numbers and the frame are drawn for every call."""
LETTERED: Final = "R0"
"""The arm that shows the recorded rollouts without labels and in random order, as those do that replace one."""
NOTHING: Final = "E0"
"""The arm that shows no rollout."""
PLACEBOS: Final = tuple(arm for arm in showing.NEUTRAL_FRAMES if arm != BASE)
"""The arms whose frames mean the same as that of `BASE`, which they are compared with."""

_EVERY: Final = (
    Arm(id="A0", meaning="the recorded prompt, asked again", frame=lambda call: call.evidence.prompt, runs=True),
    Arm(
        id=BASE,
        runs=True,
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
        frame=placebo("mixed"),
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
        id="P3",
        meaning="the neutral frame in other words",
        control=BASE,
        frame=placebo("words"),
        factor="words",
        changing="using other words in the prompt",
        caption="other words: placebo",
    ),
    Arm(
        id="P4",
        meaning="the neutral frame laid out differently",
        control=BASE,
        frame=placebo("layout"),
        factor="layout",
        changing="laying the prompt out differently",
        caption="other layout: placebo",
    ),
    Arm(
        id="P5",
        meaning="the neutral frame, longer by sentences that add nothing",
        control=BASE,
        frame=placebo("longer"),
        factor="longer frame",
        changing="adding sentences that say nothing to the prompt",
        caption="longer frame: placebo",
    ),
    Arm(
        id="P6",
        meaning="the neutral frame, shorter by words that it can do without",
        control=BASE,
        frame=placebo("shorter"),
        factor="shorter frame",
        changing="leaving needless words out of the prompt",
        caption="shorter frame: placebo",
    ),
    Arm(
        id=CONJOINT,
        meaning="order, labels, numbers and one of six frames of one meaning drawn independently for every call",
        shows=showing.conjoint,
        draws=True,
    ),
    Arm(
        id="XL",
        meaning="the labels of worst and best exchanged, returns hidden",
        control="N0h",
        shows=showing.labels_exchanged("worst", "best"),
        factor="label",
        changing="exchanging the labels of worst and best",
        caption="labels exchanged",
        text="names",
    ),
    Arm(
        id="XWM",
        meaning="the labels of worst and median exchanged, returns hidden",
        control="N0h",
        shows=showing.labels_exchanged("worst", "median"),
        factor="labels of worst and median",
        changing="exchanging the labels of worst and median",
        caption="labels of worst and median",
        text="names",
    ),
    Arm(
        id="XMB",
        meaning="the labels of median and best exchanged, returns hidden",
        control="N0h",
        shows=showing.labels_exchanged("median", "best"),
        factor="labels of median and best",
        changing="exchanging the labels of median and best",
        caption="labels of median and best",
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
        id="XC",
        meaning="Rollout A, B, C in place of the labels, and the rollouts in reverse order under them",
        control="XA",
        shows=showing.letters_turned,
        factor="contents under headings",
        changing="reversing the rollouts under headings that stay",
        caption="contents reversed",
        text="driver",
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
        id=LETTERED,
        meaning="the recorded rollouts; no labels, random order",
        shows=showing.letters_shuffled,
        draws=True,
        runs=True,
    ),
    Arm(
        id="RW",
        meaning="another rollout near the median in place of the worst; no labels, random order",
        control="RM",
        needs="rollouts",
        shows=showing.replaced("worst"),
        draws=True,
        runs=True,
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
        runs=True,
    ),
    Arm(
        id="RB",
        meaning="the same rollout in place of the best; no labels, random order",
        control="RM",
        needs="rollouts",
        shows=showing.replaced("best"),
        draws=True,
        runs=True,
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
            runs=True,
        )
        for quantile in QUANTILES
    ),
    Arm(
        id="DW",
        meaning="without the worst rollout",
        control="DM",
        shows=showing.without("worst"),
        runs=True,
        factor="presence",
        changing="leaving the worst rollout out",
        caption="worst left out",
        takes_away=True,
    ),
    Arm(id="DM", meaning="without the median rollout", shows=showing.without("median"), runs=True),
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
    Arm(
        id=NOTHING,
        meaning="no rollout at all",
        frame=lambda call: neutral(call).without_rollouts(),
        shows=showing.nothing,
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
        frame=trials_shuffled,
        draws=True,
        factor="order of trials",
        changing="shuffling earlier trials",
        caption="trials shuffled",
    ),
    *(
        Arm(
            id=remedy.id,
            meaning=f"remedy: {remedy.meaning}",
            control="A0",
            needs="record",
            draws=remedy.draws,
            factor=f"remedy {remedy.id}",
            changing=f"the remedy {remedy.id}",
            caption=f"remedy {remedy.id}",
            remedy=remedy,
        )
        for remedy in REMEDIES.values()
        if remedy.rewrites is not None
    ),
)
ARMS: Final[Mapping[str, Arm]] = {arm.id: arm for arm in _EVERY}

FRAMES: Final = (BASE, "N0h")
"""Arms that serve as controls; their own effect is tested only where their own control is asked as well."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A prompt of an arm.

    Attributes:
        prompt: the text.
        shown: the rollouts that it shows, in order.
        frame: the arm whose frame was drawn; None where none is drawn.
    """

    prompt: str
    shown: tuple[Shown, ...]
    frame: str | None = None


def ask(arm: str, evidence: Evidence, rng: np.random.Generator, replicate: int = 0) -> Asked:
    """Make the prompt of one call.

    Args:
        arm: one of `ARMS`.
        evidence: of the unit.
        rng: draws what the arm leaves to chance.
        replicate: number of the call in its unit and arm, from 0: which fresh rollouts `P2` shows.
    """
    if (remedy := ARMS[arm].remedy) is not None:
        assert evidence.situation is not None
        made = remedy.rewrite(evidence.situation(rng))
        return Asked(str(made), tuple(evidence.identified(made.blocks)))
    call = Call(evidence, rng, replicate)
    shown = ARMS[arm].shows(call)
    # Drawn after all else, which is thereby the same as in plans without frames.
    drawn = evidence.frames[int(call.rng.integers(len(evidence.frames)))] if arm == CONJOINT else None
    frame = ARMS[drawn or arm].frame(call)
    return Asked(str(frame.with_blocks([each.block for each in shown])), tuple(shown), drawn)
