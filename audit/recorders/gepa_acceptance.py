"""An acceptance criterion for GEPA that tells a better candidate from a lucky minibatch."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any, Final

from collector.acceptance import PAIRS, signs

LEAST: Final = 6
"""Examples below which no test is made: a two-sided sign test of five cannot come below 0.05, and a one-sided one only
if all of five gain."""

Evaluate = Callable[[dict[str, str], Sequence[Any]], Sequence[float]]


class PairedAcceptance:
    """Accepts a candidate if an exact one-sided sign test at 5% finds it better than its parent on the same examples.

    Give it to GEPA as `gepa.optimize(…, acceptance_criterion=PairedAcceptance(evaluate, ids))`. Examples on which both
    score the same do not count, and the mean score has to rise as well. It imports nothing of GEPA.

    Args:
        evaluate: scores a candidate on examples, given by their ids: `evaluate(candidate, ids)` gives a score for each.
            Both are scored on the same ones. Without it the scores of GEPA's minibatch are tested, which a candidate
            was made for and has to improve on almost every example of.
        ids: the examples to draw from: best those of neither the minibatches nor the test set.
        pairs: examples that are drawn for each proposal.
        seed: of the draws.

    Attributes:
        evaluations: examples scored for tests, of parents and proposals; they count in GEPA's `max_metric_calls`.

    Raises:
        ValueError: there are fewer than six examples, here or in a minibatch.
    """

    def __init__(
        self, evaluate: Evaluate | None = None, ids: Sequence[Any] = (), *, pairs: int = PAIRS, seed: int = 0
    ) -> None:
        if evaluate is not None:
            _require(min(pairs, len(ids)), "more ids")
        self._evaluate, self._ids, self._pairs = evaluate, list(ids), pairs
        self._rng = random.Random(seed)
        self.evaluations = 0
        self._proposals = self._accepted = 0

    def should_accept(self, proposal: Any, state: Any) -> bool:
        """Whether a proposal is better than its parent; called by GEPA."""
        before, after = self._scores(proposal, state)
        decision = signs([new - old for old, new in zip(before, after, strict=True)])
        self._proposals += 1
        self._accepted += decision.accepted
        return decision.accepted

    def report(self) -> dict[str, int]:
        """How many proposals were tested and accepted, and how many evaluations that took."""
        return {"proposals": self._proposals, "accepted": self._accepted, "evaluations": self.evaluations}

    def _scores(self, proposal: Any, state: Any) -> tuple[Sequence[float], Sequence[float]]:
        if self._evaluate is None:
            before, after = proposal.subsample_scores_before or [], proposal.subsample_scores_after or []
            _require(len(before), "evaluate and ids, or a larger reflection_minibatch_size")
            return before, after
        drawn = self._rng.sample(self._ids, min(self._pairs, len(self._ids)))
        parent = dict(state.program_candidates[proposal.parent_program_ids[0]])
        scores = self._evaluate(parent, drawn), self._evaluate(dict(proposal.candidate), drawn)
        self.evaluations += 2 * len(drawn)
        state.increment_evals(2 * len(drawn))
        return scores


def _require(examples: int, what: str) -> None:
    if examples < LEAST:
        raise ValueError(f"{examples} examples are too few for a paired test, which takes {LEAST}; give {what}")
