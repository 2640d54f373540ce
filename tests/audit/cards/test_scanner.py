"""What single answers cite of their prompts, and the scanner of Inspect Scout that says so."""

from __future__ import annotations

import csv
import json
import subprocess
import sys

import pytest

import audit
from audit.cards.citations import cited
from audit.sources.prompt_evidence import evidence_in
from tests.tools.running import REPOSITORY, run_tool

ROLLOUTS = "\n\n".join(
    f"{name} rollout (rollout {index}, return {score}, length 9):\n0->1->2"
    for name, index, score in (("Worst", 7, 1.5), ("Median", 0, 5.0), ("Best", 3, 9.0))
)
EXAMPLES = "\n\n\n".join(
    f"# Example {place}\n## Feedback\nScore: {score}" for place, score in enumerate((0.9, 0.1, 0.1), 1)
)
UNSCORED = "# Example 1\n## Feedback\nWrong.\n\n\n# Example 2\n## Feedback\nRight."


@pytest.mark.parametrize(
    ("prompt", "answer", "value", "places"),
    [
        (ROLLOUTS, "The worst rollout fell.", "worst", [1]),
        (ROLLOUTS, "In rollout 7 it fell.", "worst", [1]),
        (ROLLOUTS, "The worst rollout fell. The best rollout did not.", "worst and others", [1, 3]),
        (ROLLOUTS, "The best rollout went far.", "others", [3]),
        (ROLLOUTS, "I lowered the gain.", "none", []),
        (EXAMPLES, "Example 2 failed.\n```\nBe brief.\n```", "worst", [2]),
        (EXAMPLES, "The first example is fine; example 3 failed.\n```\nBe brief.\n```", "worst and others", [1, 3]),
        (EXAMPLES, "Example 1 is fine.\n```\nBe brief.\n```", "others", [1]),
        (EXAMPLES, "```\nExample 2 must not fail.\n```", "none", []),
        (UNSCORED, "Example 2 is fine.\n```\nBe brief.\n```", "some", [2]),
        # Without a fence all of an answer is the text that it proposes.
        (EXAMPLES, "Example 1 is fine.", "none", []),
    ],
)
def test_what_an_answer_cites(prompt, answer, value, places):
    evidence = evidence_in(prompt)
    assert evidence is not None
    found = cited(evidence, answer)
    assert (found["value"], found["cited"]) == (value, places)
    assert all(sentence in answer for sentence in found["sentences"])
    assert found["worst"] == {ROLLOUTS: [1], EXAMPLES: [2, 3], UNSCORED: []}[prompt]
    assert found["best"] == {ROLLOUTS: [3], EXAMPLES: [1], UNSCORED: []}[prompt]


def test_no_other_version_of_duckdb_is_needed():
    loads = "import audit.cards.citations, sys; print(sorted({'duckdb', 'numpy', 'pandas'} & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", loads], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def scanned(database):
    """The rows of a scan by transcript."""
    found = json.loads(run_tool("scout", "run_scout_scan.py", database, package="inspect_scout", printed="stdout"))
    assert [row["scan_error"] for row in found] == [None] * len(found)
    return {row["transcript_id"]: row for row in found}


@pytest.mark.slow
def test_scout_finds_the_scanner(tmp_path):
    run_tool("scout", "run_scout.py", tmp_path / "answers", package="inspect_scout")
    found = scanned(tmp_path / "answers")
    assert {name: (row["value"], row["answer"]) for name, row in found.items()} == {
        "candidate-0": ("none", None),
        "candidate-1": ("worst", "The first example failed."),
        "candidate-2": ("worst", "Example 1 failed!"),
        "candidate-3": ("others", "Example 2 shows that brevity is not needed."),
        "other": (None, None),
    }
    metadata = json.loads(found["candidate-3"]["metadata"])
    assert {name: metadata[name] for name in ("shown", "cited", "worst", "best")} == {
        "shown": 2,
        "cited": [2],
        "worst": [1],
        "best": [2],
    }
    [reference] = json.loads(found["candidate-1"]["message_references"])
    assert (reference["type"], reference["cite"], bool(reference["id"])) == ("message", "[M1]", True)


@pytest.mark.slow
def test_the_scanner_agrees_with_the_audit_of_the_records(tmp_path):
    """Records know the scores and the examples that the scanner reads from the prompts."""
    planted = REPOSITORY / "data" / "gepa-planted"
    audit.export(planted, tmp_path / "answers")
    audit.export(planted, tmp_path / "answers.csv", "csv")
    with (tmp_path / "answers.csv").open(newline="") as file:
        rows = {row["transcript_id"]: row["references_worst"] for row in csv.DictReader(file)}
    found = scanned(tmp_path / "answers")
    assert found.keys() == rows.keys()
    judged = {name: known for name, known in rows.items() if known}
    assert len(judged) == 88
    assert {name: str(found[name]["value"]).startswith("worst") for name in judged} == {
        name: known == "true" for name, known in judged.items()
    }
