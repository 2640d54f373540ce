"""A user's own prompt templates."""

from __future__ import annotations

import hashlib
import json
import shutil

import pytest

from collector.cli import main
from collector.errors import UsageError
from collector.prompts import templates
from tests.collector.helpers import GOOD, ScriptedModel, answer, collect, in_process, spec


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "mine"
    path.mkdir()
    return path


def test_ours_have_every_required_placeholder():
    for name, required in templates.REQUIRED.items():
        assert set(required) <= templates.placeholders(None, name)


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


CRITIC = "{{ history }}{{ description }}{{ mean_return }}{{ optimum }}{{ proposed }}"

REFUSED = {
    "no template": ({}, "holds no template"),
    "a name that replaces nothing": ({"serach.j2": "x"}, "serach.j2 replaces nothing; templates are "),
    "a placeholder missing": ({"search.j2": "{{ optimum }}"}, "search.j2 misses the placeholder history"),
    "another one missing": ({"critic.j2": CRITIC}, "critic.j2 misses the placeholder rollouts_shown"),
    "missing through a part": ({"history.j2": "nothing here"}, "misses the placeholder history"),
    "a fault in the template": ({"search.j2": "{% if %}"}, "search.j2:1: "),
    "no text": ({"search.j2": b"\xff{{ history }}"}, "search.j2 cannot be read as a template"),
    "a part that does not exist": (
        {"search.j2": "{% include 'x.j2' %}"},
        "search.j2 includes x.j2, which does not exist",
    ),
}


def test_templates_that_cannot_be_used_are_refused_by_name(tmp_path):
    for number, (files, message) in enumerate(REFUSED.values()):
        folder = tmp_path / str(number)
        folder.mkdir()
        for name, text in files.items():
            (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        with pytest.raises(UsageError) as error:
            templates.check(folder)
        assert message in str(error.value)
        assert "\n" not in str(error.value)


FAILING = {
    "a placeholder that nothing fills": ("{{ budget }}", "'budget' is undefined"),
    "a fault on filling": ("{{ 1 // 0 }}", "ZeroDivisionError"),
    "an attribute that is not there": ("{{ history[0].parmas }}", "has no attribute 'parmas'"),
    "itself": ("{% include 'history.j2' %}", "RecursionError"),
}


def test_a_template_that_fails_is_refused_before_a_run_begins(folder, tmp_path):
    for text, message in FAILING.values():
        (folder / "history.j2").write_text("{{ history }}\n" + text)
        options = ["--env", "frozenlake", "--variant", "threetraj", "--prompts", folder, "--out", tmp_path / "runs"]
        done = in_process(main, *options)
        assert done.returncode == 2
        [line] = done.stderr.splitlines()
        assert line.startswith(f"collect: {folder / 'history.j2'}:")
        assert message in line
        assert not (tmp_path / "runs").exists()


def test_a_template_that_fails_on_the_way_stops_its_run(folder, tmp_path):
    (folder / "search.j2").write_text("{{ history }}{{ optimum }}{{ 1 // (2 - iteration) }}")
    model = ScriptedModel(*[answer(GOOD)] * 6)
    asked = spec("frozenlake", "threetraj", model=model, prompt_folder=folder)
    with pytest.raises(UsageError, match=r"search\.j2:1: ZeroDivisionError"):
        collect(asked, tmp_path / "runs", model)
    assert len(model.prompts) == 4


@pytest.mark.parametrize("variant", ["propsplus", "criticonly", "reptraj", "threetraj", "r2po"])
def test_a_copy_of_ours_gives_the_same_prompts(variant, folder, tmp_path):
    for path in templates.OURS.glob("*.j2"):
        shutil.copy(path, folder)
    prompts = []
    for place in (None, folder):
        run = collect(spec("frozenlake", variant, prompt_folder=place, condition="x"), tmp_path / str(bool(place)))
        prompts.append([json.loads(line)["prompt"] for line in (run / "calls.jsonl").read_text().splitlines()])
    assert prompts[0] == prompts[1]
