"""The commands of a program: each is made when it is called, and help lists all in groups, with summaries in full."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final

from typer.core import TyperGroup
from typer.main import get_command_from_info, get_command_name, get_group

from audit.output.errors import UsageError
from collector.command_line import convert_plainly

REST: Final = "Commands"
"""The heading of commands that are in no group."""


class Overview(TyperGroup):
    """Commands whose help is not cut."""

    groups: ClassVar[Mapping[str, Sequence[str]]] = {}
    """Headings, and the commands below each, in order."""
    homes: ClassVar[Mapping[str, str]] = {}
    """Commands by name, in the order in which shells list them, and the modules whose `commands` have them."""
    former: ClassVar[Mapping[str, str]] = {}
    """Commands that were removed, each with a sentence that says what to use now."""

    def __init__(self, **settings: Any) -> None:
        made: Any = _Commands(self.homes) if self.homes else settings["commands"]
        super().__init__(**{**settings, "commands": made})

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the options of the program itself."""
        convert_plainly(self.get_params(ctx))
        return super().parse_args(ctx, args)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of a name; None where there is none."""
        command = super().get_command(ctx, cmd_name)
        if command is not None:
            convert_plainly(command.get_params(ctx))
        return command

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """The command that the arguments begin with.

        Raises:
            UsageError: the command was removed.
        """
        if args and args[0] in self.former:
            raise UsageError(f"the command {args[0]} was removed: {self.former[args[0]]}")
        return super().resolve_command(ctx, args)

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


class _Commands(Mapping[str, Any]):
    """Commands by name, of which each is imported and made when it is first asked for."""

    def __init__(self, homes: Mapping[str, str]) -> None:
        self._homes = homes
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            self._made[name] = _make(self._homes[name], name)
        return self._made[name]

    def __contains__(self, name: object) -> bool:
        return name in self._homes

    def __iter__(self) -> Iterator[str]:
        return iter(self._homes)

    def __len__(self) -> int:
        return len(self._homes)


def _make(module: str, name: str) -> Any:
    """A command of a module, or a group of commands, as Typer makes all of them at once."""
    commands = importlib.import_module(module).commands
    for info in commands.registered_commands:
        if name == (info.name or get_command_name(info.callback.__name__)):
            return get_command_from_info(info, pretty_exceptions_short=True, rich_markup_mode=None)
    [group] = [each.typer_instance for each in commands.registered_groups if each.typer_instance.info.name == name]
    return get_group(group)


def _summary(text: str) -> str:
    return " ".join(text.split("\n\n", maxsplit=1)[0].split())
