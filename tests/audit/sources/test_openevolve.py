"""OpenEvolve's output folders: the trace, what checkpoints add, and bad ones."""

from __future__ import annotations

import gzip
import json
import shutil

import pytest

import audit
from audit.records.lines import open_records
from audit.sources.program_headings import shown_programs
from audit.sources.prompts import LINEAGE, calls_in, prompts_of
from collector.records import PoolMember
from tests.audit.sources.tool_folders import TOOLS, check_named, listing, read

FOLDER = TOOLS / "openevolve"


def lines():
    return [json.loads(line) for line in (FOLDER / "evolution_trace.jsonl").read_text().splitlines()]


def write(folder, traces):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "evolution_trace.jsonl").write_text("".join(json.dumps(each) + "\n" for each in traces))
    return folder


def test_a_line_of_the_trace_is_an_iteration():
    before = listing(FOLDER)
    rows, problems, notes = read(FOLDER)
    assert (problems, notes, listing(FOLDER)) == ([], [], before)
    found = {row["iteration"]: row for row in rows}
    # Two programs are in the checkpoint alone: their parents were gone when the trace was written.
    assert len(rows) == len(found) == len(lines()) + 2
    for given in lines():
        row = found[given["iteration"]]
        assert row["initial"]["text"] == {"program": given["parent_code"]}
        assert row["revised"]["text"] == {"program": given["child_code"]}
        assert row["initial"]["mean_return"] == given["parent_metrics"]["combined_score"]
        assert row["revised"]["mean_return"] == given["child_metrics"]["combined_score"]
        assert row["revised"]["answer"] == given["llm_response"]
        assert (row["selected"], row["evidence_kind"], row["initial"]["returns"]) == ("revised", "programs", None)


def test_items_are_the_programs_that_the_prompt_shows_with_their_scores():
    found = {row["iteration"]: row for row in read(FOLDER)[0]}
    for given in lines():
        row = found[given["iteration"]]
        prompt = given["prompt"]["user"]
        headings = [
            line.removeprefix("### ").partition(" (Score")[0]
            for line in prompt.splitlines()
            if line.startswith(("### Program ", "### Attempt ", "### Inspiration "))
        ]
        assert [each["name"] for each in row["shown"]] == headings
        assert all(each["return"] is not None and each["rollout"] is None for each in row["shown"])
        first = next(each for each in row["shown"] if each["name"] == "Program 1")
        assert first["text"].startswith("```python\n# EVOLVE-BLOCK-START")
        assert f"### Program 1 (Score: {first['return']:.4f})" in prompt


def test_code_that_looks_like_a_heading_of_the_prompt_ends_no_item():
    prompt = (
        "x\n# Program Evolution History\n## Previous Attempts\n\n"
        "### Attempt 1\n- Metrics: time: 1.0, combined_score: -0.5\n\n"
        "## Top Performing Programs\n\n### Program 1 (Score: 2)\n```\n# Task\n# Current Program\nrun()\n```\n\n"
        "## Inspiration Programs\n\n### Inspiration 1 (Score: 0.2500, Type: Novel)\ntext\n\n# Current Program\n```\n"
        "### Program 9 (Score: 9)\n```\n"
    )
    assert [(each.name, each.return_) for each in shown_programs(prompt)] == [
        ("Attempt 1", -0.5),
        ("Program 1", 2.0),
        ("Inspiration 1", 0.25),
    ]
    assert shown_programs(prompt)[1].text == "```\n# Task\n# Current Program\nrun()\n```"
    assert shown_programs("### Program 1 (Score: 2)\n") == []


def test_checkpoints_alone_have_the_programs_that_survived(tmp_path):
    folder = shutil.copytree(FOLDER, tmp_path / "openevolve")
    (folder / "evolution_trace.jsonl").unlink()
    rows, problems, _ = read(folder)
    expected = {row["iteration"]: row for row in read(FOLDER)[0]}
    assert problems == []
    assert 0 < len(rows) <= len(expected)
    for row in rows:
        full = expected[row["iteration"]]
        assert row["revised"] == full["revised"]
        assert row["initial"]["mean_return"] == full["initial"]["mean_return"]
        assert row["initial"]["text"] in (None, full["initial"]["text"])
        assert row["shown"] == full["shown"]


def test_a_program_that_trace_and_checkpoint_have_counts_once_and_checkpoints_add_code_and_the_lost_tail(tmp_path):
    folder = shutil.copytree(FOLDER, tmp_path / "openevolve")
    short = [{key: value for key, value in each.items() if not key.endswith("_code")} for each in lines()]
    survivors = {path.stem for path in folder.rglob("programs/*.json")}
    lost = [each for each in short if each["child_id"] in survivors][-1]
    write(folder, [each for each in short if each is not lost])
    rows, problems, _ = read(folder)
    assert problems == []
    assert [row["iteration"] for row in rows] == [row["iteration"] for row in read(FOLDER)[0]]
    known = {row["iteration"] for row in rows if row["revised"]["text"]}
    assert {each["iteration"] for each in short if each["child_id"] in survivors} <= known
    assert not known & {each["iteration"] for each in short if each["child_id"] not in survivors}


def test_a_packed_trace_is_read_and_a_torn_one_up_to_there(tmp_path):
    data = (FOLDER / "evolution_trace.jsonl").read_bytes()
    for name, packed in (("whole", gzip.compress(data)), ("torn", gzip.compress(data)[:-40])):
        (tmp_path / name).mkdir()
        (tmp_path / name / "evolution_trace.jsonl.gz").write_bytes(packed)
    assert len(read(tmp_path / "whole")[0]) == len(lines())
    (tmp_path / "line").mkdir()
    (tmp_path / "line" / "evolution_trace.jsonl").write_bytes(data[:-100])
    rows, problems, _ = read(tmp_path / "line")
    assert len(rows) == len(lines()) - 1
    assert f"line {len(lines())}: it is torn, too long, or not JSON; left out" in problems[0]
    rows, problems, _ = read(tmp_path / "torn", tmp_path / "line")
    assert any("cannot be read to its end" in each for each in problems)


def test_a_line_that_cannot_be_used_is_named(tmp_path):
    cases = [
        ({"child_metrics": {"combined_score": "high"}}, "a score is not a finite number"),
        ({"child_metrics": {"combined_score": float("nan")}}, "a score is not a finite number"),
        ({"child_metrics": {"ran": True}}, "the child has no score"),
        ({"parent_metrics": None, "parent_id": "gone"}, "the parent has no score"),
        ({"iteration": "3"}, "iteration is not a number from 0"),
    ]
    first, second, *_ = lines()
    folders = [
        write(tmp_path / f"run-{number}", [first | change, second | {"llm_response": f"{number}"}])
        for number, (change, _) in enumerate(cases)
    ]
    check_named(folders, [message for _, message in cases])


def test_without_a_combined_score_the_mean_of_the_numbers_is_taken(tmp_path):
    first = lines()[0] | {"child_metrics": {"a": 1, "b": 0.5, "ran": True, "error": "none"}}
    del first["improvement_delta"]
    rows, _, _ = read(write(tmp_path / "run", [first]))
    assert rows[0]["revised"]["mean_return"] == 0.75


def test_prompts_are_found_where_those_of_native_runs_are():
    with open_records([FOLDER]) as records:
        (run,) = records.runs
        iterations = list(records.iterations(run))
        prompts = dict(zip([each.iteration for each in iterations], prompts_of(run.files, iterations), strict=True))
    for given in lines():
        assert prompts[given["iteration"]] == f"{given['prompt']['system']}\n\n{given['prompt']['user']}"
    assert all(prompts.values())


def test_answers_that_name_a_program_are_read_for_what_drives_them():
    assert len(audit.revisions(FOLDER, detector="resolved")) == len(read(FOLDER)[0])


def program(name, parent, iteration, score, code, *, time=None, **more):
    metrics = score if isinstance(score, dict) else {"combined_score": score}
    metadata = {"changes": "x"} if parent else {}
    return {
        "id": name,
        "code": code,
        "parent_id": parent,
        "iteration_found": iteration,
        "timestamp": iteration if time is None else time,
        "metrics": metrics,
        "metadata": metadata,
        **more,
    }


def save(folder, checkpoint, *programs):
    place = folder / "checkpoints" / f"checkpoint_{checkpoint}" / "programs"
    place.mkdir(parents=True)
    for each in programs:
        (place / f"{each['id']}.json").write_text(json.dumps(each))
    (place.parent / "metadata.json").write_text(json.dumps({"islands": [[each["id"] for each in programs]]}))
    return folder


def found(folder):
    rows, problems, notes = read(folder)
    return [(row["iteration"], row["revised"] and row["revised"]["mean_return"]) for row in rows], problems, notes


def test_copies_are_neither_revisions_nor_parents(tmp_path):
    folder = save(
        tmp_path / "sorting",
        4,
        program("seed", None, 0, 0.1, "a"),
        program("one", "seed", 1, 0.5, "b"),
        program("copy", "one", 1, 0.5, "b", metadata={"island": 2}),
        program("migrant", "copy", 0, 0.5, "b", metadata={"changes": "x", "migrant": True}),
        program("two", "migrant", 2, 0.4, "c"),
        program("again", "one", 3, 0.5, "b"),
        program("false", "one", 4, 0.7, "d", metadata={"migrant": True}),
    )
    rows, problems, notes = found(folder)
    assert rows == [(1, 0.5), (2, 0.4), (3, 0.5)]
    assert "left out: 3 copies that OpenEvolve made" in notes[0]
    assert ["is marked as a migrant, and differs" in each for each in problems] == [True]
    with open_records([folder]) as records:
        members = [each for file in records.runs[0].files for each in calls_in(file, PoolMember, LINEAGE)]
    assert {each.candidate: each.parents for each in members}["two"] == ["one"]


def trace(*steps):
    """Lines of (iteration, parent, child), one a second, with the number of the line as the child's score."""
    scores = {}
    for place, (iteration, parent, child) in enumerate(steps):
        scores[child] = float(place)
        metrics = {"combined_score": scores.get(parent, -1.0)}, {"combined_score": scores[child]}
        yield {"iteration": iteration, "timestamp": place, "parent_id": parent, "child_id": child} | dict(
            zip(("parent_metrics", "child_metrics"), metrics, strict=True)
        )


@pytest.mark.parametrize(
    ("steps", "kept"),
    [
        ("1sa 2ab 3bc 4bd 3be 4ef 5eg", (0, 1, 4, 5, 6)),
        ("1sa 2ab 3bc 4cd 5de", (0, 1, 2, 3, 4)),
        ("1sa 2ab 3bc 5bd 4be 3bf 5fg", (0, 1, 4, 5, 6)),
        ("1sa 2ab 3bc 4bd 5de 6ef 3bg 4gh", (0, 1, 6, 7)),
        ("1sa 2ab 3bc 3bd 4de 5ef 4dg 5gh 2ai 3ij", (0, 8, 9)),
        ("1sa 3sb 2ac 4cd 6ce 5df", (0, 1, 2, 3, 4, 5)),
    ],
)
def test_of_a_resumed_run_the_branch_that_went_on_is_cached(steps, kept, tmp_path):
    lines = list(trace(*((int(each[0]), each[1], each[2]) for each in steps.split())))
    programs = [program("s", None, 0, -1.0, "s")] + [
        program(each["child_id"], each["parent_id"], each["iteration"], place * 1.0, each["child_id"], time=place)
        for place, each in enumerate(lines)
    ]
    for folder in (write(tmp_path / "trace", lines), save(tmp_path / "saved", 9, *programs)):
        rows, problems, notes = found(folder)
        assert problems == []
        assert rows == sorted((lines[place]["iteration"], float(place)) for place in kept), folder
        assert len(kept) == len(lines) or f"left out: {len(lines) - len(kept)} revisions" in notes[0]


def test_a_line_that_two_traces_have_counts_once(tmp_path):
    folder = write(tmp_path / "run", list(trace((1, "s", "a"), (2, "a", "b"))))
    data = (folder / "evolution_trace.jsonl").read_bytes()
    (folder / "evolution_trace.jsonl.1.gz").write_bytes(gzip.compress(data.splitlines(keepends=True)[0]))
    rows, problems, _ = found(folder)
    assert rows == [(1, 0.0), (2, 1.0)]
    assert ["its program is in another line too: 'a'" in each for each in problems] == [True]


def test_an_iteration_twice_in_a_single_checkpoint_is_no_branch(tmp_path):
    folder = save(
        tmp_path / "sorting",
        4,
        program("seed", None, 0, 0.1, "a"),
        program("one", "seed", 1, 0.2, "b"),
        program("two", "one", 3, 0.3, "c"),
        program("three", "one", 3, 0.4, "d"),
    )
    rows, problems, notes = found(folder)
    assert len(rows) == 2
    assert not [line for line in notes if "resumed" in line]
    assert ["iteration 3: another entry has the same iteration; left out" in each for each in problems] == [True]


def test_a_failed_evaluation_is_no_score(tmp_path):
    folder = save(
        tmp_path / "sorting",
        4,
        program("seed", None, 0, 0.1, "a"),
        program("late", "seed", 1, {"error": 0.0, "timeout": True}, "b"),
        program("low", "seed", 2, {"combined_score": 0.0, "error": 0.0}, "c"),
        program("child", "late", 3, 0.5, "d"),
        program("stage", "low", 4, {"combined_score": 0.4, "stage2_timeout": True, "timeout": True}, "e"),
    )
    rows, problems, notes = found(folder)
    assert rows == [(1, None), (2, 0.0), (4, None)]
    assert [line for line in notes if "2 programs whose evaluation failed or took too long: unreadable answers" in line]
    assert not [line for line in notes if "combined_score" in line]
    said = list(audit.lineage(folder).notes)
    assert said[: len(notes) + 2] == [*notes, "1 problem in the records, left out:", f"  {problems[0]}"]
    assert ["the evaluation of its parent failed" in each for each in problems] == [True]


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("two", {"parent_id": "two"}, "its parent is not an earlier program: 'two'"),
        ("one", {"parent_id": "two"}, "its parent is not an earlier program: 'two'"),
        ("two", {"metadata": None}, "metadata is not an object: null"),
        ("two", {"metadata": "{"}, "metadata is not an object: '{'"),
        ("two", {"code": 5}, "code is not a text: 5"),
        ("two", {"metrics": None}, "metrics is not an object: null"),
        ("two", {"metrics": {}}, "the child has no score"),
        ("two", {"parent_id": None}, "parent_id is missing"),
        ("two", {"timestamp": "x"}, "timestamp is not a number: 'x'"),
        ("two", {"prompts": {"diff_user": 5}}, "diff_user is not an object: 5"),
        ("two", {"metadata": {"changes": "x", "parent_metrics": {"combined_score": 9}}}, "contradict each other: 9.0"),
    ],
)
def test_what_is_damaged_in_a_checkpoint_is_named(name, change, message, tmp_path):
    programs = [
        program("seed", None, 0, 0.1, "a"),
        program("one", "seed", 1, 0.5, "b"),
        program("two", "one", 2, 0.4, "c"),
    ]
    save(tmp_path / "sorting", 4, *(each | change if each["id"] == name else each for each in programs), programs[0])
    rows, problems, _ = found(tmp_path / "sorting")
    assert (len(rows), [message in each for each in problems]) == (1, [True]), problems


def test_what_checkpoints_say_differently_or_lack_is_named(tmp_path):
    folder = save(tmp_path / "sorting", 2, program("seed", None, 0, 0.1, "a"), program("one", "seed", 1, 0.5, "x"))
    save(folder, 4, program("seed", None, 0, 0.1, "a"), program("one", "seed", 1, 0.5, "b"))
    (folder / "checkpoints/checkpoint_4/programs/two.json").write_text(json.dumps(program("one", "seed", 1, 0.5, "b")))
    assert ["id is not the name of the file: 'one'" in each for each in found(folder)[1]].count(True) == 1
    (folder / "checkpoints/checkpoint_4/programs/two.json").unlink()
    assert ["says otherwise than a later checkpoint" in each for each in found(folder)[1]] == [True]
    (folder / "checkpoints/checkpoint_2/programs/one.json").unlink()
    assert ["programs/one.json is missing" in each for each in found(folder)[1]] == [True]
    (folder / "checkpoints/checkpoint_2/metadata.json").unlink()
    assert "checkpoint_2: without metadata.json" in found(folder)[2][0]
