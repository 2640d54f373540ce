"""The comparison of two checkouts, on two stubs of the programs."""

from __future__ import annotations

import pytest

from tests import compare_outputs
from tests.compare_outputs import Outcome, differences, main, renamed

STUB = """
import pathlib, sys
def main():
    pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").exists()
    print({out!r}, *sys.argv)
    print({err!r}, file=sys.stderr)
    print("audit: 1 of 3, {left} s left", file=sys.stderr)
    print("read by", __file__)
    sys.exit({status})
"""


@pytest.fixture
def checkouts(tmp_path, monkeypatch):
    """Make a checkout whose programs print the same whatever they are asked for."""
    monkeypatch.setattr(
        compare_outputs, "COMMANDS", {"audit": ("summary DATA", "show DATA PLACE"), "stats": ("paper",)}
    )

    def make(name, left=1, **printed):
        for program in ("audit", "stats"):
            (tmp_path / name / program).mkdir(parents=True)
            (tmp_path / name / program / "__init__.py").touch()
            text = STUB.format(**{"out": "rows", "err": "a note", "status": 0, "left": left, **printed})
            (tmp_path / name / program / "cli.py").write_text(text)
        return str(tmp_path / name)

    return make


def test_checkouts_that_print_the_same_are_equal(checkouts, tmp_path, capsys):
    one, other = checkouts("one"), checkouts("other", left=2)
    assert main(["--before", one, "--after", other, "--data", str(tmp_path)]) == 0
    *lines, last = capsys.readouterr().out.splitlines()
    assert last == "8 equal, 0 different"
    assert len(lines) == 8  # three formats of each, but no CSV of one revision
    assert all(line.startswith("equal ") for line in lines)
    assert lines[0] == "equal   stats paper --format json"


@pytest.mark.parametrize(
    ("printed", "shown"),
    [
        ({"out": "other rows"}, ["standard output:", "+other rows"]),
        ({"err": "another note"}, ["standard error:", "-a note", "+another note"]),
        ({"status": 3}, ["exit status: 0, then 3"]),
    ],
)
def test_what_differs_is_shown(checkouts, capsys, printed, shown):
    assert main(["--before", checkouts("one"), "--after", checkouts("other", **printed), "--format", "json"]) == 1
    out = capsys.readouterr().out
    assert out.startswith("differs stats paper --format json\n")
    assert out.endswith("0 equal, 1 different\n")
    assert all(f"\n    {each}" in out for each in shown)


def test_a_known_rename_is_no_difference(checkouts, capsys):
    one, other = checkouts("one", out="from revision_details"), checkouts("other", out="from revisions")
    arguments = ["--before", one, "--after", other, "--format", "csv"]
    assert main(arguments) == 1
    assert main([*arguments, "--rename", "revision_details=revisions"]) == 0


def test_renames_are_of_whole_words():
    outcome = Outcome(0, "rows, my_rows", "rows\n")
    assert renamed(outcome, [("rows", r"\1")]) == Outcome(0, r"\1, my_rows", "\\1\n")


def test_a_long_difference_is_shortened():
    found = differences(Outcome(0, "\n".join("abcdefghijklmnop"), ""), Outcome(0, "x" * 1000, ""), lines=5)
    assert found[0] == "standard output:"
    assert len(found) == 6
    assert differences(Outcome(0, "a\r\n", ""), Outcome(0, "a\n", "")) == ["standard output:", "line breaks alone"]


def test_a_rename_without_both_names_is_refused(capsys):
    with pytest.raises(SystemExit):
        main(["--before", ".", "--rename", "old"])
    assert "--rename old: not OLD=NEW" in capsys.readouterr().err
