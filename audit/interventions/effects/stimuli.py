"""What moves edits without being a rollout: the wording of the frame, the prompt's length, the order of headings.

In arm `C` a frame is drawn for every call, one of six with the same content, and so is the order of headings, whatever
the contents under them. If they matter, answers of a unit that share a frame are more alike than those that do not: the
energy distance between frames. Its root is given in units of that between edits made for different rollouts alone, a
share-equivalent: a critic in which a share of answers went by another rollout would have it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import permutations
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from audit.interventions.effects.comparisons import Redraws, directions
from audit.interventions.effects.named_shares import HEADINGS, LENGTH, NAMES, ORDER, UNTRACED, WORDING
from audit.interventions.effects.shares import ALONE, UnitCalls
from audit.interventions.experiment import Answered, Experiment, Floats
from audit.interventions.showing import NEUTRAL_FRAMES, ROLES
from audit.measures.energy import pairwise_distances
from audit.measures.following import ratio
from audit.measures.stratified_permutation import AT_ONCE

_ORDERS: Final = {order: number for number, order in enumerate(permutations(ROLES))}


class Stimulus(NamedTuple):
    """What something that is no rollout does to edits.

    Attributes:
        name: one of `STIMULI` or `UNTRACED`.
        p: of the hypothesis that it does nothing, by drawing it anew for all calls.
        value: mean squared energy distance between its levels, over that between edits for different rollouts alone;
            infinite or NaN where the latter do not differ.
        error: standard error of the ratio over runs.
        parts: shape (units, 2): what each unit adds above and below the line.
    """

    name: str
    p: float
    value: float
    error: float
    parts: Floats


def stimuli(
    experiment: Experiment,
    units: Sequence[UnitCalls],
    clusters: NDArray[np.intp],
    redraws: Redraws,
    *,
    untraced: bool = False,
) -> list[Stimulus]:
    """Test what is no rollout; wording and length only where frames were drawn.

    Args:
        experiment: its answers.
        units: those whose shares are estimated.
        clusters: shape (units,), the number of each unit's run.
        redraws: of the tests, and their seed.
        untraced: test `UNTRACED` as well, for a critic who edits alike for different rollouts alone.
    """
    tables = [_likeness(experiment, unit) for unit in units]
    below = np.array([table.alone for table in tables])
    found = []
    frames = [np.array([NEUTRAL_FRAMES.index(each.frame) for each in unit.answers]) for unit in units]
    if any(each.any() for each in frames):
        groups = np.eye(len(NEUTRAL_FRAMES))
        found.append((WORDING, frames, groups))
        lengths = _lengths(units, frames)
        if lengths.any():
            found.append((LENGTH, frames, lengths))
    for name in (HEADINGS, *(UNTRACED if untraced else ())):
        levels = [np.array([_ARRANGES[name](each) for each in unit.answers]) for unit in units]
        found.append((name, levels, np.eye(len(_ORDERS))))
    result = []
    for name, levels, scores in found:
        above, drawn = _tested([table.answers for table in tables], levels, scores, redraws, name)
        p = (1 + int(np.count_nonzero(drawn >= above.sum() - 1e-12))) / (1 + drawn.size)
        value, error = ratio(above, below, clusters)
        result.append(Stimulus(name, p, value, error, np.stack([above, below], axis=1)))
    return result


class _Likeness(NamedTuple):
    """How alike answers of a unit are.

    Attributes:
        answers: shape (answers, answers), of those in `C`; zero on the diagonal.
        alone: mean squared energy distance between edits for its rollouts alone.
    """

    answers: Floats
    alone: float


def _likeness(experiment: Experiment, unit: UnitCalls) -> _Likeness:
    edits = [np.array([each.edit for each in unit.answers])]
    edits += [np.array([each.edit for each in experiment.arm(arm)[unit.unit] if each.readable]) for arm in ALONE]
    sizes = [np.log1p(np.linalg.norm(each, axis=1)) for each in edits]
    spread = float(np.concatenate(sizes).std()) or 1.0
    # Directions and sizes: a critic whose edits are larger under longer prompts is moved by length.
    features = [directions(each) for each in edits]
    points = np.concatenate(features)
    lengths = np.concatenate(sizes)[:, None] / spread
    distances = pairwise_distances(points) + pairwise_distances(lengths)
    names = np.repeat(range(len(edits)), [len(each) for each in edits])
    own = distances[np.ix_(names == 0, names == 0)]
    number = len(own)
    centred = own.sum() / max(1, number * (number - 1)) - own
    np.fill_diagonal(centred, 0.0)
    means = np.zeros((3, 3))
    for a in range(3):
        for b in range(3):
            block = distances[np.ix_(names == a + 1, names == b + 1)]
            means[a, b] = block.sum() / (block.size - (len(block) if a == b else 0))
    within = np.trace(means) / 3
    between = (means.sum() - np.trace(means)) / 6
    return _Likeness(centred, 2 * (between - within))


def _lengths(units: Sequence[UnitCalls], frames: Sequence[NDArray[np.intp]]) -> Floats:
    """The logarithm of a prompt's length by frame, as one score: shape (frames, 1), zero on average."""
    sums, counts = np.zeros(len(NEUTRAL_FRAMES)), np.zeros(len(NEUTRAL_FRAMES))
    for unit, drawn in zip(units, frames, strict=True):
        lengths = np.log([each.prompt_characters for each in unit.answers])
        np.add.at(sums, drawn, lengths - lengths.mean())
        np.add.at(counts, drawn, 1)
    means = sums / np.maximum(counts, 1)
    return np.asarray((means - means.mean())[:, None])


def _headings(answer: Answered) -> int:
    return _ORDERS[tuple(str(place.label) for place in answer.shown)]


def _names(answer: Answered) -> int:
    called = {place.content: str(place.label) for place in answer.shown}
    return _ORDERS[tuple(called[role] for role in ROLES)]


def _order(answer: Answered) -> int:
    return _ORDERS[tuple(place.content for place in answer.shown)]


_ARRANGES: Final[Mapping[str, Callable[[Answered], int]]] = {
    HEADINGS: _headings,
    NAMES: _names,
    ORDER: _order,
}
"""By name, which of the arrangements a call drew."""


def _tested(
    likeness: Sequence[Floats],
    levels: Sequence[NDArray[np.intp]],
    scores: Floats,
    redraws: Redraws,
    name: str,
) -> tuple[Floats, Floats]:
    """Mean squared distance between levels by unit, shape (units,), and sums over units after redraws.

    A pair of answers counts by the product of its scores. For levels as groups, pairs of the same level count 1: their
    likeness above the unit's mean is half the mean squared distance between two levels, but for the factor by which
    pairs of the same level belong to the mean. For one score per level the same holds of what is linear in it.
    """
    rng = np.random.default_rng(redraws.draws("C", name))
    groups = len(scores)
    one = scores.shape[1] == 1
    values, totals = [], np.zeros(redraws.permutations)
    for table, drawn in zip(likeness, levels, strict=True):
        number = len(table)
        pairs = number * (number - 1)
        if not pairs:
            values.append(0.0)
            continue
        if one:
            variance = float((scores**2).sum() / (groups - 1))
            # E[z z' k] = |b|^2 (var z)^2, for levels drawn independently; a squared distance is 2 s^2 |b|^2.
            scale = 2 * variance / (float((scores**2).mean()) ** 2 * pairs)
        else:
            # The mean over pairs of the same level, less that over all, is half the squared distance times 1 - 1/k.
            scale = 2 * groups**2 / ((groups - 1) * pairs)
        values.append(float((table * (scores[drawn] @ scores[drawn].T)).sum()) * scale)
        step = max(1, AT_ONCE // (number * scores.shape[1]))
        for start in range(0, redraws.permutations, step):
            size = min(step, redraws.permutations - start)
            again = scores[rng.integers(groups, size=(size, number))]
            totals[start : start + size] += scale * np.einsum("bik,bik->b", again, table @ again)
    return np.array(values), totals
