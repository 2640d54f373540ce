"""Whether a mention is denied: "not the worst rollout", "unlike the best one"."""

from __future__ import annotations

from typing import Final

from audit.references.drafts import Draft, Scene, compiled
from audit.references.sentences import Sentences

_DENYING: Final = ("not", "n't", "neither", "nor", "unlike", "rather than", "instead of", "without", "never")
_NEGATED: Final = compiled(
    r"(?:^|[^a-z'-])(?:(?:not|\w{1,8}n't)(?! (?:only|just|merely|simply|unlike|without))|cannot|never|neither|nor"
    r"|unlike|rather than|instead of|without)"
    # What may be between a denial and the rollout it is about: small words, and verbs of looking and designing.
    r"(?: (?:(?:the|a|an|this|that|its|in|on|of|to|by|for|from|at|with|because|due|about|around|upon|as|be|is|was|also"
    r"|so|anything|one|single|any|want|need|it|what|happened|see|seen|present|visible|found|limited|unique|up|or"
    r"|both|too|much|into|worst|median|best"
    r"|(?:appear|occur|happen|show|design|focus|rel|us|bas|follow|look|react|act|tun|over-?fit|fit|optimi|tailor|chas"
    r"|caus|driv|drov|explain|specific|ignor|touch|weigh|trust|copy|read)\w{0,8})(?![a-z])"
    r"|[/,] ?)){0,7}[\x20\n(]{1,24}$"
)


def is_negated(scene: Scene, draft: Draft, sentences: Sentences) -> bool:
    """Whether the words in front of a mention, in its sentence, deny it."""
    start = max(draft.start - 80, sentences.start(sentences.number(draft.start)))
    before = scene.plain[start : draft.start]
    return any(word in before for word in _DENYING) and _NEGATED.search(before) is not None
