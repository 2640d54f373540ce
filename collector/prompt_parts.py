"""A critic's prompt taken apart into its rollouts and what is around them, without knowing the task."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final, Self

from collector.evidence import ShownRollout
from collector.prompt_dialects import DIALECTS, Dialect, Placebo

LETTERS: Final = ("Rollout A", "Rollout B", "Rollout C")
"""Headings that state no role."""

_NUMBER: Final = r"-?\d{1,30}(?:\.\d{1,30})?"
_HEADING: Final = re.compile(
    r"^(?P<name>[A-Z][\w ]{0,60}?) \(rollout (?P<rollout>\d{1,9})"
    rf"(?P<number>, return (?P<return>{_NUMBER})|, reward=(?P<reward>{_NUMBER}))?"
    r"(?P<length>, length \d{1,9})?\):\n",
    re.MULTILINE,
)
_FARTHEST: Final = 4
"""Characters between two rollouts, at most."""
_BLANK: Final = re.compile(r"\n[ \t]*\n|\n*\Z")
_POINTS: Final = re.compile(r"^Weigh these points:\n(?:- .*\n)+", re.MULTILINE)


class UnknownPromptError(ValueError):
    """A prompt that cannot be taken apart; the message is the reason."""


@dataclass(frozen=True, slots=True)
class Block:
    """A rollout as a prompt shows it.

    Attributes:
        name: the heading, for example `Worst rollout`.
        rollout: its number among the K.
        number: how its return is printed, with the words around it; empty where it is hidden.
        value: the return as a number; None where it is hidden.
        length: how its length is printed, with the words around it; empty where the prompt does not state it.
        text: the steps.
    """

    name: str
    rollout: int
    number: str
    value: float | None
    length: str
    text: str

    @classmethod
    def of(cls, written: ShownRollout) -> Self:
        """A rollout that was written out, as `rollout.j2` shows it."""
        return cls(
            name=f"{written.label.capitalize()} rollout",
            rollout=written.rollout,
            number=f", return {written.return_:.4f}",
            value=float(f"{written.return_:.4f}"),
            length=f", length {written.length}",
            text=written.text,
        )

    @property
    def label(self) -> str | None:
        """The role that the heading states, in lower case; None for `Rollout A`."""
        word, _, noun = self.name.partition(" ")
        return word.lower() if noun == "rollout" else None

    @property
    def steps(self) -> int | None:
        """The length as a number."""
        return int(self.length.rpartition(" ")[2]) if self.length else None

    def __str__(self) -> str:
        return f"{self.name} (rollout {self.rollout}{self.number}{self.length}):\n{self.text}"

    def hidden(self) -> Block:
        """The same without its return."""
        return replace(self, number="", value=None)

    def with_number_of(self, other: Block) -> Block:
        """The same with another's return."""
        return replace(self, number=other.number, value=other.value)


@dataclass(frozen=True, slots=True)
class CriticPrompt:
    """A critic's prompt in parts; `str` puts them together again, byte for byte.

    Attributes:
        before: all up to the first rollout.
        blocks: the rollouts, in the order of display.
        between: what separates them.
        after: everything after the last one.
        dialect: whose template it was made with.
    """

    before: str
    blocks: tuple[Block, ...]
    between: str
    after: str
    dialect: Dialect

    @classmethod
    def read(cls, text: str, *, shows_three: bool = True) -> Self:
        """Take a prompt apart.

        Args:
            text: the prompt.
            shows_three: its frame has to announce three rollouts; without that it has no neutral frame.

        Raises:
            UnknownPromptError: its template is not known, or it does not show rollouts as those known do.
        """
        known = (each for each in DIALECTS if each.claims(text) or (not shows_three and each.evidence in text))
        dialect = next(known, None)
        if dialect is None:
            raise UnknownPromptError("its template is not known")
        found = _find(text, text.index(dialect.evidence))
        blocks, ends = [block for block, _, _ in found], [(start, end) for _, start, end in found]
        if not blocks:
            raise UnknownPromptError("no rollouts in it")
        gaps = {text[end:begin] for (_, end), (begin, _) in pairwise(ends)}
        if len(gaps) > 1:
            raise UnknownPromptError("its rollouts are set apart in different ways")
        parsed = cls(text[: ends[0][0]], tuple(blocks), gaps.pop() if gaps else "\n\n", text[ends[-1][1] :], dialect)
        if str(parsed) != text:
            raise UnknownPromptError("its parts do not make it up again")
        return parsed

    def __str__(self) -> str:
        return f"{self.before}{self.between.join(map(str, self.blocks))}{self.after}"

    def with_blocks(self, blocks: Sequence[Block]) -> CriticPrompt:
        """The same around other rollouts."""
        return replace(self, blocks=tuple(blocks))

    def neutral(self) -> CriticPrompt:
        """The same in a frame that states neither order nor number of its rollouts."""
        return self._reworded(self.dialect.neutral)

    def placebo(self, kind: Placebo) -> CriticPrompt:
        """The same, in a neutral frame, changed in a way that leaves its meaning."""
        return self._reworded(self.dialect.placebos[kind])

    def with_point(self, point: str) -> CriticPrompt:
        """The same with one more of the points that the project's template asks to weigh.

        Raises:
            UnknownPromptError: it has no such list.
        """
        points = _POINTS.search(self.after)
        if points is None:
            raise UnknownPromptError("it lists no points to weigh")
        return replace(self, after=f"{self.after[: points.end()]}- {point}\n{self.after[points.end() :]}")

    def without_rollouts(self) -> CriticPrompt:
        """The same, in a neutral frame, with no rollout at all: it says so, and no instruction is about them."""
        without = self._reworded(self.dialect.absent)
        return replace(without, before=without.before.rstrip("\n"), blocks=())

    def without_warnings(self) -> CriticPrompt:
        """The same without the instructions that mention the worst rollout."""
        return replace(self, after=self.dialect.warnings.sub("", self.after))

    def with_trials(self, order: Sequence[int]) -> CriticPrompt:
        """The same with the earlier trials in another order, numbered as before.

        Args:
            order: shape (trials,), a permutation: which trial comes at each place.
        """
        found = list(self.dialect.trial.finditer(self.after))
        parts, end = [], 0
        for match, other in zip(found, order, strict=True):
            parts += [self.after[end : match.start("entry")], found[other]["entry"]]
            end = match.end("entry")
        return replace(self, after="".join([*parts, self.after[end:]]))

    @property
    def trials(self) -> int:
        """Number of earlier trials that it lists after the rollouts."""
        return len(self.dialect.trial.findall(self.after))

    def _reworded(self, words: Mapping[str, str]) -> CriticPrompt:
        before, after = self.before, self.after
        for pattern, replacement in words.items():
            before = re.sub(pattern, replacement, before, flags=re.MULTILINE)
            after = re.sub(pattern, replacement, after, flags=re.MULTILINE)
        return replace(self, before=before, after=after)


def read_blocks(text: str) -> list[Block]:
    """The rollouts of a prompt in the order of display, whatever its template."""
    return [block for block, _, _ in _find(text, 0)]


def _find(text: str, position: int) -> list[tuple[Block, int, int]]:
    """Successive rollouts after a place in the text, each with its start and end."""
    found: list[tuple[Block, int, int]] = []
    while match := _HEADING.search(text, position):
        blank = _BLANK.search(text, match.end())
        assert blank is not None  # the pattern matches at the end of any text
        if found and match.start() > position + _FARTHEST:
            break
        found.append((_block(match, text[match.end() : blank.start()]), match.start(), blank.start()))
        position = blank.start()
    return found


def _block(match: re.Match[str], text: str) -> Block:
    value = match["return"] or match["reward"]
    return Block(
        name=match["name"],
        rollout=int(match["rollout"]),
        number=match["number"] or "",
        value=None if value is None else float(value),
        length=match["length"] or "",
        text=text,
    )
