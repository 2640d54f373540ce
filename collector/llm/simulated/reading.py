"""What the simulated model reads out of a prompt. It is given the text alone, as a language model would be."""

from __future__ import annotations

import hashlib
import math
import re
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from collector.llm.simulated.drawing import pick
from collector.policy import settle

TAIL = 12
"""Last steps of a rollout that are read closely."""


class UnknownPromptError(ValueError):
    """A prompt that the simulated model cannot parse."""


@dataclass(frozen=True, slots=True)
class Values:
    """What a parameter may be: one of `allowed`, or a number from `low` to `high`."""

    rank: int
    allowed: tuple[int, ...] | None
    low: float
    high: float
    decimals: int
    step: float

    def settle(self, value: float) -> float:
        """A number within the range, with the decimals asked for."""
        return settle(value, self.low, self.high, self.decimals)

    def other(self, value: float, rng: np.random.Generator) -> float:
        """Another allowed value than this one."""
        assert self.allowed is not None
        return float(pick([choice for choice in self.allowed if choice != value], rng))


@dataclass(frozen=True, slots=True)
class Trial:
    """One line of the history."""

    params: tuple[float, ...]
    value: float
    single: bool


@dataclass(frozen=True)
class Rollout:
    """A rollout as far as it was read.

    Attributes:
        label: what the prompt calls it: `worst`, `median`, … in lower case, or a neutral name, as in `rollout B`.
        index: its number among the K.
        value: its return; None where the heading leaves it out.
        states: the last states, shape (steps, dimensions).
        actions: the actions taken in them, shape (steps, outputs).
        cut_off: it was stopped by the step cap.
        length: its steps, as its trace states them.
        position: its place among the rollouts shown, from 0.
    """

    label: str
    index: int
    value: float | None
    states: NDArray[np.float64]
    actions: NDArray[np.float64]
    cut_off: bool
    length: int = 0
    position: int = 0

    @property
    def neutral(self) -> bool:
        """Whether its name says nothing of its return."""
        return self.label.startswith("rollout ")

    @cached_property
    def inputs(self) -> NDArray[np.float64]:
        """The states, scaled to unit size per dimension, and the input of the bias, shape (steps, dimensions + 1)."""
        scale = np.sqrt(np.mean(self.states**2, axis=0)) + 1e-12
        return np.hstack([self.states / scale, np.ones((len(self.states), 1))])


@dataclass(frozen=True, slots=True)
class SearchPrompt:
    """A request for a new input of f."""

    values: Values
    optimum: float
    trials: tuple[Trial, ...]


@dataclass(frozen=True)
class CriticPrompt:
    """A request to revise a policy. `outputs` is the number of columns of W, and 0 for a table."""

    text: str
    values: Values
    target: float
    trials: tuple[Trial, ...]
    proposed: tuple[float, ...]
    achieved: float
    rule: float | None
    outputs: int
    chooses_largest: bool
    rollouts: tuple[Rollout, ...]

    @cached_property
    def digest(self) -> bytes:
        """BLAKE2 of the text."""
        return hashlib.blake2b(self.text.encode(), digest_size=16).digest()

    @cached_property
    def best_trial(self) -> Trial | None:
        """The trial with the highest mean return; single returns do not count."""
        return max((trial for trial in self.trials if not trial.single), key=lambda trial: trial.value, default=None)

    @cached_property
    def lowest_trial(self) -> float:
        """The lowest return in the history, infinite where it is empty."""
        return min((trial.value for trial in self.trials), default=math.inf)

    def return_of(self, rollout: Rollout) -> float:
        """The rollout's return; the mean of all where it is not shown."""
        return self.achieved if rollout.value is None else rollout.value


Request = SearchPrompt | CriticPrompt

_RANK = re.compile(r"params\[(\d+)\]: v\s*$", re.MULTILINE)
_ALLOWED = re.compile(r"one of the integers ([\d, ]+)\.")
_RANGE = re.compile(r"between (-?[\d.]+) and (-?[\d.]+) and has (\d+) decimal")
_STEP = re.compile(r"(?:steps of about|by at most) (\d+(?:\.\d+)?)")
_OPTIMUM = re.compile(r"(?:Target:|can reach is|a mean return of) about (-?\d+(?:\.\d+)?)")
_TRIAL = re.compile(r"^#\d+ params=\((.*?)\) (single|mean) return (-?[\d.]+)$", re.MULTILINE)
_PROPOSED = re.compile(r"## Policy under review\s+(.*)")
_ACHIEVED = re.compile(r"Achieved mean return: (-?[\d.]+)")
_RULE = re.compile(r"at a mean return of (-?\d+(?:\.\d+)?) or more")
_OUTPUTS = re.compile(r" and (\d+) columns?, one for each output")
_ROLLOUT = re.compile(
    r"^(?:(\w+) rollout|Rollout (\w+)) \(rollout (\d+)(?:, return (-?[\d.]+))?(?:, length \d+)?\):\n((?:.+\n?)+)",
    re.MULTILINE,
)
_NONE_SHOWN = re.compile(r"^None of the \d+ rollouts is shown\.$", re.MULTILINE)
_LENGTH = re.compile(r"after (\d+) steps")
_ROW = re.compile(r"state (.+) action (.+) reward ")
_NUMBER = re.compile(r"-?\d[\d.]*(?:e[+-]?\d+)?")


def read(prompt: str) -> Request:
    """Read a prompt.

    Raises:
        UnknownPromptError: what the simulated model needs is not in it.
    """
    try:
        if "## Policy under review" in prompt:
            return _read_critic(prompt)
        return SearchPrompt(_read_values(prompt), float(_find(_OPTIMUM, prompt)), _read_trials(prompt))
    except (AttributeError, ValueError, IndexError) as error:
        raise UnknownPromptError(f"the simulated model cannot read this prompt ({error})") from None


def _read_critic(prompt: str) -> CriticPrompt:
    outputs = _OUTPUTS.search(prompt)
    rollouts = tuple(_read_rollout(match, place) for place, match in enumerate(_ROLLOUT.finditer(prompt)))
    if not rollouts and not _NONE_SHOWN.search(prompt):
        raise UnknownPromptError("it shows no rollout")
    return CriticPrompt(
        text=prompt,
        values=_read_values(prompt),
        target=float(_find(_OPTIMUM, prompt)),
        trials=_read_trials(prompt),
        proposed=tuple(float(value) for value in re.findall(r"params\[\d+\]: ([^,\s]+)", _find(_PROPOSED, prompt))),
        achieved=float(_find(_ACHIEVED, prompt)),
        rule=float(rule.group(1)) if (rule := _RULE.search(prompt)) else None,
        outputs=int(outputs.group(1)) if outputs else 0,
        chooses_largest="index of the largest output" in prompt,
        rollouts=rollouts,
    )


def _read_values(prompt: str) -> Values:
    rank = int(_find(_RANK, prompt)) + 1
    if allowed := _ALLOWED.search(prompt):
        return Values(rank, tuple(int(value) for value in allowed.group(1).split(",")), 0.0, 0.0, 0, 0.0)
    low, high, decimals = _RANGE.search(prompt).groups()  # type: ignore[union-attr]
    return Values(rank, None, float(low), float(high), int(decimals), float(_find(_STEP, prompt)))


def _read_trials(prompt: str) -> tuple[Trial, ...]:
    return tuple(_read_trial(*found) for found in _TRIAL.findall(prompt))


@lru_cache(maxsize=8192)
def _read_trial(params: str, kind: str, value: str) -> Trial:
    """A line of the history; every later prompt of a run repeats it."""
    return Trial(tuple(float(each) for each in params.split(",")), float(value), kind == "single")


def _read_rollout(match: re.Match[str], position: int) -> Rollout:
    label, letter, index, value, text = match.groups()
    return Rollout(
        label.lower() if label else f"rollout {letter}",
        int(index),
        None if value is None else float(value),
        *_read_trace(text.strip()),
        position=position,
    )


@lru_cache(maxsize=1024)
def _read_trace(text: str) -> tuple[NDArray[np.float64], NDArray[np.float64], bool, int]:
    """States, actions, whether it was cut off, and its length; prompts with changed evidence repeat a trace."""
    steps: list[tuple[str, str]]
    if text.startswith("state "):
        *rows, ending = text.split("\n")
        steps = [row.groups() for line in rows[-TAIL:] if (row := _ROW.match(line))]  # type: ignore[misc]
    else:
        *parts, ending = text.split(" | ")
        steps = [(part.split("->")[0], part.split("->")[1]) for part in parts[-TAIL:] if "->" in part]
    return (
        np.array([_numbers(state) for state, _ in steps]),
        np.array([_numbers(action) for _, action in steps]),
        ending.startswith("CUT OFF"),
        int(_find(_LENGTH, ending)),
    )


def _numbers(text: str) -> list[float]:
    return [float(number) for number in _NUMBER.findall(text)]


def _find(pattern: re.Pattern[str], prompt: str) -> str:
    match = pattern.search(prompt)
    if match is None:
        raise UnknownPromptError(f"nothing in it matches {pattern.pattern!r}")
    return str(match.group(1))
