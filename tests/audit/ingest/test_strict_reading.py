"""What is accepted is exactly what the record types accept, by every command; the rest is named by line and field."""

from __future__ import annotations

import csv
import json

import pytest
from typer.testing import CliRunner

from audit.cli import app
from audit.sources.grammar import form_of
from audit.store import open_store
from collector.records import Episode, decode
from tests.audit.samples import revision, write_run


def sound(iteration=0):
    shown = [{"label": "worst", "rollout": 0, "return": 1.0, "length": 10}]
    statistics = {
        "returns": {"mean": 5.0, "min": 1.0, "max": 9.0},
        "lengths": {"mean": 10.0, "min": 10.0, "max": 10.0},
        "successes": 0,
        "rollouts": 3,
    }
    evidence = {"kind": "three", "shown": shown, "statistics": statistics}
    return revision([1, 5, 9], [2, 2, 2], iteration=iteration, evidence=evidence)


def text_of(record):
    return json.dumps(record, separators=(",", ":"))


# What is replaced in a sound line, by what, and what is said of the line.
FAULTY = {
    "a kind that there is not": ('"kind":"three"', '"kind":"threee"', "evidence.kind"),
    "evidence that is a text": ('"evidence":{', '"evidence":"nan","was":{', "evidence: Expected `object | null`"),
    "a fraction of an iteration": ('"iteration":N', '"iteration":N.4', "iteration: Expected `int`, got `float`"),
    "an iteration with a fraction of zero": ('"iteration":N', '"iteration":N.0', "iteration: Expected `int`"),
    "an iteration in quotes": ('"iteration":N', '"iteration":"N"', "iteration: Expected `int`, got `str`"),
    "a run that is true": ('"run":1', '"run":true', "run: Expected `int`, got `bool`"),
    "a parameter in quotes": ('"params":[1.0', '"params":["0.5"', "initial.params[0]: Expected `float`, got `str`"),
    "a fraction of a step": ('"lengths":[10,10', '"lengths":[10,24.6', "initial.lengths[1]: Expected `int`"),
    "null among lengths": ('"lengths":[10,10', '"lengths":[10,null', "initial.lengths[1]: Expected `int`, got `null`"),
    "null among seeds": ('"seeds":[0', '"seeds":[null', "initial.seeds[0]: Expected `int`, got `null`"),
    "null among endings": ('"ended":["terminated"', '"ended":[null', "initial.ended[0]: Expected `str`, got `null`"),
    "an ending that there is not": ('"ended":["terminated"', '"ended":["exploded"', "initial.ended[0]"),
    "an answer that is a number": ('"answer":"an answer"', '"answer":5', "initial.answer: Expected `str`, got `int`"),
    "an answer that is an object": ('"answer":"an answer"', '"answer":{"a":1}', "initial.answer: Expected `str`"),
    "a rollout below zero": ('"rollout":0', '"rollout":-5', "evidence.shown[0].rollout: Expected `int` >= 0"),
    "a rollout that was not run": ('"rollout":0', '"rollout":3', "evidence.shown holds a rollout beyond the 3 of"),
    "NaN in a field that nothing checks": ('"seconds":0.5', '"seconds":NaN', "not JSON"),
    "an infinite minimum": ('"min":1.0', '"min":-Infinity', "not JSON"),
    "a number beyond all": ('"max":9.0', '"max":1e999', "evidence.statistics.returns.max: Number out of range"),
    "a comma at the end": ("}END", ",}", "not JSON"),
    "a comma at the end of a list": ('"seeds":[0,1,2]', '"seeds":[0,1,2,]', "not JSON"),
    "a form feed in front": ("START{", "\f{", "not JSON"),
    "a vertical tab behind": ("}END", "}\v", "not JSON"),
    "a byte order mark": ("START{", "\ufeff{", "not JSON"),
    "a key twice": ('"run":1', '"run":1,"run":1', "the key 'run' is given twice"),
    "a key twice, once escaped": ('"run":1', '"run":1,"r\\u0075n":1', "the key 'run' is given twice"),
    "a key twice within": ('"source":"search"', '"source":"search","source":"critic"', "'source' is given twice"),
    "a key twice in an unknown field": ('"run":1', '"run":1,"mood":{"of":1,"of":2}', "'of' is given twice"),
    "null among what was shown": ('"shown":[', '"shown":[null,', "evidence.shown[0]: Expected `object`, got `null`"),
    "a candidate that there is not": ('"selected":"initial"', '"selected":"itial"', "selected: Invalid enum value"),
    "nested deeply": ('"run":1', '"run":1,"mood":' + "[" * 100_000 + "]" * 100_000, "nested more than 200 levels"),
    "a seed of 65 bits": ('"seeds":[0', '"seeds":[18446744073709551616', "seeds holds a number of more than 64 bits"),
    "a length of 64 bits": ('"lengths":[10', '"lengths":[9223372036854775808', "initial.lengths[0]"),
    "half of a surrogate pair": ('"an answer"', '"an \\ud83d answer"', "not JSON"),
    "no evidence": ('"evidence":{', '"proof":{', "evidence is missing"),
    "a heading that is a number": ('"length":10}', '"length":10,"name":5}', "evidence.shown[0].name: Expected `str`"),
    "no thinking": ('"thinking":null,', "", "initial.thinking is missing"),
}
ODD_BUT_SOUND = {
    "fields in another order": lambda record: text_of(dict(reversed(record.items()))),
    "a field that nobody knows": lambda record: text_of({**record, "mood": {"of": [1, None]}}),
    "blanks between all": lambda record: json.dumps(record, separators=(" , ", "\t: ")),
    "a carriage return": lambda record: text_of(record) + "\r",
    "whole numbers for numbers": lambda record: text_of(record).replace(".0", ""),
    "large numbers": lambda record: text_of(
        {**record, "seconds": 1.7976931348623157e308, "revised": {**record["revised"], "seeds": [2**64 - 1, 2**63, 0]}}
    ),
    "escaped text": lambda record: text_of(record).replace("an answer", "\\ud83d\\ude00 \\u0000 \\/ caf\\u00e9 é"),
}


def mutated(case, iteration):
    before, after, _ = FAULTY[case]
    line = f"START{text_of(sound(iteration))}END"
    before, after = (each.replace("N", str(iteration)) if "iteration" in each else each for each in (before, after))
    assert before in line, case
    return line.replace(before, after, 1).replace("START", "").replace("END", "")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A run whose lines are faulty in every way, with a sound one after each, and then those that are odd but sound."""
    lines = []
    for case in FAULTY:
        lines += [mutated(case, len(lines)), text_of(sound(len(lines) + 1))]
    for write in ODD_BUT_SOUND.values():
        lines.append(write(sound(len(lines))))
    folder = tmp_path_factory.mktemp("data")
    write_run(folder / "run-01", [], tail="".join(f"{line}\n" for line in lines).encode(), rollouts=3)
    return folder


def expected(folder):
    """The numbers of sound lines, which are their iterations' and one more, and what is said of the others."""
    faulty = {2 * place + 1: said for place, (_, _, said) in enumerate(FAULTY.values())}
    total = 2 * len(FAULTY) + len(ODD_BUT_SOUND)
    return [number for number in range(1, total + 1) if number not in faulty], faulty


def test_the_store_accepts_what_the_types_accept_and_names_the_rest(data):
    numbers, faulty = expected(data)
    with open_store([data]) as store:
        found = {problem.line: problem.message for problem in store.problems}
        assert sorted(row["iteration"] + 1 for row in store.rows("episodes")) == numbers
    assert found.keys() == faulty.keys()
    assert [number for number, said in faulty.items() if said not in found[number]] == []


def test_values_are_those_of_the_strict_reading(data):
    """Whatever a line looks like, the numbers and texts in the relations are those of Python's own reader."""
    numbers, _ = expected(data)
    lines = (data / "run-01" / "episodes.jsonl").read_text("utf-8").split("\n")
    with open_store([data]) as store:
        rows = {row["iteration"]: row for row in store.rows("episodes")}
    for number in numbers:
        record, row = json.loads(lines[number - 1]), rows[number - 1]
        assert {name: row[name] for name in ("initial", "revised", "selected", "revision_status", "statistics")} == {
            **{role: {**record[role], "text": None, "example_ids": None} for role in ("initial", "revised")},
            **{name: record[name] for name in ("selected", "revision_status")},
            "statistics": record["evidence"]["statistics"],
        }


@pytest.mark.parametrize(
    "command",
    [["summary"], ["salience", "--detector", "resolved"], ["rates"], ["rescore", "--rollouts", "2"]],
)
def test_every_command_leaves_out_the_same_lines(data, command):
    """Commands that read line by line too: `rescore` runs every policy of a sound line again, or says why not."""
    result = CliRunner().invoke(app, [command[0], str(data), *command[1:], "--format", "csv"])
    assert result.exit_code == 0, result.stderr
    assert f"{len(FAULTY)} problems in the records" in result.stderr
    if command[0] == "summary":
        [row] = csv.DictReader(result.stdout.splitlines())
        assert int(row["revisions"]) == len(expected(data)[0])
    if command[0] == "rescore":
        assert f"{2 * len(expected(data)[0])} candidates left out" in result.stderr


def test_verify_names_every_line_that_no_type_accepts(data):
    result = CliRunner().invoke(app, ["verify", str(data), "--all", "--strict"])
    assert result.exit_code == 1
    # That a rollout was not run is what verify is there to find: the line is read, and told of in a row.
    assert f"{len(FAULTY) - 1} problems in the records" in result.stderr


@pytest.mark.parametrize("case", ODD_BUT_SOUND)
def test_the_type_accepts_what_is_odd_but_sound(case):
    assert decode(ODD_BUT_SOUND[case](sound(3)).encode(), Episode).iteration == 3


@pytest.mark.parametrize("case", FAULTY)
def test_no_faulty_line_has_the_form_of_a_record(case, duckdb_matches):
    assert not duckdb_matches(mutated(case, 3)) or case == "a rollout that was not run"


def test_a_line_as_it_is_written_has_the_form_of_a_record(duckdb_matches):
    assert duckdb_matches(text_of(sound()))
    assert duckdb_matches(json.dumps(sound()))


@pytest.fixture
def duckdb_matches():
    import duckdb

    with duckdb.connect() as connection:
        yield lambda text: connection.execute(
            "select regexp_full_match(?, ?)", [text, form_of(Episode).expression]
        ).fetchone()[0]


def test_every_key_of_run_json_counts_once(tmp_path):
    folder = write_run(tmp_path / "run-01", [sound()])
    text = (folder / "run.json").read_text()
    (folder / "run.json").write_text(text.replace('"seed": 7', '"seed": 7, "seed": 8'))
    write_run(tmp_path / "run-02", [{**sound(), "run": 2}])
    with open_store([tmp_path]) as store:
        [problem] = store.problems
        assert [row["run"] for row in store.rows("runs")] == [2]
    assert "the key 'seed' is given twice" in problem.message


def test_a_fault_of_the_file_beside_lines_is_named(tmp_path):
    """Bytes on no line that DuckDB counts: white space that is none of JSON's."""
    write_run(tmp_path, [sound(0), sound(1)], tail=b"\f\n \v \n" + f"{text_of(sound(2))}\n".encode())
    with open_store([tmp_path]) as store:
        assert [problem.line for problem in store.problems] == [3, 4]
        assert len(store.rows("episodes")) == 3


def test_no_progress_bar_is_drawn_among_rows(tmp_path):
    write_run(tmp_path / "run-01", [sound()])
    with open_store([tmp_path]) as store:
        connection = store._database._connection
        assert connection.execute("select current_setting('enable_progress_bar')").fetchall() == [(False,)]
