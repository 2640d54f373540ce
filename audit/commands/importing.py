"""The command that makes records of other people's logs: `audit import`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from audit.commands.options import Format
from audit.commands.printing import Printing, deliver, printing
from audit.output.errors import AuditError, UsageError
from audit.output.rows import Table
from audit.request import note
from collector.system.stopping import temporary_folder

if TYPE_CHECKING:
    from audit.importing.guessing.draft import Question
    from audit.importing.guessing.guess import Guess

commands = typer.Typer()


@commands.command("import")
@printing
def import_(
    asked: Printing,
    files: Annotated[list[Path], typer.Argument(metavar="FILE", help="JSON Lines or CSV; one or more.")],
    mapping: Annotated[
        Path | None,
        typer.Option(
            "--map",
            metavar="FILE|NAME",
            help="TOML: which column is which field of a record; or the name of a mapping that comes with the package.",
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", metavar="DIR", help="Folder to write the records to.")] = None,
    guess: Annotated[
        bool, typer.Option("--guess", help="Write a mapping instead, guessed from the first rows; make no records.")
    ] = False,
    field: Annotated[
        list[str] | None,
        typer.Option(
            "--field",
            metavar="FIELD=COLUMN",
            help="What a guess must not change: a field's column, its value in all rows, or nothing. Repeatable.",
        ),
    ] = None,
    map_out: Annotated[
        Path | None,
        typer.Option("--map-out", metavar="FILE", help="File for the guessed mapping; FILE.toml by default."),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace an earlier import in DIR, or the mapping of a guess.")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Write nothing if any row is bad, instead of leaving it out.")
    ] = False,
) -> None:
    """Turn any JSON Lines or CSV of revisions into records that every audit reads.

    Example: audit import --guess log.csv && audit import --map log.csv.toml log.csv --out data/theirs
    """
    from audit.importing.run import import_logs

    if guess:
        if mapping is not None or out is not None or strict:
            raise UsageError("--guess makes no records; give it without --map, --out and --strict")
        _guess(files, _fields(field or []), map_out, asked, force=force)
        return
    if field or map_out is not None:
        raise UsageError("--field and --map-out belong to --guess")
    if mapping is None or out is None:
        raise UsageError("give --map FILE and --out DIR; --guess writes a mapping")
    deliver(import_logs(files, mapping, out, force=force, strict=strict).table(), asked)


def _fields(settings: list[str]) -> dict[str, str]:
    fields = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals:
            raise UsageError(f"--field {setting}: write FIELD=COLUMN, such as initial.returns=scores")
        fields[name.strip()] = value
    return fields


def _guess(files: list[Path], fields: dict[str, str], map_out: Path | None, asked: Printing, *, force: bool) -> None:
    from audit.importing.guessing.guess import guess_mapping

    made = guess_mapping(files, field=fields)
    place = map_out or made.place()
    if place.exists() and not force:
        raise UsageError(f"--map-out {place}: already exists; give another name, or --force to replace it")
    posed: set[str] = set()
    while open_questions := [each for each in made.questions if each.field not in posed] if _is_terminal() else []:
        posed.add(open_questions[0].field)
        if answer := _answer(open_questions[0]):
            fields |= answer
            made = guess_mapping(files, field=fields)
    deliver(made.table(), asked)
    _report_open(made)
    if not made.is_sure:
        raise UsageError("not sure of everything: no mapping is written")
    with temporary_folder() as directory:
        folder = directory / "records"
        trial = made.try_out(folder)
        for line in trial.named():
            note(f"left out: {line}")
        if 2 * trial.left_out > trial.rows:
            raise UsageError("most rows of the sample give no record: no mapping is written; state fields with --field")
        if asked.output == Format.table:
            from audit.importing.guessing.preview import preview_of

            preview_of(folder).print()
            _possible(folder).print()
    made.write(place, force=force)
    note(f"mapping written to {place}; now: audit import --map {place} {' '.join(map(str, files))} --out DIR")


def _possible(folder: Path) -> Table:
    """What the records of the sample support."""
    from audit.importing.guessing.preview import plain_table
    from audit.reports.check.report import check

    rows = list(check(folder, cache=False).rows)
    merged = {row["command"]: {**row, "supported": False} for row in rows}
    merged |= {row["command"]: row for row in rows if row["supported"]}
    return plain_table("What becomes possible", ("command", "supported", "reason"), list(merged.values()))


def _is_terminal() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


def _report_open(made: Guess) -> None:
    """State what is unsure, and how to state it."""
    for question in made.questions:
        note(f"{'unsure' if question.needed else 'not known'}: {question.field}: {question.text}")
        for words, way in zip(question.options, question.ways(), strict=True):
            note(f"  {words}: {way}")


def _answer(question: Question) -> dict[str, str]:
    """Ask a question on the terminal; an empty line leaves it open."""
    typer.echo(f"{question.field}: {question.text}", err=True)
    for number, words in enumerate(question.options, start=1):
        typer.echo(f"  {number}  {words}", err=True)
    while True:
        typer.echo("Number, or FIELD=COLUMN; empty to leave it open: ", err=True, nl=False)
        line = sys.stdin.readline()
        if not line:
            raise AuditError("no answer; no mapping is written")
        text = line.strip()
        if not text:
            return {}
        if text.isdecimal() and 1 <= int(text) <= len(question.options):
            return dict(list(question.options.values())[int(text) - 1])
        if "=" in text:
            return _fields([text])
