"""The text files of the released reference code, one reader each. Pure functions of a file's content."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_TOTAL: Final = re.compile(rb"^Total reward: ([^\n]*)", re.MULTILINE)
_HEADER: Final = b"state | action | reward\n"
_PARAMS_END: Final = b"\nparameter ends"
_PARAM: Final = re.compile(r"params\[(\d{1,9})\]:\s*([+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)")
_RULE: Final = re.compile(
    r"^- .*\bachieved_reward >= (?P<tau_c>-?\d+(?:\.\d+)?)\b.*\bvery small, strongly justified edit", re.MULTILINE
)

LARGEST: Final = 2**63 - 1
"""Number of a run or an iteration; the columns hold no larger ones."""


class FormatError(ValueError):
    """A file that does not look as the released code writes it; the message names the difference."""


class Rollouts(NamedTuple):
    """The K rollouts of one evaluation; `params` is None for tabular tasks, whose files hold none."""

    params: list[float] | None
    returns: list[float]
    lengths: list[int]


class Answers(NamedTuple):
    """The model's answers: the proposal, and the revision where there is one, with τ_c as its prompt states it."""

    first: str
    second: str | None
    tau_c: float | None = None


def read_rollouts(content: bytes) -> Rollouts:
    """Read a rollout file.

    Args:
        content: the file, K rollouts one after the other.

    Raises:
        FormatError: there is no rollout, the last one is cut short, or they are not of one policy.
    """
    content = content.replace(b"\r\n", b"\n")
    *rollouts, rest = re.split(rb"^Total reward: ", content, flags=re.MULTILINE)
    if not rollouts:
        raise FormatError("holds no finished rollout")
    totals = _TOTAL.findall(content)
    # What follows the last total is its value; anything more is a rollout that did not end.
    if rest.count(b"\n") != 1:
        raise FormatError("its last rollout is cut short")
    return Rollouts(_params(content, len(rollouts)), _numbers(totals), [_steps(rollout) for rollout in rollouts])


def read_answers(content: bytes) -> Answers:
    """Read the model's answers out of `parameters_reasoning.txt`, whose other parts are prompts.

    Raises:
        FormatError: the mark that an answer follows is missing.
    """
    text = content.decode("utf-8", errors="replace").replace("\r\n", "\n")
    if "\n--- Proposal B ---\n" in text:
        first, _, second = text.partition("\n--- Proposal B ---\n")
        return Answers(_after_mark(first), _after_mark(second))
    search, dashes, critic = text.partition("\n--- Critic-LLM (Reflection) ---\n")
    if not dashes:
        return Answers(_after_mark(text), None)
    prompt, mark, answer = critic.partition("\nCritic-LLM response:\n")
    if not mark:
        raise FormatError("has no line 'Critic-LLM response:'")
    rule = _RULE.search(prompt)
    return Answers(_after_mark(search), answer, float(rule["tau_c"]) if rule else None)


def read_params(answer: str) -> list[float]:
    """Read the parameter vector out of an answer; the first mention of an index counts.

    Raises:
        FormatError: there are none, or an index is missing.
    """
    values: dict[int, float] = {}
    for index, value in _PARAM.findall(answer):
        values.setdefault(int(index), float(value))
    if not values or sorted(values) != list(range(len(values))):
        raise FormatError("an answer in it does not name its parameters one after the other")
    return [values[index] for index in range(len(values))]


def read_outcome(content: bytes) -> dict[str, str]:
    """Read a file of `key=value` lines."""
    lines = content.decode("utf-8", errors="replace").splitlines()
    return {key.strip(): value.strip() for key, equals, value in (line.partition("=") for line in lines) if equals}


def read_log(content: bytes) -> tuple[list[tuple[int, float]], list[tuple[int, str]]]:
    """Read `overall_log.txt`: iterations, from 0, with their returns; and lines, from 1, with what is wrong in them."""
    returns, faults = [], []
    lines = content.decode("utf-8", errors="replace").splitlines(keepends=True)
    for number, line in enumerate(lines[1:], start=2):
        if not line.strip():
            continue
        columns = line.strip().split(",")
        try:
            iteration, value = int(columns[0]) - 1, float(columns[5])
        except (ValueError, IndexError):
            iteration, value = LARGEST + 1, 0.0
        if abs(iteration) <= LARGEST:
            returns.append((iteration, value))
        else:
            torn = "" if line.endswith("\n") else "torn: "
            faults.append((number, f"{torn}is not a line of the log's six columns"))
    return returns, faults


def is_text(content: bytes) -> bool:
    """Whether a file is UTF-8 from end to end."""
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


def _params(content: bytes, rollouts: int) -> list[float] | None:
    line, mark, _ = content.partition(_PARAMS_END)
    if not mark:
        return None
    if content.count(line + _PARAMS_END) != rollouts:
        raise FormatError("its rollouts are not all of one policy")
    return _numbers(line.split(b","))


def _steps(rollout: bytes) -> int:
    _, header, steps = rollout.partition(_HEADER)
    if not header:
        raise FormatError("a rollout in it has no header line")
    return steps.count(b"\n")


def _numbers(texts: list[bytes]) -> list[float]:
    try:
        return [float(text) for text in texts]
    except ValueError:
        raise FormatError("holds something that is not a number where one belongs") from None


def _after_mark(text: str) -> str:
    _, mark, answer = text.partition("\nLLM:\n")
    if not mark:
        raise FormatError("has no line 'LLM:'")
    return answer
