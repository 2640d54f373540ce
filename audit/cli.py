"""The `audit` command."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NoReturn

import typer

from audit.commands.former import FORMER
from audit.commands.options import OPTION_ERROR, ending, reported_errors, wrong_option
from audit.commands.overview import Overview
from audit.commands.version import HELP, program
from collector.system.stopping import INTERRUPTED, answering, is_reported
from collector.system.streams import keep_streams


class Commands(Overview):
    """The commands; a wrong option is reported in one line."""

    groups: ClassVar[Mapping[str, Sequence[str]]] = {
        "Read records": (
            "check",
            "summary",
            "runs",
            "lineage",
            "revisions",
            "find",
            "show",
            "view",
            "sql",
        ),
        "Question them": (
            *("salience", "rates", "noise", "controls", "severity", "agreement", "positions", "patterns"),
            *("sensitivity", "judge", "intervene"),
        ),
        "Examine critics": ("critic", "critics", "remedy"),
        "Run policies again": ("replay", "verify", "rescore"),
        "Validate detectors": ("sample", "validate", "calibrate"),
        "Bring data in and out": ("import", "pack", "export"),
    }
    homes: ClassVar[Mapping[str, str]] = {
        name: f"audit.commands.{module}"
        for module, names in (
            ("tables", ("summary", "salience", "rates", "noise", "controls", "severity", "agreement", "positions")),
            ("tables", ("patterns", "revisions", "runs", "lineage")),
            ("viewing", ("view",)),
            ("questions", ("show", "find", "sensitivity", "sql")),
            ("rerun", ("rescore",)),
            ("coding", ("sample", "validate")),
            ("rerun", ("calibrate",)),
            ("intervening", ("judge", "intervene")),
            ("examining", ("critic", "critics")),
            ("remedying", ("remedy",)),
            ("rerun", ("replay", "verify")),
            ("files", ("import",)),
            ("questions", ("check",)),
            ("files", ("pack", "export")),
        )
        for name in names
    }
    former: ClassVar[Mapping[str, str]] = FORMER

    def main(self, *args: Any, **options: Any) -> Any:
        """Run a command and exit with its status."""
        try:
            with reported_errors():  # those of help as well, which no command prints
                status = super().main(*args, **{**options, "standalone_mode": False})
            if status == INTERRUPTED and not is_reported():  # how newer versions of Typer report Ctrl-C
                _stop(KeyboardInterrupt())
            sys.exit(status)
        except typer.Exit as end:
            sys.exit(end.exit_code)
        except OPTION_ERROR as error:
            # Without arguments, the error raised contains the help.
            is_help = type(error).__name__ == "NoArgsIsHelpError"
            typer.echo(str(error) if is_help else f"audit: {wrong_option(error, 'audit')}", err=True)
            sys.exit(2)
        except (KeyboardInterrupt, typer.Abort) as error:
            _stop(error)

    def invoke(self, ctx: Any) -> Any:
        """Run a command and report its errors in one line."""
        with reported_errors():
            return super().invoke(ctx)


app = typer.Typer(
    name="audit",
    cls=Commands,
    help="Find out from raw records what the critic did: how revisions turned out, and what its answers refer to.",
    epilog="Example: audit salience data/runs --env cartpole --detector phrase --format csv",
    no_args_is_help=True,
    callback=program,
    context_settings=HELP,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def main() -> None:
    """Run the command line."""
    keep_streams()
    with answering("audit: interrupted"):
        try:
            app(prog_name="audit")
        except KeyboardInterrupt as error:  # before there are commands
            _stop(error)


def _stop(error: BaseException) -> NoReturn:
    message, status = ending(error)
    typer.echo(f"audit: {message}", err=True)
    sys.exit(status)
