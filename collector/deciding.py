"""Which of several answers is the revision, and whether it is kept, where a remedy decides it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from collector import acceptance
from collector.acceptance import BATCH, PAIRS, Decision
from collector.asking import Answer
from collector.policy import Params
from collector.records import Acceptance, Answers, Candidate
from collector.remedies import ANSWERS, Remedy, medoid
from collector.rollouts.evaluate import Evaluation
from collector.tasks import ParameterSpace

Evaluate = Callable[[Params, Sequence[int]], Awaitable[Evaluation]]


async def choose(
    remedy: Remedy | None,
    answers: Sequence[Answer],
    space: ParameterSpace,
    evaluate: Callable[[Answer], Awaitable[Candidate]],
) -> tuple[Candidate | None, Answers | None]:
    """The revision among a critic's answers, and how it was chosen, where a remedy chooses it.

    Args:
        remedy: what chooses.
        answers: those that could be read.
        space: of the policies.
        evaluate: rolls out what an answer proposes, always on the same seeds.
    """
    if not answers:
        return None, _answers(remedy, 0, 0, 0)
    if remedy is None or remedy.id == "medoid":
        taken = answers[medoid(space, [answer.params for answer in answers])]
        return await evaluate(taken), _answers(remedy, len(answers), taken.attempt, 0)
    # The same policy is rolled out once.
    different = {tuple(answer.params): answer for answer in reversed(answers)}.values()
    candidates = {answer.attempt: await evaluate(answer) for answer in reversed(different)}
    best = max(candidates, key=lambda attempt: candidates[attempt].mean_return)
    further = sum(len(candidate.returns) for candidate in candidates.values()) - len(candidates[best].returns)
    return candidates[best], _answers(remedy, len(answers), best, further)


def _answers(remedy: Remedy | None, readable: int, attempt: int, rollouts: int) -> Answers | None:
    if remedy is None:
        return None
    return Answers(rule=remedy.id, asked=ANSWERS, readable=readable, attempt=attempt, rollouts=rollouts)


async def decide(
    rule: str, initial: Candidate, revised: Candidate, seeds: Callable[[int], list[int]], evaluate: Evaluate
) -> Acceptance:
    """Decide whether a revision is kept.

    Args:
        rule: the remedy.
        initial: the candidate before.
        revised: the revision.
        seeds: so many fresh ones, of which more begin with the same as fewer.
        evaluate: rolls a policy out on seeds.
    """

    async def differences(given: Sequence[int]) -> list[float]:
        before, after = await evaluate(initial.params, given), await evaluate(revised.params, given)
        return [new - old for old, new in zip(before.returns, after.returns, strict=True)]

    if rule == "recheck":
        return await _recheck(initial, revised, seeds(len(initial.returns)), differences)
    # The same policy has the same returns on the same seeds.
    if revised.params == initial.params:
        decision = Decision(accepted=False, pairs=0, p_or_e=1.0, rule=rule)
    elif rule == "gate":
        decision = acceptance.fixed(await differences(seeds(PAIRS)))
    else:
        decision = await _in_batches(seeds(PAIRS), differences)
    return _recorded(rule, decision.pairs, decision.p_or_e, accepted=decision.accepted)


async def _in_batches(seeds: Sequence[int], differences: Callable[[Sequence[int]], Awaitable[list[float]]]) -> Decision:
    test, decision, taken = acceptance.Sequential(), None, 0
    while decision is None:
        decision = test.add(await differences(seeds[taken : taken + BATCH]))
        taken += BATCH
    return decision


async def _recheck(
    initial: Candidate,
    revised: Candidate,
    seeds: Sequence[int],
    differences: Callable[[Sequence[int]], Awaitable[list[float]]],
) -> Acceptance:
    gain = revised.mean_return - initial.mean_return
    if gain < 0 or revised.params == initial.params:
        return _recorded("recheck", 0, gain, accepted=gain >= 0)
    again = await differences(seeds)
    change = sum(again) / len(again)
    return _recorded("recheck", len(again), change, accepted=change >= 0)


def _recorded(rule: str, pairs: int, value: float, *, accepted: bool) -> Acceptance:
    return Acceptance(rule=rule, pairs=pairs, accepted=accepted, value=value, rollouts=2 * pairs)
