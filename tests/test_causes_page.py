"""The page on causes: its commands print what it shows."""

from __future__ import annotations

import re

import pytest

from tests.test_tutorial import ROOT, lines, printed, shown_on

PAGE = (ROOT / "docs" / "causes.md").read_text(encoding="utf-8")
COMMANDS = shown_on(PAGE)


def without_hashes(shown: list[str]) -> list[str]:
    """A plan's hash is another one for every version of the program."""
    return [re.sub(r"plan [0-9a-f]{64}$", "plan", line) for line in shown]


@pytest.mark.slow
def test_the_worked_example_prints_what_the_page_shows(tmp_path):
    assert [command.split()[0] for command, _ in COMMANDS] == ["collect", *["audit"] * 3]
    for command, output in COMMANDS:
        assert without_hashes(printed(command, tmp_path)) == without_hashes(lines(output)), command
