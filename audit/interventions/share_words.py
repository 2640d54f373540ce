"""Shares in words: what is followed, in how many revisions, and how well that is known."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final, NamedTuple

from audit.interventions.effects.named_shares import FACTORS, FOLLOWED, HEADINGS, LENGTH, NAMES, ORDER, WORDING, within
from audit.interventions.effects.results import LEAST_SIGNAL, Analysis, Share


class Words(NamedTuple):
    """A share in words.

    Attributes:
        cause: what moves a critic, as the subject of a sentence.
        followed: the rollout that its revisions follow then.
    """

    cause: str
    followed: str = ""


FRAME: Final = "wording or length"
"""Both, which frames change together."""
WORDS: Final[Mapping[str, Words]] = {
    **{
        f"called {role}": Words(f"being called {role}", f"the rollout that is called {role}")
        for role in ("worst", "median", "best")
    },
    **{
        f"shown {place}": Words(f"being shown {place}", f"the rollout that is shown {place}")
        for place in ("first", "second", "last")
    },
    **{
        f"{role} content": Words(f"what the {role} rollout shows", f"the {role} rollout, whatever it is called,")
        for role in ("worst", "median", "best")
    },
    **{
        f"{rank} printed return": Words(f"the {rank} printed return", f"the rollout with the {rank} printed return")
        for rank in ("lowest", "median", "highest")
    },
    WORDING: Words("how the prompt is worded"),
    LENGTH: Words("how long the prompt is"),
    HEADINGS: Words("the order of headings, whatever is under them,"),
    NAMES: Words("which rollout is called what"),
    ORDER: Words("the order in which rollouts are shown"),
    FRAME: Words("how the prompt is worded or how long it is, which change together here,"),
}


_KINDS: Final = (
    "what rollouts show",
    "what rollouts are called",
    "where rollouts are shown",
    "the returns that are printed with rollouts",
)
"""Of `FACTORS`, in words."""


def is_blind(analysis: Analysis) -> bool:
    """Whether edits for different rollouts hardly differ."""
    return analysis.ceiling is not None and analysis.ceiling.signal < LEAST_SIGNAL


def size_words(share: Share) -> str:
    """A share with its interval: "77% (64% to 88%)"."""
    return f"{percent(within(share.estimate))}{between(share)}"


def size(share: Share) -> str:
    """A share in a sentence, whatever it is a share of."""
    if share.name not in FOLLOWED:
        if math.isnan(share.estimate):
            return (
                f"edits differ by it (corrected p {share.p_adjusted:.2g}), and hardly by a rollout that is shown alone"
            )
        if share.estimate > 1:
            return "more than if all revisions went by another rollout"
        return f"as much as if {percent(share.estimate)} of revisions went by another rollout"
    if math.isnan(share.estimate):
        return (
            f"edits differ without it more than without either of the others (corrected p {share.p_adjusted:.2g}); the "
            "share is not known"
        )
    followed = WORDS[share.name].followed if share.name in WORDS else share.name
    if share.high < 0:
        return f"{size_words(share)}, as its revisions follow {followed} less than the others"
    return f"{size_words(share)} of its revisions are as if {followed} were shown alone"


def against(share: Share) -> str:
    """That edits go against those for a rollout, and what is not known then."""
    factor = next(place for place, names in enumerate(FACTORS) if share.name in names)
    followed = WORDS[share.name].followed
    return (
        f"Its edits go against those for {followed} alone ({size_words(share)}; who follows another has -50%): it goes "
        f"by {_KINDS[factor]}, and which share of revisions follows which is not known"
    )


def between(share: Share) -> str:
    """An interval, within what a share can be."""
    return "" if math.isnan(share.low) else f" ({percent(within(share.low))} to {percent(within(share.high))})"


def percent(value: float) -> str:
    """A share without its interval."""
    return "unknown" if not math.isfinite(value) else f"{round(100 * value)}%"


def capital(text: str) -> str:
    """A text as the beginning of a sentence."""
    return text[0].upper() + text[1:]
