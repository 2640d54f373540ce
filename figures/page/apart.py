"""What the page has beside records, or without any: critics by their cards, and remedies by their plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from figures.page import critics, remedies
from figures.page.page import Picture, Section
from figures.plots import critics as plotted_critics
from figures.plots import remedies as plotted_remedies
from figures.plots.drawing import Drawing
from figures.tables import Table

STEMS: Final = (plotted_critics.STEM, plotted_remedies.STEM)


@dataclass(frozen=True)
class Apart:
    """Cards that were read, and a finished plan of remedies; either may be missing."""

    cards: Sequence[plotted_critics.Named] = ()
    remedies: plotted_remedies.Remedies | None = None

    def tables(self) -> dict[str, Table]:
        """A table of each that is there, by its stem."""
        found = [critics.table_of(self.cards)] if self.cards else []
        found += [remedies.table_of(self.remedies)] if self.remedies else []
        return {each.stem: each for each in found}

    def drawings(self) -> dict[str, list[Drawing]]:
        """Likewise a figure."""
        found = [plotted_critics.draw(self.cards)] if self.cards else []
        found += [plotted_remedies.draw(self.remedies)] if self.remedies else []
        return {each.stem: [each] for each in found}

    def sections(self, tables: Mapping[str, Table], pictures: Mapping[str, list[Picture]]) -> list[Section]:
        """Likewise a section of the page."""
        sentences = [critics.paragraphs(self.cards), remedies.paragraphs(self.remedies) if self.remedies else []]
        return [
            Section(stem, tables[stem].title, [tables[stem]], pictures[stem], paragraphs=paragraphs)
            for stem, paragraphs in zip(STEMS, sentences, strict=True)
            if stem in tables
        ]

    def digests(self) -> list[str]:
        """SHA-256 of the plans."""
        plans = [card.plan_sha256 for _, card in self.cards]
        return [*plans, *([self.remedies.sha256] if self.remedies else [])]


NOTHING: Final = Apart()


def read(cards: Sequence[str | Path], plan: str | Path | None) -> Apart:
    """Read cards and a plan of remedies.

    Raises:
        AuditError: one cannot be read, a card is given twice or of another suite, or calls have no answer yet.
        FiguresError: of no remedy it is known what it avoids.
    """
    return Apart(plotted_critics.read(cards) if cards else (), None if plan is None else plotted_remedies.read(plan))
