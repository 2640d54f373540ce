"""The kinds of worked examples: what each is, which revisions it is found among, and what they are ranked by."""

from __future__ import annotations

from typing import Final, NamedTuple


class Score(NamedTuple):
    """What examples are ranked by: in words, and in SQL."""

    words: str
    sql: str


class Case(NamedTuple):
    """A kind of worked example: what it is, what it is ranked by, and a condition over `revisions` and `thresholds`."""

    words: str
    ranked_by: Score
    condition: str

    @property
    def score(self) -> str:
        """What examples are ranked by, in words."""
        return self.ranked_by.words

    @property
    def query(self) -> str:
        """The SELECT that finds and scores the revisions."""
        return (
            f"select condition, env, variant, run, iteration, {self.ranked_by.sql} / (high - floor) as score\n"
            f"from revisions join thresholds using (condition, env, variant, run)\nwhere {self.condition}"
        )


_SPANS: Final = "in spans (the way from the task's floor to what counts as high)"
_GAIN: Final = Score(f"gain, {_SPANS}.", "delta")
_LOSS: Final = Score(f"loss, {_SPANS}.", "-delta")
_GAIN_PER_PARAMETER: Final = Score(f"gain per changed parameter, {_SPANS}.", "delta / edit_distance")
_GRAVE_GAIN: Final = Score(f"severity times gain {_SPANS}.", "severity * delta")
_GRAVE_LOSS: Final = Score(f"severity times loss {_SPANS}.", "severity * -delta")
_SMALL: Final = "edit_distance between 1 and surgical_max"
_IS_AMONG: Final = "(condition, env, variant, run, iteration) in (select (condition, env, variant, run, iteration) from"
_LOOP: Final = r"\b(self-)?(loop(s|ed|ing)?|cycl(e|es|ed|ing)|oscillat(e|es|ed|ing|ion|ions)|back and forth)\b"

CASES: Final = {
    "confirmed-failure": Case(
        "The median rollout failed as the worst one did, the answer cites the worst, and the return rose.",
        _GAIN,
        "references_worst and structure = 'failure_confirmed' and direction = 'improvement'",
    ),
    "conservative-repair": Case(
        "A policy near the optimum, mended by a small edit.",
        _GAIN_PER_PARAMETER,
        f"r0 > high and direction = 'improvement' and {_SMALL}",
    ),
    "fine-tune": Case(
        "A small edit of a policy near the optimum, that made it better still.", _GAIN, "pattern = 'fine_tune'"
    ),
    "full-redesign": Case(
        "A policy that achieved nothing, redesigned from scratch, and worse than before.",
        _LOSS,
        "pattern = 'full_redesign'",
    ),
    "full-rescue": Case(
        "A policy that achieved nothing, revised into one that works well.",
        _GAIN,
        "abs(r0 - floor) <= near_zero and r1 > high",
    ),
    "history-guided-rescue": Case(
        "A policy that achieved nothing, redesigned from scratch, and better for it.",
        _GAIN,
        "pattern = 'history_guided_rescue'",
    ),
    "honest-failure": Case(
        "A small edit of a policy that worked in part or better, argued for without the worst rollout, that made it "
        "worse.",
        _LOSS,
        f"r0 > partial and delta < -meaningful and {_SMALL} and not references_worst",
    ),
    "loop-diagnosis": Case(
        "The answer speaks of a loop that the policy was caught in, and a small edit raised the return.",
        _GAIN_PER_PARAMETER,
        f"delta > meaningful and {_SMALL} and {_IS_AMONG} critic_answers where regexp_matches(answer, '{_LOOP}', 'i'))",
    ),
    "near-optimal-break": Case(
        "A policy near the optimum, revised for the worse; the paper's compulsive revision.",
        _LOSS,
        "pattern = 'near_optimal_break'",
    ),
    "outlier-heeded": Case(
        "The counterpart of salience: the answer cites a worst rollout that was an outlier, and the return rose.",
        _GRAVE_GAIN,
        f"references_worst and direction = 'improvement' and {_IS_AMONG} evidence where worst_below_median)",
    ),
    "pinpoint-fix": Case(
        "A small edit of a policy that worked in part, that made it better.", _GAIN, "pattern = 'pinpoint_fix'"
    ),
    "preservation-broken": Case(
        "The median rollout was as good as the best, so that there was much to preserve, and the return fell.",
        _LOSS,
        "structure = 'preservation_favored' and direction = 'regression'",
    ),
    "pure-stochasticity": Case(
        "Nothing was changed, and the return fell all the same.", _LOSS, "pattern = 'pure_stochasticity'"
    ),
    "salience": Case(
        "A salience-problem regression, strict: the answer cites a worst rollout that was an outlier, and the return "
        "fell.",
        _GRAVE_LOSS,
        "strict",
    ),
    "surgical-backfire": Case(
        "A small edit of a policy that worked in part, that made it worse.", _LOSS, "pattern = 'surgical_backfire'"
    ),
    "targeted-multi-state-fix": Case(
        "An edit in several places of a policy above the floor, that made it better.",
        _GAIN,
        "pattern = 'targeted_multi_state_fix'",
    ),
}
"""The cases by name. None of them judges an argument."""


def cases() -> dict[str, Case]:
    """The kinds of worked examples, by name."""
    return dict(CASES)
