"""A prompt is asked again only where it comes out of the record byte for byte."""

from __future__ import annotations

import functools
import json
import re
import shutil
from collections import defaultdict

import msgspec
import pytest

from audit.interventions import making
from audit.interventions.rendering import Rendering
from audit.interventions.showing import ROLES
from audit.interventions.units import DIFFERENT, NO_PROMPT, NOT_RENDERED, TOO_FEW, eligible, sha256
from audit.rerun.rollouts import task_of
from audit.sources.prompts import prompts_of
from collector.prompts.templates import OURS
from collector.switches import Switches
from collector.tasks import TASKS
from tests.audit.interventions.planned import audit, lines, recorded
from tests.collector.helpers import ScriptedModel, answer, collect, spec

COMPILES = {"inverteddoublependulum", "invertedpendulum", "swimmer"}


def rendered(folder, templates=None):
    """For each recorded critic's prompt, by condition: itself, and what is made of the record."""
    pairs = defaultdict(list)
    with making.open_records([folder]) as records:
        for run in records.runs:
            iterations = sorted(records.iterations(run), key=lambda each: each.iteration)
            rendering = Rendering(run.run, task_of(run), templates)
            for place, prompt in enumerate(prompts_of(run.files, iterations)):
                if prompt is not None:
                    pairs[run.identity.condition].append((prompt, rendering.prompt(iterations, place)))
    return pairs


def assert_all_come_out_again(pairs, number):
    assert len(pairs) == number
    assert all(recorded == made for recorded, made in pairs)


def units(folder, condition=None, **settings):
    with making.open_records([folder]) as records:
        runs = [run for run in records.runs if condition in {None, run.identity.condition}]
        return eligible(records, runs, **{"spliced": False, **settings})


SWITCHES = {
    "optimum": Switches(optimum=123.456),
    "cap": Switches(step_cap=7),
    "step": Switches(step_size=0.25),
    "named": Switches(named_iterations=77),
    "paired": Switches(paired_seeds=True),
    "excerpts": Switches(excerpts=2),
    "warm-up": Switches(warmup_range="unbounded"),
    "clipping": Switches(action_clipping="released"),
}
QUICK = sorted(TASKS.keys() - COMPILES)
OTHERS = ("reptraj", "alwayscritic", "r2po")


@pytest.fixture(scope="module")
def collected(tmp_path_factory):
    """A run of each task, under each switch, and of each other critic, whose name is its condition."""
    folder = tmp_path_factory.mktemp("collected")
    for env in QUICK:
        collect(spec(env, "threetraj", condition=env, iterations=3, rollouts=4, warmup=2), folder)
    for name, switches in SWITCHES.items():
        env = "mountaincarcontinuous" if name == "clipping" else "cartpole"
        settings = {"iterations": 2, "rollouts": 3, "warmup": 1, "switches": switches}
        collect(spec(env, "threetraj", condition=name, **settings), folder)
    for variant in OTHERS:
        settings = {"iterations": 4, "rollouts": 3, "switches": Switches(excerpts=2)}
        collect(spec("cartpole", variant, condition=variant, **settings), folder)
    return folder


@pytest.fixture(scope="module")
def pairs(collected):
    return rendered(collected)


def test_prompts_come_out_again_of_every_task_under_every_switch_and_of_other_critics(collected, pairs):
    """The others' with their excerpts and rules."""
    numbers = dict.fromkeys(QUICK, 3) | dict.fromkeys(SWITCHES, 2) | dict.fromkeys(OTHERS, 4)
    assert {condition: len(found) for condition, found in pairs.items()} == numbers
    assert [name for name, found in pairs.items() for recorded, made in found if recorded != made] == []
    for variant in OTHERS:
        assert units(collected, variant).left_out == {("cartpole", "it does not show three rollouts"): 4}


@pytest.mark.slow
@pytest.mark.parametrize("env", sorted(COMPILES))
def test_prompts_of_tasks_that_compile_come_out_again(tmp_path, env):
    collect(spec(env, "threetraj", condition=env, iterations=3, rollouts=4, warmup=2), tmp_path)
    assert_all_come_out_again(rendered(tmp_path)[env], 3)


def test_prompts_behind_a_skipped_iteration_and_a_failed_revision_come_out_again(tmp_path):
    wanted = answer(range(1, 11))
    unreadable = ["nothing"] * 5
    script = [*unreadable, wanted, *unreadable, wanted, wanted, wanted, wanted]
    model = ScriptedModel(*script)
    made = spec("cartpole", "threetraj", model=model, iterations=4, rollouts=3, switches=Switches(on_unreadable="skip"))
    folder = collect(made, tmp_path, model)
    assert len(lines(folder / "episodes.jsonl")) == 3
    [pairs] = rendered(tmp_path).values()
    assert_all_come_out_again(pairs, 3)


def test_prompts_of_a_resumed_run_come_out_again(tmp_path):
    def stop(progress):
        raise KeyboardInterrupt

    made = spec("cartpole", "threetraj", iterations=3, rollouts=3)
    with pytest.raises(KeyboardInterrupt):
        collect(made, tmp_path, report=stop)
    collect(made, tmp_path)
    [pairs] = rendered(tmp_path).values()
    assert_all_come_out_again(pairs, 3)


@pytest.fixture(scope="module")
def templates(tmp_path_factory):
    """A user's template that is ours but for a word."""
    folder = tmp_path_factory.mktemp("mine")
    text = (OURS / "critic.j2").read_text()
    (folder / "critic.j2").write_text(text.replace("You review policies", "You, my friend, review policies"))
    return folder


@pytest.fixture(scope="module")
def of_templates(templates, tmp_path_factory):
    """Records of a critic that was asked by the user's template."""
    folder = tmp_path_factory.mktemp("of-templates")
    collect(spec("cartpole", "threetraj", iterations=3, rollouts=8, prompt_folder=templates), folder)
    return folder


def test_prompts_of_a_users_templates_come_out_with_them_and_not_without(of_templates, templates):
    found = units(of_templates, templates=templates)
    assert found.units
    without = units(of_templates)
    assert not without.units
    assert without.left_out["cartpole", DIFFERENT] == len(found.units)
    assert units(of_templates, spliced=True).units.keys() == found.units.keys()


@pytest.mark.parametrize("text", ["{{ 1 / 0 }}", "{{ mean_return.real.x.y }}"])
def test_templates_that_fail_later_leave_units_out(tmp_path, of_templates, templates, text):
    number = len(units(of_templates, templates=templates).units)
    changed = shutil.copytree(templates, tmp_path / "changed")
    with (changed / "critic.j2").open("a") as file:
        file.write(text)
    found = units(of_templates, templates=changed)
    assert number > 0
    assert found.left_out["cartpole", NOT_RENDERED] == number


def test_folders_that_hold_no_templates_are_refused(tmp_path, records):
    out = tmp_path / "plan.json"
    for kind, files in {
        "missing": None,
        "empty": {},
        "foreign": {"other.j2": ""},
        "placeholder": {"critic.j2": "nothing"},
        "syntax": {"critic.j2": "{% if %}"},
    }.items():
        folder = tmp_path / kind / "prompts"
        if files is not None:
            folder.mkdir(parents=True)
            for name, text in files.items():
                (folder / name).write_text(text)
        result = audit("intervene", "plan", records, "--backend", "simulated", "--prompts", folder, "--out", out)
        assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1), kind
        assert "prompts" in result.stderr or "critic.j2" in result.stderr
        assert not out.exists()


def initial(name, change):
    """A change of what is recorded of the policy under review."""
    return lambda row: row["initial"].update({name: change(row["initial"][name])})


def median(name, change):
    """A change of what is recorded of the median rollout shown."""

    def changing(row):
        row["evidence"]["shown"][1][name] = change(row)

    return changing


def another_rollout(row):
    return min(set(range(len(row["initial"]["returns"]))) - {each["rollout"] for each in row["evidence"]["shown"]})


def another_kept_candidate(row):
    if row["iteration"] == 0:
        row[row["selected"]]["params"] = [value + 1 for value in row[row["selected"]]["params"]]


CHANGES = {
    "one more step": initial("params", lambda params: [params[0] + 0.1, *params[1:]]),
    "another mean": initial("mean_return", lambda mean: mean + 0.5),
    "another return": median("return", lambda row: row["evidence"]["shown"][1]["return"] + 0.25),
    "another rollout": median("rollout", another_rollout),
    "other seeds": initial("seeds", lambda seeds: [seed + 1 for seed in seeds]),
    "no seeds": initial("seeds", lambda _: None),
    "few seeds": initial("seeds", lambda seeds: seeds[:1]),
    "no lengths": initial("lengths", lambda _: []),
    "few lengths": initial("lengths", lambda lengths: lengths[:1]),
    "rollout out of range": median("rollout", lambda _: 10**6),
}
NO_CALLS = {
    "no text": b"\xff\xfe{}\n",
    "nested": b"[" * 100_000 + b"\n",
    "no number": b'{"iteration": "x"}\n',
    "zeros": b"\0" * 50 + b"\n",
}


@pytest.fixture(scope="module")
def altered(records, tmp_path_factory):
    """Copies of the records, of which each was changed in its own way and is a condition of that name."""
    root = tmp_path_factory.mktemp("altered")

    def copy(name, change=lambda row: None, file="episodes.jsonl"):
        folder = shutil.copytree(records, root / name)
        for path in folder.rglob("*.json*"):
            path.write_text(re.sub(r'("condition": ?)"[^"]*"', rf'\1"{name}"', path.read_text()))
        for path in folder.rglob(file):
            rows = lines(path)
            for row in rows:
                change(row)
            path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return folder

    copy("unchanged")
    for name, change in {**CHANGES, "kept candidate": another_kept_candidate}.items():
        copy(name, change)
    copy("prompts", lambda row: row.update(prompt=row["prompt"] + " "), "calls.jsonl")
    for path in copy("without calls").rglob("calls.jsonl"):
        path.unlink()
    for name, line in NO_CALLS.items():
        for path in copy(name).rglob("calls.jsonl"):
            path.write_bytes(line + path.read_bytes() + line[:-1])
    return functools.partial(units, root)


def test_what_was_changed_in_the_record_leaves_the_unit_out(altered):
    before = altered("unchanged")
    assert any(key.iteration > 0 for key in before.units)
    for name in CHANGES:
        after = altered(name)
        assert not after.units, name
        assert {reason for _, reason in after.left_out.keys() - before.left_out.keys()} <= {DIFFERENT, NOT_RENDERED}
        assert after.prompts == before.prompts or not after.prompts, name
    # A kept candidate that was changed leaves out what came after it.
    assert not any(key.iteration > 0 for key in altered("kept candidate").units)
    assert set(altered("without calls").left_out) == {("cartpole", NO_PROMPT)}
    changed = altered("prompts")
    assert not changed.units
    assert ("cartpole", DIFFERENT) in changed.left_out


def test_lines_that_are_no_calls_are_passed_over(altered):
    def plain(found):
        return [(msgspec.structs.replace(unit, condition=""), evidence) for unit, evidence in found.units.values()]

    wanted = plain(altered("unchanged"))
    assert wanted
    assert [name for name in NO_CALLS if plain(altered(name)) != wanted] == []


def test_spliced_and_rendered_units_are_the_same(records):
    rendered, spliced = units(records), units(records, spliced=True)
    assert rendered.units.keys() == spliced.units.keys()
    for key, (unit, evidence) in rendered.units.items():
        other, spliced_evidence = spliced.units[key]
        assert unit == other
        assert evidence == spliced_evidence
        assert unit.prompt_sha256 == sha256(str(evidence.prompt))


def test_further_rollouts_are_none_of_those_shown(records):
    every = units(records)
    found = units(
        records, needs=frozenset({"rollouts", "policy"}), only=frozenset(every.units), further=True, draws=2, seed=5
    )
    assert found.units.keys() == every.units.keys()
    for unit, evidence in found.units.values():
        assert evidence.contents["other"].rollout not in unit.rollouts
        for quantile in ("q0", "q0.1", "q0.25", "q0.5"):
            assert evidence.contents[quantile].rollout not in unit.rollouts[1:]
        assert evidence.contents["q0"].value == pytest.approx(unit.returns[0], abs=1e-4)
        for draw in evidence.fresh:
            values = [draw[role].value for role in ROLES]
            assert values == sorted(values)
        assert evidence.fresh[0] != evidence.fresh[1]


def test_where_every_rollout_is_shown_none_can_take_ones_place(tmp_path):
    recorded(tmp_path, rollouts=3, runs=1, iterations=6)
    assert units(tmp_path).units
    found = units(tmp_path, needs=frozenset({"rollouts"}))
    assert not found.units
    assert ("cartpole", TOO_FEW) in found.left_out
    arms = [option for arm in ("RW=2", "RM=2") for option in ("--arm", arm)]
    out = tmp_path / "plan.json"
    result = audit("intervene", "plan", tmp_path, "--backend", "simulated", "--out", out, *arms)
    assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
    assert TOO_FEW in result.stderr
