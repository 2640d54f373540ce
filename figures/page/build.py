"""From records to a folder of figures and tables, and the page that shows them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import pandas as pd

from audit.output.escaping import in_line
from audit.output.paragraphs import first
from audit.output.progress import SILENT, Progress
from audit.store import Store
from collector.errors import cannot_write
from figures.conditions import families
from figures.data import Records, records_of
from figures.errors import FiguresError
from figures.names import LONGEST, label
from figures.page import apart, causes
from figures.page.drawings import drawings_of, kinds_of, not_drawn
from figures.page.export import export, retract
from figures.page.page import SCRIPT, Page, Picture, Section, render, script
from figures.paper.definitions import DEFINITIONS
from figures.paper.layout import WITHHELD
from figures.paper.published import Withheld
from figures.paper.tables import VERDICTS, PaperTables, paper_tables
from figures.plots import patterns
from figures.plots.drawing import Drawing, joined
from figures.provenance import origin, simulated, versions
from figures.style import save
from figures.tables import Row, Table, table

OF_TASKS: Final = ("metrics", "aggregate")
"""Tables that records of texts do not give."""
_NOT_HELD: Final = WITHHELD[Withheld.simulated]
VIEWER: Final = "view/index.html"
"""Where `audit view --export` puts the viewer's page, below the folder of this one."""
_ALWAYS: Final = ("salience", "summary", "agreement")
"""Tables that all records give."""
_NO_FACTS: Final = pd.DataFrame(columns=["condition", "backend", "model"])
PROBLEMS_NAMED: Final = 100
"""Problems listed on the page; the rest are counted."""


@dataclass(frozen=True)
class Contents:
    """Everything that one data set gives: tables by their stem, drawings by kind in the order of the conditions.

    `paper` has the paper's tables, which are among the others too, and the remark before them.
    """

    tables: dict[str, Table]
    drawings: dict[str, list[Drawing]]
    paper: PaperTables


def contents(records: Records | None, given: apart.Apart = apart.NOTHING) -> Contents:
    """Make every table and draw every figure, one figure of each kind per condition; nothing is written yet.

    Args:
        records: the data set, if there is one.
        given: beside it.
    """
    made = Contents({}, {}, PaperTables([], "")) if records is None else _of_records(records)
    return replace(made, tables=made.tables | given.tables(), drawings=made.drawings | given.drawings())


def _of_records(records: Records) -> Contents:
    rows: dict[str, Sequence[Row]] = {
        "salience": records.salience,
        "summary": records.summary,
        "agreement": records.agreement,
    }
    if counts := patterns.counts(records.revisions):
        rows["patterns"] = counts
    of_texts = records.revises_texts()
    if not of_texts:
        rows |= {"metrics": records.metrics, "aggregate": records.over_tasks.aggregate}
    drawings: dict[str, list[Drawing]] = {}
    # Some figures compare conditions: their name is what these have in common.
    for condition, slug in slugs(sorted({*records.conditions, *families(records.conditions)})).items():
        for drawing in drawings_of(records, condition):
            drawings.setdefault(drawing.stem, []).append(replace(drawing, stem=f"{drawing.stem}-{slug}"))
    note = _note(records)
    paper = PaperTables([], "") if of_texts else paper_tables(records)
    notes = {"aggregate": joined([note, *_remarks(records)])}
    tables = {key: table(key, lines, notes.get(key, note), of_texts=of_texts) for key, lines in rows.items()}
    if records.effects:
        tables[causes.STEM] = causes.effects_table(records)
    return Contents(tables | {each.stem: each for each in paper.tables}, drawings, paper)


def _note(records: Records) -> str:
    return joined(f"{label(condition)}: {origin(records.facts, condition)}" for condition in records.conditions)


def _remarks(records: Records) -> list[str]:
    """What must be known of methods over tasks, by condition."""
    return [
        f"{label(condition)}: {joined(remarks)}" for condition, remarks in records.over_tasks.remarks.items() if remarks
    ]


def slugs(conditions: Iterable[str]) -> dict[str, str]:
    """A file name for each condition: letters, digits, dot, plus and hyphen, not many, and no two alike."""
    names: dict[str, str] = {}
    for condition in conditions:
        stem = re.sub(r"[^A-Za-z0-9.+]+", "-", condition)[:LONGEST].strip("-.") or "condition"
        taken = {name.casefold() for name in names.values()}
        numbered = (f"{stem}-{i}" for i in range(2, len(taken) + 3))
        names[condition] = (
            stem if stem.casefold() not in taken else next(n for n in numbered if n.casefold() not in taken)
        )
    return names


def build(
    records: Records | Store | None,
    out: str | Path,
    command: str = "figures.build",
    *,
    progress: Progress = SILENT,
    cards: Sequence[str | Path] = (),
    remedies: str | Path | None = None,
) -> Path:
    """Write every figure (PNG, PDF and SVG), every table (Markdown, CSV, LaTeX, HTML) and the page.

    Args:
        records: the data set: a store, as `audit.open` opens it, or what was read of one; None for cards or remedies
            alone.
        out: the folder to write to; made where it does not exist. Files in it of tables of the paper that the records
            do not fill, and of experiments, critics and remedies where there are none, are removed; files of other
            names are left alone.
        command: what was typed, for the page.
        progress: of drawing.
        cards: of critics, folders of `audit critic` or files of cards.
        remedies: a finished plan of `audit remedy`.

    Returns:
        The path of the page.

    Raises:
        FiguresError: the folder cannot be written, or there is nothing to draw.
        AuditError: a card or the plan cannot be read, or calls have no answer yet.
    """
    records = records if records is None or isinstance(records, Records) else records_of(records)
    out = Path(out)
    given = apart.read(cards, remedies)
    made = contents(records, given)
    if not made.tables:
        raise FiguresError("nothing to draw: give records, cards of critics or a plan of remedies")
    try:
        out.mkdir(parents=True, exist_ok=True)
        number = sum(map(len, made.drawings.values()))
        progress.begin(number, "figure to draw" if number == 1 else "figures to draw")
        pictures = {
            kind: [_write(drawing, out, progress) for drawing in drawings] for kind, drawings in made.drawings.items()
        }
        progress.end()
        for each in made.tables.values():
            export(each, records.facts if records else _NO_FACTS, out)
        for stem in {
            causes.STEM,
            *apart.STEMS,
            *_ALWAYS,
            "patterns",
            *OF_TASKS,
            *(definition.stem for definition in DEFINITIONS),
        } - made.tables.keys():
            retract(stem, out)
        (out / SCRIPT).write_text(script(), encoding="utf-8")
        index = out / "index.html"
        page = replace(
            _page(records, given, made, pictures, command), viewer=VIEWER if (out / VIEWER).is_file() else ""
        )
        index.write_text(render(page), encoding="utf-8")
    except OSError as error:
        raise FiguresError(cannot_write(out, error, "--out")) from None
    return index


def _write(drawing: Drawing, out: Path, progress: Progress) -> Picture:
    paths = save(drawing.figure, out / drawing.stem)
    progress.advance()
    return Picture(drawing, paths[0].read_bytes(), {path.suffix[1:].upper(): path.name for path in paths})


def _drawn(pictures: dict[str, list[Picture]], section: str) -> tuple[list[Picture], str]:
    """The pictures of a section, and which it lacks."""
    return [picture for kind in kinds_of(section) for picture in pictures.get(kind, [])], not_drawn(section, pictures)


def _listed(records: Records) -> list[str]:
    lines = [*map(str, records.problems), *map(in_line, records.unfinished)]
    rest = len(lines) - PROBLEMS_NAMED
    return [*lines[:PROBLEMS_NAMED], f"and {rest} more"] if rest > 0 else lines


def _causes(records: Records, tables: dict[str, Table], pictures: dict[str, list[Picture]]) -> list[Section]:
    """What experiments found; nothing without any."""
    if causes.STEM not in tables:
        return []
    drawn, _ = _drawn(pictures, "causes")
    sentences = causes.paragraphs(records.plans)
    return [Section("causes", causes.TITLE, [tables[causes.STEM]], drawn, paragraphs=sentences)]


def _of_tasks(made: Contents, pictures: dict[str, list[Picture]]) -> list[Section]:
    """What compares tasks, and with the paper; nothing where all records are of texts."""
    tables = made.tables
    if "metrics" not in tables:
        return []
    is_withheld = any(_NOT_HELD in each.note for each in made.paper.tables)
    remarks = [VERDICTS, _NOT_HELD if is_withheld else ""]
    return [
        Section("returns", "Returns", [tables["metrics"]], *_drawn(pictures, "returns")),
        Section("over-tasks", "Over tasks", [tables["aggregate"]], *_drawn(pictures, "over-tasks")),
        Section("paper", "The paper's tables", made.paper.tables, [], made.paper.left_out, joined(remarks)),
    ]


def _page(
    records: Records | None, given: apart.Apart, made: Contents, pictures: dict[str, list[Picture]], command: str
) -> Page:
    facts, conditions = (records.facts, records.conditions) if records else (_NO_FACTS, [])
    plans = [str(row["plan_sha256"]) for row in records.effects] if records else []
    plans = list(dict.fromkeys([*plans, *given.digests()]))
    return Page(
        notes=[(label(condition), origin(facts, condition)) for condition in conditions],
        simulated=[label(condition) for condition in conditions if simulated(facts, condition)],
        sections=[
            *(_sections_of(records, made, pictures) if records else []),
            *given.sections(made.tables, pictures),
        ],
        provenance={
            "Command": command,
            **(_counts(records) if records else {}),
            **({"SHA-256 of plans": ", ".join(plans)} if plans else {}),
            "Versions": ", ".join(f"{package} {number}" for package, number in versions().items()),
        },
        problems=_listed(records) if records else [],
        repeated=_repeated(records) if records else [],
    )


def _sections_of(records: Records, made: Contents, pictures: dict[str, list[Picture]]) -> list[Section]:
    tables = made.tables
    said = [(sentences, ()) for sentences in first(records.answers)]
    return [
        Section("salience", "Salience", [tables["salience"]], *_drawn(pictures, "salience"), paragraphs=said),
        *_causes(records, tables, pictures),
        Section(
            "revisions",
            "Revisions",
            [tables[key] for key in ("summary", "patterns") if key in tables],
            *_drawn(pictures, "revisions"),
        ),
        Section("agreement", "Agreement", [tables["agreement"]], *_drawn(pictures, "agreement")),
        *_of_tasks(made, pictures),
    ]


def _counts(records: Records) -> dict[str, str]:
    frames = ((records.facts, "runs"), (records.iterations, "iterations"), (records.revisions, "revisions"))
    return {
        "Records": ", ".join(f"{len(frame)} {noun}" for frame, noun in frames),
        "SHA-256 of iterations and revisions": records.digest,
    }


def _repeated(records: Records) -> list[str]:
    """Sentences of notes that the page states once: what made the records, and that the paper is no match for some."""
    made_with = {condition: origin(records.facts, condition) for condition in records.conditions}
    labelled = [joined([f"{label(condition)}: {sentences}"]) for condition, sentences in made_with.items()]
    return [*labelled, *dict.fromkeys(made_with.values()), _NOT_HELD]
