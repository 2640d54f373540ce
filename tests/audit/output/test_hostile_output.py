"""Text made to mislead is shown escaped, in every command and format, and never acts on whoever reads it."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import re
import subprocess
import sys
import unicodedata

import pytest
from typer.testing import CliRunner

from audit.cli import app, main
from audit.output.cells import LONGEST_TEXT
from audit.output.escaping import cell, escape_json, escape_latex, escape_markdown, in_line, visible
from audit.output.rows import Table
from tests.audit.samples import THRESHOLDS, revision, write_run
from tests.audit.texts import text_candidate, text_revision, text_run

pytestmark = pytest.mark.usefixtures("confined_once")

EVIL = (
    "=1+2|<b>\x1b]0;title\x07\x1b[31m_red_\x9b2J\u202etxt.exe\u202c\x7f \\| [x](javascript:alert(1)) $x$ *b* `c` "
    "no\u00a0break \u202fthin\u2009\u3000%0a&amp;\\input{/etc/passwd} [red]:smile:[/red]\r\n@next\u2028line"
    "'; drop table episodes; --"
)
COMMANDS = [
    *(f"salience --detector {detector}" for detector in ("word", "phrase", "resolved")),
    *("summary", "rates", "noise", "controls", "severity", "agreement", "patterns", "revisions", "runs"),
]
FORMATS = ("table", "json", "csv", "markdown", "latex")
QUERY = 'select env as "=h\x1b[31m|", count(*) as n from revisions group by all'
SHOW = ["e" + EVIL, "threetraj", "1", "0"]


def controls(text):
    """Characters that act on a terminal or turn the direction of writing, and blanks that no search finds."""
    return sorted({each for each in text if unicodedata.category(each)[0] in "CZ" and each not in "\n\t "})


def run(*arguments):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == 0, (arguments, result.stderr, result.exception)
    assert controls(result.stdout) == controls(result.stderr) == []
    return result.stdout


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A task, condition, model and answers that are all the same evil text; evidence that shows what there is not."""
    root = tmp_path_factory.mktemp("evil")
    rows = [
        revision([1, 5, 9], [2, 2, 2], after=(1, 2.5, 3), answer=f"The worst rollout fell.\n{EVIL}", iteration=0),
        revision([1, 5, 9], [6, 6, 6], answer=EVIL, iteration=1),
    ]
    shown = [
        {"label": "best", "rollout": 2, "return": 1.0, "length": 0},
        {"label": "worst", "rollout": 1, "return": 1e308, "length": 10**18},
    ]
    for row in rows:
        row["evidence"]["shown"] = shown
        row |= {"condition": EVIL, "env": f"e{EVIL}"}
    thresholds = {**THRESHOLDS, "origin": EVIL}
    stray = json.dumps({**rows[0], "condition": f"other{EVIL}"}).encode() + b"\n"
    write_run(root / "a", rows, thresholds=thresholds, model=EVIL, backend="simulated", tail=stray)
    write_run(root / "b", [{**row, "condition": "plain"} for row in rows], thresholds=thresholds, model=EVIL)
    return root


@pytest.mark.parametrize("output", FORMATS)
def test_no_command_lets_a_control_character_through_in_any_format(data, output):
    for command in (*COMMANDS, "find --case salience", "sensitivity", "check"):
        name, *options = command.split()
        run(name, data, *options, "--format", output)
    run("sql", data, QUERY, "--format", output)


def test_nor_do_titles_pack_and_show(data, tmp_path, capsys):
    Table(columns=["condition"], rows=[], title=EVIL).print()
    Table(columns=["condition", EVIL], rows=[], title=EVIL, caption=EVIL, plain=True).print()
    assert controls(capsys.readouterr().out) == []
    assert "\\x1b[31m" in run("pack", data, "--out", tmp_path / "evil\x1b[31m.pack.parquet")
    assert "\\x1b]0;title\\x07" in run("show", data, *SHOW, "--condition", EVIL)
    shown = json.loads(run("show", data, *SHOW, "--condition", EVIL, "--format", "json"))
    assert (shown["condition"], shown["model"], shown["revised"]["answer"].split("\n", 1)[1]) == (EVIL, EVIL, EVIL)


def test_nor_do_texts_their_components_and_the_items_shown(tmp_path):
    initial = text_candidate([0, 1, 1], source="parent", ids=["\x1b", EVIL, ""]) | {"text": {EVIL: EVIL}}
    record = text_revision([0, 1, 1], [1, 0, 0], initial=initial, answer=f"Why.\n```\nNew{EVIL}.\n```")
    record["evidence"]["shown"][0] |= {"name": EVIL, "text": "line\n" * 30 + EVIL * 10}
    record["evidence"]["shown"].append({"label": "item", "rollout": None, "return": None, "name": None})
    write_run(tmp_path, [record], **text_run())
    for command in ("summary", "salience", "revisions", "check"):
        run(command, tmp_path)
    shown = run("show", tmp_path, "sums", "gepa", 1, 0)
    assert "\n  item 4: score not recorded\n" in shown
    assert "more characters" in shown


def test_errors_and_problems_are_one_line_each(data):
    result = CliRunner().invoke(app, ["show", str(data), *SHOW])
    assert (result.exit_code, result.stdout, controls(result.stderr)) == (2, "", [])
    problems, place, last = result.stderr.splitlines()
    assert problems == "audit: 1 problem in the records, left out:"
    assert "episodes.jsonl:3: belongs to another run (condition other=1+2" in place
    assert "choose one with --condition: =1+2" in last
    nothing = CliRunner().invoke(app, ["summary", str(data), "--env", "pong"])
    assert controls(nothing.stderr) == []
    assert len(nothing.stderr.splitlines()) == 2


def test_json_holds_the_text_as_it_is_and_csv_no_formulas(data):
    assert {row["condition"] for row in json.loads(run("summary", data, "--format", "json"))} == {EVIL, "plain"}
    rows = list(csv.DictReader(io.StringIO(run("revisions", data, "--format", "csv"))))
    assert len(rows) == 4
    for row in rows:
        assert row["condition"] == "plain" or row["condition"].startswith("'=1+2|<b>\\x1b]0;title\\x07")
    assert {float(row["delta"]) for row in rows} == {-3.0, 1.0}


def test_markdown_is_a_table_of_as_many_cells(data):
    lines = run("summary", data, "--format", "markdown").splitlines()
    table = lines[: lines.index("")]
    assert {len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) for line in table} == {14}
    text = "\n".join(lines)
    assert "<b>" not in text
    assert "&lt;b&gt;" in text
    assert not re.search(r"(?<!\\)\[", text)
    assert "Backend: simulated in =1+2\\|" in lines[-1]


def test_latex_runs_nothing_and_a_comment_stays_one(data):
    text = run("summary", data, "--format", "latex")
    needed, comment, *body = text.splitlines()
    assert needed == "% Needs \\usepackage{booktabs}."
    assert comment.startswith("% Backend: simulated in ")
    assert body[0].startswith("\\begin{tabular}")
    assert "\\input" not in "\n".join(body)
    assert "\\textbackslash{}input\\{" in text
    assert len(body) == 8  # begin, toprule, header, midrule, a row per condition, bottomrule, end
    assert not any(re.match(r"[\[*]", line) for line in body)


SPELLED = {
    visible: {"a\x1b[0m\n\tb": "a\\x1b[0m\n\tb", "\u202e\ud800\U000e0001": "\\u202e\\ud800\\U000e0001", "ü—é": "ü—é"},
    in_line: {"a\r\nb\nc\td\u2028e\rf": "a b c d e f", "\x00": "\\x00"},
    cell: {"=1": "'=1", " -1": "' -1", "'@x": "''@x", "＋1": "'＋1", "1-2": "1-2", "a\r\nb": "a\nb", "\t=1": "'\t=1"}
    | {"-0.59": "-0.59", "+1.5e-08": "+1.5e-08", "-1+2": "'-1+2", "-1\n=2": "'-1\n=2", "-e1": "'-e1"},
    escape_json: {'"ü\x9b\x7f\u202e"': '"ü\\u009b\\u007f\\u202e"', '"\U000e0001"': '"\\udb40\\udc01"'},
    escape_markdown: {
        "a|b\\|c": "a\\|b\\\\\\|c",
        "<i>&": "&lt;i&gt;&amp;",
        "full_redesign _x_": "full_redesign \\_x\\_",
        "`[a](b)`*": "\\`\\[a\\](b)\\`\\*",
        "-3": "-3",
    },
    escape_latex: {
        "[1em]*\\&%$#_{}~^": r"{[}1em]{*}\textbackslash{}\&\%\$\#\_\{\}\textasciitilde{}\textasciicircum{}",
        "a\n\nb": "a  b",
        "−2 ± 1 ≥ τ": r"$-$2 $\pm$ 1 $\geq$ $\tau$",
    },
}


def test_each_escape_by_hand():
    found = {escape: {text: escape(text) for text in cases} for escape, cases in SPELLED.items()}
    assert found == SPELLED


def test_every_character_survives_json():
    text = "".join(map(chr, [*range(0x20, 0x3000), *range(0xE000, 0xFFFF), *range(0xE0000, 0xE0080)]))
    written = escape_json(json.dumps(text, ensure_ascii=False))
    assert json.loads(written) == text
    assert controls(written) == []


def test_very_long_names_and_words_are_shortened_or_broken_for_people_only(tmp_path):
    """An answer of a million characters, which wrapping word by word would copy once for every line."""
    name = "x" * 100_000
    write_run(tmp_path / "a", [revision([1, 5, 9], [2, 2, 2], condition=name, env=name)], thresholds=THRESHOLDS)
    shown = run("summary", tmp_path / "a")
    assert max(map(len, shown.splitlines())) < 2 * LONGEST_TEXT
    assert "x…" in shown
    for output in FORMATS[1:]:
        assert name in run("summary", tmp_path / "a", "--format", output)
    answer = "x" * 1_000_000 + "\n" + "a-" * 200_000
    write_run(tmp_path / "b", [revision([1, 5, 9], [2, 2, 2], answer=answer)])
    shown = run("show", tmp_path / "b", "cartpole", "threetraj", 1, 0)
    assert max(map(len, shown.splitlines())) <= 120
    assert shown.count("x") >= 1_000_000


SCRIPT = [sys.executable, "-c", "from audit.cli import main; main()"]
ENDINGS = ["summary", "show", "sample", "judge --backend ollama --plan", "verify", "find --case salience"]


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    rows = [revision([1, 5, 9], [2, 2, 2], answer="The worst rollout fell.")]
    return write_run(tmp_path_factory.mktemp("plain"), rows)


@contextlib.contextmanager
def without_a_reader():
    """The end of a pipe to write into; the other one is closed."""
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as pipe:
        yield pipe


def words(command, data):
    name, *options = command.split()
    return [name, str(data), *(["cartpole", "threetraj", "1", "0"] if name == "show" else []), *options]


def test_a_reader_that_is_gone_is_no_failure(plain, monkeypatch, capsys):
    for command in ENDINGS:
        with without_a_reader() as pipe, monkeypatch.context() as patch:
            patch.setattr(sys, "argv", ["audit", *words(command, plain)])
            patch.setattr(sys, "stdout", pipe)
            with pytest.raises(SystemExit) as ended:
                main()
            pipe.flush()  # as the interpreter does at its end
        assert ended.value.code in {None, 0}, command
        assert "Broken pipe" not in capsys.readouterr().err


def test_nor_is_it_at_the_end_of_a_process(plain):
    with without_a_reader() as pipe:
        done = subprocess.run([*SCRIPT, "summary", str(plain)], stdout=pipe, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 0
    assert not re.search(rb"Traceback|Broken pipe", done.stderr)


def test_an_output_that_lacks_characters_is_told_in_one_line(tmp_path, monkeypatch, capsys):
    write_run(tmp_path, [revision([1, 5, 9], [2, 2, 2], condition="naïve")])
    monkeypatch.setattr(sys, "argv", ["audit", "summary", str(tmp_path), "--format", "csv"])
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1
    assert capsys.readouterr().err.splitlines() == [
        "audit: standard output is ascii, which lacks some of the characters; set PYTHONIOENCODING=utf-8"
    ]
