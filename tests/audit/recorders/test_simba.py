"""SIMBA's recorder: on a module that calls as DSPy's does, and on DSPy itself."""

from __future__ import annotations

import copy
import json
import sys
from types import ModuleType, SimpleNamespace

import pytest

from audit.recorders import RecorderError, simba
from collector.records import decode_run
from tests.tools.running import calls, episodes, run_tool, troubles

NAME = "dspy.teleprompt.simba"
SEED_TEXT = "Name the season."


class Program:
    """A program of one predictor, whose score is 1 on examples that its instructions name."""

    def __init__(self):
        self.predictor = SimpleNamespace(signature=SimpleNamespace(instructions=SEED_TEXT))
        self.simba_idx = 0

    def named_predictors(self):
        return [("predict", self.predictor)]


class Model:
    """A model of DSPy as far as its history goes."""

    def __init__(self):
        self.history = []

    def __call__(self, prompt, answer):
        self.history.append({"prompt": prompt, "messages": None, "outputs": [answer]})
        return answer


def wrap_program(program, metric):
    def run(example):
        score = metric(example, program)
        trace = [(program.predictor, {"month": example}, {"season": "right" if score else "wrong"})]
        return {"score": score, "trace": trace, "example": example, "prediction": {}}

    return run


def append_a_rule(bucket, system, **options):
    good, bad = bucket[0], bucket[-1]
    if good["score"] == bad["score"] == 1:
        return False
    if good["score"] <= bad["score"]:
        good["score"], good["trace"] = "N/A", []
    if bad["example"] == "broken":
        raise ValueError("no advice")
    discussion = f"The worse trajectory got {bad['example']} wrong."
    options["prompt_model"](
        f"worse: {bad['score']}, better: {good['score']}",
        f"[[ ## discussion ## ]]\n{discussion}\n\n[[ ## module_advice ## ]]\n{{}}\n\n[[ ## completed ## ]]\n",
    )
    system.predictor.signature.instructions += f"\n\n{bad['example']}"
    return True


def append_a_demo(bucket, system, **options):
    system.demos = [*getattr(system, "demos", []), bucket[0]["example"]]
    return True


class SIMBA:
    """As DSPy's: samples programs of the pool, revises some, scores the candidates, and adds them all to the pool."""

    def __init__(self, metric, steps):
        self.metric, self.steps, self.model = metric, steps, Model()
        self.strategies = [sys.modules[NAME].append_a_rule]

    def compile(self, student, *, trainset, seed=0):
        module, pool = sys.modules[NAME], [student]
        for step in range(self.steps):
            batch = trainset[2 * step : 2 * step + 2]
            sampled = [copy.deepcopy(pool[(step + turn) % len(pool)]) for turn in (0, 1)]
            runs = [(module.wrap_program(program, self.metric), example) for program in sampled for example in batch]
            outputs = [run(example) for run, example in runs]
            candidates = []
            for place in range(len(batch)):
                bucket = sorted(outputs[place :: len(batch)], key=lambda each: each["score"], reverse=True)
                candidate = copy.deepcopy(pool[step % len(pool)])
                try:
                    self.strategies[(step + place) % len(self.strategies)](bucket, candidate, prompt_model=self.model)
                except ValueError:
                    continue
                candidates.append(candidate)
            runs = [(module.wrap_program(each, self.metric), example) for each in candidates for example in batch]
            for run, example in runs:
                run(example)
            for candidate in candidates:
                candidate.simba_idx = len(pool)
                pool.append(candidate)
        for example in trainset:
            module.wrap_program(copy.deepcopy(pool[-1]), self.metric)(example)
        return pool[-1]


@pytest.fixture
def module(monkeypatch):
    module = ModuleType(NAME)
    module.wrap_program, module.append_a_rule, module.SIMBA = wrap_program, append_a_rule, type("SIMBA", (SIMBA,), {})
    module.SIMBA.compile = SIMBA.compile
    monkeypatch.setitem(sys.modules, NAME, module)
    return module


def right(example, program):
    return float(example in program.predictor.signature.instructions)


def compile_recorded(module, data, trainset, metric=right, strategies=()):
    optimizer = module.SIMBA(metric, len(trainset) // 2)
    optimizer.strategies += strategies
    with simba.record(data, env="seasons"):
        return optimizer.compile(Program(), trainset=trainset, seed=4)


def test_each_step_is_recorded_with_both_trajectories(module, tmp_path):
    best = compile_recorded(module, tmp_path, ["May", "June", "July", "Ma"])
    recorded = episodes(tmp_path)
    assert [each.iteration for each in recorded] == [0, 1, 2, 3]
    assert [each.selected for each in recorded] == ["revised"] * 4
    first = recorded[0]
    assert first.initial.text == {"predict": SEED_TEXT}
    assert (first.initial.returns, first.initial.example_ids) == ([0.0] * 4, ["0", "1", "0", "1"])
    assert first.revised.text == {"predict": f"{SEED_TEXT}\n\nMay"}
    assert (first.revised.returns, first.revised.example_ids) == ([1.0, 0.0], ["0", "1"])
    assert first.revised.answer == "The worse trajectory got May wrong."
    worst, shown_best = first.evidence.shown
    assert (first.evidence.kind, worst.label, shown_best.label) == ("pair", "worst", "best")
    assert (worst.return_, worst.rollout, worst.name) == (0.0, None, "worse_program_trajectory")
    # The strategy has left out the side that is no better.
    assert (shown_best.return_, shown_best.text) == (None, "[]")
    assert json.loads(worst.text) == [{"inputs": {"month": "May"}, "outputs": {"season": "wrong"}}]
    assert best.predictor.signature.instructions.startswith(SEED_TEXT)
    assert troubles(tmp_path) == []
    # A revised program of the pool has the scores of its own runs.
    third = recorded[2]
    assert third.initial.text == {"predict": f"{SEED_TEXT}\n\nMay"}
    assert (third.initial.returns, third.initial.example_ids) == ([0.0, 1.0], ["2", "3"])
    asked = calls(tmp_path)
    assert [each.iteration for each in asked] == [0, 1, 2, 3]
    assert asked[0].prompt == "worse: 0.0, better: N/A"
    assert asked[0].completion.startswith("[[ ## discussion ## ]]\nThe worse")


def test_steps_without_advice_are_recorded_with_their_scores_alone(module, tmp_path):
    compile_recorded(module, tmp_path, ["May", "June"], metric=lambda *_: 1)
    assert [(each.revision_status, each.initial.mean_return) for each in episodes(tmp_path)] == [("none", 1.0)] * 2
    assert calls(tmp_path) == []


def test_a_step_whose_advice_fails_before_the_model_is_asked_is_recorded_without_a_revision(module, tmp_path):
    compile_recorded(module, tmp_path, ["broken", "June"])
    failed, revised = episodes(tmp_path)
    assert (failed.revision_status, revised.revision_status) == ("none", "ok")
    assert (failed.error, revised.error or None) == ("ValueError: no advice", None)
    assert troubles(tmp_path) == []


def test_what_is_put_in_between_is_taken_away_again(module, tmp_path):
    before, compiled = module.wrap_program, module.SIMBA.compile
    with pytest.raises(ZeroDivisionError):
        compile_recorded(module, tmp_path, ["May", "June"], metric=lambda *_: 1 / 0)
    assert (module.wrap_program, module.SIMBA.compile) == (before, compiled)
    optimizer = module.SIMBA(right, 1)
    with simba.record(tmp_path / "again", env="seasons"):
        optimizer.compile(Program(), trainset=["May", "June"])
    assert optimizer.strategies == [append_a_rule]


def test_a_second_compile_at_the_same_time_is_refused(module, tmp_path):
    def metric(example, program):
        with pytest.raises(RecorderError, match="only one at a time"):
            module.SIMBA(right, 1).compile(Program(), trainset=["May"])
        return right(example, program)

    compile_recorded(module, tmp_path, ["May", "June"], metric=metric)
    assert [each.revision_status for each in episodes(tmp_path)] == ["ok", "ok"]


def test_steps_that_add_a_demonstration_are_not_recorded_and_confuse_no_scores(module, tmp_path):
    compile_recorded(module, tmp_path, ["May", "June", "July", "April"], strategies=[append_a_demo])
    first, second = episodes(tmp_path)
    assert (first.revised.text, first.revised.returns) == ({"predict": f"{SEED_TEXT}\n\nMay"}, [1.0, 0.0])
    assert second.initial.text == {"predict": f"{SEED_TEXT}\n\nMay"}
    assert (second.initial.returns, second.initial.example_ids) == ([0.0, 0.0], ["2", "3"])
    assert (second.revised.returns, second.revised.example_ids) == ([0.0, 1.0], ["2", "3"])
    assert troubles(tmp_path) == []


def test_a_run_continues(module, tmp_path):
    compile_recorded(module, tmp_path, ["May", "June"])
    compile_recorded(module, tmp_path, ["May", "June"])
    assert [each.iteration for each in episodes(tmp_path)] == [0, 1, 2, 3]
    [run] = tmp_path.rglob("run.json")
    run = decode_run(run.read_bytes())
    assert (run.seed, run.selection_rule, run.method.evidence) == (4, "pool", "pair")


def test_a_failure_of_the_recorder_does_not_change_what_simba_finds(module, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(simba, "_instructions", lambda system: system.no_such_attribute)
    best = compile_recorded(module, tmp_path, ["May", "June"])
    assert best.predictor.signature.instructions == f"{SEED_TEXT}\n\nJune"
    assert episodes(tmp_path) == []
    assert "no_such_attribute" in capsys.readouterr().err


def test_without_dspy_the_error_is_one_line(tmp_path, monkeypatch):
    monkeypatch.delitem(sys.modules, NAME, raising=False)
    with pytest.raises(RecorderError, match="import dspy"), simba.record(tmp_path, env="seasons"):
        pass


def test_another_form_of_simba_is_refused_or_named(module, tmp_path, monkeypatch, capsys):
    optimizer = module.SIMBA(right, 1)
    optimizer.strategies = [append_a_demo]
    with simba.record(tmp_path, env="seasons"):
        optimizer.compile(Program(), trainset=["May", "June"])
    assert "no strategy of SIMBA is append_a_rule" in capsys.readouterr().err
    monkeypatch.delattr(module, "wrap_program")
    with pytest.raises(RecorderError, match="cannot be recorded"), simba.record(tmp_path, env="seasons"):
        pass


@pytest.mark.parametrize("demos", ["0", "4"])
def test_simba_itself(tmp_path, demos):
    run_tool("dspy", "run_simba.py", tmp_path, "--demos", demos)
    recorded = episodes(tmp_path)
    revised = [each for each in recorded if each.revised is not None]
    assert len(calls(tmp_path)) == len(revised) > 3
    for each in revised:
        added = each.revised.text["predict"].removeprefix(each.initial.text["predict"])
        assert added.startswith("\n\n")
        worst, best = each.evidence.shown
        assert worst.return_ is None or best.return_ is None or worst.return_ < best.return_
        assert len(set(each.revised.example_ids)) == len(each.revised.returns) == 4
        assert each.revised.answer.startswith("The worse trajectory got")
    assert troubles(tmp_path) == []
