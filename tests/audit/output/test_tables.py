"""Tables for people: numbers below each other, headings as they are meant."""

from __future__ import annotations

import re

import pytest

from audit.output.formats import aligned
from audit.output.tables import print_plain_table, print_table

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


@pytest.mark.parametrize("case", COLUMNS)
def test_numbers_of_a_column_by_hand(case):
    values, wanted = COLUMNS[case]
    texts = aligned(values)
    assert [text.strip() for text in texts] == [text.strip() for text in wanted]
    assert len({len(text) for text in texts}) == 1
    assert len({len(re.match(" *[^.e ]*", text)[0]) for text in texts if text.strip()}) == 1


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
    print_table(columns, rows(), title="Title")
    lines = capsys.readouterr().out.splitlines()
    first, second, third = [
        line.replace("\u00a0", " ").rstrip() for line in lines[lines.index(lines[1]) :] if "%" in line
    ]
    assert first.split() == ["225.3852", "8", "(4.0%)", "1.23", "[0.984,", "?]"]
    assert second.split() == ["0.0778", "125", "(62.5%)", "-0.50", "[-0.750,", "10.250]"]
    assert third.split() == ["-9.0000", "10", "(100.0%)", "12.00"]
    [ours, theirs, last] = places([first, second, third], r"\.")
    assert (ours, last) == (theirs[:4], theirs[:3])


def test_a_plain_table_has_the_names_of_its_columns(capsys):
    names = ["n_total", "mean__Δ", " ", "x\x1b[31m"]
    print_plain_table(names, [dict.fromkeys(names, 1.5)], None)
    assert capsys.readouterr().out.splitlines()[0].split() == ["n_total", "mean__Δ", "x\\x1b[31m"]
    print_plain_table(names, [], None)
    assert "n_total" in capsys.readouterr().out


def test_decimal_points_of_a_plain_table_are_below_each_other(capsys):
    print_plain_table(["a"], [{"a": value} for value in (1.25, 100.0, -0.00001, None)], None)
    lines = capsys.readouterr().out.splitlines()[2:5]
    assert [line.strip() for line in lines] == ["1.25", "100.00", "-1e-05"]
    assert len({re.search(r"[.e]", line).start() for line in lines}) == 1
