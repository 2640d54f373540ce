"""The page on causes: its commands print what it shows, and its tables are those of the program."""

from __future__ import annotations

import re

import msgspec
import pytest

from audit.interventions.answers import AnswerOf
from audit.interventions.arms import ARMS
from audit.interventions.importing import FIELDS
from audit.interventions.plan import Plan
from audit.interventions.presets import PRESETS
from tests.test_tutorial import ROOT, lines, printed, shown_on

PAGE = (ROOT / "docs" / "causes.md").read_text(encoding="utf-8")
COMMANDS = shown_on(PAGE)


def without_hashes(shown: list[str]) -> list[str]:
    """A plan's hash is another one for every version of the program."""
    return [re.sub(r"plan [0-9a-f]{64}$", "plan", line) for line in shown]


def section(heading: str) -> str:
    [text] = re.findall(rf"^## {heading}\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE)
    return text


def rows(heading: str) -> list[list[str]]:
    table = [line for line in section(heading).splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table[2:]]


def names(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


@pytest.mark.slow
def test_the_worked_example_prints_what_the_page_shows(tmp_path):
    assert [command.split()[0] for command, _ in COMMANDS] == ["collect", *["audit"] * 7]
    for command, output in COMMANDS:
        assert without_hashes(printed(command, tmp_path)) == without_hashes(lines(output)), command


def test_every_arm_is_listed_with_its_control():
    controls = {arm: (names(against) or [None])[0] for arms, _, against in rows("Arms") for arm in names(arms)}
    assert controls.keys() == ARMS.keys()
    for arm, control in controls.items():
        # An arm that is a control of its row's others is compared with none.
        assert ARMS[arm].control in ({control, None} if control == arm else {control}), arm


def test_presets_are_as_stated():
    stated = {}
    for preset, units, answers, calls in rows("Sizes, presets, cost"):
        arms = {}
        for group in answers.split(";"):
            number = int(group.split()[-1])
            arms |= dict.fromkeys(names(group), number)
        stated[names(preset)[0]] = (int(units), arms)
        assert int(calls.replace(",", "")) == int(units) * sum(arms.values()), preset
    assert stated == {name: (preset.units, dict(preset.arms)) for name, preset in PRESETS.items()}


def test_every_field_of_the_files_is_described():
    for kind in (Plan, AnswerOf):
        assert f".. autoclass:: {kind.__module__}.{kind.__name__}\n" in section("Files")
        described = {
            name for group in re.findall(r"^    +([\w, ]+): ", kind.__doc__, re.MULTILINE) for name in group.split(", ")
        }
        assert {field.encode_name for field in msgspec.structs.fields(kind)} <= described, kind.__name__
    assert set(FIELDS) <= set(names(section("Answers obtained elsewhere")))
