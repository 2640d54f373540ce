"""What judges and coders read of revisions whose candidates are texts."""

from __future__ import annotations

import csv
import io

from typer.testing import CliRunner

from audit.cli import app
from audit.judging.questions import Question
from audit.store import open_store
from tests.audit.samples import write_run
from tests.audit.texts import items, text_revision, text_run

ANSWER = "Example 2 lacks its unit.\n```\nAdd the numbers with care.\n```"


def text_record(**changes):
    shown = items([1, 0], ["2 m + 3 m", "4 kg + 1 kg"])
    return text_revision([1, 0], [1, 0.25], answer=ANSWER, evidence={"kind": "batch", "shown": shown}, **changes)


def prompt_of(folder):
    with open_store([folder]) as store:
        [row] = store.rows("questions")
        return Question.of(row).prompt()


def test_a_judge_reads_items_and_words_and_no_outcome(tmp_path):
    write_run(tmp_path, [text_record()], **text_run())
    prompt = prompt_of(tmp_path)
    assert "- Example 2: score 0; it reads: 4 kg + 1 kg" in prompt
    assert "- instruction: Add the [-numbers.-] {+numbers with care.+}" in prompt
    assert "worst: a fault seen in the worst example" in prompt
    assert "Example 2 lacks its unit." in prompt
    assert "rollout" not in prompt.split("## What you decide")[0]
    assert "0.25" not in prompt


def test_a_judge_is_asked_about_programs_too(tmp_path):
    shown = [{"label": "item", "rollout": None, "return": 0.5, "name": "Program 1", "text": "x = 1"}]
    record = text_revision([0.5], [0.7], selected="revised", evidence={"kind": "programs", "shown": shown})
    write_run(tmp_path, [record], **text_run(method={"second": "critic", "evidence": "programs"}))
    assert "- Program 1: score 0.5; it reads: x = 1" in prompt_of(tmp_path)


def test_a_coder_reads_items_and_words(tmp_path):
    write_run(tmp_path / "data", [text_record()], **text_run())
    result = CliRunner().invoke(app, ["sample", str(tmp_path / "data"), "--n", "1"])
    assert result.exit_code == 0, result.output
    [row] = csv.DictReader(io.StringIO(result.stdout.removeprefix("\ufeff")))
    assert row["rollouts"].splitlines()[1] == "Example 2: score 0; it reads: 4 kg + 1 kg"
    assert "{+numbers with care.+}" in row["changes"]
    assert row["answer"] == "Example 2 lacks its unit."
