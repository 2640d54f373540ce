"""Tables that were printed before: the same bytes again, without records being opened, and never what is not theirs."""

from __future__ import annotations

import functools
import os
import shutil

import pytest

from audit import store as store_module
from audit.cache_folder import VARIABLE
from audit.commands import kept
from audit.ingest import analyses
from audit.output import rows
from audit.request import Request
from tests.audit.calls import call
from tests.audit.samples import candidate, episode, revision, write_run

FORMATS = ("table", "json", "csv", "markdown", "latex")
OPTIONS = {
    "check": (["--facts"],),
    "patterns": (["--wide"],),
    "revisions": (["--run", "1"], ["--sort", "-delta", "--limit", "2"], ["--columns", "changed,delta"]),
    "obedience": (["--bins"],),
    "salience": (["--about", "best"],),
}

pytestmark = pytest.mark.usefixtures("opened_once")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A cache of the test's own that takes tables of records of any size."""
    monkeypatch.setenv(VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setattr(analyses, "SMALLEST", 0)
    return tmp_path / "cache" / "analyses"


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Nobody may change it."""
    return _written(tmp_path_factory.mktemp("kept") / "data")


@pytest.fixture
def own(tmp_path):
    """Records of the test's own."""
    return _written(tmp_path / "data")


def _written(root, answer="The worst rollout fell at step 3."):
    rows = [
        revision([1, 5, 9], [2, 2, 2], after=(1, 2.5, 3), answer=answer, iteration=0),
        revision([1, 5, 9], [6, 6, 6], answer="All is well.", iteration=1),
        episode(candidate([7, 7, 7]), None, iteration=2),
    ]
    write_run(root / "run-1", rows, tail=b'{"no": "record"}\n', backend="simulated")
    return root


def audit(*arguments):
    result = call(*arguments)
    return result.stdout, result.stderr, result.exit_code


@pytest.fixture
def opened(monkeypatch):
    """The paths of records that are opened from here on."""
    paths = []
    real = store_module.open_store

    def noting(given, reading):
        paths.append(given)
        return real(given, reading)

    monkeypatch.setattr(store_module, "open_store", noting)
    return paths


def tables(folder):
    return sorted(path for path in folder.rglob("printed-*") if path.is_file())


def test_every_table_is_printed_again_without_records(data, opened):
    """Every command in a format of its turn."""
    every = [
        [command, data, "--format", FORMATS[place % len(FORMATS)]]
        for place, command in enumerate(sorted(kept.COMMANDS))
    ]
    assert not [words for words in every if not _is_same_again(words, opened)]


@pytest.mark.slow
def test_so_it_is_in_every_format_and_with_options(data, opened):
    every = [[command, data, "--format", output] for command in sorted(kept.COMMANDS) for output in FORMATS]
    every += [[command, data, *own] for command, options in OPTIONS.items() for own in options]
    assert not [words for words in every if not _is_same_again(words, opened)]


def _is_same_again(words, opened):
    first = audit(*words)
    opened.clear()
    again = audit(*words)
    return not opened and again == first == audit(*words, "--no-cache") and not first[2]


def test_a_revision_is_printed_again_without_records(own, opened, monkeypatch):
    place = ["show", own, "cartpole", "threetraj", "1"]
    calls = ([*place, "0"], [*place, "1"], [*place, "0", "--format", "json"], [*place, "0", "--set", "cartpole.high=1"])
    first = [audit(*words) for words in calls]
    assert len(set(first)) == len(calls)
    assert not [words for words in calls if not _is_same_again(words, opened)]
    assert "problem" in first[0][1]
    for words in ([*place, "9"], [*place, "0", "--strict"]):
        assert audit(*words) == audit(*words)
        assert audit(*words)[2] == 1
    _written(own, answer="Nothing is said of any rollout.")
    assert "Nothing is said" in audit(*calls[0])[0]
    monkeypatch.setattr("audit.reports.explain.show", lambda *_, **__: "\ud800")
    assert audit(*place, "0", "--about", "best")[2] == audit(*place, "0", "--about", "best")[2]


def test_a_table_of_many_rows_says_how_many_there_are(data, opened, folder, monkeypatch):
    for module in (kept, rows):
        monkeypatch.setattr(module, "LONGEST_TABLE", 1)
    first = audit("revisions", data)
    assert "First 1 of 2 rows" in first[0]
    opened.clear()
    assert (audit("revisions", data), opened) == (first, [])
    printed = tables(folder)
    monkeypatch.setattr(kept, "MOST", 1)  # more are printed and not kept
    for output in FORMATS[1:]:
        asked = ("revisions", data, "--format", output)
        assert audit(*asked) == audit(*asked, "--no-cache")
    assert tables(folder) == printed


def test_records_that_changed_are_read_again(own, opened):
    before = audit("salience", own)
    _written(own, answer="Nothing is said of any rollout.")
    opened.clear()
    after = audit("salience", own)
    assert opened
    assert before != after == audit("salience", own, "--no-cache")
    # A file that is only looked for counts where it appears.
    before = audit("check", own)
    (own / "run-1" / "calls.jsonl").write_bytes(b"")
    assert before != audit("check", own) == audit("check", own, "--no-cache")
    # A time that was set back is not trusted.
    file = own / "run-1" / "episodes.jsonl"
    look = file.stat()
    audit("summary", own)
    file.write_bytes(file.read_bytes().replace(b"All is well.", b"All is worse"))
    os.utime(file, ns=(look.st_atime_ns, look.st_mtime_ns))
    opened.clear()
    audit("summary", own)
    assert opened


def test_what_is_damaged_or_another_s_is_not_believed(data, folder, tmp_path):
    other = _written(tmp_path / "other", answer="Nothing is said of any rollout.")
    audit("salience", other)
    foreign = tables(folder)
    expected = audit("salience", data)
    [mine] = set(tables(folder)) - set(foreign)
    content = mine.read_bytes()
    for damaged in (content[:-1], content.replace(b"cartpole", b"cartpule"), b"", foreign[0].read_bytes()):
        assert damaged != content
        for path in folder.rglob("printed-*"):
            if path.parent == mine.parent:
                path.unlink()
        mine.write_bytes(damaged)
        assert audit("salience", data) == expected
        assert mine.read_bytes() == content
    mine.unlink()
    shutil.copy(foreign[0], mine.parent / foreign[0].name)
    assert audit("salience", data) == expected


def test_no_cache_neither_keeps_nor_believes(data, folder, opened):
    audit("summary", data, "--no-cache")
    assert not tables(folder)
    audit("summary", data)
    opened.clear()
    audit("summary", data, "--no-cache")
    assert opened


def test_what_depends_on_other_files_is_not_kept(data, folder, tmp_path):
    (tmp_path / "mine.toml").write_text('pattern = "fell"\n')
    (tmp_path / "judged.jsonl").write_bytes(b"")
    audit("salience", data, "--detector", tmp_path / "mine.toml")
    audit("salience", data, "--detector", "judge", "--judgements", tmp_path / "judged.jsonl")
    audit("check", data, "--findings")
    audit("find", data, "--where", "delta < 0")
    audit("sql", data, "select 1")
    assert not tables(folder)


def test_records_that_change_while_a_table_is_made_are_not_kept(own, folder, monkeypatch):
    """Nor where another table of the state before was kept already."""
    audit("summary", own)
    before = tables(folder)
    real = kept._show

    def changing(table, output):
        real(table, output)
        with (own / "run-1" / "episodes.jsonl").open("ab") as file:
            file.write(b"\n")

    monkeypatch.setattr(kept, "_show", changing)
    audit("runs", own)
    assert tables(folder) == before


def test_values_that_would_come_back_as_others_are_not_kept():
    for value in ((1, 2), 2**70, "\ud800", {"a": (1,)}, float):
        assert kept._encoded(_printed(value)) is None, value
    for value in (None, True, 1, -0.0, float("nan"), float("inf"), "\x00", [1, [None]], {"a": 1.5}):
        [[again]] = kept._decoded(kept._encoded(_printed(value))).rows
        assert repr(again) == repr(value)


def _printed(value):
    return kept._Printed([], ["a"], ["a"], [[value]], 1, False, {"parts": {}})


def test_every_option_of_a_request_decides_what_is_taken(data):
    """But for where records are, which the folder stands for, and whether anything is kept."""
    names = functools.partial(kept._name, "summary", own={})
    other = {name: ["a"] for name in ("columns", "sort", "env", "variant", "condition", "judgements", "plans")}
    other |= {"output": "json", "limit": 1, "strict": True, "run": [1], "detector": None, "about": "best"}
    other |= {"overrides": {"pong": {"high": 1.0}}, "judge": "a"}
    assert {*other} | kept._UNKEYED == {*Request.__dataclass_fields__}
    found = {names(request=Request(paths=[data], **{name: value})) for name, value in other.items()}
    assert len(found | {names(request=Request(paths=[data]))}) == len(other) + 1
