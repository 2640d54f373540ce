"""GEPA's run folders: what its callbacks were called with agrees with what is read, and bad folders are named."""

from __future__ import annotations

import json
import os
import pickle
import re
import shutil
import tarfile
from collections import defaultdict
from pathlib import Path

import pytest

from audit.output.errors import AuditError
from audit.records.locating import locate
from audit.records.reading import gather
from audit.sources.intake import Intake
from audit.sources.prompts import LINEAGE
from audit.store import open_store
from tests.audit.sources.tool_folders import TOOLS, check_named, entry, listing, read, write_gepa


def events(name):
    return [json.loads(line) for line in (TOOLS / name / "events.jsonl").read_text().splitlines()]


@pytest.mark.parametrize(("name", "tasks"), [("gepa-parents", 3), ("gepa-merge", 1)])
def test_texts_and_verdicts_are_those_that_callbacks_were_called_with(name, tasks):
    rows, problems, _ = read(TOOLS / name)
    has_text_log = (TOOLS / name / "run_log.txt").exists()
    proposed, accepted = defaultdict(list), defaultdict(list)
    for kind, event in events(name):
        if kind == "on_proposal_end":
            proposed[event["iteration"] - 1].append(event["new_instructions"])
        elif kind == "on_valset_evaluated" and event["iteration"]:
            accepted[event["iteration"] - 1].append(event["candidate"])
    assert problems == []
    assert len(rows) == sum(map(len, proposed.values())) > 15
    for row in rows:
        new = proposed[row["iteration"] // tasks].pop(0)
        text = {**row["initial"]["text"], **new}
        is_accepted = text in accepted[row["iteration"] // tasks]
        assert row["selected"] == ("revised" if is_accepted else "initial")
        assert row["revised"]["text"] == (text if is_accepted or has_text_log else None)
    assert not any(proposed.values())


def test_what_is_shown_is_the_minibatch_in_its_order():
    rows, problems, notes = read(TOOLS / "gepa")
    log = {each["i"]: each for each in json.loads((TOOLS / "gepa" / "run_log.json").read_text())}
    assert (problems, notes) == ([], ["2 iterations of 1 run proposed nothing, and are in no average"])
    assert len(rows) == 14
    for row in rows:
        given = log[row["iteration"]]
        assert row["evidence_kind"] == "batch"
        assert [each["name"] for each in row["shown"]] == ["Example 1", "Example 2", "Example 3"]
        assert [each["return"] for each in row["shown"]] == row["initial"]["returns"] == given["subsample_scores"]
        assert row["revised"]["returns"] == given["new_subsample_scores"]
        assert row["initial"]["example_ids"] == row["revised"]["example_ids"] == list(map(str, given["subsample_ids"]))
        assert (row["selected"] == "revised") == ("new_program_idx" in given)


def test_the_agent_state_has_the_texts_of_rejected_proposals(tmp_path):
    folder = shutil.copytree(TOOLS / "gepa-agent", tmp_path / "run")
    (folder / "run_log.txt").unlink()
    rows, problems, _ = read(folder)
    expected, _, _ = read(TOOLS / "gepa-agent")
    assert problems == []
    assert [row["revised"]["text"] for row in rows] == [row["revised"]["text"] for row in expected]
    assert any(row["selected"] == "initial" and row["revised"]["text"] for row in rows)


def test_shown_texts_are_those_of_the_reflective_dataset_where_it_has_as_many(tmp_path):
    folder = shutil.copytree(TOOLS / "gepa-agent", tmp_path / "run")
    first, second = [each for each in json.loads((folder / "run_log.json").read_text()) if "subsample_scores" in each][
        :2
    ]
    for each, count in ((first, 3), (second, 2)):
        records = [{"Inputs": f"month {n}", "Feedback": {"score": n, "why": ["a", "b"]}} for n in range(count)]
        path = folder / "iterations" / each["iteration_id"] / "reflective_dataset.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps({"instruction": records}))
    rows = {row["iteration"]: row for row in read(folder)[0]}
    texts = [each["text"] for each in rows[first["i"]]["shown"]]
    assert texts[1].startswith("## Inputs\nmonth 1\n\n## Feedback\n### score\n1\n\n### why\n#### Item 1\na\n")
    assert [each["text"] for each in rows[second["i"]]["shown"]] == [None] * 3


def test_texts_of_the_log_are_used_only_where_accepted_ones_confirm_them(tmp_path):
    folder = shutil.copytree(TOOLS / "gepa", tmp_path / "run")
    log = folder / "run_log.txt"
    log.write_text(log.read_text().replace("winter.\n", "winter.\nprinted by the program\n"))
    rows, problems, _ = read(folder)
    assert [each.partition("run_log.txt: ")[2] for each in problems] == [
        "has other texts of accepted proposals than candidates.json; rejected texts are unknown"
    ]
    assert all((row["revised"]["text"] is not None) == (row["selected"] == "revised") for row in rows)


def test_a_text_that_may_end_elsewhere_is_unknown(tmp_path):
    accepted = entry(0, after=(1, 1, 0), new_program_idx=1)
    folder = write_gepa(tmp_path / "run", [accepted, entry(1), entry(2), entry(3)])
    verdict = "New subsample score 0.0 is not better than old score 1.0, skipping\n"
    (folder / "run_log.txt").write_text(
        "Iteration 0: Base program full valset score: np.float64(0.5) over 2 / 2 examples\n"
        "Iteration 1: Proposed new text for p: seed and more\n"
        "Iteration 1: Accepted candidate (subsample score 1.0 -> 2.0); running full eval.\n"
        "Iteration 1: Valset score for new program: 0.5 (coverage 2 / 2)\n"
        "Iteration 1: Individual valset scores for new program: {np.int64(0): np.float32(0.25), 'b': tensor(0.75)}\n"
        "Iteration 1: New program candidate index: 1\n"
        f"Iteration 2: Proposed new text for p: two\nlines\n\nIteration 2: {verdict}"
        f"Iteration 3: Proposed new text for p: a quote:\nIteration 9: all\nIteration 3: {verdict}"
        f"Iteration 4: Proposed new text for p: once\nIteration 4: {verdict}"
        f"Iteration 4: Proposed new text for p: again\nIteration 4: {verdict}"
    )
    rows, problems, _ = read(folder)
    assert [each.partition("run_log.json: ")[2] for each in problems] == [
        "iteration 2: run_log.txt does not show its text, or where it ends; its text is unknown (1 more like it)"
    ]
    assert [row["revised"]["text"] for row in rows] == [{"p": "seed and more"}, {"p": "two\nlines\n"}, None, None]


def test_a_rule_that_keeps_equals_is_seen_in_the_log(tmp_path):
    equal = {"before": (0, 1, 0), "after": (1, 0, 0)}
    write_gepa(tmp_path / "or-equal", [entry(0, **equal, new_program_idx=1), entry(1)])
    write_gepa(tmp_path / "strict", [entry(0, **equal), entry(1)])
    with open_store([tmp_path], cache=False) as store:
        rules = store.sql("select env, selection_rule from run_records order by env").fetchall()
    assert rules == [("or-equal", "better"), ("strict", "strict")]


def test_proposals_of_one_iteration_whose_verdicts_are_not_in_the_log_are_left_out(tmp_path):
    task = {"parent_idx": 0, "subsample_ids": [1], "subsample_scores": [0], "new_subsample_scores": [1]}
    several = {
        "i": 0,
        "selected_program_candidate": 0,
        "subsample_ids": [1],
        "tasks": [task, task],
        "new_program_idx": 1,
    }
    rows, problems, _ = read(write_gepa(tmp_path / "run", [several, entry(1)]))
    assert [row["iteration"] for row in rows] == [2]
    assert "iteration 0: the log does not show which of its proposals were accepted; left out" in problems[0]


def test_a_pickle_is_never_opened(tmp_path):
    class Bomb:
        def __reduce__(self):
            return (open, (str(tmp_path / "exploded"), "w"))

    folder = shutil.copytree(TOOLS / "gepa", tmp_path / "run")
    (folder / "gepa_state.bin").write_bytes(pickle.dumps(Bomb()))
    (folder / "gepa_state.bin").chmod(0)
    before = listing(folder)
    assert len(read(folder)[0]) == 14
    assert not (tmp_path / "exploded").exists()
    assert listing(folder) == before


BAD = [
    (entry(1, before=(float("nan"), 1, 0)), "a score is not a finite number: NaN; left out"),
    (entry(1, before=("zero", 1, 0)), "a score is not a finite number: 'zero'; left out"),
    (entry(1, before=(1e308, 1e308, 1e308)), "its mean score is not a finite number"),
    (entry(1, before=(0, 1)), "3 examples have 2 scores before and 3 after"),
    (entry(1, ids=(1, None, 2)), "an id of an example is not a number from 0: null"),
    (entry(1, ids=(1, "b", 2)), 'subsample_ids holds ids of several types: [1, "b", 2]'),
    (entry(1, ids="abc") | {"subsample_ids": "abc"}, "subsample_ids is not a list"),
    (entry(1, parent="0"), "parent_idx is not a number from 0"),
    (entry(-1), "i is not a number from 0"),
    (entry(1) | {"tasks": [3]}, "tasks is not a list of objects"),
    (entry(1, before=(0, 1, 0), after=(1, 1, 1), new_program_idx=None), "new_program_idx is not a number from 0"),
    ("text", "the entry is not an object"),
    (entry(1, proposed_candidate={"p": "\ud800"}, iteration_id="a"), "a text holds half a character"),
]


def test_an_entry_that_cannot_be_used_is_named_and_the_rest_is_read(tmp_path):
    folders = [
        write_gepa(tmp_path / f"run-{number}", [entry(0), bad, entry(2, before=(0, 0, number))])
        for number, (bad, _) in enumerate(BAD)
    ]
    check_named(folders, [message for _, message in BAD], sound=2)


def entries(change):
    """A change of the log of `gepa`, of which iterations 2, 3 and 6 add the candidates 1, 2 and 3."""
    return lambda folder: rewrite(folder / "run_log.json", change)


def rewrite(path, change):
    value = json.loads(path.read_text())
    change(value)
    path.write_text(json.dumps(value))


def texts(change):
    return lambda folder: rewrite(folder / "candidates.json", change)


def lines(old, new):
    """A change of the first line of the text log that has some text."""

    def change(folder):
        path = folder / "run_log.txt"
        first = next(line for line in path.read_text().splitlines(keepends=True) if old in line)
        path.write_text(path.read_text().replace(first, first.replace(old, new) if new else "", 1))

    return change


def repeat(folder):
    rewrite(folder / "run_log.json", lambda log: log.insert(3, log[2]))


DAMAGE = {
    "a gap": (entries(lambda log: log.pop(5)), "run_log.json: has no entry of iteration 5"),
    "an iteration twice": (repeat, "iteration 2: the iteration is in the log twice; left out"),
    "a parent that comes later": (
        entries(
            lambda log: (
                [each.update(parent_idx=3) for each in (log[3]["tasks"][0],)]
                and log[3].update(selected_program_candidate=3)
            )
        ),
        "iteration 3: the parent is not an earlier candidate: 3; left out",
    ),
    "no tasks": (entries(lambda log: log[4].pop("tasks")), "iteration 4: the entry has n_tasks and no tasks; left out"),
    "nothing at all": (
        entries(lambda log: log.__setitem__(4, {"i": 4})),
        "iteration 4: the entry holds neither a proposal nor a merge; left out",
    ),
    "scores swapped in one place": (
        entries(lambda log: log[1]["tasks"][0]["subsample_scores"].reverse()),
        "iteration 1: subsample_scores is not that of the first task; left out",
    ),
    "another verdict": (
        entries(lambda log: [log[2].pop(name) for name in ("new_program_idx", "new_program_indices")]),
        "run_log.json: has no entry that adds candidate 1",
    ),
    "no index": (
        entries(lambda log: log[3].update(new_program_idx=7)),
        "iteration 3: new_program_idx is not the last of new_program_indices: 7; left out",
    ),
    "a candidate less": (texts(lambda them: them.pop(1)), "which are missing is unknown, and so are all texts"),
    "a candidate more": (texts(lambda them: them.append(them[0])), "texts are those of their index"),
    "a candidate without its component": (
        texts(lambda them: them[2].update(other=them[2].pop("instruction"))),
        "candidates.json: candidate 2 has other components than most candidates; its texts are unknown",
    ),
    "another accepted text": (
        texts(lambda them: them[1].update(instruction="x")),
        "run_log.txt: has other texts of accepted proposals than candidates.json; rejected texts are unknown",
    ),
    "another parent in the text log": (
        lines("Selected program 1", "Selected program 0"),
        "iteration 3: its parent is another one in run_log.txt; kept as it is in run_log.json",
    ),
    "other scores in the text log": (
        lines("is not better than old score 1.0", "is not better than old score 2.0"),
        "iteration 1: its scores are others in run_log.txt; kept as it is in run_log.json",
    ),
    "a mean that is none": (
        lines("Valset score for new program: 0.25", "Valset score for new program: nan"),
        "run_log.txt: has 1 score on validation that cannot be read: 'nan'",
    ),
    "no mean": (lines("Valset score", ""), "run_log.txt: has no mean score on validation of candidate 1"),
    "no scores": (lines("Individual", ""), "run_log.txt: has no scores on each example of validation of candidate 1"),
    "no rejected text": (lines("Proposed", ""), "iteration 0: run_log.txt does not show its text, or where it ends"),
    "a text log that ends": (
        lambda folder: (folder / "run_log.txt").write_text((folder / "run_log.txt").read_text()[:2000]),
        "run_log.txt: ends before iteration 15 of run_log.json",
    ),
    "a log that ends": (
        lambda folder: rewrite(folder / "run_log.json", lambda log: log.__delitem__(slice(9, None))),
        "run_log.txt: goes on to iteration 15, where run_log.json ends at iteration 8",
    ),
    "no candidates": (lambda folder: (folder / "candidates.json").unlink(), "run_log.json: without candidates.json"),
    "no log": (lambda folder: (folder / "run_log.json").unlink(), "run_log.txt: without run_log.json"),
}


def gathered(folder, work):
    work.mkdir(exist_ok=True)
    intake = Intake(work)
    gather([locate(folder)], intake)
    return intake


@pytest.mark.parametrize("kind", DAMAGE)
def test_damage_is_named(kind, tmp_path):
    damage, message = DAMAGE[kind]
    folder = shutil.copytree(TOOLS / "gepa", tmp_path / "run")
    damage(folder)
    problems = list(map(str, gathered(folder, tmp_path / "work").problems))
    assert any(message in problem for problem in problems), problems


@pytest.mark.parametrize("parent", [1, 3])
def test_an_entry_with_an_impossible_parent_costs_itself_alone(parent, tmp_path):
    folder = shutil.copytree(TOOLS / "gepa", tmp_path / "gepa")
    whole = {row["iteration"] for row in read(folder)[0]}

    def change(log):
        log[2]["tasks"][0]["parent_idx"] = log[2]["selected_program_candidate"] = parent

    entries(change)(folder)
    rows, problems, _ = read(folder)
    assert {row["iteration"] for row in rows} == whole - {2}
    (problem,) = problems
    assert f"iteration 2: the parent is not an earlier candidate: {parent}; left out" in problem


def test_a_program_that_prints_behind_a_message_hides_no_score(tmp_path):
    folder = shutil.copytree(TOOLS / "gepa", tmp_path / "run")
    log = folder / "run_log.txt"
    log.write_text(
        re.sub(
            r"(candidate index: \d+|winter\.)\n(?=Iteration \d+: (Selected|Valset))", r"\1\nprinted\n", log.read_text()
        )
    )
    assert "printed" in log.read_text()
    [found, whole] = [gathered(each, tmp_path / each.name) for each in (folder, TOOLS / "gepa")]
    assert found.problems == []
    [pool, expected] = [Path(each.files[0].file).with_name(LINEAGE).read_text() for each in (found, whole)]
    assert pool == expected


def test_releases_before_tasks_are_read_alike(tmp_path):
    """0.1.1 to 0.1.3 have one proposal in each entry, and accept it in other words."""
    folder = shutil.copytree(TOOLS / "gepa", tmp_path / "run")
    rewrite(
        folder / "run_log.json",
        lambda log: [each.pop(name, None) for each in log for name in ("tasks", "n_tasks", "new_program_indices")],
    )
    accepted = r"Accepted candidate \(subsample score (\S+) -> (\S+)\); running full eval\."
    before = r"New subsample score \2 is better than old score \1. Continue to full eval and add to candidate pool."
    text = (folder / "run_log.txt").read_text()
    (folder / "run_log.txt").write_text(re.sub(accepted, before, text))
    rows, problems, _ = read(folder)
    assert problems == []
    assert [row["revised"]["text"] for row in rows] == [row["revised"]["text"] for row in read(TOOLS / "gepa")[0]]


def test_many_of_a_kind_are_one_problem(tmp_path):
    _, problems, _ = read(
        write_gepa(tmp_path / "run", [entry(0), *(entry(n, before=("a",) * 3) for n in range(1, 50))])
    )
    assert problems == [
        f"{tmp_path}/run/run_log.json: iteration 1: a score is not a finite number: 'a'; left out (48 more like it)"
    ]


def test_scores_below_zero_and_ids_of_any_kind_are_taken(tmp_path):
    rows, problems, _ = read(write_gepa(tmp_path / "run", [entry(0, before=(-1, -2.5, True), ids=([1], ["a"], [3]))]))
    assert problems == []
    assert rows[0]["initial"]["returns"] == [-1.0, -2.5, 1.0]
    assert rows[0]["initial"]["example_ids"] == ["[1]", '["a"]', "[3]"]


@pytest.mark.parametrize("name", ["run_log.json", "candidates.json"])
def test_a_torn_file_of_a_live_folder_is_read_up_to_there(name, tmp_path):
    folder = shutil.copytree(TOOLS / "gepa", tmp_path / "run")
    whole, _, _ = read(folder)
    path = folder / name
    path.write_bytes(path.read_bytes()[:-200])
    rows, problems, _ = read(folder)
    assert len(problems) == 1
    assert f"{name}: is torn" in problems[0]
    if name == "run_log.json":
        assert rows == whole[: len(rows)]
        assert len(rows) > 10
    else:
        assert len(rows) == len(whole)
        assert any(row["revised"]["text"] is None for row in rows)


def test_a_log_without_entries_and_one_of_the_two_files_alone_are_one_line(tmp_path):
    for place, text in enumerate(["", "{}", "[", "[1", "nothing", "[{]"]):
        with pytest.raises(AuditError) as error:
            read(write_gepa(tmp_path / f"{place}", text))
        assert str(error.value).count("\n") <= 2
        assert "run_log.json" in str(error.value)
    for name in ("candidates.json", "run_log.json"):
        (tmp_path / name).mkdir()
        (tmp_path / name / name).write_text("[]")
        with pytest.raises(AuditError, match=r"no records found.*run_log\.json"):
            read(tmp_path / name)


def test_folders_are_runs_and_copies_are_named(tmp_path):
    for score, place in enumerate(("seasons/run-1", "seasons/run-7", "seasons/run-0", "other")):
        write_gepa(tmp_path / place, [entry(0), entry(1, before=(0, 0, score))])
    shutil.copytree(tmp_path / "other", tmp_path / "more" / "other")
    rows, problems, _ = read(tmp_path)
    assert sorted({(row["env"], row["run"]) for row in rows}) == [
        ("other", 1),
        ("seasons", 1),
        ("seasons", 2),
        ("seasons", 7),
    ]
    assert len(problems) == 1
    assert "holds the same iterations as" in problems[0]


@pytest.mark.parametrize("name", ["gepa", "openevolve"])
def test_an_archive_is_read_as_its_folder_is(name, tmp_path):
    with tarfile.open(tmp_path / "run.tar.gz", "w:gz") as archive:
        archive.add(TOOLS / name, f"tools/{name}")
    found, problems, _ = read(tmp_path / "run.tar.gz")
    assert problems == []
    assert [row | {"file": ""} for row in found] == [row | {"file": ""} for row in read(TOOLS / name)[0]]


def test_a_long_text_is_left_out_and_named(tmp_path):
    long = {"p": "word " * 2_000_000}
    rows, problems, _ = read(
        write_gepa(tmp_path / "run", [entry(0, new_program_idx=1), entry(1, parent=1)], [long, {"p": long["p"] + "."}])
    )
    assert [row["iteration"] for row in rows] == [1]
    assert "its texts are longer than 16 MiB; left out" in problems[0]


def test_a_pipe_among_the_files_blocks_nothing(tmp_path):
    folder = shutil.copytree(TOOLS / "gepa", tmp_path / "run")
    for name in ("run_log.txt", "run_log.json"):
        (folder / name).unlink()
        os.mkfifo(folder / name)
        if name == "run_log.txt":
            rows, problems, _ = read(folder)
            assert len(rows) == 14
            assert "run_log.txt: cannot be read" in problems[0]
    with pytest.raises(AuditError, match=r"run_log\.json: cannot be read \(a pipe"):
        read(folder)


def test_links_are_followed(tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    for name in ("run_log.json", "candidates.json"):
        (folder / name).symlink_to(TOOLS / "gepa" / name)
    assert len(read(folder)[0]) == 14


def test_folders_that_are_linked_from_elsewhere_are_named(tmp_path):
    folder = tmp_path / "data"
    shutil.copytree(TOOLS / "gepa", folder / "gepa")
    for name, target in (("again", folder / "gepa"), ("around", tmp_path), ("elsewhere", TOOLS / "shinka")):
        (folder / name).symlink_to(target)
    rows, problems, notes = read(folder)
    assert (rows[0]["file"], problems) == (str(folder / "gepa" / "run_log.json"), [])
    assert [line for line in notes if "link" in line] == [f"left out: 1 linked folder ({folder / 'elsewhere'})"]


def test_a_folder_of_an_old_release_is_named_as_one(tmp_path):
    folder = write_gepa(tmp_path / "run", [entry(0)])
    (folder / "gepa_state.bin").write_bytes(b"never opened")
    assert len(read(folder)[0]) == 1
    assert read(folder)[1] == []
    (folder / "run_log.json").unlink()
    with pytest.raises(AuditError, match=r"gepa_state.bin: without run_log.json .* before 0\.1\.1"):
        read(folder)
