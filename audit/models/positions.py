"""Rows of the relation `positions`: what is cited or imitated of the items shown, by their place and their score.

Only items of one prompt are compared with each other. If neither place nor score matters, their outcomes are
exchangeable, given what they are adjusted for: tests permute outcomes within prompts.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from audit.measures.cluster_robust import are_few
from audit.measures.holm import holm
from audit.measures.stratified_permutation import REDRAWS
from audit.measures.within_strata import by_size, within_effects
from audit.output.numbers import known

PLACE: Final = "place"
SCORE: Final = "score"
EITHER: Final = "place or score"
"""Where items are sorted by score in every prompt, and the two cannot be separated."""
RANKS: Final = {"later": PLACE, "higher": SCORE}
"""Factors that are ranks, from 0 to 1; the others are attributes that an item has or has not."""
_AT_ONCE: Final = 4_000_000
"""Pairs of items that are compared at once."""

Floats = NDArray[np.float64]
Row = dict[str, Any]


class Items(NamedTuple):
    """Items that are compared: arrays with an entry for each.

    Attributes:
        outcome: whether it is cited, or how far the text moves towards it.
        prompt: a number for each prompt.
        run: a number for each run.
        factors: name → what is tested; NaN in prompts where it is not known.
        similarity: of the text before the revision; 0 where citing is the outcome.
        gamma: pairs of a prompt whose later item has the higher score, less those whose later has the lower, over their
            sum; NaN without such a pair.
    """

    outcome: Floats
    prompt: NDArray[np.intp]
    run: NDArray[np.intp]
    factors: Mapping[str, Floats]
    similarity: Floats
    gamma: float


def factor_effects(outcome: str, rows: ArrayLike, *, redraws: int = REDRAWS) -> list[Row]:
    """Test every factor, corrected together.

    Args:
        outcome: `cited` or `gain`.
        rows: of items whose outcome is known, in any order: columns `run`, `iteration`, `place`, `score`,
            `parent_score` and `similarity_before` of the relation `shown_items`, and the outcome; shape (items, 7).
            None or NaN where one is not known.
        redraws: how often outcomes are permuted.
    """
    items = _items(outcome, np.asarray(rows, dtype=float))
    if items is None:
        return []
    lines = list(_effects(items, redraws))
    corrected = holm(np.array([line["p"] for line in lines], dtype=float))
    family = int(np.isfinite(corrected).sum())
    return [line | {"holm_p": known(float(p)), "family": family} for line, p in zip(lines, corrected, strict=True)]


def _items(outcome: str, rows: Floats) -> Items | None:
    """The items of prompts that have several with a known outcome; None without any."""
    rows = rows[np.lexsort(rows[:, 2::-1].T)]
    is_first = np.ones(len(rows), dtype=bool)
    is_first[1:] = (np.diff(rows[:, :2], axis=0) != 0).any(axis=1)
    prompt = np.cumsum(is_first) - 1
    has_several = np.bincount(prompt)[prompt] > 1
    if not has_several.any():
        return None
    rows, prompt = rows[has_several], np.unique(prompt[has_several], return_inverse=True)[1]
    run, _, _, score, parent, similarity, value = rows.T
    factors: dict[str, Floats] = defaultdict(lambda: np.empty(len(rows)))
    agreeing = differing = 0
    for size, places in by_size(prompt).items():
        for each in np.array_split(places, math.ceil(places.size * size / _AT_ONCE)):
            scores = score[each]
            steps = (scores[:, None, :] - scores[:, :, None])[:, *np.triu_indices(size, 1)]
            agreeing, differing = agreeing + int((steps > 0).sum()), differing + int((steps < 0).sum())
            for name, values in _factors(scores, outcome, parent[each[:, :1]]).items():
                factors[name][each] = values
    is_gain = outcome == "gain"
    return Items(
        outcome=value.copy(),
        prompt=prompt,
        run=run.astype(np.intp),
        factors=factors,
        similarity=similarity.copy() if is_gain else np.zeros(len(rows)),
        gamma=(agreeing - differing) / (agreeing + differing) if agreeing + differing else np.nan,
    )


def _factors(scores: Floats, outcome: str, parents: Floats) -> dict[str, Floats]:
    """What is tested of prompts: scores in the order of display, shape (prompts, items); parents, (prompts, 1)."""
    number = scores.shape[1]
    place = np.arange(number)
    factors = {"first": place == 0, "last": place == number - 1, "later": place / (number - 1)}
    # Of equal scores none is the worst or the best alone; all are, and they share the mean of their ranks.
    is_unknown = np.isnan(scores).any(axis=1, keepdims=True)
    lower = (scores[:, None, :] < scores[:, :, None]).sum(axis=2)
    equal = (scores[:, None, :] == scores[:, :, None]).sum(axis=2)
    factors["worst"] = np.where(is_unknown, np.nan, scores == scores.min(axis=1, keepdims=True))
    factors["best"] = np.where(is_unknown, np.nan, scores == scores.max(axis=1, keepdims=True))
    factors["higher"] = np.where(is_unknown, np.nan, (lower + (equal - 1) / 2) / (number - 1))
    if outcome == "gain":
        factors["above parent"] = np.where(np.isnan(scores) | np.isnan(parents), np.nan, scores > parents)
    return factors


def _effects(items: Items, redraws: int) -> Iterator[Row]:
    """The effect of each factor; of those that make the same comparisons, such as first and last of two, the first."""
    is_sorted = abs(items.gamma) == 1
    similarity = _centred(items.similarity, items.prompt)
    ranks = {aspect: _centred(items.factors[name], items.prompt) for name, aspect in RANKS.items()}
    tested: dict[str, Floats] = {}
    regressors = []
    for name, values in items.factors.items():
        aspect = _aspect(name)
        if is_sorted and aspect == SCORE:
            continue
        centred = _centred(values, items.prompt)
        if not centred.any() or any(_is_same(centred, other) for other in tested.values()):
            continue
        tested[name] = centred
        adjusted = [] if is_sorted else [ranks[SCORE if aspect == PLACE else PLACE]]
        regressors.append((values, np.column_stack([similarity, *adjusted])))
    effects = within_effects(items.outcome, regressors, items.prompt, items.run, redraws=redraws)
    for (name, centred), (values, _), found in zip(tested.items(), regressors, effects, strict=True):
        counted = np.isin(items.prompt, np.unique(items.prompt[centred != 0]))
        has = counted & (values == 1)
        without = counted & (values != 1)
        is_rank = name in RANKS
        yield {
            "aspect": EITHER if is_sorted else _aspect(name),
            "factor": name,
            "runs": len(np.unique(items.run[counted])),
            "revisions": found.strata,
            "items": found.observations,
            "mean_with": None if is_rank else float(items.outcome[has].mean()),
            "mean_without": None if is_rank else float(items.outcome[without].mean()),
            "effect": known(found.effect),
            "effect_low": known(found.low),
            "effect_high": known(found.high),
            "rough": ["effect"] if are_few(len(np.unique(items.run[counted]))) else [],
            "p": known(found.p),
            "place_score_gamma": known(items.gamma),
        }


def _aspect(factor: str) -> str:
    return PLACE if factor in ("first", "last", "later") else SCORE


def _centred(values: Floats, prompt: NDArray[np.intp]) -> Floats:
    """Values less their mean over the prompt; 0 in prompts where one is not known."""
    centred = np.zeros(len(values))
    for places in by_size(prompt).values():
        each = values[places]
        varies = np.ptp(each, axis=1, keepdims=True) > 0  # and not NaN
        centred[places] = np.where(varies, each - each.mean(axis=1, keepdims=True), 0.0)
    return centred


def _is_same(first: Floats, second: Floats) -> bool:
    """Whether one is a multiple of the other."""
    return float(first @ second) ** 2 >= (1 - 1e-9) * float(first @ first) * float(second @ second)
