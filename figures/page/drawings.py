"""The drawings of the page, from the modules that the gallery names."""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import replace
from importlib import import_module
from typing import cast

from figures.data import Records
from figures.gallery import OF_TASKS, SECTIONS
from figures.names import worded
from figures.plots.drawing import Drawing, left_out
from figures.plots.plotting import Plots


def plots_of(section: str) -> list[Plots]:
    """The modules of a section of the page."""
    return [cast(Plots, import_module(f"figures.plots.{module}")) for module in SECTIONS[section]]


def kinds_of(section: str) -> dict[str, str]:
    """The kinds of figures in a section of the page, in order, with what each needs."""
    return {kind: needs for plots in plots_of(section) for kind, needs in plots.NEEDS.items()}


def drawings_of(records: Records, condition: str) -> Iterator[Drawing]:
    """Draw every figure that there are records for, of one condition or of those that have this name in common."""
    for section in SECTIONS:
        if section in OF_TASKS and records.revises_texts(condition):
            continue
        for plots in plots_of(section):
            yield from drawn(plots, records, condition)


def drawn(plots: Plots, records: Records, condition: str) -> Iterator[Drawing]:
    """The figures of a module, with captions in the words of what the condition revises."""
    of_texts = records.revises_texts(condition)
    for each in plots.draw(records, condition):
        title, caption, description = (
            worded(words, of_texts=of_texts) for words in (each.title, each.caption, each.description)
        )
        yield replace(each, title=title, caption=caption, description=description)


def not_drawn(section: str, kinds: Container[str]) -> str:
    """Which figures of a section are not among these kinds, and what they need; empty where none is missing."""
    return left_out([needs for kind, needs in kinds_of(section).items() if needs and kind not in kinds])
