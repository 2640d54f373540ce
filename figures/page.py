"""The page that shows all figures and tables: one file, readable without a network."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jinja2 import Environment, PackageLoader, StrictUndefined

from figures.drawing import Drawing
from figures.tables import Table


@dataclass(frozen=True)
class Picture:
    """A drawing as it was written: the PNG's bytes, for embedding, and the names of both files, for links."""

    drawing: Drawing
    png: bytes
    png_name: str
    pdf_name: str

    @property
    def source(self) -> str:
        """The picture as a data URI, so that the page stands alone."""
        return f"data:image/png;base64,{base64.b64encode(self.png).decode()}"


@dataclass(frozen=True)
class Section:
    """A part of the page: its anchor, heading, tables and pictures, and what is said before them."""

    anchor: str
    title: str
    tables: Sequence[Table]
    pictures: Sequence[Picture]
    remark: str = ""


@dataclass(frozen=True)
class Page:
    """All that the page says.

    `notes` pairs each condition with what made its records, `simulated` lists the conditions of the simulated model.
    """

    notes: Sequence[tuple[str, str]]
    simulated: Sequence[str]
    sections: Sequence[Section]
    provenance: Mapping[str, str]
    problems: Sequence[str]


def _environment() -> Environment:
    loader = PackageLoader("figures", "templates")
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)


def render(page: Page) -> str:
    """The page as HTML."""
    return _environment().get_template("index.html.j2").render(page=page)


def render_table(table: Table) -> str:
    """One table as an HTML document of its own."""
    return _environment().get_template("table.html.j2").render(table=table)
