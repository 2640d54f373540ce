"""Computes the relation `positions`: what is cited or imitated of the items shown, by their place and their score.

Only items of one prompt are compared with each other. If neither place nor score matters, their outcomes are
exchangeable, given what they are adjusted for: tests permute outcomes within prompts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from audit.measures.holm import holm
from audit.measures.stratified_permutation import REDRAWS, groups
from audit.measures.within_strata import within_effect
from audit.output.numbers import known
from audit.python_models.batches import batches, write_lines

if TYPE_CHECKING:
    import duckdb

OUTCOMES: Final = ("cited", "gain")
PLACE: Final = "place"
SCORE: Final = "score"
EITHER: Final = "place or score"
"""Where items are sorted by score in every prompt, and the two cannot be separated."""
RANKS: Final = {"later": PLACE, "higher": SCORE}
"""Factors that are ranks, from 0 to 1; the others are attributes that an item has or has not."""

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


def write_positions(items: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Test every factor for each condition, task, method and outcome, and write a line of JSON for each test.

    Args:
        items: a query for all of the relation `shown_items`, which was executed and not yet fetched.
        path: the file to write.
    """
    cells: dict[tuple[str, ...], dict[tuple[int, int], list[Row]]] = defaultdict(lambda: defaultdict(list))
    for batch in batches(items):
        for row in batch:
            for outcome in OUTCOMES:
                if row[outcome] is not None:
                    cell = row["condition"], row["env"], row["variant"], outcome
                    cells[cell][row["run"], row["iteration"]].append(row)
    names = ("condition", "env", "variant", "outcome")
    write_lines(
        path,
        (
            dict(zip(names, cell, strict=True)) | line
            for cell, prompts in sorted(cells.items())
            for line in factor_effects(cell[-1], [rows for _, rows in sorted(prompts.items())])
        ),
    )


def factor_effects(outcome: str, prompts: Sequence[Sequence[Row]], *, redraws: int = REDRAWS) -> list[Row]:
    """Test every factor, corrected together.

    Args:
        outcome: `cited` or `gain`.
        prompts: for each its items whose outcome is known, rows of the relation `shown_items`.
        redraws: how often outcomes are permuted.
    """
    items = _items(outcome, [rows for rows in prompts if len(rows) > 1])
    if items is None:
        return []
    lines = list(_effects(items, redraws))
    corrected = holm([np.nan if line["p"] is None else line["p"] for line in lines])
    family = int(np.isfinite(corrected).sum())
    return [line | {"holm_p": known(float(p)), "family": family} for line, p in zip(lines, corrected, strict=True)]


def _items(outcome: str, prompts: Sequence[Sequence[Row]]) -> Items | None:
    """The items of prompts that have several with a known outcome; None without any."""
    if not prompts:
        return None
    found: dict[str, list[Floats]] = defaultdict(list)
    agreeing = differing = 0
    for rows in (sorted(rows, key=lambda row: row["place"]) for rows in prompts):
        scores = np.array([np.nan if row["score"] is None else row["score"] for row in rows])
        steps = np.sign(scores[None, :] - scores[:, None])[np.triu_indices(len(rows), 1)]
        agreeing, differing = agreeing + int((steps > 0).sum()), differing + int((steps < 0).sum())
        for name, values in _factors(scores, outcome, rows[0]["parent_score"]).items():
            found[name].append(values)
    rows = [row for each in prompts for row in sorted(each, key=lambda row: row["place"])]
    is_gain = outcome == "gain"
    return Items(
        outcome=np.array([float(row[outcome]) for row in rows]),
        prompt=np.repeat(np.arange(len(prompts)), [len(each) for each in prompts]),
        run=np.array([row["run"] for row in rows]),
        factors={name: np.concatenate(values) for name, values in found.items()},
        similarity=np.array([row["similarity_before"] if is_gain else 0.0 for row in rows]),
        gamma=(agreeing - differing) / (agreeing + differing) if agreeing + differing else np.nan,
    )


def _factors(scores: Floats, outcome: str, parent: float | None) -> dict[str, Floats]:
    """What is tested of the items of one prompt, which are in the order of display."""
    number = len(scores)
    place = np.arange(number)
    factors = {
        "first": (place == 0).astype(float),
        "last": (place == number - 1).astype(float),
        "later": place / (number - 1),
    }
    # Of equal scores none is the worst or the best alone; all are, and they share the mean of their ranks.
    is_unknown = np.isnan(scores).any()
    lower, equal = ((scores[None, :] < scores[:, None]).sum(axis=1), (scores[None, :] == scores[:, None]).sum(axis=1))
    factors["worst"] = np.where(is_unknown, np.nan, scores == scores.min())
    factors["best"] = np.where(is_unknown, np.nan, scores == scores.max())
    factors["higher"] = np.where(is_unknown, np.nan, (lower + (equal - 1) / 2) / (number - 1))
    if outcome == "gain":
        factors["above parent"] = np.where(np.isnan(scores) | (parent is None), np.nan, scores > (parent or 0.0))
    return factors


def _effects(items: Items, redraws: int) -> Iterator[Row]:
    """The effect of each factor; of those that make the same comparisons, such as first and last of two, the first."""
    is_sorted = abs(items.gamma) == 1
    similarity = _centred(items.similarity, items.prompt)
    ranks = {aspect: _centred(items.factors[name], items.prompt) for name, aspect in RANKS.items()}
    done: list[Floats] = []
    for name, values in items.factors.items():
        aspect = PLACE if name in ("first", "last", "later") else SCORE
        if is_sorted and aspect == SCORE:
            continue
        centred = _centred(values, items.prompt)
        if not centred.any() or any(_is_same(centred, other) for other in done):
            continue
        done.append(centred)
        adjusted = [] if is_sorted else [ranks[SCORE if aspect == PLACE else PLACE]]
        covariates = np.column_stack([similarity, *adjusted])
        found = within_effect(items.outcome, values, items.prompt, items.run, covariates=covariates, redraws=redraws)
        counted = np.isin(items.prompt, np.unique(items.prompt[centred != 0]))
        has = counted & (values == 1)
        without = counted & (values != 1)
        is_rank = name in RANKS
        yield {
            "aspect": EITHER if is_sorted else aspect,
            "factor": name,
            "runs": len(np.unique(items.run[counted])),
            "revisions": found.strata,
            "items": found.observations,
            "mean_with": None if is_rank else float(items.outcome[has].mean()),
            "mean_without": None if is_rank else float(items.outcome[without].mean()),
            "effect": known(found.effect),
            "effect_low": known(found.low),
            "effect_high": known(found.high),
            "p": known(found.p),
            "place_score_gamma": known(items.gamma),
        }


def _centred(values: Floats, prompt: NDArray[np.intp]) -> Floats:
    """Values less their mean over the prompt; 0 in prompts where one is not known."""
    centred = np.zeros(len(values))
    for each in groups(prompt):
        if not np.isnan(values[each]).any() and np.ptp(values[each]) > 0:
            centred[each] = values[each] - values[each].mean()
    return centred


def _is_same(first: Floats, second: Floats) -> bool:
    """Whether one is a multiple of the other."""
    return float(first @ second) ** 2 >= (1 - 1e-9) * float(first @ first) * float(second @ second)
