"""Formats for programs: values are converted a column at a time, to what each of them is by itself."""

from __future__ import annotations

import csv
import io
import math
import random
from datetime import date

import duckdb

from audit.output import formats
from audit.output.escaping import cell, escape_markdown
from audit.output.formats import WRITERS, as_json, is_number_column, rounded
from audit.reports.relation_rows import RelationRows

NUMBERS = [0.0, -0.0, 1.5, -2.25, math.nan, math.inf, -math.inf, 1e16, 1e-5, 5e-324, 1.7976931348623157e308, 0.1 + 0.2]
WHOLE = [0, 1, -1, 2**63 - 1, -(2**63), 2**127]
TEXTS = [
    *(
        "",
        " ",
        "a,b",
        'say "so"',
        "a\nb",
        "a\r\nb",
        "a\rb",
        "\t",
        "\x00",
        "\x1b[31m",
        "\x7f",
        "\x85",
        "\u2028",
        "\u202e",
    ),
    *("=1+1", " =1+1", "'=1", "-1", "+1e5", "-x", "@x", "\uff1d1", "1", "null", "true", "%s", "%", "\\", "<b>", "_x_"),
    *("|", "\ud800", "x\udfff", "é", "\U0001f600", "None"),
]
LISTS = [[], [1, 2], [-1], [None, 1], [True, 1], [1.5, math.nan], ["=1", "a b"], [[1], [2]], [{"a": "\x1b"}], (1, 2)]
OTHERS = [{"a": math.inf, "b": [None]}, {}, date(2026, 1, 2).isoformat(), True, False]


def test_every_value_is_written_as_it_is_by_itself():
    """Whatever shares its column: the same bytes as from a converter that sees one value at a time."""
    draw = random.Random(5)
    every = [NUMBERS, WHOLE, TEXTS, LISTS, OTHERS, [True, False], [[1], [2, 3]], [NUMBERS[2], 3], ["x"], [None]]
    wrong = []
    for trial in range(150):
        pools = [draw.choice(every) + [None] * draw.randrange(3) for _ in range(draw.randrange(1, 6))]
        if trial % 5 == 0:
            pools[0] = [value for pool in every for value in pool]
        columns = [f"{draw.choice(['a', '=b', '100%s', 'c|'])}{place}" for place in range(len(pools))]
        number = draw.choice([0, 1, 7, 60])
        rows = [{column: draw.choice(pool) for column, pool in zip(columns, pools, strict=True)} for _ in range(number)]
        for output, expected in BY_VALUE.items():
            if written(output, columns, rows) != expected(columns, rows):
                wrong.append((output, columns, rows))
    assert not wrong


def test_rows_of_a_relation_are_written_as_their_mappings_are(monkeypatch):
    """More of them than are converted together, of every type, and other columns than it has, in another order."""
    monkeypatch.setattr(formats, "BATCH", 8)
    relation = duckdb.connect().sql(
        """
        select
            i, if(i % 3 = 0, null, i / 7) as d, if(i % 5 = 0, 'nan'::double, i) as n, i % 2 = 0 as b,
            if(i % 4 = 0, null, '=' || i) as t, [i, -i] as l, [i / 7, null] as m, {a: i, b: ['x', null]} as s,
            null as nothing, i::hugeint * 1000000000000 as h, [[i]] as nested, [] as empty
        from range(19) as r(i)
        """
    )
    rows = RelationRows(relation, None)
    for columns in (relation.columns, ["t", "i"], ["nothing"]):
        for output, expected in BY_VALUE.items():
            assert written(output, columns, rows) == expected(columns, [*rows]), (output, columns)


def written(output, columns, rows):
    stream = io.StringIO()
    WRITERS[output](columns, rows, stream)
    return stream.getvalue()


def csv_by_value(columns, rows):
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(map(cell, columns))
    writer.writerows([formats._field(row[column]) for column in columns] for row in rows)
    return stream.getvalue()


def json_by_value(columns, rows):
    lines = [as_json({column: row[column] for column in columns}) for row in rows]
    return "[" + ",".join(f"\n {line}" for line in lines) + "\n]\n"


def markdown_by_value(columns, rows):
    ends = ["---:" if rows and is_number_column(rows, column) else "---" for column in columns]
    cells = [[escape_markdown(rounded(row[column])) for column in columns] for row in rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in [map(escape_markdown, columns), ends, *cells])


BY_VALUE = {"csv": csv_by_value, "json": json_by_value, "markdown": markdown_by_value}


def test_values_by_hand():
    fields = [True, None, 1, 0.1, math.nan, [1, 2.5], [[1], None], {"a": math.inf}, "=1", []]
    assert list(map(formats._field, fields)) == [
        *("true", None, 1, 0.1, None, "1 2.5", "[[1], null]", '{"a": null}', "'=1", ""),
    ]
    assert as_json({"a": (1, math.nan), "b": "\x1b"}) == '{"a": [1, null], "b": "\\u001b"}'
    shown = [1234.56, 0.123456, -0.0, True, [1.5, None], {"a": 1}, None, math.inf]
    assert list(map(rounded, shown)) == ["1234.6", "0.1235", "0", "yes", "1.5 ", '{"a": 1}', "", ""]
    assert [is_number_column([{"a": each}], "a") for each in (1, 1.5, True, "1", None)] == [True, True, *[False] * 3]
