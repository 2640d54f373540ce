"""Whether a mention is denied or set aside.

*Negated*: the statement is denied of the rollout: "not the worst rollout", "unlike the best one", "does not appear in
the median rollout". *Discounted*: the rollout is called a rarity or chance, or as not designed
around. A cue of discounting counts for the mention that it describes, which is mostly the one before it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Final

from audit.references.cues import Cue
from audit.references.drafts import Draft, Scene, compiled
from audit.references.sentences import Sentences

NEAR: Final = 240
"""A cue and its mention are no further apart, in characters."""
FURTHEST: Final = 2
"""A mention and a pronoun for it are no further apart, in sentences."""

_NEGATOR: Final = (
    r"(?:^|[^a-z'-])(?:not|cannot|never|no|neither|nor|hardly|without|rather than|instead of|more than|less than"
    r"|avoid(?:ed|ing)?|\w{1,8}n't)"
)
_WORD: Final = r"(?: [\w'/-]{1,16})"
_DENIED: Final = compiled(rf"{_NEGATOR}{_WORD}{{0,4}} ?$")
_DENIED_CLOSE: Final = compiled(rf"{_NEGATOR}{_WORD}{{0,3}} ?$")
_NOT_THOUGHT: Final = compiled(
    r"(?:not|cannot|n't|never|no reason to|hard to|difficult to|wrong to|mistake to) (?:\w{1,12} )?"
    r"(?:think|believe|consider|treat|regard|see|count|call|dismiss|attribute|blame|write|be)(?![a-z])"
)
_OF_NOTHING: Final = compiled(r"^ ?(?:nothing|none|neither)(?![a-z])")
_SUPPOSED: Final = compiled(r"(?:^|[^a-z])(?:if|whether|unless|in case)(?![a-z])")
_CARE: Final = compiled(
    r"(?:^|[^a-z])(?:careful|wary|cautious|risk|danger|temptation|tempting|resist|refrain|beware|afraid)"
    r"(?:ed|ing)?(?![a-z])"
)
_PASSIVE: Final = compiled(r"(?:^|[^a-z])(?:is|was|be|been|being|are|were|can|could|should|may)(?: \w{1,10}ly)? ?$")
_BACKWARDS: Final = compiled(
    r"(?: (?:it|this|that|them|these|those)(?![a-z])(?! \w)| ?[.,;:!)]| ?$"
    r"| (?:it|this|that|them) (?:here|and|for|in|as|because|when)(?![a-z]))"
)
_ANAPHOR: Final = compiled(
    r"[-\x20\n]{0,24}(?:(?:so|but|and|since|because|as|still|however,?|yet|though|although) )?"
    r"(?:it|this|that|such|these|those|which|so|i|we|chance|pure|just|probably|likely|most likely|perhaps|possibly"
    r"|maybe)(?![a-z])"
)
_POINTS_BACK: Final = compiled(r" (?:it|this|that|such|these|those|which)(?![a-z])")
_NEW_SUBJECT: Final = compiled(
    r"[,;:] (?:(?:and|but|while|whereas|although|though|so|as|since|because) )?"
    r"(?:the|most|all|some|many|other|our|my)(?! same)(?![a-z])"
)
_BETWEEN: Final = compiled(
    r"(?: ?[:,]? ?(?:the|a|an|one|single|any|its|this|that|what|happened|happens|in|on|to|from|of|for|failure"
    r"|behaviou?r|evidence)){0,5} ?$"
)

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
_PREFERRED: Final = compiled(
    r"(?:^|[^a-z])(?:design|base|basing|focus|tun|optimi|aim|tailor|anchor|target|build|built|fit|rel[iy]|driv|chang"
    r"|work|act)"
)


def judge(scene: Scene, drafts: Sequence[Draft], cues: Sequence[Cue], sentences: Sentences) -> None:
    """Mark the drafts, which are in the order of the text, as negated and discounted."""
    for draft in drafts:
        _negate(scene, draft, sentences)
    if cues:
        starts = [draft.start for draft in drafts]
        for cue in cues:
            place = _Place(scene, cue, drafts, starts, sentences)
            if place.holds():
                place.apply()


def _negate(scene: Scene, draft: Draft, sentences: Sentences) -> None:
    start = max(draft.start - 80, sentences.start(sentences.number(draft.start)))
    before = scene.plain[start : draft.start]
    if not any(word in before for word in _DENYING) or not (found := _NEGATED.search(before)):
        return
    draft.negated = True
    # "Based on the median rollout rather than the worst one": what was preferred to it was designed around.
    words = found[0].split()
    chosen = "instead" in words or "rather" in words or words[0] == "not"
    draft.discounted = chosen and _PREFERRED.search(before, 0, found.start()) is not None


class _Place:
    """A cue among the mentions around it."""

    def __init__(
        self, scene: Scene, cue: Cue, drafts: Sequence[Draft], starts: Sequence[int], sentences: Sentences
    ) -> None:
        self.cue = cue
        self.scene = scene
        self.drafts = drafts
        self.sentences = sentences
        self.sentence = sentences.number(cue.start)
        self.start = max(sentences.start(self.sentence), cue.start - NEAR)
        self.clause = self._clause()
        self.following = bisect_left(starts, cue.start)

    def holds(self) -> bool:
        """Whether the cue is asserted: not denied, not supposed, not asked."""
        before = self.scene.plain[self.start : self.cue.start]
        end = self.sentences.end(self.sentence)
        asked = end - self.cue.end <= NEAR and "?" in self.scene.plain[self.cue.end : end]
        if asked or _SUPPOSED.search(before):
            return False
        if self.cue.kind == "designing":
            return _DENIED.search(self.clause) is not None or _CARE.search(self.clause) is not None
        return not any(pattern.search(self.clause) for pattern in (_DENIED_CLOSE, _NOT_THOUGHT, _OF_NOTHING))

    def apply(self) -> None:
        """Mark the mentions that the cue describes."""
        draft = self._object() if self.cue.kind in {"setting", "designing"} else self._subject()
        if draft is None:
            return
        sentence = self.sentences.number(draft.start)
        for other in self.drafts[max(0, self.following - 8) : self.following + 8]:
            if other.group == draft.group and self.sentences.number(other.start) == sentence:
                other.discounted = True

    def _clause(self) -> str:
        before = self.scene.plain[max(self.start, self.cue.start - 80) : self.cue.start]
        for mark in (",", ";", ":", " but ", "("):
            before = before.rpartition(mark)[2]
        return before

    def _object(self) -> Draft | None:
        """The mention that a verb is followed by; or, where a pronoun or nothing follows, the one before."""
        if not _PASSIVE.search(self.clause) and self.following < len(self.drafts):
            draft = self.drafts[self.following]
            between = self.scene.plain[self.cue.end : draft.start]
            if len(between) <= 48 and _BETWEEN.match(between):
                return draft
        if _PASSIVE.search(self.clause) or _BACKWARDS.match(self.scene.plain, self.cue.end):
            return self._subject()
        return None

    def _subject(self) -> Draft | None:
        """The mention that a cue describes: the last one before it in the sentence, the next, or that of "it"."""
        if self.following and self.drafts[self.following - 1].end > self.cue.start:
            return self.drafts[self.following - 1]
        before = [
            draft
            for draft in self.drafts[max(0, self.following - 6) : self.following]
            if draft.start >= self.start and not draft.negated
        ]
        if before:
            between = self.scene.plain[before[-1].end : self.cue.start]
            return None if _NEW_SUBJECT.search(between) else before[-1]
        antecedent = self._antecedent()
        if antecedent is None or not _POINTS_BACK.match(self.clause):
            following = self.drafts[self.following : self.following + 1]
            for draft in following:
                if draft.start - self.cue.end <= 60 and self.sentences.number(draft.start) == self.sentence:
                    return draft
        return antecedent

    def _antecedent(self) -> Draft | None:
        """The last mention before the sentence, if that begins with "it" or "this", and so do any without a mention."""
        last = self.following - 1
        if last < 0:
            return None
        named = self.sentences.number(self.drafts[last].start)
        between = range(named + 1, self.sentence + 1)
        if not 1 <= len(between) <= FURTHEST:
            return None
        points_back = all(_ANAPHOR.match(self.scene.plain, self.sentences.start(number)) for number in between)
        return None if self.drafts[last].negated or not points_back else self.drafts[last]
