"""Words that set a rollout aside: that call it a rarity or chance, or state that the policy was not made for it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from audit.references.drafts import Scene, compiled

CueKind = Literal["rarity", "aside", "setting", "designing"]
"""`rarity` and `aside` describe a rollout; `setting` is done to it; `designing` sets aside where it is denied."""


@dataclass(frozen=True, slots=True)
class Cue:
    """Such an expression in a text."""

    start: int
    end: int
    kind: CueKind


@dataclass(frozen=True, slots=True)
class _Rule:
    kind: CueKind
    behind: re.Pattern[str] | None = None
    before: re.Pattern[str] | None = None
    either: bool = False


_EVENT: Final = (
    r"(?:failure|event|outlier|accident|slip|case|occurrence|fluke|incident|exception|draw|start|one|seed|episode"
    r"|roll-?out|run|trajectory|mishap|crash|miss|fluctuation|fall|thing|noise|variation|variance)s?(?![a-z])"
)
_RARE: Final = compiled(
    rf"(?: (?:stochastic|random|bad|unlucky|isolated))? {_EVENT}| ?[,;:.)(!|\n]| ?$"
    r"| (?:and|or|but|in|so|enough)(?![a-z])"
)
_AN_EVENT: Final = compiled(rf"(?: (?:stochastic|random|bad|unlucky))? {_EVENT}")
_IS: Final = compiled(
    r"(?:^|[^a-z])(?:due to|just|only|be|is|was|merely|like|as|pure|from|down to|mostly|by|mere|through|take for)"
    r"(?: the)? $"
)
_LOOKS: Final = compiled(
    r"(?:^|[^a-z])(?:is|was|be|looks|looked|seems|seemed|appears)"
    r"(?: (?:just|merely|simply|probably|likely|purely|mostly|largely))? $"
)
_MAY_EXPLAIN: Final = compiled(r" (?:may|might|could|can|would|alone|probably|event|explains)(?![a-z])")
_AN: Final = compiled(r"(?:^|[^a-z])an? $")
_NOT: Final = compiled(
    r"(?:^|[^a-z])(?:not|\w{1,8}n't|nor|never|hardly|scarcely|barely)"
    r"(?: (?:a|an|the|very|really|at all|necessarily|fully))?(?: an?)? $"
)
_ONE: Final = compiled(r"(?:^|[^a-z])one[-\x20]$")
_LITTLE: Final = compiled(r"(?:^|[^a-z])(?:little|less|no|not much|low) $")
_TO_IT: Final = compiled(r" (?:to|on)(?![a-z])")
_NO_FACTOR: Final = compiled(r"(?! (?:factor|rate))")
_NOT_FROM: Final = compiled(r"(?! (?:from|of)(?![a-z]))")
_IT: Final = r"(?: (?:it|this|that|anything|much|the \w{1,12}|my \w{1,12}|policy|parameters))?"
_AROUND: Final = compiled(rf"{_IT} (?:around|for|to|towards?|on|upon|because of)(?![a-z])")
_ON: Final = compiled(rf"{_IT} (?:on|upon)(?![a-z])")
_TO: Final = compiled(r" (?:to|on|for)(?![a-z])")

_INTO: Final = compiled(r" (?:too )?(?:much|anything|a lot) into(?![a-z])")

_RULES: Final[dict[str, _Rule]] = {
    "rare": _Rule("rarity", behind=_RARE),
    "outlier outliers fluke flukes luck lucky unlucky anomaly anomalous atypical unrepresentative exceptional"
    " coincidence coincidental oneoff": _Rule("rarity"),
    "off": _Rule("rarity", before=_ONE),
    "chance": _Rule("rarity", behind=_MAY_EXPLAIN, before=_IS, either=True),
    "stochastic": _Rule("rarity", behind=_AN_EVENT, before=_LOOKS, either=True),
    "random occasional isolated sporadic accidental freak": _Rule("rarity", behind=_AN_EVENT),
    "noise randomness stochasticity": _Rule("rarity", before=_IS),
    "representative typical systematic indicative": _Rule("rarity", before=_NOT),
    "exception": _Rule("rarity", before=_AN),
    "aside": _Rule("aside", behind=_NOT_FROM),
    "ignore ignored ignores ignoring disregard disregarded disregards disregarding dismiss dismissed dismisses"
    " dismissing exclude excluded excludes excluding": _Rule("setting"),
    "discount discounted discounts discounting": _Rule("setting", behind=_NO_FACTOR),
    "weight": _Rule("setting", behind=_TO_IT, before=_LITTLE),
    "design designed designing tailor tailored tailoring tune tuned tuning optimize optimized optimizing optimise"
    " optimised optimising change changed changing changes": _Rule("designing", behind=_AROUND),
    "focus focused focusing base based basing act acted acting rely relied relying": _Rule("designing", behind=_ON),
    "overfit overfitted overfitting fit fitted fitting react reacted reacting overreact overreacting overcorrect"
    " overcorrecting correct": _Rule("designing", behind=_TO),
    "read reading": _Rule("designing", behind=_INTO),
    "chase chased chasing": _Rule("designing"),
}
RULES: Final[dict[str, _Rule]] = {word: rule for listed, rule in _RULES.items() for word in listed.split()}
"""What must be around a word for it to set a rollout aside."""


def find_cue(scene: Scene, match: re.Match[str]) -> Cue | None:
    """Read a word of `RULES`."""
    rule = RULES[match[0]]
    behind = rule.behind.match(scene.plain, match.end()) if rule.behind else None
    before = rule.before.search(scene.before(match.start(), 48)) if rule.before else None
    needed = [bool(found) for pattern, found in ((rule.behind, behind), (rule.before, before)) if pattern]
    if needed and not (any(needed) if rule.either else all(needed)):
        return None
    start = match.start() - len(before[0]) if before else match.start()
    # A verb's preposition belongs to it; an event is only looked for.
    end = behind.end() if behind and rule.kind in {"designing", "setting"} else match.end()
    return Cue(start, end, rule.kind)
