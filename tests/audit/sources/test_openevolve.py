"""OpenEvolve's output folders: the trace, what checkpoints add, and bad ones."""

from __future__ import annotations

import gzip
import json
import shutil

import audit
from audit.ingest.runs import open_records
from audit.sources.program_headings import shown_programs
from audit.sources.prompts import prompts_of
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
    assert "the line is torn, too long, or not JSON; left out" in problems[0]
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
    with open_records([FOLDER], cache=False) as records:
        (run,) = records.runs
        iterations = list(records.iterations(run))
        prompts = dict(zip([each.iteration for each in iterations], prompts_of(run.files, iterations), strict=True))
    for given in lines():
        assert prompts[given["iteration"]] == f"{given['prompt']['system']}\n\n{given['prompt']['user']}"
    assert all(prompts.values())


def test_answers_that_name_a_program_are_read_for_what_drives_them():
    assert len(audit.revisions(FOLDER, detector="driver")) == len(read(FOLDER)[0])
