"""A user's own prompt templates."""

from __future__ import annotations

import hashlib
import json
import shutil

import pytest

from collector.errors import UsageError
from collector.prompts import templates
from tests.collector.helpers import ScriptedModel, answer, collect, spec

GOOD = [0, 3, 3, 3, 0, 0, 0, 0, 3, 1, 0, 0, 0, 2, 1, 0]


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "mine"
    path.mkdir()
    return path


def test_ours_have_every_required_placeholder_and_no_unknown_one():
    for name, required in templates.REQUIRED.items():
        found = templates.placeholders(None, name)
        assert set(required) <= found <= templates.KNOWN


def test_a_template_of_the_users_replaces_ours_and_only_that_one(folder, tmp_path):
    (folder / "search.j2").write_text("MY WORDS {{ optimum }} {{ iteration }}\n{% include 'history.j2' %}")
    model = ScriptedModel(answer(GOOD), answer(GOOD))
    asked = spec("frozenlake", "threetraj", model=model, iterations=1, prompt_folder=folder)
    run_folder = collect(asked, tmp_path / "runs", model)
    assert model.prompts[0].startswith("MY WORDS 1 0\n#0 params=")
    assert "You review policies" in model.prompts[1]
    assert "prompts-mine" in asked.condition
    recorded = json.loads((run_folder / "run.json").read_text())["prompts"]
    assert recorded["search.j2"] == hashlib.sha256((folder / "search.j2").read_bytes()).hexdigest()
    assert recorded["critic.j2"] == templates.hashes()["critic.j2"]


def test_a_part_that_the_users_template_brings_counts(folder):
    shutil.copy(templates.OURS / "search.j2", folder)
    (folder / "history.j2").write_text("{% for trial in history %}{{ trial.params }}{% endfor %}")
    templates.check(folder)
    assert "history" in templates.placeholders(folder, "search.j2")


SEARCH = "{{ history }}{{ optimum }}{{ iteration }}"
CRITIC = "{{ history }}{{ description }}{{ mean_return }}{{ optimum }}{{ proposed }}"

REFUSED = {
    "no template": ({}, "holds no template"),
    "a name that replaces nothing": ({"serach.j2": "x"}, "serach.j2 replaces nothing; templates are "),
    "a placeholder missing": ({"search.j2": "{{ optimum }}"}, "search.j2 misses the placeholder history"),
    "another one missing": ({"critic.j2": CRITIC}, "critic.j2 misses the placeholder rollouts_shown"),
    "missing through a part": ({"history.j2": "nothing here"}, "misses the placeholder history"),
    "a placeholder that nothing fills": (
        {"search.j2": SEARCH + "{{ budget }}"},
        "search.j2 has the placeholder budget, which nothing fills",
    ),
    "a fault in the template": ({"search.j2": "{% if %}"}, "search.j2:1: "),
    "a part that does not exist": (
        {"search.j2": "{% include 'x.j2' %}"},
        "search.j2 includes x.j2, which does not exist",
    ),
}


@pytest.mark.parametrize(("files", "told"), REFUSED.values(), ids=REFUSED)
def test_templates_that_cannot_be_used_are_refused_by_name(files, told, folder):
    for name, text in files.items():
        (folder / name).write_text(text)
    with pytest.raises(UsageError) as error:
        templates.check(folder)
    assert told in str(error.value)
    assert "\n" not in str(error.value)
