"""What is accepted is exactly what the record types accept, by every command; the rest is named by line and field."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from audit.cli import app
from audit.output import errors
from audit.output.errors import AuditError
from audit.store import open_store
from collector.records import Episode, decode
from tests.audit.samples import revision, write_run
from tests.audit.texts import text_revision, text_run


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


DEEP = "[" * 100_000 + "]" * 100_000
# What is replaced in a sound line, by what, and what is said of the line.
FAULTY = {
    "garbage": ("START{", "\x00\x01{", "not JSON"),
    "a list": ("START{", "[1,2]", "not a record"),
    "not UTF-8": ('"an answer"', '"\udcff\udcfe"', "not JSON"),
    "no iteration": ('"iteration":N,', "", "iteration is missing"),
    "a negative iteration": ('"iteration":N', '"iteration":-1', "iteration: Expected `int` >= 0"),
    "an earlier iteration": ('"iteration":N', '"iteration":1', "is in an earlier line too"),
    "another run's": ('"run":1', '"run":2', "belongs to another run"),
    "another condition's": ('"condition":"hand"', '"condition":"else"', "belongs to another run"),
    "another task's": ('"env":"cartpole"', '"env":"pong"', "belongs to another run"),
    "another method's": ('"variant":"threetraj"', '"variant":"r2po"', "belongs to another run"),
    "no initial": ('"initial":{', '"initial":null,"was":{', "initial: Expected `object`, got `null`"),
    "no mean": ('"mean_return":2.0', '"mean_return":null', "revised.mean_return: Expected `float`, got `null`"),
    "another mean": ('"mean_return":2.0', '"mean_return":2.001', "revised.mean_return is 2.001 where its returns have"),
    "no parameters": ('"params":[1.0,2.0,3.0]', '"params":[]', "initial.params is empty"),
    "a parameter less": ('"params":[1.0,2.0,3.0]', '"params":[1.0,2.0]', "initial has 2 params and revised 3"),
    "a length less": ('"lengths":[10,', '"lengths":[', "initial has 3 returns and 2 lengths"),
    "a seed less": ('"seeds":[0,', '"seeds":[', "initial has 3 returns and 2 seeds"),
    "an ending less": ('"ended":["terminated",', '"ended":[', "initial has 3 returns and 2 ended"),
    "fewer rollouts than the run's": ('"returns":[1.0,5.0,9.0],"lengths":[10,10,10],"seeds":[0,1,2],"ended":['
        '"terminated","terminated","terminated"]', '"returns":[5.0],"lengths":[10],"seeds":[0],"ended":["terminated"]',
        "initial has 1 returns where the run has 3 rollouts"),
    "an unknown source": ('"source":"search"', '"source":"oracle"', "initial.source: Invalid enum value 'oracle'"),
    "a status that does not fit": ('"revision_status":"ok"', '"revision_status":"none"', "does not fit the revised"),
    "an unknown kind": ('"kind":"three"', '"kind":"threee"', "evidence.kind"),
    "evidence that is a text": ('"evidence":{', '"evidence":"nan","was":{', "evidence: Expected `object | null`"),
    "no evidence": ('"evidence":{', '"proof":{', "evidence is missing"),
    "a fraction of an iteration": ('"iteration":N', '"iteration":N.0', "iteration: Expected `int`"),
    "an iteration in quotes": ('"iteration":N', '"iteration":"N"', "iteration: Expected `int`, got `str`"),
    "a run that is true": ('"run":1', '"run":true', "run: Expected `int`, got `bool`"),
    "a parameter in quotes": ('"params":[1.0', '"params":["0.5"', "initial.params[0]: Expected `float`, got `str`"),
    "null among seeds": ('"seeds":[0', '"seeds":[null', "initial.seeds[0]: Expected `int`, got `null`"),
    "an ending that there is not": ('"ended":["terminated"', '"ended":["exploded"', "initial.ended[0]"),
    "an answer that is an object": ('"answer":"an answer"', '"answer":{"a":1}', "initial.answer: Expected `str`"),
    "no thinking": ('"thinking":null,', "", "initial.thinking is missing"),
    "a rollout below zero": ('"rollout":0', '"rollout":-5', "evidence.shown[0].rollout: Expected `int` >= 0"),
    "a rollout that was not run": ('"rollout":0', '"rollout":3', "evidence.shown holds a rollout beyond the 3 of"),
    "NaN in a field that nothing checks": ('"seconds":0.5', '"seconds":NaN', "not JSON"),
    "a number beyond all": ('"max":9.0', '"max":1e999', "evidence.statistics.returns.max: Number out of range"),
    "a seed of 65 bits": ('"seeds":[0', '"seeds":[18446744073709551616', "seeds holds a number of more than 64 bits"),
    "a length of 64 bits": ('"lengths":[10', '"lengths":[9223372036854775808', "initial.lengths[0]"),
    "a comma at the end": ("}END", ",}", "not JSON"),
    "a form feed in front": ("START{", "\f{", "not JSON"),
    "a byte order mark": ("START{", "\ufeff{", "not JSON"),
    "half of a surrogate pair": ('"an answer"', '"an \\ud83d answer"', "not JSON"),
    "a key twice": ('"run":1', '"run":1,"r\\u0075n":1', "the key 'run' is given twice"),
    "a key twice within": ('"source":"search"', '"source":"search","source":"critic"', "'source' is given twice"),
    "a key twice in an unknown field": ('"run":1', '"run":1,"mood":{"of":1,"of":2}', "'of' is given twice"),
    "nested deeply": ('"run":1', f'"run":1,"mood":{DEEP}', "nested more than 200 levels"),
    "longer than is read": ('"an answer"', f'"{"x" * 2**24}"', "the line is longer than 16 MiB"),
}  # fmt: skip
ODD_BUT_SOUND = {
    "fields in another order": lambda record: text_of(dict(reversed(record.items()))),
    "a field that nobody knows": lambda record: text_of({**record, "mood": {"of": [1, None]}}),
    "blanks between all, and a blank line before": lambda record: json.dumps(record, separators=(" , ", "\t: ")),
    "a carriage return": lambda record: text_of(record) + "\r",
    "whole numbers for numbers": lambda record: text_of(record).replace(".0", ""),
    "large numbers": lambda record: text_of(
        {**record, "seconds": 1.7976931348623157e308, "revised": {**record["revised"], "seeds": [2**64 - 1, 2**63, 0]}}
    ),
    "escaped text": lambda record: text_of(record).replace("an answer", "\\ud83d\\ude00 \\u0000 \\/ caf\\u00e9 é"),
}
# Of texts; None where the line is sound, since newer writers may add a field.
FAULTY_TEXTS = {
    "a component twice": ('"text":{"instruction"', '"text":{"instruction":"x","instruction"', "is given twice"),
    "params and text": ('"text":{"inst', '"params":[1.0],"text":{"inst', None),
    "an id less": ('"example_ids":["0","1"]', '"example_ids":["0"]', "2 returns and 1 example_ids"),
    "a score that is text": ('"returns":[0.0,1.0]', '"returns":["0.0",1.0]', "returns"),
    "another mean": ('"mean_return":0.5', '"mean_return":0.75', "mean_return is 0.75"),
    "an item that was not scored": ('"rollout":0', '"rollout":2', "evidence.shown holds a rollout beyond the 2"),
}


def mutated(record, before, after):
    line = f"START{text_of(record)}END"
    number = str(record["iteration"])
    before, after = (each.replace("N", number) if '"iteration"' in each else each for each in (before, after))
    assert before in line, before
    return line.replace(before, after, 1).removeprefix("START").removesuffix("END")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A run whose lines are faulty in every way, with a sound one after each, and then those that are odd but sound."""
    lines = []
    for before, after, _ in FAULTY.values():
        lines += [mutated(sound(len(lines)), before, after), text_of(sound(len(lines) + 1))]
    for write in ODD_BUT_SOUND.values():
        lines.append(write(sound(len(lines))))
    folder = tmp_path_factory.mktemp("data")
    tail = "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape")
    write_run(folder / "run-01", [], tail=tail, rollouts=3)
    return folder


def expected():
    """The numbers of sound lines, which are their iterations' and one more, and what is said of the others."""
    faulty = {2 * place + 1: said for place, (_, _, said) in enumerate(FAULTY.values())}
    total = 2 * len(FAULTY) + len(ODD_BUT_SOUND)
    return [number for number in range(1, total + 1) if number not in faulty], faulty


def test_values_of_sound_lines_are_those_of_python_s_reader_and_the_rest_is_named(data):
    numbers, faulty = expected()
    lines = (data / "run-01" / "episodes.jsonl").read_text("utf-8", "surrogateescape").split("\n")
    with open_store([data]) as store:
        found = {problem.line: problem.message for problem in store.problems}
        rows = {row["iteration"] + 1: row for row in store.rows("episodes")}
    assert found.keys() == faulty.keys()
    assert {number: found[number] for number, said in faulty.items() if said not in found[number]} == {}
    assert sorted(rows) == numbers
    for number, row in rows.items():
        record = json.loads(lines[number - 1])
        assert {name: row[name] for name in ("initial", "revised", "selected", "revision_status", "statistics")} == {
            **{role: {**record[role], "text": None, "example_ids": None} for role in ("initial", "revised")},
            **{name: record[name] for name in ("selected", "revision_status")},
            "statistics": record["evidence"]["statistics"],
        }
    for write in ODD_BUT_SOUND.values():
        assert decode(write(sound(3)).encode(), Episode).iteration == 3


def test_lines_of_texts_are_checked_likewise(tmp_path):
    lines = [
        mutated(text_revision([0, 1], [1, 1], iteration=number), before, after)
        for number, (before, after, _) in enumerate(FAULTY_TEXTS.values())
    ]
    write_run(tmp_path, [text_revision([0, 1], [1, 1], iteration=9)], tail="\n".join(lines).encode(), **text_run())
    with open_store([tmp_path]) as store:
        told = {problem.line: problem.message for problem in store.problems}
        iterations = sorted(row["iteration"] for row in store.rows("episodes"))
    reasons = [reason for *_, reason in FAULTY_TEXTS.values()]
    assert [reason is None or reason in told[line] for line, reason in enumerate(reasons, start=2)] == [True] * 6
    assert (len(told), iterations) == (5, [1, 9])


def test_every_command_leaves_out_the_same_lines_and_strict_refuses_them(data, monkeypatch):
    """Commands that read line by line too: `rescore` runs every policy of a sound line again, or says why not."""
    for command in (["summary"], ["salience", "--detector", "resolved"], ["rescore", "--rollouts", "2"]):
        result = CliRunner().invoke(app, [command[0], str(data), *command[1:], "--format", "json"])
        assert result.exit_code == 0, result.stderr
        assert f"{len(FAULTY)} problems in the records" in result.stderr
        if command[0] == "summary":
            assert [row["revisions"] for row in json.loads(result.stdout)] == [len(expected()[0])]
        if command[0] == "rescore":
            assert f"{2 * len(expected()[0])} candidates left out" in result.stderr
    monkeypatch.setattr(errors, "NAMED", 3)
    told = rf"(?s){len(FAULTY)} problems.*episodes.jsonl:1: .*and {len(FAULTY) - 3} more"
    with pytest.raises(AuditError, match=told):
        open_store([data], strict=True)


def test_verify_reads_what_it_is_there_to_find(data):
    """`audit verify` has a row for each line whose fields do not fit together."""
    result = CliRunner().invoke(app, ["verify", str(data), "--all", "--strict"])
    assert result.exit_code == 1
    compared = {"another mean", "no parameters", "a parameter less", "a status that does not fit"}
    compared |= {"a rollout that was not run"}
    assert compared <= set(FAULTY)
    assert f"{len(FAULTY) - len(compared)} problems in the records" in result.stderr


def test_a_line_counts_where_it_is_and_a_torn_one_is_called_torn(tmp_path):
    """Blank lines are none, and a sound line after a bad one of its iteration is read."""
    bad = text_of({**sound(0), "selected": "both"})
    lost = text_of({**sound(3), "revised": None, "revision_status": "unreadable", "selected": "revised"})
    torn = text_of(sound(2))[:200]
    lines = ["", "  ", bad, text_of(sound(1)), lost, " \v ", text_of(sound(0)), text_of(sound(1)), torn]
    write_run(tmp_path, [], tail="\n".join(lines).encode(), rollouts=3)
    with open_store([tmp_path]) as store:
        told = {problem.line: problem.message for problem in store.problems}
        assert sorted(row["iteration"] for row in store.rows("revisions")) == [0, 1]
    assert list(told) == [3, 5, 6, 8, 9]
    assert "there is no revised candidate" in told[5]
    assert "torn" in told[9]


def test_a_copied_run_folder_counts_once(tmp_path):
    """Every line of the copy is named; what the copy has on top is read."""
    write_run(tmp_path / "a", [sound(0), sound(1)])
    write_run(tmp_path / "b", [sound(0), sound(1), sound(2)])
    with open_store([tmp_path]) as store:
        assert [(problem.line, "/b/" in problem.file) for problem in store.problems] == [(1, True), (2, True)]
        assert sorted(row["iteration"] for row in store.rows("revisions")) == [0, 1, 2]


def test_a_run_in_progress_can_be_audited(tmp_path):
    """A run that has just begun, one between two iterations, and one that writes a line this moment."""
    write_run(tmp_path / "begun", [], run=1)
    write_run(tmp_path / "going", [{**sound(), "run": 2}])
    write_run(tmp_path / "writing", [{**sound(), "run": 3}], tail=b'{"condition": "hand", "env"')
    with open_store([tmp_path]) as store:
        facts = {row["run"]: row["iterations_finished"] for row in store.rows("run_facts")}
        assert [row["run"] for row in store.rows("runs")] == [2, 3]
        assert len(store.problems) == 1
    assert facts == {1: 0, 2: 1, 3: 1}
