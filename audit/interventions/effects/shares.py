"""The share of revisions that follow a rollout because of what it is called, where it is, or what it shows.

In arm `C` order, labels and numbers are drawn for every call. Each answer is taken for a draw from a mixture of the
unit's edits made for each rollout alone (`S_w`, `S_m`, `S_b`) and without evidence (`E0`). The weight of a rollout is
the sum of what its content, its label, its place and the rank of its printed return add, three levels each whose
deviations sum to zero, and of a part that all rollouts have; `E0` has a weight of its own. An equal mixture of
all labels, of all places or of all contents is the same thing, so that no more than that can be estimated. A level is
reported by its excess over the mean of the other two: the share that follows it, if nothing else of its kind is
followed.

Where returns can be read off the steps they are true or hidden, never exchanged: content and number are told apart by
the calls with hidden returns, in which weights of the common part and of `E0` are free, so that nothing is assumed on
what a critic without numbers goes by.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from audit.interventions.arms import CONJOINT
from audit.interventions.arms import NOTHING as NOTHING_SHOWN
from audit.interventions.effects.comparisons import Redraws, directions, run_numbers
from audit.interventions.effects.named_shares import ANY, CONTENTS, FACTORS, LABELS, NOTHING, NUMBERS, PLACES, SHARES
from audit.interventions.effects.results import Ceiling
from audit.interventions.experiment import Answered, Experiment, Floats, Place
from audit.interventions.showing import ROLES
from audit.measures.conditional_randomisation import conditional_randomisation_test
from audit.measures.following import Estimates, Normal, estimate, influence, normal_equations, products

ALONE: Final = ("S_w", "S_m", "S_b")
"""Arms that show one rollout, in the order of `ROLES`."""
LEAST: Final = 2
"""Answers to each reference that a unit needs: products of means are over pairs of different answers."""

_LEVELS: Final = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]])
"""Deviations of three levels that sum to zero, by two parameters."""
_ANY, _WITHOUT, _ANY_HIDDEN, _WITHOUT_HIDDEN = range(8, 12)
_PARAMETERS: Final = 12
_HIDDEN: Final = 0.5
"""Share of calls in which returns that can be read off the steps are hidden."""
_LEAST_NOISE: Final = 1e-3
"""The variance of directions, whose length is 1, is taken for no less: where edits for one rollout are all the same,
the signal to noise would be that of rounding."""
_ROUNDING: Final = 1e-9


def _functions() -> Floats:
    """The shares as linear functions of the parameters, then differences of two levels of a factor."""
    rows = np.zeros((len(SHARES), _PARAMETERS))
    pairs = []
    for factor in range(len(FACTORS)):
        columns = slice(2 * factor, 2 * factor + 2)
        for level in range(3):
            # A level's excess over the mean of the other two is one and a half times its deviation.
            rows[3 * factor + level, columns] = 1.5 * _LEVELS[level]
        for first, second in PAIRS:
            row = np.zeros(_PARAMETERS)
            row[columns] = _LEVELS[first] - _LEVELS[second]
            pairs.append(row)
    rows[SHARES.index(ANY), [_ANY, _ANY_HIDDEN]] = 1, _HIDDEN
    rows[SHARES.index(NOTHING), [_WITHOUT, _WITHOUT_HIDDEN]] = 1, _HIDDEN
    return np.concatenate([rows, pairs])


PAIRS: Final = ((0, 1), (0, 2), (1, 2))
"""Levels of a factor that are compared with each other."""
_FUNCTIONS: Final = _functions()


@dataclass(frozen=True)
class UnitCalls:
    """A unit's answers in `C`, and its references.

    Attributes:
        unit: index among the experiment's.
        answers: those that could be read.
        edits: shape (answers, coordinates), their directions.
        references: directions of the edits made for each rollout alone, in the order of `ROLES`, then without evidence
            where that was asked; each of shape (answers of its own, coordinates).
    """

    unit: int
    answers: Sequence[Answered]
    edits: Floats
    references: Sequence[Floats]

    @cached_property
    def scores(self) -> Floats:
        """How far each edit goes towards the mean edit for the rollout at each place: shape (answers, places).

        Inner products with the means, less their mean over the rollouts.
        """
        means = np.array([reference.mean(axis=0) for reference in self.references[: len(ROLES)]])
        towards = self.edits @ (means - means.mean(axis=0)).T
        order = np.array([[ROLES.index(place.content) for place in answer.shown] for answer in self.answers])
        return np.take_along_axis(towards, order, axis=1)


def unit_calls(experiment: Experiment) -> list[UnitCalls]:
    """The units whose answers in `C` can be held against references; unreadable answers are left out."""
    found = []
    has_none = any(each.readable for answers in experiment.arm(NOTHING_SHOWN).values() for each in answers)
    arms = (*ALONE, NOTHING_SHOWN) if has_none else ALONE
    for unit, answered in sorted(experiment.arm(CONJOINT).items()):
        answers = [each for each in answered if each.readable and _whole(each.shown)]
        edits = [[each.edit for each in experiment.arm(arm).get(unit, []) if each.readable] for arm in arms]
        if answers and min(map(len, edits)) >= LEAST:
            references = [directions(np.array(each)) for each in edits]
            found.append(UnitCalls(unit, answers, directions(np.array([each.edit for each in answers])), references))
    return found


def _whole(shown: Sequence[Place]) -> bool:
    return sorted(place.content for place in shown) == sorted(ROLES) == sorted(str(place.label) for place in shown)


@dataclass(frozen=True)
class Followed:
    """The shares of an experiment.

    Attributes:
        units: those that count.
        clusters: shape (units,), the number of each unit's run; of the unit itself where all are of one run.
        estimates: of `SHARES`, then of the differences of levels, three for each of `FACTORS`, in the order of `PAIRS`.
        added: shape (units, shares and differences), by how much each unit raises the estimates.
        p: by share, of the hypothesis that answers do not depend on which rollout has the label, the place or the
            lowest return, against the alternative that they follow it.
    """

    units: Sequence[UnitCalls]
    clusters: NDArray[np.intp]
    estimates: Estimates
    added: Floats
    p: Mapping[str, float]


def followed(experiment: Experiment, redraws: Redraws) -> Followed | None:
    """Estimate the shares; None without arm `C` or without the references.

    Args:
        experiment: its answers.
        redraws: of the tests, and their seed.
    """
    units = unit_calls(experiment)
    if not units:
        return None
    clusters = run_numbers(experiment, [each.unit for each in units])
    if clusters.max() == 0:
        clusters = np.arange(len(units))
    normal = _normal(units)
    estimates = estimate(normal, clusters, _FUNCTIONS)
    return Followed(units, clusters, estimates, influence(normal, _FUNCTIONS), _tests(experiment, units, redraws))


def estimated(units: Sequence[UnitCalls], clusters: NDArray[np.intp]) -> Estimates:
    """The shares of some units, and the differences of levels, as `Followed` has them.

    Args:
        units: one or more.
        clusters: shape (units,), numbers from 0.
    """
    return estimate(_normal(units), clusters, _FUNCTIONS)


def _normal(units: Sequence[UnitCalls]) -> Normal:
    terms = [
        normal_equations(each.edits, _weights(each.answers, len(each.references)), each.references) for each in units
    ]
    return Normal(np.array([matrix for matrix, _ in terms]), np.array([right for _, right in terms]))


def _weights(answers: Sequence[Answered], references: int) -> Floats:
    """By how much each parameter raises the weight of each reference: shape (answers, parameters, references)."""
    found = np.zeros((len(answers), _PARAMETERS, references))
    for row, answer in zip(found, answers, strict=True):
        hidden = all(place.number is None for place in answer.shown)
        for position, place in enumerate(answer.shown):
            content = ROLES.index(place.content)
            levels = (content, ROLES.index(place.label or ""), position)
            row[:6, content] = _LEVELS[list(levels)].ravel()
            if place.number in ROLES:
                row[6:8, content] = _LEVELS[ROLES.index(place.number)]
            row[_ANY, content] = 1 / len(ROLES)
            row[_ANY_HIDDEN, content] = hidden / len(ROLES)
        row[_WITHOUT, len(ROLES) :] = 1
        row[_WITHOUT_HIDDEN, len(ROLES) :] = hidden
    return found


def holder(answer: Answered, share: str) -> int | None:
    """The place of the rollout that a share is about; None where no rollout of the call has what it is about."""
    if share in PLACES:
        return PLACES.index(share)
    if share in LABELS:
        wanted, attribute = ROLES[LABELS.index(share)], "label"
    elif share in CONTENTS:
        wanted, attribute = ROLES[CONTENTS.index(share)], "content"
    else:
        wanted, attribute = ROLES[NUMBERS.index(share)], "number"
    return next((index for index, place in enumerate(answer.shown) if getattr(place, attribute) == wanted), None)


def _tests(experiment: Experiment, units: Sequence[UnitCalls], redraws: Redraws) -> dict[str, float]:
    """Conditional randomisation: labels, places and numbers are drawn anew, with the answers as they are."""
    scores = np.concatenate([each.scores for each in units])
    answers = [answer for each in units for answer in each.answers]
    found = {}
    for share in (*LABELS, *PLACES):
        held = [place for answer in answers if (place := holder(answer, share)) is not None]
        found[share] = _p(scores, held, share, redraws)
    # Numbers were permuted among the three; or hidden or not, in which case following one is to follow its rollout more
    # where it is shown.
    for share, content in zip(NUMBERS, CONTENTS, strict=True):
        table, able, held = np.zeros_like(scores), np.ones(scores.shape, dtype=bool), []
        for row, eligible, own, answer in zip(table, able, scores, answers, strict=True):
            shown = holder(answer, share)
            if experiment.units[answer.unit].number_readable:
                towards = own[holder(answer, content) or 0]
                row[:2], eligible[2] = (towards, -towards), False
                held.append(int(shown is None))
            else:
                row[:] = own
                held.append(shown or 0)
        found[share] = _p(table, held, share, redraws, able)
    return found


def _p(
    scores: Floats, held: Sequence[int], share: str, redraws: Redraws, eligible: NDArray[np.bool_] | None = None
) -> float:
    return conditional_randomisation_test(
        scores,
        held,
        eligible=eligible,
        alternative="greater",
        redraws=redraws.permutations,
        seed=redraws.draws(CONJOINT, share),
    ).p


def ceiling(units: Sequence[UnitCalls]) -> Ceiling:
    """Signal to noise of the edits made for one rollout alone, over units.

    Args:
        units: one or more.
    """
    between, within, hits, edits = 0.0, 0.0, 0, 0
    for unit in units:
        alone = unit.references[: len(ROLES)]
        moments = products(alone)
        between += (np.trace(moments) - moments.sum() / len(ROLES)) / (len(ROLES) - 1)
        within += float(np.mean([each.var(axis=0, ddof=1).sum() for each in alone]))
        for role, own in enumerate(alone):
            means = np.array([each.mean(axis=0) for each in alone])
            for edit in own:
                others = means.copy()
                others[role] = (own.sum(axis=0) - edit) / (len(own) - 1)
                hits += int(np.argmin(((others - edit) ** 2).sum(axis=1)) == role)
                edits += 1
    signal = float(between / max(within, _LEAST_NOISE * len(units)))
    return Ceiling(signal if abs(signal) > _ROUNDING else 0.0, hits / edits)
