"""What an experiment shows, in sentences: what moves the critic, who carries it, what is open."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Final

from audit.interventions.arms import CONJOINT
from audit.interventions.arms import NOTHING as NOTHING_SHOWN
from audit.interventions.effects.named_shares import (
    ANY,
    FOLLOWED,
    LENGTH,
    NOTHING,
    SMALLEST,
    SMALLEST_CONTENT,
    STIMULI,
    WORDING,
    holds_all,
    margin_of,
    within,
)
from audit.interventions.effects.naming import CHANCE
from audit.interventions.effects.results import (
    AWAY,
    CANNOT_TELL,
    DOES_NOT,
    GOES_WITH,
    LEAST_SIGNAL,
    NO_VERDICT,
    NOT_ASKED,
    Analysis,
    Carriers,
    Share,
    opposed,
)
from audit.interventions.effects.shares import ALONE
from audit.interventions.effects.validity import MOST_UNREADABLE
from audit.interventions.share_words import (
    FRAME,
    WORDS,
    against,
    between,
    capital,
    is_blind,
    percent,
    size,
    size_words,
)

RELATIVE: Final = (
    "percentages are of revisions made as those for one rollout alone: a critic that ignores a lone rollout in half of "
    "its answers, and the one called worst as often, has 100%"
)
"""What the share that follows a rollout is relative to."""


def moving(analysis: Analysis) -> Iterator[str]:
    """What moves the critic, the largest first; or why there is no verdict."""
    if analysis.validity.problems:
        yield f"{NO_VERDICT}{analysis.validity.problems[0]}"
        return
    movers = _movers(analysis)
    for place, share in enumerate(movers):
        most = " most" if place == 0 and len(movers) > 1 else ""
        yield f"{capital(WORDS[share.name].cause)} {_how(share, most)}: {size(share)}."
        yield from _limits(analysis) if place == 0 else ()
        if not math.isnan(share.replaced_p) and not math.isnan(share.estimate):
            yield _replaced(share, analysis.alpha)
    unknown = {} if is_blind(analysis) else opposed(analysis.shares)
    yield from (f"{against(share)}." for share in {share.name: share for share in unknown.values()}.values())
    if not movers and not unknown:
        yield _nothing_found(analysis)
        yield from _limits(analysis)
    if (talked := _talked_about(analysis)) is not None:
        often = f"{percent(talked.named)}{_between_named(talked)}"
        followed = WORDS[talked.name].followed
        yield f"It names {followed} in {often} of its answers, and follows it no more than the others."
    if analysis.validity.unchanged > MOST_UNREADABLE:
        yield f"It changes nothing in {percent(analysis.validity.unchanged)} of its answers."
    ends = analysis.ceiling
    if ends is not None and is_blind(analysis):
        yield (
            f"Which rollout its revisions follow cannot be told: edits for different rollouts hardly differ (signal to "
            f"noise {ends.signal:.2f}, below {LEAST_SIGNAL:g})"
        )


def _how(share: Share, most: str) -> str:
    """How a share moves the critic: towards a rollout, by how little, or away from it."""
    margin = margin_of(share.name, SMALLEST)
    is_small = share.name in FOLLOWED and -margin < share.low and share.high < margin
    little = f", but by less than {percent(margin)}" if is_small else ""
    if share.verdict == AWAY:
        return f"moves this critic{most and f'{most},'} away from that rollout{little}"
    return f"moves this critic{most}{little}"


def _limits(analysis: Analysis) -> Iterator[str]:
    """Of which tasks shares speak, where that is not all."""
    weak = {} if analysis.ceiling is None or is_blind(analysis) else analysis.ceiling.blind
    if analysis.ceiling is None or not weak:
        return
    others = ", ".join(task for task in analysis.ceiling.by_task if task not in weak)
    signals = ", ".join(f"{task} ({signal:.2f})" for task, signal in weak.items())
    yield (
        f"Shares speak of {others} only: edits for different rollouts hardly differ in {signals}, by a signal to noise "
        f"below {LEAST_SIGNAL:g}."
    )


def _nothing_found(analysis: Analysis) -> str:
    """That nothing moves the critic, or that this is not known: two findings that are easily taken for each other."""
    judged = [share for share in analysis.shares if share.verdict in {DOES_NOT, CANNOT_TELL}]
    unknown = [share for share in judged if share.verdict == CANNOT_TELL]
    if rejected := [
        share for share in judged if share.p_adjusted <= analysis.alpha or share.replaced_p <= analysis.alpha
    ]:
        causes = " and ".join(WORDS[share.name].cause for share in rejected)
        return f"What this critic follows is not known: its edits depend on {causes}; in how many cannot be told."
    if unknown and len(unknown) == len(judged):
        return "What moves this critic cannot be told."
    known = [share for share in unknown if share.name in FOLLOWED and not math.isnan(share.estimate)]
    largest = max(known, key=lambda share: share.high, default=None)
    which = "" if largest is None else f", of which {largest.name} may be the largest, {size_words(largest)}"
    rest = f"; of {len(unknown)} of {len(judged)} possible causes it cannot be told{which}." if unknown else "."
    if _goes_by_rollouts(analysis):
        return f"This critic goes by the rollouts that it is shown; what decides by which was not found{rest}"
    if not unknown:
        return "Nothing that was asked moves this critic by as much as is of interest."
    return f"Nothing was found to move this critic{rest}"


def _goes_by_rollouts(analysis: Analysis) -> bool:
    """Whether revisions are made for rollouts, by more than is of interest, and not as without evidence."""
    if is_blind(analysis) or not analysis.counts.get(NOTHING_SHOWN):
        return False
    return any(share.name == ANY and share.low > SMALLEST for share in analysis.shares)


def _movers(analysis: Analysis) -> list[Share]:
    """What moves the critic; wording and length as one, since frames differ in both."""
    movers = analysis.movers
    frame = [share for share in movers if share.name in {WORDING, LENGTH}]
    if len(frame) < 2:
        return movers
    return [share._replace(name=FRAME) if share is frame[0] else share for share in movers if share is not frame[1]]


def _talked_about(analysis: Analysis) -> Share | None:
    """What is named more often than all else, though it does not move the critic.

    Only that: who names what moves it names what goes with it as well.
    """
    known = [share for share in analysis.shares if not math.isnan(share.named_low)]
    most = max(known, key=lambda share: share.named, default=None)
    if most is None or most.named_low <= CHANCE + SMALLEST:
        return None
    is_followed = most.verdict != DOES_NOT and not (most.verdict in {AWAY, GOES_WITH} and most.high < 0)
    return None if is_followed else most


def headline(analysis: Analysis) -> str:
    """The first of the sentences of `moving`: what moves the critic most, and where; else all."""
    movers = [] if analysis.validity.problems else _movers(analysis)
    leading = None if not movers else 1 + len(list(_limits(analysis)))
    return " ".join(islice(moving(analysis), leading))


def verdict_lines(analysis: Analysis) -> Iterator[str]:
    """What does not move the critic, what cannot be told, what was not asked, and what the rest follows."""
    by_verdict: dict[str, list[Share]] = {}
    for share in analysis.shares:
        if share.verdict:
            by_verdict.setdefault(share.verdict, []).append(share)
    if found := by_verdict.get(DOES_NOT):
        small = f"{percent(SMALLEST)} of revisions; {percent(SMALLEST_CONTENT)} for contents and printed returns"
        names = "; ".join(f"{each.name}{_beside(analysis, each)}" for each in found)
        yield f"does not move it (or by less than {small}): {names}"
    if found := by_verdict.get(GOES_WITH):
        names = "; ".join(f"{each.name} {size_words(each)}" for each in found)
        yield f"goes with another of its kind, since those of a kind sum to zero: {names}"
    if found := by_verdict.get(CANNOT_TELL):
        yield f"cannot be told: {'; '.join(f'{each.name}{_beside(analysis, each)}{_calls(each)}' for each in found)}"
    if any(each.name in STIMULI and not math.isnan(each.estimate) for each in found or ()):
        yield (
            "wording, length and order of headings have no rollout to follow: their percentage is that of revisions "
            "that would change as much by following another rollout"
        )
    has_shares = any(share.name in FOLLOWED and not math.isnan(share.estimate) for share in analysis.shares)
    if has_shares and not is_blind(analysis):
        yield RELATIVE
    if found := by_verdict.get(NOT_ASKED):
        yield f"not asked: {', '.join(each.name for each in found)}"
    yield from _described(analysis)


def _described(analysis: Analysis) -> Iterator[str]:
    """How many revisions are made for any rollout, and how many as without evidence."""
    for share in analysis.shares if not is_blind(analysis) else ():
        if share.name in {ANY, NOTHING} and not math.isnan(share.low):
            what = "are as they would be without evidence"
            if share.name == ANY:
                what = "are made for a rollout, whichever it is, or for an average of all"
            if holds_all(share.low, share.high):
                yield f"how many revisions {what}, cannot be told"
            else:
                yield f"{size_words(share)} of revisions {what}"


def missing_shares(analysis: Analysis) -> Iterator[str]:
    """Why nothing is said of the shares of revisions that follow a label, a place or a printed return."""
    if analysis.ceiling is not None:
        return
    missing = [arm for arm in (CONJOINT, *ALONE) if not analysis.counts.get(arm)]
    what = "not asked: which share of revisions follows a label, a place or a printed return"
    if missing:
        have = "has no answers" if len(missing) == 1 else "have no answers"
        yield f"{what}, which needs {CONJOINT}, and {', '.join(ALONE)} twice: {', '.join(missing)} {have}"
    else:
        yield f"{what}, which needs a prompt with readable answers in {CONJOINT}, and two to each of {', '.join(ALONE)}"


def carried(carriers: Mapping[str, Carriers]) -> Iterator[str]:
    """Who carries what moves the critic, in words."""
    for name, found in carriers.items():
        if found.one_run is not None:
            rest = percent(within(found.without_low))
            yield f"{name}: one run alone follows it, {found.one_run}; without that run it is {rest}"
            continue
        parts = []
        if not math.isnan(found.units):
            what = "prompts differ" if found.is_uneven else "no sign that it holds for some prompts only"
            ends = f" ({percent(found.units_low)} to {percent(found.units_high)})"
            parts.append(f"{what}: about {percent(found.units)}{ends} of those whose edits can be told apart carry it")
        if found.by_task:
            parts.append(f"by task: {', '.join(f'{task} {percent(within(x))}' for task, x in found.by_task.items())}")
        if found.runs >= 2:
            parts.append(
                f"leaving out any one of {found.runs} runs, it is {percent(within(found.without_low))} to "
                f"{percent(within(found.without_high))}"
            )
        if not math.isnan(found.flip_p):
            parts.append(f"that runs agree by chance: p {found.flip_p:.2g}")
        else:
            parts.append("too few runs to say that it holds for others")
        yield f"{name}: {'; '.join(parts)}"


def ceiling_line(analysis: Analysis) -> Iterator[str]:
    """How well edits for different rollouts can be told apart."""
    if (ends := analysis.ceiling) is not None:
        yield (
            f"edits for one rollout alone differ between rollouts with a signal to noise of {ends.signal:.2f}; "
            f"{percent(ends.recognised)} are nearest to the others for that rollout, 33% by chance"
        )


def share_sentence(share: Share) -> str:
    """A share in plain words, with what follows."""
    cause = WORDS[share.name].cause if share.name in WORDS else share.name
    return f"{capital(cause)}: {size(share)}; {share.verdict}."


def cell(analysis: Analysis, share: Share) -> str:
    """A share in a table, without numbers where edits for different rollouts hardly differ, or go against them."""
    is_hidden = (is_blind(analysis) and share.name not in STIMULI) or share.name in opposed(analysis.shares)
    is_known = not (math.isnan(share.estimate) or is_hidden)
    more = share.name in STIMULI and share.estimate > 1
    number = f"{'>' if more else ''}{percent(within(share.estimate))}{between(share)}"
    return ", ".join(filter(None, (number if is_known else "", share.verdict)))


def _replaced(share: Share, alpha: float) -> str:
    """Whether edits change without what is followed: what rollouts show is not drawn at random, which ones are is."""
    if share.replaced_p <= alpha:
        return (
            "With another rollout in its place its edits change more than with one in place of the others (corrected p "
            f"{share.replaced_p:.2g})."
        )
    return (
        "That another rollout in its place would change its edits more than one in place of the others was not found "
        f"(corrected p {share.replaced_p:.2g})."
    )


def _between_named(share: Share) -> str:
    low, high = (max(0.0, min(1.0, end)) for end in (share.named_low, share.named_high))
    return f" ({percent(low)} to {percent(high)})"


def _calls(share: Share) -> str:
    return "" if share.calls is None else f", about {share.calls:,} calls would tell"


def _beside(analysis: Analysis, share: Share) -> str:
    """The interval of what does not move the critic, or is not known."""
    return "" if is_blind(analysis) or share.name in opposed(analysis.shares) else between(share)
