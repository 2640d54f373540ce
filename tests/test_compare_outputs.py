"""The comparison of two checkouts knows every command, and is tried on stubs of the programs."""

from __future__ import annotations

import pytest
from typer.main import get_command

from tests import compare_outputs
from tests.compare_outputs import COMMANDS, Outcome, differences, main, renamed
from tests.test_programs import PROGRAMS, leaves

STUB = """
import pathlib, sys
def main():
    print({out!r}, *sys.argv)
    print({err!r}, file=sys.stderr)
    print("audit: 1 of 3, {left} s left", file=sys.stderr)
    print("read by", __file__)
    pathlib.Path("written").write_text({written!r})
    sys.exit({status})
"""


def test_every_command_is_compared():
    paths = [path for name, module in PROGRAMS.items() for path, _ in leaves(get_command(module.app), [name])]
    steps = [step.split() for line in COMMANDS.splitlines() for step in line.split("; ")]
    assert [path for path in paths if not any(step[: len(path)] == path for step in steps)] == []


@pytest.fixture
def checkouts(tmp_path, monkeypatch):
    """Make a checkout whose programs print the same whatever they are asked for."""
    listed = "audit summary DATA FORMAT\naudit show DATA PLACE > kept; audit sql\nstats paper FORMAT"
    monkeypatch.setattr(compare_outputs, "COMMANDS", listed)

    def make(name, left=1, **printed):
        printed = {"out": "rows", "err": "a note", "status": 0, "written": "", "left": left, **printed}
        for program in ("audit", "stats"):
            (tmp_path / name / program).mkdir(parents=True)
            (tmp_path / name / program / "__init__.py").touch()
            (tmp_path / name / program / "cli.py").write_text(STUB.format(**printed))
        return str(tmp_path / name)

    return make


def test_checkouts_that_print_the_same_are_equal(checkouts, tmp_path, capsys):
    one, other = checkouts("one"), checkouts("other", left=2)
    assert main(["--before", one, "--after", other, "--data", str(tmp_path)]) == 0
    *lines, last = capsys.readouterr().out.splitlines()
    assert (len(lines), last) == (7, "7 equal, 0 different")
    assert all(line.startswith("equal ") for line in lines)
    assert lines[0] == "equal   stats paper --format json"


def test_what_differs_is_shown(checkouts, capsys):
    cases = {
        "out": ("other rows", ["standard output:", "+other rows"]),
        "err": ("another note", ["standard error:", "-a note", "+another note"]),
        "status": (3, ["exit status: 0, then 3"]),
        "written": ("more", ["files:", "+written"]),
    }
    one = checkouts("one")
    for name, (value, shown) in cases.items():
        assert main(["--before", one, "--after", checkouts(name, **{name: value}), "--format", "json"]) == 1
        out = capsys.readouterr().out
        assert out.startswith("differs stats paper --format json\n")
        assert out.endswith("0 equal, 1 different\n")
        assert all(f"\n    {each}" in out for each in shown)


def test_a_known_rename_is_no_difference(checkouts, capsys):
    one, other = checkouts("one", out="from revision_details"), checkouts("other", out="from revisions")
    arguments = ["--before", one, "--after", other, "--format", "csv"]
    assert main(arguments) == 1
    assert main([*arguments, "--rename", "revision_details=revisions"]) == 0
    outcome = Outcome(0, "rows, my_rows", "rows\n")
    assert renamed(outcome, [("rows", r"\1")]) == Outcome(0, r"\1, my_rows", "\\1\n")
    with pytest.raises(SystemExit):
        main(["--before", ".", "--rename", "old"])
    assert "--rename old: not OLD=NEW" in capsys.readouterr().err


def test_a_long_difference_is_shortened():
    found = differences(Outcome(0, "\n".join("abcdefghijklmnop"), ""), Outcome(0, "x" * 1000, ""), lines=5)
    assert (found[0], len(found)) == ("standard output:", 6)
    assert differences(Outcome(0, "a\r\n", ""), Outcome(0, "a\n", "")) == ["standard output:", "line breaks alone"]
