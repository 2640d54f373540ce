"""Remedies: what each makes of a prompt, how answers are used, and that nothing of it is paid for twice."""

from __future__ import annotations

import json
from statistics import fmean

import numpy as np
import pytest

from audit.interventions.arms import ask
from audit.interventions.showing import ROLES
from audit.interventions.showing import Evidence as Recorded
from collector import evidence
from collector.errors import CollectorError, ModelError, UsageError
from collector.llm.simulated import SimulatedModel
from collector.methods import METHODS
from collector.prompt_parts import LETTERS, CriticPrompt
from collector.prompts import Prompts, Review
from collector.records import Episode, Truth, decode
from collector.remedies import REMEDIES, Situation, medoid, remedies_of
from collector.rollouts.evaluate import evaluate
from collector.switches import Switches
from collector.tasks import get_task
from tests.collector.helpers import GOOD, ScriptedModel, answer, collect, lines, spec, timeless
from tests.collector.test_resume import Interrupted

TASK = get_task("cartpole")
PARAMS = [0.0, 0.5, 1.0, 2.0, 0.0, -0.5, -1.0, -2.0, 0.1, 0.2]
RUN = evaluate(TASK, PARAMS, range(20))
REWRITING = [remedy for remedy in REMEDIES.values() if remedy.rewrites]


def rendered(kind="three"):
    shown = evidence.gather(TASK, RUN, kind)
    written = evidence.write(TASK, PARAMS, RUN.seeds, shown)
    return Prompts(TASK).critic([], Review(PARAMS, RUN.mean_return, 20, kind, written, shown.statistics, None))


def block(rollout):
    one = evidence.Shown(label="median", rollout=rollout, return_=RUN.returns[rollout], length=RUN.lengths[rollout])
    return evidence.write(TASK, PARAMS, RUN.seeds, evidence.Evidence(kind="three", shown=[one]))[0].block


def situation(prompt=None, seed=0):
    prompt = prompt or CriticPrompt.read(rendered())
    return Situation(prompt, RUN.returns, RUN.lengths, TASK.success_return, block, np.random.default_rng(seed))


def rewritten(name, seed=0):
    return REMEDIES[name].rewrite(situation(seed=seed))


def test_letters_are_those_of_the_experiments():
    prompt = CriticPrompt.read(rendered())
    contents = dict(zip(ROLES, prompt.blocks, strict=True))
    for seed in range(6):
        asked = ask("R0", Recorded(prompt, contents), np.random.default_rng(seed))
        assert str(rewritten("letters", seed)) == asked.prompt
    assert len({str(rewritten("letters", seed)) for seed in range(40)}) == 6


def test_hidden_and_contrast_are_those_of_the_experiments():
    prompt = CriticPrompt.read(rendered())
    contents = dict(zip(ROLES, prompt.blocks, strict=True))
    for name, arm in {"hidden": "N0h", "contrast": "DM"}.items():
        assert str(rewritten(name)) == ask(arm, Recorded(prompt, contents), np.random.default_rng(0)).prompt


def test_shuffled_keeps_the_labels():
    prompts = [rewritten("shuffled", seed) for seed in range(40)]
    assert len({prompt.blocks for prompt in prompts}) == 6
    assert all({each.label for each in prompt.blocks} == set(ROLES) for prompt in prompts)
    assert "in no particular order" in prompts[0].before


def test_median_is_the_prompt_of_a_critic_that_is_shown_the_median_one():
    prompt = str(rewritten("median"))
    shown = evidence.gather(TASK, RUN, "median")
    # Of three rollouts each is shown to a certain length.
    written = evidence.write(TASK, PARAMS, RUN.seeds, evidence.Evidence(kind="three", shown=shown.shown))
    review = Review(PARAMS, RUN.mean_return, 20, "median", written, shown.statistics, None)
    assert prompt == Prompts(TASK).critic([], review)
    assert "three" not in prompt
    assert "worst" not in prompt


def test_typical_shows_the_nearest_to_the_median():
    prompt = rewritten("typical")
    centre = np.median(RUN.returns)
    apart = sorted(abs(value - centre) for value in RUN.returns)
    assert [each.name for each in prompt.blocks] == list(LETTERS)
    assert sorted(abs(RUN.returns[each.rollout] - centre) for each in prompt.blocks) == apart[:3]


def test_instructions_are_points_of_any_prompt():
    said = {
        "sample": "one sample of 20",
        "few": "at most 2 of the parameters",
        "predict": "what the change could break",
    }
    for kind in ("three", "median", "representative"):
        text = rendered(kind)
        for name, words in said.items():
            prompt = CriticPrompt.read(text, shows_three=False)
            new = [line for line in str(REMEDIES[name].rewrite(situation(prompt))).splitlines() if line not in text]
            assert len(new) == 1, (kind, name)
            assert new[0].startswith("- ")
            assert words.lower() in new[0].lower()


def test_a_rewritten_prompt_can_be_taken_apart_and_read():
    for remedy in REWRITING:
        prompt = str(rewritten(remedy.id))
        assert prompt != rendered()
        assert SimulatedModel().answer(prompt, 1).text


def test_which_go_together():
    chosen = remedies_of(["gate", "letters", "few", "sample", "medoid", "gate"])
    assert [remedy.id for remedy in chosen] == ["letters", "sample", "few", "medoid", "gate"]
    for names in (["letters", "hidden"], ["medoid", "best-of-three"], ["gate", "recheck"]):
        with pytest.raises(UsageError, match=f"{' and '.join(names)} both act on"):
            remedies_of(names)
    with pytest.raises(UsageError, match="unknown remedy 'tea'; choose from letters, shuffled"):
        remedies_of(["tea"])


def asked(name, variant="threetraj", **settings):
    names = [name] if isinstance(name, str) else name
    return spec(variant=variant, switches=Switches(remedies=remedies_of(names)), **settings)


def test_a_remedy_that_does_not_apply_is_refused():
    fits = {name: {method for method in METHODS if not REMEDIES[name].unfit(METHODS[method])} for name in REMEDIES}
    assert fits["letters"] == {"threetraj"}
    assert fits["few"] == fits["medoid"] == {"alwayscritic", "reptraj", "threetraj", "r2po"}
    assert fits["gate"] == {"puresearch", "actorsecondpass", "reptraj", "threetraj", "r2po"}
    for name, variant in (("letters", "r2po"), ("gate", "props"), ("gate", "alwayscritic"), ("few", "sb3-ppo")):
        with pytest.raises(UsageError, match=f"--remedy {name} needs .* does not apply to {variant}, but to "):
            asked(name, variant, env="cartpole")
    with pytest.raises(UsageError, match="does not apply to props, propsplus, criticonly, alwayscritic, but to"):
        asked("gate", "all")


def test_templates_of_ones_own_are_not_rewritten(tmp_path):
    (tmp_path / "answer.j2").write_text("params[{{ rank - 1 }}]: v\n")
    with pytest.raises(UsageError, match="--remedy letters changes the project's own templates; leave out --prompts"):
        asked("letters", prompt_folder=tmp_path)
    asked("gate", prompt_folder=tmp_path)


def episodes(folder):
    return [decode(line, Episode) for line in (folder / "episodes.jsonl").read_bytes().splitlines()]


@pytest.mark.parametrize("name", REMEDIES)
def test_each_runs_resumes_and_is_recorded(name, tmp_path):
    """Cut off before each call, a run goes on to the same records, and pays for no answer twice."""
    run = asked(name, iterations=3)
    assert run.condition == f"simulated-salient+iterations-3+rollouts-4+warmup-3+{name}"
    whole = collect(run, tmp_path / "whole")
    assert json.loads((whole / "run.json").read_text())["switches"] == {"remedies": [name]}
    kept, calls = timeless(whole), lines(whole / "calls.jsonl")
    assert len({(each["iteration"], each["role"], each["attempt"]) for each in calls}) == len(calls)
    for cut in range(0, len(calls), 1 if REMEDIES[name].acts == "answers" else 3):
        out, first, second = tmp_path / f"cut-{cut}", Interrupted(cut), Interrupted()
        with pytest.raises(ModelError):
            collect(run, out, first)
        assert timeless(collect(run, out, second)) == kept
        assert first.answered + second.answered == len(calls)


def test_a_run_with_other_remedies_is_refused(tmp_path):
    collect(asked("letters", iterations=1, condition="one"), tmp_path)
    with pytest.raises(CollectorError, match=r"switches.remedies is \['letters'\], not \['hidden'\]"):
        collect(asked("hidden", iterations=1, condition="one"), tmp_path)


def test_the_record_has_the_evidence_as_it_was_shown(tmp_path):
    for name in ("letters", "shuffled", "hidden", "median", "contrast", "typical"):
        folder = collect(asked(name, iterations=2, rollouts=12), tmp_path / name)
        prompts = [each["prompt"] for each in lines(folder / "calls.jsonl") if each["role"] == "critic"]
        for prompt, episode in zip(prompts, episodes(folder), strict=False):
            blocks = CriticPrompt.read(prompt, shows_three=False).blocks
            assert [each.rollout for each in blocks] == [each.rollout for each in episode.evidence.shown]
            headings = [each.name or f"{each.label.capitalize()} rollout" for each in episode.evidence.shown]
            assert [each.name for each in blocks] == headings
            assert episode.evidence.kind == REMEDIES[name].kind
            assert (episode.evidence.statistics is not None) == (name == "median")


def test_the_truth_names_roles_and_not_headings(tmp_path):
    for name, roles in {"letters": {"worst", "median", "best"}, "typical": {"representative"}}.items():
        folder = collect(asked(name, "threetraj", iterations=8), tmp_path / name)
        truths = [decode(line, Truth) for line in (folder / "truth.jsonl").read_bytes().splitlines()]
        assert {truth.driver for truth in truths} & roles
        assert {truth.anchor for truth in truths} <= {*roles, None}
        assert {truth.mentioned for truth in truths} <= {*roles, None}


BAD = [0.0] * 16
SCRIPT_OF_ANSWERS = [answer(BAD), answer(BAD), "no idea", answer(GOOD), answer([1.0] * 16)]
"""The search's, and three answers of the critic, of which the second can be read at its second attempt."""


def test_of_three_answers_the_best_is_the_revision(tmp_path):
    model = ScriptedModel(*SCRIPT_OF_ANSWERS)
    folder = collect(asked("best-of-three", iterations=1, rollouts=20), tmp_path, model)
    (episode,) = episodes(folder)
    assert episode.revised.params == GOOD
    assert episode.answers.readable == episode.answers.asked == 3
    assert (episode.answers.attempt, episode.answers.rollouts) == (3, 40)
    assert [each["attempt"] for each in lines(folder / "calls.jsonl")] == [1, 1, 2, 3, 4]
    assert len(set(model.seeds)) == 5


def test_of_three_answers_the_medoid_is_the_revision(tmp_path):
    """One entry from each other answer is nearer than two from one."""
    near = [*BAD[:-1], 1.0]
    model = ScriptedModel(answer(GOOD), answer(BAD), answer(near), answer([*BAD[:-2], 1.0, 1.0]))
    (episode,) = episodes(collect(asked("medoid", iterations=1), tmp_path, model))
    assert episode.revised.params == near
    assert (episode.answers.attempt, episode.answers.rollouts) == (2, 0)


def test_medoid_by_hand():
    assert medoid(TASK.space, [[0.0, 0.0], [1.0, 0.0], [5.0, 0.0]]) == 1
    assert medoid(get_task("maze").space, [[0.0, 0.0], [3.0, 0.0], [3.0, 3.0]]) == 1
    assert medoid(TASK.space, [[0.0], [0.1]]) == 0


def test_where_no_answer_can_be_read_the_first_candidate_is_cached(tmp_path):
    model = ScriptedModel(answer(GOOD), *["no idea"] * 15)
    folder = collect(asked(["medoid", "gate"], iterations=1), tmp_path, model)
    (episode,) = episodes(folder)
    assert (episode.revision_status, episode.selected, episode.revised) == ("unreadable", "initial", None)
    assert episode.answers.readable == 0
    assert not episode.acceptance
    assert [each["attempt"] for each in lines(folder / "calls.jsonl")] == [1, *range(1, 16)]


def decided(name, before, after, tmp_path):
    model = ScriptedModel(answer(before), answer(after))
    (episode,) = episodes(collect(asked(name, iterations=1, rollouts=20), tmp_path, model))
    assert episode.selected == ("revised" if episode.acceptance.accepted else "initial")
    assert episode.acceptance.rollouts == 2 * episode.acceptance.pairs
    assert episode.acceptance.rule == name
    return episode


def test_gates_keep_what_is_better_and_nothing_else(tmp_path):
    for name, most in (("gate", 40), ("gate-sequential", 40), ("recheck", 20)):
        better = decided(name, BAD, GOOD, tmp_path / name / "better").acceptance
        assert better.accepted
        assert better.pairs <= most
        assert not decided(name, GOOD, BAD, tmp_path / name / "worse").acceptance.accepted
        same = decided(name, GOOD, GOOD, tmp_path / name / "same").acceptance
        assert same.pairs == 0
        assert same.accepted == (name == "recheck" and same.value >= 0)


def test_the_fixed_gate_counts_its_rollouts(tmp_path):
    assert decided("gate", BAD, GOOD, tmp_path).acceptance.rollouts == 80


def test_a_recheck_has_seeds_of_its_own(tmp_path):
    """What decides is the difference on seeds on which neither was measured."""
    episode = decided("recheck", BAD, GOOD, tmp_path)
    assert episode.acceptance.value != fmean(episode.revised.returns) - fmean(episode.initial.returns)


def test_the_budget_counts_what_remedies_ask_for():
    plain = asked("letters", iterations=10)
    assert (plain.calls, plain.episodes) == (20, 80)
    assert (asked("medoid", iterations=10).calls, asked("medoid", iterations=10).episodes) == (40, 80)
    best = asked(["best-of-three", "gate"], iterations=10)
    assert (best.calls, best.episodes) == (40, 10 * (8 + 8 + 80))
    assert asked("recheck", iterations=10).episodes == 160
