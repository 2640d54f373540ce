"""The page that shows all figures and tables: one file, readable without a network."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from audit.output.escaping import visible
from figures.plots.drawing import Drawing
from figures.style import TAU
from figures.tables import Table

SCRIPT: Final = "tables.js"
"""The only script of pages, a file beside them: it sorts tables, and they are whole without it."""


@dataclass(frozen=True)
class Picture:
    """A drawing as it was written: the PNG's bytes, for embedding, and the names of its files by format, for links."""

    drawing: Drawing
    png: bytes
    files: Mapping[str, str]

    @property
    def source(self) -> str:
        """The picture as a data URI, so that the page needs no other file."""
        return f"data:image/png;base64,{base64.b64encode(self.png).decode()}"


@dataclass(frozen=True)
class Section:
    """A part of the page: its anchor, heading, tables and pictures, and before them what is left out and a remark.

    `paragraphs` are sentences with the points under each.
    """

    anchor: str
    title: str
    tables: Sequence[Table]
    pictures: Sequence[Picture]
    left_out: str = ""
    remark: str = ""
    paragraphs: Sequence[tuple[str, Sequence[str]]] = ()


@dataclass(frozen=True)
class Page:
    """The contents of the page.

    `notes` pairs each condition with what made its records, `simulated` lists the conditions of the simulated model,
    `repeated` are sentences of notes that the page has once, and leaves out below its tables and pictures.
    `viewer` is the address of a page with all revisions, empty where there is none.
    """

    notes: Sequence[tuple[str, str]]
    simulated: Sequence[str]
    sections: Sequence[Section]
    provenance: Mapping[str, str]
    problems: Sequence[str]
    repeated: Sequence[str] = ()
    viewer: str = ""

    def brief(self, note: str) -> str:
        """A note without what the page states elsewhere."""
        for sentence in self.repeated:
            note = note.replace(sentence, "")
        return " ".join(note.split())


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("figures.page", "templates"),
        autoescape=True,
        finalize=_shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["typeset"] = _typeset
    return environment


def _typeset(words: str) -> Markup:
    """Words with the c of τ_c as a subscript, for where markup is allowed: not in attributes."""
    return escape(visible(words)).replace(TAU, Markup("τ<sub>c</sub>"))


def _shown(value: object) -> object:
    """Texts with their control characters spelled out; markup is what templates made of such texts."""
    return visible(value) if type(value) is str else value


def render(page: Page) -> str:
    """The page as HTML, which loads `SCRIPT` from beside it."""
    return _environment().get_template("index.html.j2").render(page=page, script=SCRIPT)


def script() -> str:
    """The contents of the file `SCRIPT`."""
    return _environment().get_template(SCRIPT).render() + "\n"


def render_table(table: Table) -> str:
    """One table as an HTML document of its own."""
    return _environment().get_template("table.html.j2").render(table=table, script=SCRIPT)
