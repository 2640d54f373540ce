"""The list of commands in a program's help: in groups, each with its summary in full."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from typer.core import TyperGroup

REST: Final = "Commands"
"""The heading of commands that are in no group."""


class Overview(TyperGroup):
    """Commands whose help is not cut."""

    groups: ClassVar[Mapping[str, Sequence[str]]] = {}
    """Headings, and the commands below each, in order."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - the signature is Typer's
        """Write the commands with the first paragraph of the help of each."""
        shown = {name: command for name, command in self.commands.items() if not command.hidden}
        grouped = {name for names in self.groups.values() for name in names}
        rest = [name for name in shown if name not in grouped]
        width = max(map(len, shown), default=0)
        for heading, names in {**self.groups, REST: rest}.items():
            rows = [(name.ljust(width), _summary(shown[name].help or "")) for name in names if name in shown]
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows)


def _summary(text: str) -> str:
    return " ".join(text.split("\n\n", maxsplit=1)[0].split())
