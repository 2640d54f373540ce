"""GEPA's callback: on events as GEPA wrote them, and on GEPA itself."""

from __future__ import annotations

import copy
import json
import threading
from collections import Counter

import pytest

from audit.recorders.gepa import GEPARecorder
from collector.records import decode_run
from tests.tools.running import DATA, calls, episodes, run_tool, troubles


def events_of(folder):
    return [json.loads(line) for line in (DATA / folder / "events.jsonl").read_text().splitlines()]


def replay(data, events, **options):
    """A recorder that gets events as GEPA sends them: to the methods that it has, with exceptions swallowed."""
    recorder = GEPARecorder(data, env="seasons", **options)
    send(recorder, events)
    recorder.close()
    return recorder


def send(recorder, events):
    for name, event in events:
        if method := getattr(recorder, name, None):
            method(event)


def agree_with_the_folder(run, recorded):
    """Check records against the `run_log.json` and `candidates.json` of the same run; return how many are revisions."""
    candidates = json.loads((run / "candidates.json").read_text())
    by_iteration = {each.iteration: each for each in recorded}
    accepted = Counter()
    for entry in json.loads((run / "run_log.json").read_text()):
        for k, task in enumerate(tasks := entry.get("tasks", [])):
            episode = by_iteration.pop(entry["i"] * len(tasks) + k)
            assert episode.initial.text == candidates[task["parent_idx"]]
            assert episode.initial.example_ids == [str(each) for each in task["subsample_ids"]]
            assert (episode.revised is None) == ("subsample_scores" not in task)
            if episode.revised is not None:
                assert episode.initial.returns == task["subsample_scores"]
                assert episode.revised.returns == task["new_subsample_scores"]
                accepted[entry["i"]] += episode.selected == "revised"
                kept = [candidates[index] for index in entry.get("new_program_indices", [])]
                assert (episode.revised.text in kept) == (episode.selected == "revised")
        if tasks:
            assert accepted[entry["i"]] == len(entry.get("new_program_indices", []))
    assert not by_iteration
    return sum(each.revised is not None for each in recorded)


@pytest.mark.parametrize("folder", ["gepa-merge", "gepa-parents"])
def test_records_agree_with_the_run_folder_and_have_prompts_answers_and_what_is_shown(tmp_path, folder):
    replay(tmp_path, events_of(folder))
    recorded = episodes(tmp_path)
    assert agree_with_the_folder(DATA / folder, recorded) > 10
    assert {each.selected for each in recorded if each.revised} == {"initial", "revised"}
    assert troubles(tmp_path) == []
    [run] = tmp_path.rglob("run.json")
    run = decode_run(run.read_bytes())
    assert (run.selection_rule, run.seed, run.candidates) == ("strict", 0, "text")
    prompts = {each.iteration: each for each in calls(tmp_path)}
    for episode in recorded:
        if episode.revised is None:
            assert (episode.revision_status, episode.evidence) == ("none", None)
            assert set(episode.initial.returns) == {1.0}
            continue
        call = prompts.pop(episode.iteration)
        assert call.completion == episode.revised.answer
        assert [item.rollout for item in episode.evidence.shown] == [0, 1, 2]
        for place, item in enumerate(episode.evidence.shown):
            assert item.name == f"Example {place + 1}"
            assert item.text.startswith(f"# {item.name}\n")
            assert item.text.strip() in call.prompt
            assert item.return_ == episode.initial.returns[place]
    assert not prompts
    merged = {event["iteration"] - 1 for name, event in events_of(folder) if name == "on_merge_attempted"}
    assert bool(merged) == (folder == "gepa-merge")
    assert not merged & {each.iteration for each in recorded}


def test_a_run_continues_and_what_was_recorded_is_left_out_by_name(tmp_path, capsys):
    events = events_of("gepa-merge")
    middle = next(place for place, (name, event) in enumerate(events) if event.get("iteration") == 9)
    replay(tmp_path, events[:middle])
    again = next(place for place, (name, event) in enumerate(events) if event.get("iteration") == 8)
    replay(tmp_path, events[again:])
    assert agree_with_the_folder(DATA / "gepa-merge", episodes(tmp_path))
    assert "iteration 7 is already recorded and is left out" in troubles(tmp_path)[0]
    capsys.readouterr()


def without(events, iteration, *names):
    return [(name, event) for name, event in events if not (name in names and event.get("iteration") == iteration)]


def test_an_iteration_that_fails_is_recorded_or_named(tmp_path, capsys):
    events = events_of("gepa-merge")
    unscored = [
        (name, event)
        for name, event in events
        if not (name == "on_evaluation_end" and event["iteration"] == 1 and event["candidate_idx"] is None)
    ]
    ends = ("on_proposal_end", "on_candidate_rejected")
    before = ("on_reflective_dataset_built", "on_proposal_start", "on_proposal_end")
    for place, (left, status, trouble) in enumerate(
        (
            (without(events, 1, "on_evaluation_end", *ends), None, "has no proposal"),
            (without(events, 1, *ends), "unreadable", None),
            (without(events, 1, "on_candidate_rejected"), "ok", None),
            (without(events, 1, *before), None, "has no proposal"),
            (unscored, None, "never scored"),
        )
    ):
        replay(tmp_path / f"{place}", left)
        found = {each.iteration: each.revision_status for each in episodes(tmp_path / f"{place}")}
        assert (found.get(0), found[1]) == (status, "ok")
        assert [trouble in each for each in troubles(tmp_path / f"{place}")] == ([True] if trouble else [])
    capsys.readouterr()


def test_a_reflection_that_fails_keeps_its_error(tmp_path, capsys):
    events = without(events_of("gepa-merge"), 1, "on_proposal_end", "on_candidate_rejected")
    place = next(place for place, (name, _) in enumerate(events) if name == "on_iteration_end")
    error = ("on_error", {"iteration": 1, "exception": TimeoutError("no answer")})
    replay(tmp_path / "told", [*events[:place], error, *events[place:]])
    replay(tmp_path / "silent", events)
    assert episodes(tmp_path / "told")[0].error == "TimeoutError: no answer"
    assert episodes(tmp_path / "silent")[0].error == "GEPA gave no proposal; see the log of GEPA"
    capsys.readouterr()


def test_one_recorder_of_two_optimizations_at_once_records_neither_wrongly(tmp_path, capsys):
    events = events_of("gepa-merge")
    recorder = GEPARecorder(tmp_path, env="seasons")
    send(recorder, events[: len(events) // 2])
    before = len(episodes(tmp_path))
    second = threading.Thread(target=lambda: recorder.on_optimization_start({"config": {}}))
    second.start()
    second.join()
    send(recorder, events[len(events) // 2 : -1])
    recorder.close()
    assert len(episodes(tmp_path)) == before > 0
    assert "give each a recorder and a run number of its own" in troubles(tmp_path)[0]
    capsys.readouterr()


def test_of_several_proposals_of_which_one_fails_none_is_guessed(tmp_path, capsys):
    events = events_of("gepa-parents")
    place = next(place for place, (name, _) in enumerate(events) if name == "on_proposal_end")
    replay(tmp_path, events[:place] + events[place + 1 :])
    assert {0, 1, 2}.isdisjoint(each.iteration for each in episodes(tmp_path))
    assert len(troubles(tmp_path)) == 3
    capsys.readouterr()


def test_an_adapter_that_leaves_examples_out_leaves_the_evidence_unknown(tmp_path):
    events = events_of("gepa-merge")
    for name, event in events:
        if name == "on_proposal_start":
            for examples in event["reflective_dataset"].values():
                examples.pop()
    replay(tmp_path, events)
    assert {each.evidence for each in episodes(tmp_path)} == {None}
    assert troubles(tmp_path) == []


def test_another_rule_of_acceptance_is_noticed(tmp_path, capsys):
    events = events_of("gepa-merge")
    for name, event in events:
        if name == "on_evaluation_end" and event["iteration"] > 0:
            event["scores"] = [0.0] * len(event["scores"])
    replay(tmp_path, events)
    assert any("this is not the rule `strict`" in each for each in troubles(tmp_path))
    capsys.readouterr()


def test_events_that_make_no_sense_stop_nothing(tmp_path, capsys):
    recorder = replay(tmp_path, [(name, {}) for name, _ in events_of("gepa-merge")])
    assert recorder.troubles.count > 0
    assert episodes(tmp_path) == []
    assert "the loop goes on" in capsys.readouterr().err


def test_a_copy_of_a_model_keeps_its_recorder(tmp_path):
    recorder = GEPARecorder(tmp_path, env="seasons")
    assert copy.deepcopy({"callbacks": [recorder]})["callbacks"] == [recorder]
    recorder.close()


def test_gepa_itself(tmp_path):
    run_tool("gepa", "run_gepa.py", tmp_path / "run", "--iterations", "20", "--record", tmp_path / "data")
    assert agree_with_the_folder(tmp_path / "run", episodes(tmp_path / "data")) > 10
    assert len(calls(tmp_path / "data")) > 10
    assert troubles(tmp_path / "data") == []


def test_gepa_of_dspy(tmp_path):
    run_tool("dspy", "run_dspy_gepa.py", tmp_path / "run", "--record", tmp_path / "data")
    recorded, asked = episodes(tmp_path / "data"), calls(tmp_path / "data")
    assert agree_with_the_folder(tmp_path / "run", recorded) == len(asked) > 1
    assert [call.completion.startswith('{"new_instruction"') for call in asked] == [True] * len(asked)
    for call in asked:
        [episode] = [each for each in recorded if each.iteration == call.iteration]
        # The answer is the new text alone: it gives no reasons.
        assert episode.revised.answer is None
        assert all(item.text in call.prompt for item in episode.evidence.shown)
    assert troubles(tmp_path / "data") == []
