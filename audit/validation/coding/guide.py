"""The coding guide, in sections, to be shown beside what is coded."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from audit.detectors.detector import Detector


class Section(NamedTuple):
    """A section of the guide.

    Attributes:
        title: its heading; empty for what comes before the first one.
        text: Markdown, without headings.
        columns: the columns that it explains; none where it is about coding in general.
    """

    title: str
    text: str
    columns: list[str]


def guide(columns: Iterable[str], detector: Detector | None = None) -> list[Section]:
    """The sections of the coding guide, and the question of a user's rubric.

    Args:
        columns: the columns that are coded.
        detector: a user's, whose question is asked as well.
    """
    every = list(columns)
    _, *parts = f"\n{_path().read_text(encoding='utf-8')}".split("\n# ", 1)
    start, *rest = parts[0].split("\n## ")
    sections = [Section("", start.partition("\n")[2].strip(), [])]
    for part in rest:
        title, _, text = part.partition("\n")
        # The mentions of all three rollouts have one section.
        about = [column for column in every if column.partition("_")[0] in title.lower()]
        sections.append(Section(title.strip(), text.strip(), about))
    if detector is not None and (rubric := detector.rubric) is not None:
        meanings = [f"- `{name}`: {meaning}" for name, meaning in rubric.categories.items()]
        sections.append(Section(rubric.name, "\n".join([rubric.question, "", *meanings]), [rubric.name]))
    return sections


def _path() -> Path:
    """Where the guide is: within the installed package, or in `docs` of a clone."""
    installed = Path(__file__).with_name("guide.md")
    return installed if installed.is_file() else Path(__file__).parents[3] / "docs" / "coding-guide.md"
