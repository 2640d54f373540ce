"""What a plan will cost: calls, tokens and hours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from audit.interventions.arms import ARMS
from audit.interventions.plan import Cost
from audit.interventions.units import Unit
from audit.vocabulary.keys import RevisionKey

CHARACTERS_PER_TOKEN: Final = 2.0
"""Of critics' prompts, which are mostly numbers; text has about 4."""
ANSWER_TOKENS: Final = 300
"""Tokens of an answer without thinking, where no limit is lower."""
SECONDS_PER_CALL: Final = 10.0
"""Of a server, with `IN_FLIGHT` calls at once."""
IN_FLIGHT: Final = 4
LOCAL_PROMPT_RATE: Final = 260.0
"""Tokens a second that the packaged model reads on two cores (`docs/models.md`)."""
LOCAL_ANSWER_RATE: Final = 69.0
"""The same for tokens that it writes."""


def cost(
    units: Sequence[Unit],
    arms: Mapping[str, int],
    characters: Mapping[RevisionKey, int],
    *,
    backend: str,
    max_tokens: int | None,
) -> Cost:
    """Estimate what a plan costs.

    Args:
        units: those drawn.
        arms: answers of each unit by arm.
        characters: of the recorded prompt of each unit.
        backend: who is asked.
        max_tokens: longest answer; None where there is no limit.
    """
    calls = len(units) * sum(arms.values())
    prompt = sum(characters[unit.key] for unit in units) / len(units) / CHARACTERS_PER_TOKEN
    answer = min(ANSWER_TOKENS, max_tokens or ANSWER_TOKENS)
    how = f"at {CHARACTERS_PER_TOKEN:g} characters a token of prompts, {answer} tokens an answer without thinking"
    hours = calls * SECONDS_PER_CALL / IN_FLIGHT / 3600
    if backend == "simulated":
        hours = 0.0
    elif backend == "local":
        prompts = len(units) * sum(number if ARMS[arm].draws else 1 for arm, number in arms.items())
        hours = (prompts * prompt / LOCAL_PROMPT_RATE + calls * answer / LOCAL_ANSWER_RATE) / 3600
        how += f"; {LOCAL_PROMPT_RATE:g} tokens of prompts and {LOCAL_ANSWER_RATE:g} of answers a second"
    else:
        how += f"; {SECONDS_PER_CALL:g} s a call, {IN_FLIGHT} at once"
    return Cost(calls, round(calls * prompt), calls * answer, hours, how)
