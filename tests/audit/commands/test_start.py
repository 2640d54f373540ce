"""What a command imports at its start: itself, and nothing that it does not use."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from typer.main import get_command

import audit.cli
import stats.cli
from audit.commands.overview import Overview
from tests.audit.samples import revision, write_run

CODE = """\
import sys
program, *sys.argv = sys.argv[1:]
main = __import__(program, fromlist=["main"]).main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
print(*sys.modules, file=sys.stderr)
"""
UNUSED = {"pydantic", "pydantic_core", "filelock", "asyncio", "fsspec", "pandas", "httpx", "numba"}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return write_run(tmp_path_factory.mktemp("data") / "run-01", [revision([5, 9, 9], [1, 1, 1])])


def imported(program, *arguments) -> set[str]:
    words = [sys.executable, "-c", CODE, program, program, *map(str, arguments)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(done.stderr.splitlines()[-1].split())


def test_a_command_imports_neither_the_others_nor_what_it_does_not_use(data):
    found = imported("audit.cli", "salience", data, "--format", "csv", "--columns", "env,revisions", "--limit", "5")
    assert found & UNUSED == set()
    others = {*audit.cli.Commands.homes.values()} - {"audit.commands.tables"}
    assert found & others == set()
    assert "audit.commands.tables" in found


@pytest.mark.slow
def test_so_do_the_other_programs(data, tmp_path):
    assert imported("audit.cli", "--version") & (UNUSED | {"duckdb", "audit.commands.tables"}) == set()
    found = imported("stats.cli", "check", Path(__file__).parents[3] / "docs/examples/own_table.csv")
    assert found & (UNUSED | {"stats.cli.aggregate", "stats.cli.compared"}) == set()
    assert "pydantic" not in imported("collector.cli", "--env", "nim", "--variant", "r2po", "--dry-run")
    assert "pydantic" not in imported("figures.cli", data, "--out", tmp_path / "out")


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
