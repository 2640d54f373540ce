"""Commands are found by their names."""

from __future__ import annotations

import sys
from collections import Counter

from typer.main import get_command

import audit.cli
import stats.cli
from audit.commands.overview import Overview


def test_every_command_is_found_by_its_name_and_has_it():
    for app in (audit.cli.app, stats.cli.app):
        group = get_command(app)
        assert isinstance(group, Overview)
        names = list(group.commands)
        assert len(names) == len(set(names)) == len(group.commands)
        assert [group.commands[name].name for name in names] == names
        assert group.commands.get("nonesuch") is None
    # No command of a module is left out.
    for module, number in Counter([*audit.cli.Commands.homes.values(), *stats.cli.Commands.homes.values()]).items():
        commands = sys.modules[module].commands
        assert number == len(commands.registered_commands) + len(commands.registered_groups), module
