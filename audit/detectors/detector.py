"""A detector: how the references of answers to an item are found, and what results depend on beside the records."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from audit.detectors.about import About

if TYPE_CHECKING:
    from audit.references import Mention, Shown

Mentions: TypeAlias = "Iterable[Mention | tuple[int, int]]"
"""What a detector finds in an answer: mentions, which count where they point at the item that is asked about, or pairs
of offsets, which always count."""
Detect: TypeAlias = "Callable[[str, Shown], Mentions]"
"""A user's detector: finds mentions in an answer, given what its author was shown."""


@dataclass(frozen=True)
class Rubric:
    """A question for a judge.

    Attributes:
        name: of the question.
        question: in words.
        categories: the possible answers, each with its meaning.
        counts: the categories that count as a reference.
    """

    name: str
    question: str
    categories: Mapping[str, str]
    counts: tuple[str, ...]

    @property
    def sha256(self) -> str:
        """Identifies its content, so that judgements of an earlier wording do not count."""
        content = [self.question, sorted(self.categories.items())]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()


@dataclass(frozen=True)
class Detector:
    """A detector, the audit's own or a user's.

    Attributes:
        name: as the column `detector` has it.
        about: the item that references are sought to.
        pattern: an RE2 expression that ignores case unless it states otherwise; or None.
        relation: the relation that has its findings in the columns of `references`; or None, for a pattern.
        function: a user's function; or None.
        rubric: a question for a judge; or None.
        content: a digest of what a user wrote; empty for the audit's own.
    """

    name: str
    about: About
    pattern: str | None = None
    relation: str | None = None
    function: Detect | None = None
    rubric: Rubric | None = None
    content: str = ""

    @property
    def is_judged(self) -> bool:
        """Whether its findings are the judgements of a model."""
        return self.relation in {"judged_references", "rubric_references"}

    @property
    def is_own(self) -> bool:
        """Whether a user wrote it."""
        return bool(self.content)

    @property
    def key(self) -> list[str]:
        """All that results depend on beside the records."""
        return [self.name, self.about.text, self.content]

    @property
    def column(self) -> str:
        """The column of a sheet of labels in which people code what it finds."""
        return f"mentions_{self.about.name}" if self.about.kind == "role" else self.name

    @property
    def has_yes_or_no(self) -> bool:
        """Whether people code a yes or no for it: not where they choose a category of a question about no item."""
        return self.is_own and (self.rubric is None or self.column != self.rubric.name)

    @property
    def codes(self) -> dict[str, tuple[str, ...]]:
        """The columns that a sheet of labels has for it, each with its codes."""
        asked = {self.rubric.name: tuple(self.rubric.categories)} if self.rubric else {}
        return {**({self.column: ("1", "0")} if self.has_yes_or_no else {}), **asked}

    def variables(self) -> dict[str, Any]:
        """What the models read, by variable."""
        return {
            "detector": self.name,
            "detector_pattern": self.pattern,
            "is_own": self.is_own,
            "about": self.about.text,
            "about_kind": self.about.kind,
            "about_name": self.about.name,
            "about_place": self.about.place,
            "rubric": self.rubric.sha256 if self.rubric else None,
            "rubric_counts": list(self.rubric.counts) if self.rubric else [],
        }
