"""The command that makes records of other people's logs: `audit import`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from audit.commands.options import Format
from audit.commands.printing import Printing, deliver, printing
from audit.output.errors import UsageError
from audit.output.rows import Table
from audit.request import note
from collector.system.stopping import temporary_folder

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
    made.write(place, force=force)
    deliver(made.table(), asked)
    for question in made.questions:
        note(f"{'unsure' if question.needed else 'not known'}: {question.field}: {question.text}")
    if needed := [question for question in made.questions if question.needed]:
        fields_open = ", ".join(question.field for question in needed)
        raise UsageError(f"{place} is a draft: answer there, or with --field, what {fields_open} should be")
    with temporary_folder() as directory:
        trial = made.try_out(directory / "records")
        for line in trial.named():
            note(f"left out: {line}")
        if 2 * trial.left_out > trial.rows:
            raise UsageError(f"most of the first rows give no record: correct {place}, or state fields with --field")
        if asked.output == Format.table:
            _possible(directory / "records").print()
    note(f"mapping written to {place}; now: audit import --map {place} {' '.join(map(str, files))} --out DIR")


def _possible(folder: Path) -> Table:
    """What the records of the sample support."""
    from audit.reports.check.report import check

    rows = list(check(folder, cache=False).rows)
    merged = {row["command"]: {**row, "supported": False} for row in rows}
    merged |= {row["command"]: row for row in rows if row["supported"]}
    columns = ("command", "supported", "reason")
    return Table(columns=columns, rows=list(merged.values()), title="What becomes possible", plain=True)
