"""A question of a user's own: asked with `audit judge --rubric`, and read back as a detector."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from audit.cli import app
from audit.judging.verdicts import UnreadableVerdictError, Verdict, read_verdict
from tests.audit.judging.judges import reply as driver_reply
from tests.audit.samples import revision, write_run

pytestmark = pytest.mark.usefixtures("opened_once")

RUBRIC = """
question = "What does the text blame?"
counts = ["one-run"]

[categories]
one-run = "a single bad rollout"
policy = "the policy's formula"
Nothing = "nothing is blamed"
"""


def reply(category, sentence="The pole fell."):
    return json.dumps({"category": category, "sentence": sentence})


@pytest.fixture(autouse=True)
def replies(server):
    server.cases = {0: [reply("one-run")], 1: [reply("policy")], 2: ["I cannot tell."], 3: [reply("nothing", "")]}


@pytest.fixture
def data(tmp_path):
    made = [
        revision(
            [1, 5, 9], [2, 2, 2], after=(1, 2.5, 3), answer=f"The pole fell. This is case {number}.", iteration=number
        )
        for number in range(4)
    ]
    return write_run(tmp_path / "data", made)


@pytest.fixture
def rubric(tmp_path):
    path = tmp_path / "blame.toml"
    path.write_text(RUBRIC)
    return path


def audit(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def rows(*arguments):
    result = audit(*arguments, "--format", "json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def test_the_question_is_asked_and_its_categories_counted(data, rubric, server):
    found = rows("judge", data, "--rubric", rubric, *server.options())
    assert [(row["category"], row["answers"], row["quoted"]) for row in found] == [
        ("one-run", 1, 1),
        ("policy", 1, 1),
        ("Nothing", 1, 0),
        ("unreadable", 1, None),
    ]
    prompt = next(prompt for prompt in server.prompts if "case 1." in prompt)
    assert "What does the text blame?" in prompt
    assert "- policy: the policy's formula" in prompt
    assert "mentions_worst" not in prompt
    asked = len(server.prompts)
    rows("judge", data, "--rubric", rubric, *server.options())
    assert len(server.prompts) == asked


def test_its_judgements_are_a_detector(data, rubric, server):
    rows("judge", data, "--rubric", rubric, *server.options())
    options = ("--detector", rubric)
    [row] = rows("salience", data, *options)
    assert (row["detector"], row["revisions"], row["strict"]) == ("blame", 3, 1)
    assert "1 of 4 revisions" in audit("salience", data, *options).stderr
    assert [row["cites"] for row in rows("revisions", data, *options)] == [True, False, None, False]
    judged = rows("sql", data, "select iteration, category from rubric_judgements", *options)
    assert [row["category"] for row in judged] == ["one-run", "policy", None, "Nothing"]


def test_drivers_and_rubrics_in_one_file_are_kept_apart(data, rubric, server):
    rows("judge", data, "--rubric", rubric, *server.options())
    server.cases = {number: [driver_reply("best", "The pole fell.")] for number in range(4)}
    rows("judge", data, *server.options())
    assert rows("salience", data, "--detector", "judge")[0]["strict"] == 0
    assert rows("salience", data, "--detector", "judge", "--about", "best")[0]["citing_regressions_pct"] == 100
    assert rows("salience", data, "--detector", rubric)[0]["strict"] == 1


def test_judgements_of_an_earlier_wording_do_not_count(data, rubric, server):
    rows("judge", data, "--rubric", rubric, *server.options())
    rubric.write_text(RUBRIC.replace("blame?", "blame most?"))
    result = audit("salience", data, "--detector", rubric)
    assert result.exit_code == 2
    assert result.stderr.startswith("audit: no judgements by the rubric blame as it is now")


def test_a_file_without_a_question_is_no_rubric(data, tmp_path):
    path = tmp_path / "pattern.toml"
    path.write_text("pattern = 'x'")
    result = audit("judge", data, "--rubric", path, "--backend", "ollama", "--plan")
    assert (result.exit_code, "has no question for a judge" in result.stderr) == (2, True)


def test_a_category_is_read_in_any_case():
    categories = ("one-run", "Nothing")
    assert read_verdict('{"category": "NOTHING", "sentence": ""}', categories) == Verdict("Nothing", "")
    assert read_verdict("category: one-run\nsentence: It fell.", categories) == Verdict("one-run", "It fell.")
    for text, reason in (
        ('{"driver": "worst", "sentence": "x"}', "no category in the reply"),
        (reply("other"), "no such category: 'other'"),
        (reply("one-run") + reply("Nothing"), "several categories"),
    ):
        with pytest.raises(UnreadableVerdictError, match=reason):
            read_verdict(text, categories)
