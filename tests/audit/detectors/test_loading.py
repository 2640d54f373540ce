"""Detectors are found by name, by file and by entry point; what is wrong with one is a line that names it."""

from __future__ import annotations

import sys
from importlib import metadata

import pytest

from audit.detectors.about import About, parse_about
from audit.detectors.loading import GROUP, load_detector
from audit.output.errors import UsageError
from audit.store import open_store
from tests.audit.samples import revision, write_run

PYTHON = """
import re


def detect(answer, evidence):
    return [match.span() for match in re.finditer("fell", answer)]


def twice(answer, evidence):
    return []


twice.about = "best"
limit = 3
"""


@pytest.fixture
def write(tmp_path):
    def write(name, text):
        path = tmp_path / name
        path.write_text(text)
        return str(path)

    return write


def test_what_is_asked_about_is_read():
    kinds = {"worst": "role", "last": "place", "label:worse": "label", "own": "own", "17": "id", "case-3": "id"}
    for text, kind in kinds.items():
        assert parse_about(text) == About(text, kind)
    assert parse_about("label:Example 2").name == "Example 2"
    for empty in ("", " ", "label:"):
        with pytest.raises(UsageError, match="--about is empty"):
            parse_about(empty)


def test_the_audits_own_detectors_are_about_the_worst_unless_asked():
    assert load_detector("word").pattern == "worst"
    assert load_detector("word", "best").pattern == "best"
    assert load_detector("word", "label:a.b").pattern == r"\ba\.b\b"
    assert load_detector("judge", "history").about.text == "history"
    for name, about in (("word", "first"), ("phrase", "17"), ("judge", "first"), ("resolved", "own")):
        with pytest.raises(UsageError, match=r"\A[^\n]+\Z"):
            load_detector(name, about)


@pytest.mark.parametrize(
    ("flags", "pattern", "expected"),
    [("", "a", "(?-i:a)"), ("i", "a", "(?i:a)"), ("sm", "a", "(?ms-i:a)"), ("i", ["a", "b"], "(?i:a)|(?i:b)")],
)
def test_a_pattern_ignores_case_only_if_it_asks_to(flags, pattern, expected, write):
    path = write("falls.toml", f"pattern = {pattern!r}\nflags = '{flags}'\n")
    detector = load_detector(path)
    assert (detector.name, detector.pattern, detector.about.text) == ("falls", expected, "worst")
    assert detector.column == "mentions_worst"
    path = write("best.toml", "pattern = 'x'\nabout = 'best'\n")
    assert load_detector(path, "best").about.text == "best"
    with pytest.raises(UsageError, match="is about best"):
        load_detector(path, "worst")


def test_a_rubric_is_a_question_with_categories(write):
    text = "question = 'Why?'\ncounts = ['A']\nabout = 'own'\n[categories]\nA = 'an item'\nB = 'none'\n"
    detector = load_detector(write("why.toml", text))
    assert detector.is_judged
    assert detector.codes == {"why": ("A", "B")}
    changed = load_detector(write("why2.toml", text.replace("an item", "any item")))
    assert changed.rubric.sha256 != detector.rubric.sha256
    assert load_detector(write("why3.toml", f"# said otherwise\n{text}")).rubric.sha256 == detector.rubric.sha256


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("pattern = '('", r"pattern '\(' is not a regular expression"),
        ("pattern = '(?=x)'", "not a regular expression of RE2"),
        ("pattern = 'x*'", "matches the empty text"),
        ("pattern = []", "list of patterns is empty"),
        ("pattern = 'x'\nflags = 'ix'", "no flag x"),
        ("pattern = 'x'\nname = 'word'", "name = 'word' must be"),
        ("pattern = 'x'\nabout = ''", "about is empty"),
        ("pattern = 3", "pattern"),
        ("patern = 'x'", "unknown field `patern`"),
        ("pattern = ", "Invalid value"),
        ("name = 'x'", "either a pattern or a question"),
        ("pattern = 'x'\nquestion = 'y'", "either a pattern or a question"),
        ("pattern = 'x'\ncounts = ['a']", "belong to a question"),
        ("question = 'y'\ncounts = ['a']\n[categories]\na = 'one'", "two categories"),
        ("question = 'y'\n[categories]\na = 'one'\nb = 'two'", "counts lists"),
        ("question = 'y'\ncounts = ['c']\n[categories]\na = 'one'\nb = 'two'", "counts lists"),
        ("question = 'y'\ncounts = ['a b']\n[categories]\n'a b' = 'one'\nb = 'two'", "category 'a b'"),
    ],
)
def test_what_is_wrong_with_a_file_is_one_line(text, message, write):
    path = write("wrong.toml", text)
    with pytest.raises(UsageError, match=message) as raised:
        load_detector(path)
    assert "\n" not in str(raised.value)
    assert path in str(raised.value)


def test_a_function_is_named_by_its_file(write):
    path = write("mine.py", PYTHON)
    first, second = load_detector(path), load_detector(f"{path}:twice")
    assert (first.name, first.about.text) == ("mine", "worst")
    assert (second.name, second.about.text) == ("mine:twice", "best")
    assert load_detector(path, "last").about.text == "last"
    assert list(first.function("it fell", None)) == [(3, 7)]


def test_a_change_of_the_file_is_a_change_of_the_key(write):
    before = load_detector(write("mine.py", PYTHON)).key
    after = load_detector(write("mine.py", PYTHON.replace("fell", "fall"))).key
    assert before != after
    assert before != load_detector(write("mine.py", PYTHON), "best").key


@pytest.mark.parametrize(
    ("text", "function", "message"),
    [
        ("def detect(:", "", "SyntaxError"),
        ("1 / 0", "", "ZeroDivisionError"),
        ("import nonesuch_module", "", "nonesuch_module"),
        (PYTHON, ":none", "is not a function"),
        (PYTHON, ":limit", "is not a function"),
        ("raise SystemExit('gone')", "", "SystemExit: gone"),
    ],
)
def test_what_is_wrong_with_a_module_is_one_line(text, function, message, write, tmp_path):
    with pytest.raises(UsageError, match=message) as raised:
        load_detector(write("wrong.py", text) + function)
    assert "\n" not in str(raised.value)
    for name in ("none.toml", "none.py", "none.py:f"):
        with pytest.raises(UsageError, match="cannot read the detector"):
            load_detector(str(tmp_path / name))


def test_an_installed_package_offers_a_detector(write, monkeypatch, tmp_path):
    write("offered_detector.py", PYTHON)
    monkeypatch.syspath_prepend(tmp_path)
    entry = metadata.EntryPoint("falls", "offered_detector:detect", GROUP)
    monkeypatch.setattr("audit.detectors.loading.entry_points", lambda group: [entry] if group == GROUP else [])
    assert load_detector("falls").name == "falls"
    with pytest.raises(UsageError, match="judge, falls, or a file"):
        load_detector("nonesuch")
    sys.modules.pop("offered_detector")


def test_what_is_cached_of_a_detector_is_not_used_for_its_next_version(tmp_path, monkeypatch):
    monkeypatch.setenv("SALIENCE_AUDIT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("audit.records.cache.SETTLED", 0)
    answers = ("The worst rollout fell, I think.", "In rollout A the pole drifts.", "The bias is too large.")
    for run in (1, 2):
        records = [
            revision([1, 5, 9], [2, 2, 2], answer=answer, iteration=n, run=run) for n, answer in enumerate(answers)
        ]
        write_run(tmp_path / "data" / f"{run}", records)
    pattern, function = tmp_path / "mine.toml", tmp_path / "mine.py"
    for text, cited in (("fell", 2), ("fell|drifts", 4), ("fell", 2)):
        pattern.write_text(f"pattern = '{text}'")
        function.write_text(f"import re\ndef detect(a, e):\n    return [m.span() for m in re.finditer('{text}', a)]")
        for detector in (pattern, function):
            for _ in range(2):  # the second time from the cache
                with open_store([tmp_path / "data"], detector=str(detector)) as store:
                    assert [row["strict"] for row in store.rows("salience")] == [cited], (text, detector)
    assert list((tmp_path / "cache").rglob("salience*"))
