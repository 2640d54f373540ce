"""Tables for people: numbers below each other, headings as they are meant."""

from __future__ import annotations

import io
import re
import sys

from rich.cells import cell_len

from audit.output.choosing import by_importance, columns_that_fit
from audit.output.formats import aligned
from audit.output.rows import Table

COLUMNS = {
    "as many decimals as the longest needs": ([28.8, 9, -18.95, None, 0.0], ["28.80", " 9   ", "-18.95", "", " 0.00"]),
    "whole numbers have none": ([3.0, 12.0, None], ["3", "12", ""]),
    "four at most": ([225.38519, 0.0777512], ["225.3852", "  0.0778"]),
    "what is small keeps its digits": ([0.25, 0.00001234, 1.5e-09], ["0.25", "1.234e-05", "1.5e-09"]),
    "no zero has a sign": ([-0.0, 0.5, -0.00001], ["0.0", "0.5", "-1e-05"]),
    "large numbers have one": ([12345.678, 0.5], ["12345.7", "0.5"]),
    "neither nan nor infinite": ([float("nan"), float("inf"), 1.5], ["", "", "1.5"]),
    "integers of any size": ([10**400, 2.5], [str(10**400), "2.5"]),
}


def test_numbers_of_a_column_by_hand():
    for case, (values, wanted) in COLUMNS.items():
        texts = aligned(values)
        assert [text.strip() for text in texts] == [text.strip() for text in wanted], case
        assert len({len(text) for text in texts}) == 1, case
        assert len({len(re.match(" *[^.e ]*", text)[0]) for text in texts if text.strip()}) == 1, case


def rows():
    numbers = ((225.38519, 8, 4.0, 1.234, None), (0.0777512, 125, 62.5, -0.5, 10.25), (-9.0, 10, 100.0, 12.0, None))
    return [
        {"condition": "c", "gap": gap, "regressions": count, "regressions_pct": share, "ratio": ratio}
        | {"ratio_low": None if ratio > 2 else ratio - 0.25, "ratio_high": high}
        for gap, count, share, ratio, high in numbers
    ]


def places(lines, pattern):
    """Where a pattern is found in each line."""
    return [[found.start() for found in re.finditer(pattern, line)] for line in lines]


def test_decimal_points_are_below_each_other(capsys):
    columns = ["condition", "gap", "regressions", "regressions_pct", "ratio", "ratio_low", "ratio_high"]
    Table(columns=columns, rows=rows(), title="Title").print()
    lines = capsys.readouterr().out.splitlines()
    first, second, third = [line.rstrip() for line in lines[lines.index(lines[1]) :] if "%" in line]
    assert first.split() == ["225.3852", "8", "(4.0%)", "1.23", "[0.984,", "?]"]
    assert second.split() == ["0.0778", "125", "(62.5%)", "-0.50", "[-0.750,", "10.250]"]
    assert third.split() == ["-9.0000", "10", "(100.0%)", "12.00"]
    [ours, theirs, last] = places([first, second, third], r"\.")
    assert (ours, last) == (theirs[:4], theirs[:3])


def test_a_plain_table_has_the_names_of_its_columns_and_points_below_each_other(capsys):
    names = ["n_total", "mean__Δ", " ", "x\x1b[31m"]
    Table(columns=names, rows=[dict.fromkeys(names, 1.5)], plain=True).print()
    assert capsys.readouterr().out.splitlines()[0].split() == ["n_total", "mean__Δ", "x\\x1b[31m"]
    Table(columns=names, rows=[], plain=True).print()
    assert "n_total" in capsys.readouterr().out
    numbers = [{"a": value} for value in (1.25, 100.0, -0.00001, None)]
    Table(columns=["a"], rows=numbers, plain=True).print()
    lines = capsys.readouterr().out.splitlines()[2:5]
    assert [line.strip() for line in lines] == ["1.25", "100.00", "-1e-05"]
    assert len({re.search(r"[.e]", line).start() for line in lines}) == 1


def wide_rows(condition="c"):
    return [
        {"condition": condition, "env": env, "variant": "r2po", "count": count, "count_pct": 12.5, "score": score}
        | {"reason": "a reason of several words, longer than a line", "other": other, "same": "always"}
        for env, count, score, other in (("cartpole", 8, 225.385, 1), ("mine", 125, -0.5, 2))
    ]


ESSENTIAL = ["condition", "env", "variant", "count", "score", "reason"]
MORE = ["count_pct", "other", "same"]


def printed(capsys, monkeypatch, width, rows=None, **options):
    """The lines of a table at a width; None where none is known."""
    if width is None:
        monkeypatch.delenv("COLUMNS", raising=False)
    else:
        monkeypatch.setenv("COLUMNS", str(width))
    Table(
        columns=[*ESSENTIAL, *MORE], rows=rows or wide_rows(), title="Title", **{"essential": ESSENTIAL, **options}
    ).print()
    return [line.rstrip() for line in capsys.readouterr().out.splitlines()]


def test_a_table_fits_into_the_width_that_is_known(capsys, monkeypatch):
    for width in (60, 80, 100, 140):
        lines = printed(capsys, monkeypatch, width)
        assert max(map(len, lines)) <= width
        assert lines[1].split()[:5] == ["env", "variant", "count", "score", "reason"]
        assert lines[3].split()[:2] == ["CartPole", "R2PO"]
        assert "8 (12.5%)" in lines[3]
        # Words are broken into lines where there is no room for them, and are all there.
        text = " ".join(line[lines[1].index("reason") :].split("  ")[0] for line in lines[3:5])
        assert text.startswith("a reason of several words, longer")
    # Room goes to other columns unless they say the same in every row.
    assert lines[1].split() == ["env", "variant", "count", "score", "reason", "other"]
    assert "Left out: same; --columns has them." in lines


def test_what_is_left_out_is_named_in_the_order_of_importance(capsys, monkeypatch):
    """And conditions have the same columns."""
    lines = printed(capsys, monkeypatch, 30)
    # A column that says the same of every row makes room for another.
    assert " ".join(lines[:2]) == "Title, condition c, variant R2PO"
    assert lines[2].split() == ["env", "count", "score"]
    assert " ".join(lines[lines.index("") + 1 :]) == "Left out: reason, other, same; --columns has them."
    long = [{**row, "score": 123456789.5} for row in wide_rows("d")]
    lines = printed(capsys, monkeypatch, 40, [*wide_rows(), *long])
    first, second = (line.split() for line in lines if line.startswith("env"))
    assert first == second
    # Without a known width, or whole, all essential columns are printed.
    essential = ["env", "variant", "count", "score", "reason"]
    lines = printed(capsys, monkeypatch, None, [{**row, "reason": "x" * 150} for row in wide_rows()])
    assert lines[1].split() == essential
    assert any("x" * 150 in line for line in lines)
    assert "Left out: other, same; --columns has them." in lines
    lines = printed(capsys, monkeypatch, 30, whole=True, is_part=True)
    assert (lines[1].split(), lines[-2:]) == (essential, ["Left out: other, same.", ""])


FITTING = {
    "all": (["a", "b"], [], 8, {"a": 3, "b": 4}),
    "one too few": (["a", "b"], [], 7, {"a": 3}),
    "a later one that fits": (["a", "long", "b"], [], 8, {"a": 3, "b": 4}),
    "the first, whatever": (["long"], [], 5, {"long": 20}),
    "others where there is room": (["a"], ["long", "b"], 9, {"a": 3, "b": 4}),
    "and for two blanks": (["a"], ["b"], 8, {"a": 3}),
    "no others before all that is essential": (["a", "long"], ["b"], 9, {"a": 3}),
    "texts are narrower": (["a", "words"], ["b"], 30, {"a": 3, "words": 26}),
    "but not too narrow": (["a", "words"], [], 27, {"a": 3}),
}


def test_columns_that_fit_by_hand():
    row = {"a": 1, "b": 1, "long": 1, "words": "x"}
    widths, cells = {"a": 3, "b": 4, "long": 20, "words": 60}, {column: ["1", "2"] for column in row}
    for case, (columns, more, space, wanted) in FITTING.items():
        [found], _ = columns_that_fit(columns, more, [row], cells, widths, space)
        assert list(found.items()) == list(wanted.items()), case


def test_a_narrow_table_keeps_what_decides_then_intervals_and_drops_counts_first(capsys, monkeypatch):
    columns = ("env", "runs", "regressions", "mean", "nothing", "ratio", "p")
    row = {"condition": "c", "env": "cartpole", "runs": 4, "regressions": 31, "regressions_pct": 62.0, "mean": 0.5}
    rows = [{**row, "ratio": 1.25, "ratio_low": 0.75, "ratio_high": 1.625, "p": 0.25, "nothing": None}]
    rows.append({**rows[0], "env": "mine"})
    assert by_importance(columns, rows) == ["env", "regressions", "p", "ratio", "mean", "runs", "nothing"]
    without = [{**row, "ratio": 1.25, "p": 0.25, "nothing": None}]
    assert by_importance(columns, without) == ["env", "regressions", "p", "runs", "mean", "ratio", "nothing"]
    monkeypatch.setenv("COLUMNS", "45")
    Table(columns=columns, rows=rows, title="Title").print()
    text = capsys.readouterr().out
    assert text.splitlines()[1].split() == ["env", "regressions", "ratio", "p"]
    assert "Left out: runs, mean; --columns has them." in text


def test_what_decides_is_in_a_table_below_where_there_is_no_room(capsys, monkeypatch):
    tasks, methods = ("InvertedDoublePendulum", "MountainCarContinuous"), ("ActorSecondPass", "AlwaysCritic")
    rows = [
        {"condition": "c", "env": env, "variant": variant, "runs": 10, "regressions": 12345, "p": 0.123456789}
        for env, variant in zip(tasks, methods, strict=True)
    ]
    for width, wanted, left_out in ((60, [["regressions", "p"]], True), (50, [["regressions"], ["runs", "p"]], False)):
        monkeypatch.setenv("COLUMNS", str(width))
        Table(columns=("env", "variant", "runs", "regressions", "p"), rows=rows, title="Title").print()
        lines = capsys.readouterr().out.splitlines()
        headings = [line.split() for line in lines if line.startswith("env")]
        assert headings == [["env", "variant", *some] for some in wanted]
        assert max(map(len, lines)) <= width
        assert ("Left out: runs; --columns has them." in lines) is left_out
    # Columns that a table names decide as well.
    monkeypatch.setenv("COLUMNS", "50")
    Table(columns=("env", "variant", "runs"), rows=rows, title="Title", decides=["runs"]).print()
    long = [{**row, "r" * 20: 1} for row in rows]
    Table(columns=("env", "variant", "r" * 20), rows=long, title="T", decides=["r" * 20]).print()
    text = capsys.readouterr().out
    assert "runs" in text
    assert "r" * 20 in text
    assert "Left out" not in text


def test_wide_characters_and_outputs_without_them(capsys, monkeypatch):
    rows = [{"a": "日本語" * 9, "b": 1.5}, {"a": "e\u0301", "b": 20}, {"a": "two words", "b": None}]
    monkeypatch.setenv("COLUMNS", "30")
    Table(columns=["a", "b"], rows=rows, plain=True).print()
    lines = capsys.readouterr().out.splitlines()
    assert {cell_len(line) for line in lines if line} == {30}
    assert "".join(line[:-4].strip() for line in lines[2:6]).startswith("日本語" * 9)
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="ascii"))
    Table(columns=["a"], rows=[{"a": "x"}], plain=True).print()
    sys.stdout.flush()
    assert written.getvalue() == b"a\n-\nx\n\n"
