"""A prompt is asked again only where it comes out of the record byte for byte."""

from __future__ import annotations

import json
import shutil

import pytest

from audit.ingest.runs import open_records
from audit.interventions.arms import ROLES
from audit.interventions.rendering import Rendering
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
    """For each recorded critic's prompt: itself, and what is made of the record."""
    pairs = []
    with open_records([folder]) as records:
        for run in records.runs:
            iterations = sorted(records.iterations(run), key=lambda each: each.iteration)
            rendering = Rendering(run.run, task_of(run), templates)
            for place, prompt in enumerate(prompts_of(run.files, iterations)):
                if prompt is not None:
                    pairs.append((prompt, rendering.prompt(iterations, place)))
    return pairs


def units(folder, **settings):
    with open_records([folder]) as records:
        return eligible(records, records.runs, **{"spliced": False, **settings})


@pytest.mark.parametrize(
    "env", [pytest.param(env, marks=pytest.mark.slow if env in COMPILES else ()) for env in sorted(TASKS)]
)
def test_prompts_of_every_task_come_out_again(tmp_path, env):
    collect(spec(env, "threetraj", iterations=3, rollouts=4, warmup=2), tmp_path)
    pairs = rendered(tmp_path)
    assert len(pairs) == 3
    assert all(recorded == made for recorded, made in pairs)


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


@pytest.mark.parametrize("name", SWITCHES)
def test_prompts_come_out_again_under_every_switch(tmp_path, name):
    env = "mountaincarcontinuous" if name == "clipping" else "cartpole"
    collect(spec(env, "threetraj", iterations=2, rollouts=3, warmup=1, switches=SWITCHES[name]), tmp_path)
    pairs = rendered(tmp_path)
    assert len(pairs) == 2
    assert all(recorded == made for recorded, made in pairs)


@pytest.mark.parametrize("variant", ["reptraj", "alwayscritic", "r2po"])
def test_prompts_of_other_critics_come_out_again_with_their_excerpts_and_rules(tmp_path, variant):
    collect(spec("cartpole", variant, iterations=4, rollouts=3, switches=Switches(excerpts=2)), tmp_path)
    pairs = rendered(tmp_path)
    assert len(pairs) == 4
    assert all(recorded == made for recorded, made in pairs)
    assert units(tmp_path).left_out == {("cartpole", "it does not show three rollouts"): 4}


def test_prompts_behind_a_skipped_iteration_and_a_failed_revision_come_out_again(tmp_path):
    wanted = answer(range(1, 11))
    unreadable = ["nothing"] * 5
    script = [*unreadable, wanted, *unreadable, wanted, wanted, wanted, wanted]
    model = ScriptedModel(*script)
    made = spec("cartpole", "threetraj", model=model, iterations=4, rollouts=3, switches=Switches(on_unreadable="skip"))
    folder = collect(made, tmp_path, model)
    assert len(lines(folder / "episodes.jsonl")) == 3
    pairs = rendered(tmp_path)
    assert len(pairs) == 3
    assert all(recorded == made for recorded, made in pairs)


def test_prompts_of_a_resumed_run_come_out_again(tmp_path):
    def stop(progress):
        raise KeyboardInterrupt

    made = spec("cartpole", "threetraj", iterations=3, rollouts=3)
    with pytest.raises(KeyboardInterrupt):
        collect(made, tmp_path, report=stop)
    collect(made, tmp_path)
    pairs = rendered(tmp_path)
    assert len(pairs) == 3
    assert all(recorded == made for recorded, made in pairs)


@pytest.fixture
def templates(tmp_path):
    """A user's template that is ours but for a word."""
    folder = tmp_path / "mine"
    folder.mkdir()
    text = (OURS / "critic.j2").read_text()
    (folder / "critic.j2").write_text(text.replace("You review policies", "You, my friend, review policies"))
    return folder


def test_prompts_of_a_users_templates_come_out_with_them_and_not_without(tmp_path, templates):
    data = tmp_path / "data"
    collect(spec("cartpole", "threetraj", iterations=3, rollouts=8, prompt_folder=templates), data)
    found = units(data, templates=templates)
    assert found.units
    without = units(data)
    assert not without.units
    assert without.left_out["cartpole", DIFFERENT] == len(found.units)
    assert units(data, spliced=True).units.keys() == found.units.keys()


@pytest.mark.parametrize("text", ["{{ 1 / 0 }}", "{{ 'x' * 10**9 }}", "{{ mean_return.real.x.y }}"])
def test_templates_that_fail_later_leave_units_out(tmp_path, templates, text):
    data = tmp_path / "data"
    collect(spec("cartpole", "threetraj", iterations=2, rollouts=8, prompt_folder=templates), data)
    number = len(units(data, templates=templates).units)
    with (templates / "critic.j2").open("a") as file:
        file.write(text)
    found = units(data, templates=templates)
    assert number > 0
    assert found.left_out["cartpole", NOT_RENDERED] == number


@pytest.mark.parametrize("kind", ["missing", "empty", "foreign", "placeholder", "syntax"])
def test_folders_that_hold_no_templates_are_refused(tmp_path, records, kind):
    folder = tmp_path / "prompts"
    if kind != "missing":
        folder.mkdir()
    if kind == "foreign":
        (folder / "other.j2").write_text("")
    if kind == "placeholder":
        (folder / "critic.j2").write_text("nothing")
    if kind == "syntax":
        (folder / "critic.j2").write_text("{% if %}")
    out = tmp_path / "plan.json"
    result = audit("intervene", "plan", records, "--backend", "simulated", "--prompts", folder, "--out", out)
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert "prompts" in result.stderr or "critic.j2" in result.stderr
    assert not out.exists()


def changed(folder, tmp_path, change, file="episodes.jsonl"):
    """A copy of records in which every line of a kind was changed."""
    copy = shutil.copytree(folder, tmp_path / "changed")
    for path in copy.rglob(file):
        rows = lines(path)
        for row in rows:
            change(row)
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return copy


def one_more_step(row):
    row["initial"]["params"][0] += 0.1


def another_return(row):
    row["evidence"]["shown"][1]["return"] += 0.25


def another_mean(row):
    row["initial"]["mean_return"] += 0.5


def another_rollout(row):
    shown = row["evidence"]["shown"][1]
    free = set(range(len(row["initial"]["returns"]))) - {each["rollout"] for each in row["evidence"]["shown"]}
    shown["rollout"] = min(free)


def other_seeds(row):
    row["initial"]["seeds"] = [seed + 1 for seed in row["initial"]["seeds"]]


def no_seeds(row):
    row["initial"]["seeds"] = None


def few_seeds(row):
    row["initial"]["seeds"] = row["initial"]["seeds"][:1]


def no_lengths(row):
    row["initial"]["lengths"] = []


def few_lengths(row):
    row["initial"]["lengths"] = row["initial"]["lengths"][:1]


def rollout_out_of_range(row):
    row["evidence"]["shown"][1]["rollout"] = 10**6


CHANGES = [
    one_more_step,
    another_mean,
    another_return,
    another_rollout,
    other_seeds,
    no_seeds,
    few_seeds,
    no_lengths,
    few_lengths,
    rollout_out_of_range,
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_what_was_changed_in_the_record_leaves_the_unit_out(tmp_path, records, change):
    before, after = units(records), units(changed(records, tmp_path, change))
    assert before.units
    assert not after.units
    assert {reason for _, reason in after.left_out.keys() - before.left_out.keys()} <= {DIFFERENT, NOT_RENDERED}
    assert after.prompts == before.prompts or not after.prompts


def test_a_kept_candidate_that_was_changed_leaves_out_what_came_after_it(tmp_path, records):
    def change(row):
        if row["iteration"] == 0:
            row[row["selected"]]["params"] = [value + 1 for value in row[row["selected"]]["params"]]

    before, after = units(records), units(changed(records, tmp_path, change))
    assert any(key.iteration > 0 for key in before.units)
    assert not any(key.iteration > 0 for key in after.units)


def test_without_calls_there_is_no_prompt(tmp_path, records):
    copy = shutil.copytree(records, tmp_path / "copy")
    for path in copy.rglob("calls.jsonl"):
        path.unlink()
    assert set(units(copy).left_out) == {("cartpole", NO_PROMPT)}


def test_a_changed_prompt_is_left_out(tmp_path, records):
    def change(row):
        row["prompt"] += " "

    found = units(changed(records, tmp_path, change, "calls.jsonl"))
    assert not found.units
    assert ("cartpole", DIFFERENT) in found.left_out


@pytest.mark.parametrize("line", [b"\xff\xfe{}\n", b"[" * 100_000 + b"\n", b'{"iteration": "x"}\n', b"\0" * 50 + b"\n"])
def test_lines_that_are_no_calls_are_passed_over(tmp_path, records, line):
    copy = shutil.copytree(records, tmp_path / "copy")
    for path in copy.rglob("calls.jsonl"):
        path.write_bytes(line + path.read_bytes() + line[:-1])
    assert units(copy).units == units(records).units


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
