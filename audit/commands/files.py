"""The commands that bring data in and out: import, pack and export."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal, cast, get_args

import typer

from audit.commands.reading import StrictOption, print_table, printing, reading
from audit.options import Options, RevisionSelection
from audit.output.errors import UsageError, count
from audit.output.escaping import in_line
from audit.output.notes import note, print_notes
from audit.output.rows import Table
from collector.system.stopping import temporary_folder

commands = typer.Typer()

Direction = Literal["maximize", "minimize"]
"""Which scores are better."""

ExportFormat = Literal["scout", "chat-jsonl", "parquet"]
"""How recorded answers are written."""


@commands.command("import")
@printing()
def import_(
    asked: Options,
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE", help="JSON Lines, CSV or Parquet; one or more. Of a folder, its Parquet files."),
    ],
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
    direction: Annotated[
        Direction | None,
        typer.Option("--direction", help="Whether higher or lower scores are better, whatever the mapping states."),
    ] = None,
) -> None:
    """Turn any JSON Lines, CSV or Parquet of revisions into records that every audit reads.

    Example: audit import --guess log.csv && audit import --map log.csv.toml log.csv --out data/theirs
    """
    from audit.importing.run import import_logs

    if guess:
        if mapping is not None or out is not None or strict or direction is not None:
            raise UsageError("--guess makes no records; give it without --map, --out, --strict and --direction")
        _guess(files, _fields(field or []), map_out, asked, force=force)
        return
    if field or map_out is not None:
        raise UsageError("--field and --map-out belong to --guess")
    if mapping is None or out is None:
        raise UsageError("give --map FILE and --out DIR; --guess writes a mapping")
    made = import_logs(files, mapping, out, force=force, strict=strict, direction=direction)
    print_table(made.table(), asked)


def _fields(settings: list[str]) -> dict[str, str]:
    fields = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals:
            raise UsageError(f"--field {setting}: write FIELD=COLUMN, such as initial.returns=scores")
        fields[name.strip()] = value
    return fields


def _guess(files: list[Path], fields: dict[str, str], map_out: Path | None, asked: Options, *, force: bool) -> None:
    from audit.importing.guessing.guess import guess_mapping

    made = guess_mapping(files, field=fields)
    place = map_out or made.place()
    made.write(place, force=force)
    print_table(made.table(), asked)
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
        if asked.output == "table":
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


@commands.command()
def pack(
    path: Annotated[str, typer.Argument(metavar="DIR", help="A folder or archive of records, or a URL.")],
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="File or folder for the pack; beside DIR by default."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the pack, if there is one.")] = False,
    strict: StrictOption = False,
) -> None:
    """Pack records into one Parquet file, DIR.pack.parquet, which every audit reads in place of DIR.

    Example: audit pack data/runs && audit summary data/runs.pack.parquet
    """
    from audit.records.packing import pack

    packed = pack(path, out, force=force, strict=strict)
    print_notes(packed.notes, packed.problems)
    typer.echo(
        f"{in_line(str(packed.path))}: {count(packed.runs, 'run')}, {packed.size_before / 1e6:.1f} MB of records in "
        f"{packed.size_after / 1e6:.1f} MB"
    )


@commands.command()
@reading(RevisionSelection, output=False)
def export(
    options: Options,
    out: Annotated[
        Path, typer.Option("--out", metavar="PATH", help="The file to write; with scout, the folder of the database.")
    ],
    file_format: Annotated[
        ExportFormat | None,
        typer.Option(
            "--format", help="The format, if it is not given as the first word; scout by default.", show_default=False
        ),
    ] = None,
    role: Annotated[
        Literal["critic", "search"], typer.Option("--role", help="Whose prompts and answers to export.")
    ] = "critic",
    force: Annotated[bool, typer.Option("--force", help="Replace an earlier export.")] = False,
) -> None:
    """Export prompts and answers with the audit's verdicts: for Inspect Scout, or any reader of chats or tables.

    The format is the first word (audit export parquet DIR --out FILE) or --format.

    Example: audit export scout data/runs --out answers && scout view -T answers
    """
    from audit.exporting.export import export

    first = str(options.paths[0])
    if first in get_args(ExportFormat) and len(options.paths) > 1:
        if file_format not in {None, first}:
            raise UsageError(f"two formats, {first} and {file_format}: choose one")
        options, file_format = replace(options, paths=options.paths[1:]), cast(ExportFormat, first)
    elif len(options.paths) > 1 and "/" not in first and not Path(first).exists():
        raise UsageError(f"{first}: neither a format ({', '.join(get_args(ExportFormat))}) nor a folder or archive")
    made = export(options, out, file_format or "scout", role=role, force=force)
    for line in made.notes:
        note(line)
    typer.echo(
        f"{in_line(str(made.path))}: {count(made.transcripts, 'transcript')} in {count(made.files, 'file')}, "
        f"{made.size / 1e6:.1f} MB"
    )
