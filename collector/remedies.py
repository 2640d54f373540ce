"""Remedies: what a user may change about how evidence is shown, and about how answers are used.

Each is stated once, in `REMEDIES`. Those that act on the evidence or the instructions rewrite the critic's prompt after
it was rendered, so that templates stay what they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import cache
from statistics import median
from typing import TYPE_CHECKING, Any, Final, Literal

from collector import acceptance
from collector.errors import UsageError
from collector.prompt_parts import LETTERS, Block, CriticPrompt
from collector.records import EvidenceKind

if TYPE_CHECKING:
    import numpy as np

    from collector.methods import Method
    from collector.policy import Params
    from collector.tasks import ParameterSpace

Acts = Literal["evidence", "instruction", "answers", "acceptance"]

ANSWERS: Final = 3
"""Answers to a critic's prompt, where several are asked for."""
FEW: Final = 2
"""Entries that `few` allows to change."""


@dataclass(frozen=True, slots=True)
class Situation:
    """What a critic's prompt is rewritten from.

    Attributes:
        prompt: as it was rendered.
        returns, lengths: of the K rollouts.
        success_return: return from which a rollout is a success.
        block: writes out any of the K rollouts.
        rng: draws what is left to chance.
    """

    prompt: CriticPrompt
    returns: Sequence[float]
    lengths: Sequence[int]
    success_return: float
    block: Callable[[int], Block]
    rng: np.random.Generator


@dataclass(frozen=True, slots=True, kw_only=True)
class Remedy:
    """One remedy.

    Attributes:
        id: its name.
        acts: on what; of each but `instruction` a run has one at most.
        meaning: what it does, in a few words.
        rewrites: changes the prompt, where it acts on that.
        kind: how the evidence that it leaves was chosen.
        draws: each prompt is drawn anew.
        calls: further calls in an iteration.
        rollouts: further rollouts in an iteration, at most, of an evaluation with K.
    """

    id: str
    acts: Acts
    meaning: str
    rewrites: Callable[[Situation], CriticPrompt] | None = None
    kind: EvidenceKind = "three"
    draws: bool = False
    calls: int = 0
    rollouts: Callable[[int], int] = lambda _: 0

    def rewrite(self, situation: Situation) -> CriticPrompt:
        """The critic's prompt, changed; only of those that act on the evidence or the instructions."""
        assert self.rewrites is not None
        return self.rewrites(situation)

    def unfit(self, method: Method) -> str | None:
        """Why it does not apply to a method; None where it does."""
        match self.acts:
            case "evidence" if method.evidence != "three":
                return "needs a critic that is shown three rollouts"
            case "instruction" | "answers" if method.second != "critic":
                return "needs a critic that is shown rollouts"
            case "acceptance" if method.second is None or method.commits != "better":
                return "needs two candidates of which the better one is kept"
        return None


def _lettered(blocks: Iterable[Block]) -> list[Block]:
    return [replace(block, name=name) for block, name in zip(blocks, LETTERS, strict=False)]


def _shuffled(blocks: Sequence[Block], rng: np.random.Generator) -> list[Block]:
    return [blocks[place] for place in rng.permutation(len(blocks))]


def _letters(now: Situation) -> CriticPrompt:
    return now.prompt.neutral().with_blocks(_lettered(_shuffled(now.prompt.blocks, now.rng)))


def _in_random_order(now: Situation) -> CriticPrompt:
    return now.prompt.neutral().with_blocks(_shuffled(now.prompt.blocks, now.rng))


def _hidden(now: Situation) -> CriticPrompt:
    return now.prompt.neutral().with_blocks([block.hidden() for block in now.prompt.blocks])


def _contrast(now: Situation) -> CriticPrompt:
    worst, _, best = now.prompt.blocks
    return now.prompt.neutral().with_blocks([worst, best])


def _typical(now: Situation) -> CriticPrompt:
    centre = median(now.returns)
    nearest = sorted(range(len(now.returns)), key=lambda rollout: abs(now.returns[rollout] - centre))
    blocks = [now.block(rollout) for rollout in nearest[: len(LETTERS)]]
    return now.prompt.neutral().with_blocks(_lettered(_shuffled(blocks, now.rng)))


def _median(now: Situation) -> CriticPrompt:
    from collector.evidence import statistics
    from collector.prompts import templates

    facts = {
        "statistics": statistics(now.success_return, now.returns, now.lengths),
        "success_return": now.success_return,
        "rollouts_shown": [],
    }
    opening, evidence, _ = now.prompt.before.partition(now.prompt.dialect.evidence)
    stated = templates.render(None, "evidence_median.j2", facts).strip()
    after = now.prompt.after
    for words, others in _words_of_one_rollout():
        after = after.replace(words, others)
    return replace(now.prompt, before=f"{opening}{evidence}{stated}\n\n", blocks=now.prompt.blocks[1:2], after=after)


@cache
def _words_of_one_rollout() -> Sequence[tuple[str, str]]:
    """What the template says of three rollouts, and what of the median one with statistics instead."""
    three, one = (_instructions(kind).splitlines(keepends=True) for kind in ("three", "median"))
    changes = SequenceMatcher(None, three, one, autojunk=False).get_opcodes()
    return [("".join(three[a:b]), "".join(one[c:d])) for tag, a, b, c, d in changes if tag != "equal"]


def _instructions(kind: str) -> str:
    """The end of the template, which has no facts of a task in it."""
    from collector.prompts import templates

    facts: dict[str, object] = dict.fromkeys(templates.placeholders(None, "critic.j2"), 0)
    facts |= {"evidence_kind": kind, "evidence_template": "evidence_three.j2", "rollouts_shown": [], "history": []}
    facts |= dict.fromkeys(("allowed", "step_size", "tau_c"), None)
    text = templates.render(None, "critic.j2", facts).strip() + "\n"
    return text[text.index("## How to proceed") :]


def _point(point: str) -> Callable[[Situation], CriticPrompt]:
    return lambda now: now.prompt.with_point(point.format(rollouts=len(now.returns)))


REMEDIES: Final[Mapping[str, Remedy]] = {
    remedy.id: remedy
    for remedy in (
        Remedy(
            id="letters",
            acts="evidence",
            meaning="Rollout A, B, C in place of the labels, in random order",
            rewrites=_letters,
            draws=True,
        ),
        Remedy(
            id="shuffled",
            acts="evidence",
            meaning="the labels kept, in random order",
            rewrites=_in_random_order,
            draws=True,
        ),
        Remedy(id="hidden", acts="evidence", meaning="returns of the rollouts shown left out", rewrites=_hidden),
        Remedy(
            id="median",
            acts="evidence",
            meaning="the median rollout alone, with statistics of all",
            rewrites=_median,
            kind="median",
        ),
        Remedy(
            id="contrast", acts="evidence", meaning="the worst and the best, without the median", rewrites=_contrast
        ),
        Remedy(
            id="typical",
            acts="evidence",
            meaning="the three nearest to the median return as Rollout A, B, C, in random order",
            rewrites=_typical,
            kind="representative",
            draws=True,
        ),
        Remedy(
            id="sample",
            acts="instruction",
            meaning="one rollout is one sample of K",
            rewrites=_point(
                "One rollout is one sample of {rollouts}: do not conclude from a single one, whatever it shows."
            ),
        ),
        Remedy(
            id="few",
            acts="instruction",
            meaning=f"change at most {FEW} entries",
            rewrites=_point(f"Change at most {FEW} of the parameters, and leave all others exactly as they are."),
        ),
        Remedy(
            id="predict",
            acts="instruction",
            meaning="predict first what the change could break",
            rewrites=_point(
                "Before you change anything, predict what the change could break in rollouts that went well, and say "
                "so in your answer, after the first line."
            ),
        ),
        Remedy(
            id="medoid",
            acts="answers",
            meaning=f"of {ANSWERS} answers the one that is nearest to the others",
            calls=ANSWERS - 1,
        ),
        Remedy(
            id="best-of-three",
            acts="answers",
            meaning=f"of {ANSWERS} answers the one with the best mean return on the same K seeds",
            calls=ANSWERS - 1,
            rollouts=lambda rollouts: (ANSWERS - 1) * rollouts,
        ),
        Remedy(
            id="gate",
            acts="acceptance",
            meaning=f"kept if a paired t-test on {acceptance.PAIRS} fresh seeds finds it better at 5%",
            rollouts=lambda _: 2 * acceptance.PAIRS,
        ),
        Remedy(
            id="gate-sequential",
            acts="acceptance",
            meaning=f"the same by a test that may stop after every {acceptance.BATCH} of up to "
            f"{acceptance.PAIRS} pairs",
            rollouts=lambda _: 2 * acceptance.PAIRS,
        ),
        Remedy(
            id="recheck",
            acts="acceptance",
            meaning="kept if its mean is not lower, and not lower again when both run on K fresh seeds",
            rollouts=lambda rollouts: 2 * rollouts,
        ),
    )
}


def remedies_of(names: Sequence[str]) -> tuple[Remedy, ...]:
    """Remedies by name, each once, in the order of `REMEDIES`.

    Raises:
        UsageError: there is none of a name, or two of them act on the evidence, on answers or on acceptance.
    """
    for name in names:
        if name not in REMEDIES:
            raise UsageError(f"unknown remedy '{name}'; choose from {', '.join(REMEDIES)}")
    chosen = tuple(remedy for remedy in REMEDIES.values() if remedy.id in names)
    for acts in ("evidence", "answers", "acceptance"):
        alike = [remedy.id for remedy in chosen if remedy.acts == acts]
        if len(alike) > 1:
            raise UsageError(f"remedies {' and '.join(alike)} both act on {acts}; choose one")
    return chosen


def recorded(switches: Mapping[str, Any]) -> tuple[Remedy, ...]:
    """The remedies of a run by the `switches` of its record, which may be anything; those that are known here."""
    names = switches.get("remedies")
    return tuple(remedy for remedy in REMEDIES.values() if remedy.id in names) if isinstance(names, list) else ()


def acting_on(remedies: Sequence[Remedy], acts: Acts) -> Remedy | None:
    """That of some remedies which acts on the evidence, on answers or on acceptance, if one does."""
    return next((remedy for remedy in remedies if remedy.acts == acts), None)


def medoid(space: ParameterSpace, answers: Sequence[Params]) -> int:
    """Which answer has the smallest sum of distances to the others; the first on ties.

    A distance is the sum of differences, in whatever unit, such as search steps: the order of sums does not depend on
    it. Of tables it is the number of entries that differ.
    """
    import numpy as np

    from collector.tasks import LinearSpace

    vectors = np.asarray(answers, dtype=float)
    apart = np.abs(vectors[:, None] - vectors[None])
    distances = apart if isinstance(space, LinearSpace) else apart > 0
    # Sums of equal distances in another order must not decide.
    return int(distances.sum(axis=(1, 2)).round(9).argmin())
