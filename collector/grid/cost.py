"""What a grid costs: calls, tokens and hours of what is still missing, cell by cell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from collector.grid.measured import Measured
from collector.grid.parts import Part
from collector.grid.prompt_sizes import PromptSizes
from collector.spec import by_cell
from collector.sweep import State
from collector.system.cores import cores

CHARACTERS_PER_TOKEN: Final = 2.5
"""Of prompts that consist of numbers for the most part, until a server has counted."""
ANSWER_TOKENS: Final = 1000.0
"""Of an answer, until a server has counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How fast things go, and how long texts are in tokens.

    Attributes:
        calls_per_second: of all runs in flight together; None where unknown.
        iterations_per_second: of baselines, likewise.
        characters_per_token: of prompts.
        answer_tokens: of an answer.
        per_call: mean tokens of a prompt, by condition, task and method, where they were counted.
    """

    calls_per_second: float | None
    iterations_per_second: float | None
    characters_per_token: float
    answer_tokens: float
    per_call: dict[tuple[str, str, str], float]


def pace(
    asked: Measured, trained: Measured, *, concurrency: int | None, rate: float | None, answer_tokens: float | None
) -> Pace:
    """A given value takes precedence over a measured one, and that over a default.

    Args:
        asked: records of the model.
        trained: records of baselines.
        concurrency: runs in flight at once; None for the default.
        rate: calls per second, if given.
        answer_tokens: tokens of an answer, if given.
    """
    in_flight = concurrency or max(4, 2 * cores())
    return Pace(
        calls_per_second=rate or _per_second(asked, in_flight),
        iterations_per_second=_per_second(trained, min(in_flight, cores())),
        characters_per_token=asked.characters_per_token or CHARACTERS_PER_TOKEN,
        answer_tokens=answer_tokens or asked.tokens_per_answer or ANSWER_TOKENS,
        per_call=asked.per_call,
    )


def _per_second(measured: Measured, in_flight: int) -> float | None:
    seconds = measured.seconds_per_call
    return in_flight / seconds if seconds else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What one method on one task costs; all but the first numbers are of what is missing yet.

    Attributes:
        runs, complete: their number.
        calls, rollouts: of all runs, without warm-up and repeated calls.
        calls_left, rollouts_left: those to be made yet.
        prompt_tokens_low, prompt_tokens_high: as long as policies last as long as random ones, and up to the step cap.
        completion_tokens: thinking included.
        longest_prompt: in tokens, at most.
        hours: None where the pace is not known.
    """

    part: str
    condition: str
    env: str
    variant: str
    runs: int
    complete: int
    calls: int
    rollouts: int
    calls_left: int
    rollouts_left: int
    prompt_tokens_low: float
    prompt_tokens_high: float
    completion_tokens: float
    longest_prompt: float
    hours: float | None


def costs(part: Part, found: Sequence[State], at: Pace, sizes: PromptSizes) -> Iterator[Cost]:
    """A row per condition, task and method of a part, given what the disk holds of its runs."""
    for cell, members in by_cell((state.spec.cell, state) for state in found).items():
        yield _cost(part, cell, members, at, sizes)


def _cost(part: Part, cell: tuple[str, str, str], members: Sequence[State], at: Pace, sizes: PromptSizes) -> Cost:
    condition, env, variant = cell
    spec = members[0].spec
    iterations_left = sum(max(state.spec.iterations - state.finished, 0) for state in members)
    calls_left = iterations_left * spec.calls // spec.iterations
    low = high = longest = 0.0
    if part.asks_a_model:
        size = sizes.of(spec)
        low, high, longest = (characters / at.characters_per_token for characters in size)
        counted = at.per_call.get(cell)
        low, high = (counted, counted) if counted is not None else (low, high)
    speed, work = (
        (at.calls_per_second, calls_left) if part.asks_a_model else (at.iterations_per_second, iterations_left)
    )
    hours = 0.0 if work == 0 else work / speed / 3600 if speed else None
    return Cost(
        part=part.name,
        condition=condition,
        env=env,
        variant=variant,
        runs=len(members),
        complete=sum(state.complete for state in members),
        calls=sum(state.spec.calls for state in members),
        rollouts=sum(state.spec.episodes for state in members),
        calls_left=calls_left,
        rollouts_left=iterations_left * spec.episodes // spec.iterations,
        prompt_tokens_low=calls_left * low,
        prompt_tokens_high=calls_left * high,
        completion_tokens=calls_left * at.answer_tokens,
        longest_prompt=longest,
        hours=hours,
    )


def total_hours(rows: Iterable[Cost]) -> float | None:
    """Hours of several rows; None where one is unknown."""
    hours = [row.hours for row in rows]
    return None if None in hours else sum(hour for hour in hours if hour is not None)
