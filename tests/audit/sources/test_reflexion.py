"""Logs in the form in which Reflexion's programming runs write them."""

from __future__ import annotations

import json

from tests.audit.sources.tool_folders import check_named, read

NAME = "humaneval-py._reflexion_5_gpt-4_pass_at_k_1_py.jsonl"
TESTS = ["assert f(1) == 1", "assert f(2) == 4", "assert f(3) == 9"]


def feedback(*passed):
    good = [test for number, test in enumerate(TESTS, start=1) if number in passed]
    bad = [f"{test} # output: 0" for number, test in enumerate(TESTS, start=1) if number not in passed]
    return "\n".join(["Tested passed:", *good]) + "\n\n" + "\n".join(["Tests failed:", *bad])


def problem(*results, **changes):
    steps = range(len(results))
    return {
        "task_id": "HumanEval/0",
        "is_solved": True,
        "reflections": [f"It fails test {step}." for step in steps[1:]],
        "implementations": [f"def f(x): return {step}" for step in steps],
        "test_feedback": [feedback(*each) for each in results],
        **changes,
    }


def write(folder, *lines):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / NAME).write_text("".join(line if isinstance(line, str) else json.dumps(line) + "\n" for line in lines))
    return folder


def test_a_reflection_is_an_iteration_and_the_tests_are_its_examples(tmp_path):
    rows, problems, _ = read(write(tmp_path, problem([1, 2, 3]), problem([2], [1, 3], [1, 2, 3])))
    assert problems == []
    first, second = rows
    assert (first["env"], first["iteration"], second["iteration"]) == ("humaneval-py", 2, 3)
    assert first["initial"]["example_ids"] == [TESTS[1], TESTS[0], TESTS[2]] == first["revised"]["example_ids"]
    assert (first["initial"]["returns"], first["revised"]["returns"]) == ([1, 0, 0], [0, 1, 1])
    assert [each["return"] for each in first["shown"]] == [1, 0, 0]
    assert first["revised"]["answer"] == "It fails test 1."
    assert second["initial"]["text"] == first["revised"]["text"] == {"program": "def f(x): return 1"}
    assert {row["selected"] for row in rows} == {"revised"}


def test_a_problem_that_cannot_be_used_is_named(tmp_path):
    cases = [
        (problem([1], [2], implementations=["f"]), "several attempts at a problem"),
        (problem([1], [2], test_feedback=["ok", "ok"]), "does not list tests"),
        (problem([1], [2], test_feedback=["Tested passed:\n1\n\nTests failed:"] * 2), "other than assertions"),
        (problem([1], [2], test_feedback=["Tested passed:\n\nTests failed:"] * 2), "lists no test"),
        (
            problem([1], [2], test_feedback=[feedback(1), "Tested passed:\nassert 1\n\nTests failed:"]),
            "different examples",
        ),
        ({"task_id": "old", "reflections": ["It fails."]}, "no implementations or no test_feedback"),
        ('{"torn', "line 2 is torn"),
    ]
    folders = [
        write(tmp_path / f"run-{number}", problem([1], [1, 2], reflections=[f"It fails {number}."]), bad)
        for number, (bad, _) in enumerate(cases)
    ]
    check_named(folders, [message for _, message in cases])
