"""What GEPA's `run_log.txt` states in single lines: parents, verdicts, new candidates, and scores on validation."""

from __future__ import annotations

import ast
import math
import re
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

from audit.sources.gepa_text_log import Sums, logged_messages, verdict
from audit.sources.numbers import number_of

_BASE: Final = re.compile(r"Base program full valset score: (.+?) over \d+ / \d+ examples")
_MEAN: Final = re.compile(r"Valset score for new program: (.+?) \(coverage \d+ / \d+\)")
_AGAIN: Final = re.compile(r"Val aggregate for new program: (.+)")
_EACH: Final = re.compile(r"Individual valset scores for new program: (.*)")
_JOINED: Final = re.compile(r"New program candidate index: (\d{1,15})")
_SELECTED: Final = re.compile(r"Selected program (\d{1,15}) score: .*")


class Validation(NamedTuple):
    """A candidate's mean score on validation, and its score on each example where they are known."""

    mean: float | None = None
    scores: dict[str, float] | None = None


@dataclass
class Statements:
    """What a text log states; iterations are numbered as in `run_log.json`.

    Attributes:
        validation: of each candidate, by its index.
        parents: the parent of the first proposal of an iteration, by its number.
        verdicts: sums of scores before and after of the proposals of an iteration.
        joined: indices of the candidates that an iteration added.
        unread: what cannot be read as scores on validation.
    """

    validation: dict[int, Validation] = field(default_factory=dict)
    parents: dict[int, int] = field(default_factory=dict)
    verdicts: defaultdict[int, list[Sums]] = field(default_factory=lambda: defaultdict(list))
    joined: defaultdict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    unread: list[str] = field(default_factory=list)

    def _mean(self, text: str) -> float | None:
        value = number_of(text)
        if value is None or not math.isfinite(value):
            self.unread.append(text)
            return None
        return value

    def _scores(self, text: str) -> dict[str, float] | None:
        scores = _dict_of(text)
        if scores is None:
            self.unread.append(text.strip())
        return scores


def statements(path: Path) -> Statements:
    """Read a text log.

    Raises:
        OSError: the log cannot be read.
    """
    found = Statements()
    mean, scores = None, None
    for number, message in logged_messages(path):
        iteration, line = number - 1, message.partition("\n")[0]
        if selected := _SELECTED.fullmatch(line):
            found.parents[iteration] = int(selected[1])
        elif sums := verdict(line):
            found.verdicts[iteration].append(sums)
        elif base := _BASE.fullmatch(line):
            found.validation[0] = Validation(found._mean(base[1]))
        elif stated := _MEAN.fullmatch(line):
            mean, scores = found._mean(stated[1]), None
        elif again := _AGAIN.fullmatch(line):
            if mean is not None and number_of(again[1]) != mean:
                found.unread.append(again[1])
                mean = None
        elif each := _EACH.fullmatch(line):
            scores = found._scores(each[1])
        elif joined := _JOINED.fullmatch(line):
            found.joined[iteration].append(int(joined[1]))
            found.validation[int(joined[1])] = Validation(mean, scores)
            mean, scores = None, None
    return found


def _dict_of(text: str) -> dict[str, float] | None:
    """Scores by example from the form in which Python prints a dict; None where it is anything else."""
    try:
        printed = ast.parse(text.strip(), mode="eval").body
        if not isinstance(printed, ast.Dict) or None in printed.keys:
            return None
        names = [_key(each) for each in printed.keys if each is not None]
        scores = [number_of(ast.unparse(each)) for each in printed.values]
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    known = [score for score in scores if score is not None and math.isfinite(score)]
    return dict(zip(names, known, strict=True)) if len(known) == len(names) == len(set(names)) else None


def _key(node: ast.expr) -> str:
    """An example's id; one of NumPy's types is that number."""
    printed = ast.unparse(node)
    whole = number_of(printed) if isinstance(node, ast.Call) else None
    return str(ast.literal_eval(node)) if whole is None else str(int(whole))
