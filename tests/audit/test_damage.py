"""Files that the program reads back, under damage: the same numbers, or an error in words, and no others.

Plans are under digests. The truth of simulated critics is lines of JSON like the records, of which only what is no line
of that form can be named.
"""

from __future__ import annotations

import random

import msgspec
import pytest

from audit.interventions.plan import read_plan
from audit.output.errors import AuditError
from audit.validation.calibration.truth import truths_in
from collector.records import Truth
from tests.audit.interventions import planned
from tests.shared import made


def damaged(content):
    """Bits flipped, bytes deleted, inserted or overwritten, and ends cut off, at many places."""
    draw = random.Random(1)
    for _ in range(200):
        at, some = draw.randrange(len(content)), draw.randbytes(draw.randrange(1, 40))
        flipped = bytes([content[at] ^ 1 << draw.randrange(8)])
        middle, skipped = draw.choice([(flipped, 1), (b"", len(some)), (some, 0), (bytes(9), 9), (b"", len(content))])
        yield content[:at] + middle + content[at + skipped :]


def experiment(folder):
    planned.recorded(folder / "data", runs=1)
    planned.plan(folder / "data", folder / "plan.json", *planned.TINY)


@pytest.fixture(scope="module")
def planning():
    return made("damaged-plans", experiment, of=("audit", "collector", "stats", "tests/audit/samples.py"))


def test_a_damaged_plan(planning, tmp_path):
    sound, path = read_plan(planning / "plan.json"), tmp_path / "plan.json"
    for content in damaged((planning / "plan.json").read_bytes()):
        path.write_bytes(content)
        try:
            found = read_plan(path)
        except AuditError as error:
            found = str(error)
        assert found == sound or (str(path) in found and "\n" not in found)


def test_damaged_truth(planning, tmp_path):
    sound, path = next(planning.rglob("truth.jsonl")).read_bytes(), tmp_path / "truth.jsonl"
    for content in damaged(sound):
        path.write_bytes(content)
        problems = []
        found = list(truths_in(path, problems))
        lines = content.splitlines()
        assert len(found) + len(problems) == len(lines)
        assert all(problem.file == str(path) and problem.line for problem in problems)
        whole = [line for line in lines if line in sound.splitlines()]
        assert all(msgspec.json.decode(line, type=Truth) in found for line in whole)
