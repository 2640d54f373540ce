"""Scores on the coded answers of a large model that the project ships; `docs/references.md` gives the numbers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from statsmodels.stats.inter_rater import cohens_kappa, to_table

from audit.references import driver, resolve
from audit.vocabulary.drivers import DRIVERS
from benchmarks.drivers import CODERS, answers, kappa, leave_one_prompt_out, rows
from tests.audit.references.scores import Score

DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "references.md"
each_coder = pytest.mark.parametrize("coder", CODERS)


@pytest.fixture(scope="module")
def coded():
    return answers()


def test_there_are_answers_to_45_prompts_under_six_arms(coded):
    assert len(coded) == 117
    assert len({each.prompt for each in coded}) == 45
    assert len({each.arm for each in coded}) == 6


@each_coder
@pytest.mark.parametrize("label", ["worst", "median", "best"])
def test_mentions_are_found_under_every_arm(coded, coder, label):
    for arm in {each.arm for each in coded}:
        chosen = [each for each in coded if each.arm == arm]
        truth = [int(each.codes[coder][f"mentions_{label}"]) for each in chosen]
        found = [any(label in mention.labels for mention in resolve(each.text, each.shown)) for each in chosen]
        score = Score.of(truth, found)
        assert (score.false_alarms, score.misses) == (0, 0), arm


@each_coder
def test_drivers_agree_with_the_coders(coded, coder):
    """On answers in view: the floor that changes of the rules must hold, and no forecast for others."""
    codes = [each.codes[coder]["driver"] for each in coded]
    judged = [driver(each.text, each.shown, each.changed).name for each in coded]
    agreement = kappa(codes, judged)
    assert agreement >= 0.85
    pairs = [[DRIVERS.index(one), DRIVERS.index(other)] for one, other in zip(codes, judged, strict=True)]
    assert agreement == pytest.approx(cohens_kappa(to_table(pairs)[0]).kappa)
    assert f"| {coder} | all | the rules | {len(coded)} | {agreement:.2f} |" in DOCUMENT.read_text("utf-8")


@pytest.mark.slow
def test_agreement_is_as_the_document_states():
    document = DOCUMENT.read_text("utf-8")
    assert [row for row in rows() if row not in document] == []


def test_weights_are_fitted_without_the_answers_to_the_prompt(coded):
    """Whatever the codes of a prompt's own answers are, they do not move what is found for them."""
    prompts = sorted({each.prompt for each in coded}, key=str)[-6:]
    few = [each for each in coded if each.prompt in prompts]
    changed = [
        replace(each, codes={coder: {"driver": "none"} for coder in CODERS}) if each.prompt == prompts[-1] else each
        for each in few
    ]
    before, after = leave_one_prompt_out(few), leave_one_prompt_out(changed)
    of_prompt = [index for index, each in enumerate(few) if each.prompt == prompts[-1]]
    assert [before[index] for index in of_prompt] == [after[index] for index in of_prompt]
    assert before != after
