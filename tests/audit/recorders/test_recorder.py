"""Anybody's loop, recorded by three calls."""

from __future__ import annotations

import ast
import subprocess
import sys

import pytest

import audit
from audit.recorders import Item, Recorder, RecorderError
from collector.records import decode_run
from tests.tools.running import REPOSITORY, calls, episodes, troubles


def record(data, **options):
    return Recorder(data, env="tickets", condition="mine", **options)


def iterate(recorder, before=(0.0, 1.0, 1.0), after=(1.0, 1.0, 0.0), **shown):
    recorder.shown({"prompt": "Be kind.", "tool": "none"}, before, ids=[3, 1, 2], prompt="What is wrong?", **shown)
    recorder.answered("Example 1 failed.\n```\nBe terse.\n```", {"prompt": "Be terse."})
    recorder.scored(after)


def test_three_calls_make_one_record(tmp_path):
    with record(tmp_path, model="m") as recorder:
        iterate(recorder, items=["a failure", "a success", "x" * 100_000])
    [episode], [call] = episodes(tmp_path), calls(tmp_path)
    assert (episode.condition, episode.env, episode.variant, episode.run, episode.iteration) == (
        ("mine", "tickets", "recorded", 1, 0)
    )
    assert episode.initial.text == {"prompt": "Be kind.", "tool": "none"}
    assert episode.initial.example_ids == ["3", "1", "2"] == episode.revised.example_ids
    assert episode.revised.text == {"prompt": "Be terse.", "tool": "none"}
    assert (episode.initial.mean_return, episode.revised.mean_return) == (2 / 3, 2 / 3)
    assert (episode.initial.source, episode.revised.source) == ("parent", "critic")
    assert (episode.revision_status, episode.selected) == ("ok", "revised")
    assert [(item.name, item.rollout, item.return_) for item in episode.evidence.shown] == [
        ("Example 1", 0, 0.0),
        ("Example 2", 1, 1.0),
        ("Example 3", 2, 1.0),
    ]
    longest = episode.evidence.shown[2].text
    assert len(longest.encode()) <= 65536
    assert longest.endswith("[cut]")
    assert (call.prompt, call.completion, call.model) == ("What is wrong?", episode.revised.answer, "m")
    assert troubles(tmp_path) == []


def test_the_selection_rule_decides_which_is_cached(tmp_path):
    for rule, scores in {
        "better": {1.0: "revised", 0.9: "initial"},
        "strict": {1.0: "initial", 1.1: "revised"},
        "always": {0.0: "revised"},
        "pool": {0.0: "revised"},
    }.items():
        with record(tmp_path / rule, selection_rule=rule) as recorder:
            for after in scores:
                recorder.shown("one", 1.0)
                recorder.answered(None, "two")
                recorder.scored(after)
        assert [each.selected for each in episodes(tmp_path / rule)] == [*scores.values()]
        assert {each.initial.returns for each in episodes(tmp_path / rule)} == {None}


def test_an_answer_without_a_text_and_an_iteration_without_an_answer_are_recorded(tmp_path):
    with record(tmp_path) as recorder:
        recorder.shown("one", [0.0, 1.0], prompt="p")
        recorder.answered("I cannot.", None)
        recorder.passed("one", [1.0, 1.0])
        iterate(recorder)
    unreadable, passed, revised = episodes(tmp_path)
    assert [each.revision_status for each in (unreadable, passed, revised)] == ["unreadable", "none", "ok"]
    assert unreadable.evidence is not None
    assert passed.evidence is None
    assert [each.error is None for each in calls(tmp_path)] == [False, True]


def test_items_of_other_candidates_have_scores_of_their_own(tmp_path):
    with record(tmp_path, evidence="pair") as recorder:
        recorder.shown(
            "one", [0.5], items=[Item(label="worst", score=0.0), Item(label="best", score=1.0, name="better")]
        )
        recorder.answered("…", "two")
        recorder.scored([1.0], ids=["7"])
    [episode] = episodes(tmp_path)
    assert [(item.label, item.return_, item.rollout, item.name) for item in episode.evidence.shown] == [
        ("worst", 0.0, None, None),
        ("best", 1.0, None, "better"),
    ]


def test_an_interrupted_run_continues_with_the_next_number(tmp_path):
    with record(tmp_path) as recorder:
        iterate(recorder)
        folder = recorder.files.folder
    described = (folder / "run.json").read_bytes()
    with (folder / "episodes.jsonl").open("ab") as file:
        file.write(b'{"condition": "mi')
    with record(tmp_path, seed=5) as recorder:
        iterate(recorder)
    assert [each.iteration for each in episodes(tmp_path)] == [0, 1]
    assert (folder / "run.json").read_bytes() == described
    assert decode_run(described).candidates == "text"


def test_a_folder_that_cannot_be_continued_is_refused_before_the_loop(tmp_path):
    for place, (spoil, message) in enumerate(
        (
            (lambda folder: (folder / "run.json").write_text("{"), "run.json: not JSON"),
            (lambda folder: (folder / "run.json").unlink(), "records but no run.json"),
            (lambda folder: (folder / "episodes.jsonl").write_text("[]\n"), "episodes.jsonl: line 1: not a record"),
        )
    ):
        with record(tmp_path / f"{place}") as recorder:
            iterate(recorder)
        spoil(recorder.files.folder)
        with pytest.raises(RecorderError, match=message):
            record(tmp_path / f"{place}")


def test_another_run_and_another_recorder_are_refused(tmp_path):
    with record(tmp_path) as recorder:
        iterate(recorder)
        with pytest.raises(RecorderError, match="is being written by another recorder"):
            record(tmp_path)
    with pytest.raises(RecorderError, match="another selection_rule"):
        record(tmp_path, selection_rule="strict")
    (tmp_path / "file").write_text("")
    with pytest.raises(RecorderError, match="cannot write"):
        record(tmp_path / "file")


def test_labels_become_safe_folders(tmp_path):
    with Recorder(tmp_path / "data", env="../../up", condition="a/b") as recorder:
        recorder.passed("one", 1.0)
    assert (tmp_path / "data") in recorder.files.folder.parents
    assert len(recorder.files.folder.relative_to(tmp_path / "data").parts) == 4


def test_what_cannot_be_recorded_is_a_trouble_and_stops_nothing(tmp_path, capsys):
    wrong = {
        "returns": [float("nan"), 1.0],
        "the score '0.5' is a text": ["0.5", 1.0],
        "TypeError": [None, 1.0],
        "no scores": [],
        "2 ids for 1 scores": [1.0],
    }
    with record(tmp_path) as recorder:
        for scores in wrong.values():
            recorder.passed("one", scores, ids=["a", "b"])
        iterate(recorder)
    assert [each.revision_status for each in episodes(tmp_path)] == ["ok"]
    printed = capsys.readouterr().err
    for words, told in zip(wrong, troubles(tmp_path), strict=True):
        assert words in told
        assert words in printed
    assert "5 troubles: the records are incomplete; see " in printed


def test_calls_out_of_order_are_troubles(tmp_path, capsys):
    with record(tmp_path) as recorder:
        recorder.scored([1.0])
        recorder.shown("one", [1.0])
        recorder.scored([1.0])
        recorder.shown("one", [1.0], iteration=4)
        recorder.answered("…", "two")
        recorder.scored([0.0])
        recorder.shown("one", [1.0], iteration=4)
        recorder.answered("…", "two")
        recorder.scored([0.0])
        recorder.shown("one", [1.0])
        recorder.answered("…", 5)
        recorder.scored([0.0])
        recorder.shown("one", [1.0])
    assert [each.iteration for each in episodes(tmp_path)] == [4]
    assert troubles(tmp_path) == [
        "ValueError: nothing was shown before scored",
        "ValueError: no answer with a text came before",
        "iteration 0 was never scored; it is left out",
        "ValueError: iteration 4 is already recorded and is left out; another run needs another run number",
        "TypeError: 'int' object is not iterable",
        "iteration 5 was never scored; it is left out",
    ]
    capsys.readouterr()


def test_a_disk_that_is_full_stops_nothing(tmp_path, monkeypatch, capsys):
    def full(file, line):
        raise OSError(28, "No space left on device")

    with record(tmp_path) as recorder:
        monkeypatch.setattr("audit.recorders.run_files.append_line", full)
        iterate(recorder)
        (recorder.files.folder / "troubles.jsonl").unlink()
        (recorder.files.folder / "troubles.jsonl").mkdir()
        iterate(recorder)
    assert "No space left on device" in capsys.readouterr().err
    assert recorder.troubles.count == 2


def test_the_audit_reads_what_was_recorded(tmp_path):
    with record(tmp_path) as recorder:
        iterate(recorder)
        iterate(recorder, before=(0.0, 1.0, 1.0), after=(0.0, 0.0, 0.0))
    with audit.open(tmp_path) as store:
        found = list(audit.sql(store, "select iteration, accepted, paired from changes order by iteration"))
    assert [tuple(row.values()) for row in found] == [(0, True, True), (1, False, True)]


def test_a_recorder_imports_the_record_types_alone():
    room = REPOSITORY / "audit" / "recorders"
    imported = {
        name.split(".")[0]
        for path in room.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        for name in ([node.module] if isinstance(node, ast.ImportFrom) else [])
        + ([each.name for each in node.names] if isinstance(node, ast.Import) else [])
    }
    assert imported - sys.stdlib_module_names == {"audit", "collector", "msgspec"}
    script = "import sys, audit.recorders.gepa, audit.recorders.simba; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert not {"numpy", "duckdb", "gymnasium", "gepa", "dspy"} & set(loaded)


def test_the_example_of_the_documentation_is_a_loop_of_fifteen_lines():
    lines = audit_recorders_example()
    assert "recorder.shown" in "".join(lines)
    assert len(lines) <= 15


def audit_recorders_example() -> list[str]:
    text = (REPOSITORY / "audit" / "recorders" / "__init__.py").read_text()
    return [line for line in text.split("::\n", 1)[1].split("\n`audit", 1)[0].splitlines() if line.strip()]
