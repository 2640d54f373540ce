"""Lineage: parents, blame, dead ends, examples and costs, against what was planted."""

from __future__ import annotations

import json

import pytest

import audit
from audit.recorders import Recorder
from tests.tools.running import run_tool

SEED = "Answer in one word. Be polite."


def record(folder, *, joined=True, env="tickets"):
    """A search by hand: two branches, a merge, a sentence that is reworded, refused proposals of which one is repeated.

    Candidates: 0 the seed; 1 adds "Cite the page."; 2 adds "Check the sum twice." to the seed's note; 3 merges them; 4
    rewords "Cite the page." as "Cite the page number."
    """
    texts = {
        0: {"task": SEED, "note": "No notes."},
        1: {"task": f"{SEED} Cite the page.", "note": "No notes."},
        2: {"task": SEED, "note": "No notes. Check the sum twice."},
        3: {"task": f"{SEED} Cite the page.", "note": "No notes. Check the sum twice."},
        4: {"task": f"{SEED} Cite the page number.", "note": "No notes. Check the sum twice."},
    }
    refused = {"task": f"{SEED} Shout loudly at everybody.", "note": "No notes."}
    again = {"task": f"{SEED} Shout loudly at everyone.", "note": "No notes."}
    with Recorder(folder, env=env, variant="mine", selection_rule="strict") as recorder:

        def join(name, parents, iteration, **scores):
            if joined:
                recorder.joined(name, texts[name], parents=parents, iteration=iteration, scores=scores)

        def revise(parent, text, before, after, ids, answer, tokens=(90, 10)):
            recorder.shown(texts[parent], before, ids=ids, items=[f"question {each}" for each in ids], prompt="…")
            recorder.answered(answer, text, tokens=tokens)
            recorder.scored(after)

        join(0, [], None, a=0.0, b=0.0, v=0.5, w=0.0)
        revise(0, texts[1], [0, 1], [1, 1], ["a", "b"], "Example 1 fails for want of a page. So pages are cited.")
        join(1, [0], 0, a=1.0, b=0.0, v=0.5, w=1.0)
        revise(0, refused, [0, 1], [0, 0], ["a", "c"], "Example 2 is too quiet.")
        revise(0, again, [0, 1], [0, 1], ["a", "c"], "Louder.")
        revise(0, texts[2], [0, 0], [1, 0], ["b", "c"], "The sum was wrong.")
        join(2, [0], 3, a=0.0, b=1.0, v=0.5, w=0.0)
        join(3, [1, 2], None, a=1.0, b=1.0, v=0.5, w=1.0)
        revise(3, texts[4], [0, 0], [1, 1], ["c", "d"], None)
        join(4, [3], 4, a=1.0, b=1.0, v=1.0, w=1.0)
    return folder


def test_candidates_parents_and_refused_proposals(tmp_path):
    rows = list(audit.lineage(record(tmp_path)))
    assert [(row["candidate"], row["iteration"], row["parents"], row["why"]) for row in rows] == [
        ("0", None, None, None),
        ("1", 0, "0", None),
        (None, 1, "0", "lower"),
        (None, 2, "0", "equal"),
        ("2", 3, "0", None),
        ("3", None, "1, 2", None),
        ("4", 4, "3", None),
    ]
    assert [(row["added"], row["removed"]) for row in rows][1:] == [(1, 0), (1, 0), (1, 0), (1, 0), (0, 0), (1, 1)]
    # Of candidate 1: (1 + 1) / 2 − (0 + 1) / 2 on the minibatch; on validation without its examples a and b, so
    # (0.5 + 1) / 2 − (0.5 + 0) / 2.
    assert (rows[1]["minibatch_gain"], rows[1]["validation_gain"], rows[1]["validation"]) == (0.5, 0.5, 0.625)
    assert [row["tokens"] for row in rows] == [None, 100, 100, 100, 100, None, 100]


def test_blame_through_a_merge_and_a_rewording(tmp_path):
    rows = list(audit.lineage(record(tmp_path), blame="best"))
    found = [(row["sentence"], row["how"], row["candidate"], row["iteration"], row["first_candidate"]) for row in rows]
    assert found == [
        ("Answer in one word.", "seed", "0", None, "0"),
        ("Be polite.", "seed", "0", None, "0"),
        ("Cite the page number.", "reworded", "4", 4, "1"),
        ("No notes.", "seed", "0", None, "0"),
        ("Check the sum twice.", "new", "2", 3, "2"),
    ]
    reworded, check = rows[2], rows[4]
    # Seven characters are inserted, and the longer sentence has 21.
    assert (reworded["was"], reworded["ratio"]) == ("Cite the page.", pytest.approx(1 - 7 / 21))
    assert (check["reason"], check["examples"]) == ("The sum was wrong.", "b, c")
    assert reworded["reason"] is None


def test_dead_ends_and_examples(tmp_path):
    data = record(tmp_path)
    assert [(row["iteration"], row["repeats"]) for row in audit.lineage(data, dead_ends=True, alike=0.8)] == [(2, 1)]
    assert not list(audit.lineage(data, dead_ends=True, alike=1))
    ledger = {row["example"]: row for row in audit.lineage(data, examples=True)}
    counts = {name: (row["shown"], row["cited"], row["fixed"], row["broken"]) for name, row in ledger.items()}
    # c, at its second place of the second iteration, is cited there and broken.
    assert counts == {"a": (3, 1, 1, 0), "b": (2, 0, 1, 0), "c": (4, 1, 1, 1), "d": (1, 0, 1, 0)}


def test_runs(tmp_path):
    (row,) = audit.lineage(record(tmp_path), runs=True)
    assert (row["candidates"], row["proposals"], row["kept"], row["merges"]) == (5, 5, 3, 1)
    assert (row["best"], row["tokens"], row["verdict"]) == ("4", 500, "cannot be told")
    # 1 of candidate 4 less 0.125 of the seed.
    assert row["tokens_per_point"] == pytest.approx(500 / 0.875)


def test_without_names_candidates_are_told_by_their_texts(tmp_path):
    table = audit.lineage(record(tmp_path, joined=False))
    found = [(row["candidate"], row["iteration"], row["parents"]) for row in table]
    assert found == [
        *(("0", None, None), ("1", 0, "0"), (None, 1, "0"), (None, 2, "0"), ("2", 3, "0")),
        *(("3", None, None), ("4", 4, "3")),
    ]
    assert any("found by their texts" in note for note in table.notes)


def lineage_file(data):
    (path,) = data.rglob("lineage.jsonl")
    return path


def test_cycles_missing_parents_and_a_torn_line_are_survived(tmp_path):
    path = lineage_file(record(tmp_path))
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    lines[1]["parents"], lines[4]["parents"] = ["4"], ["1"]
    lines[2]["parents"] = ["nobody"]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines) + '{"candidate": "5", "par')
    table = audit.lineage(tmp_path)
    assert any("own ancestors" in note for note in table.notes)
    named = {row["candidate"]: row["parents"] for row in table if row["candidate"]}
    assert set(named) == {"0", "1", "2", "3", "4", "nobody"}
    assert [named["1"], named["4"]].count(None) == 1
    for name in named:
        assert name == "nobody" or list(audit.lineage(tmp_path, blame=name))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"blame": "7"}, "no candidate '7'"),
        ({"blame": "1", "runs": True}, "one at a time"),
        ({"dead_ends": True, "alike": 2}, "--alike 2"),
    ],
)
def test_wrong_options(tmp_path, options, message):
    with pytest.raises(audit.AuditError, match=message):
        audit.lineage(record(tmp_path), **options)


def test_a_candidate_of_two_runs_has_to_be_chosen(tmp_path):
    record(tmp_path)
    record(tmp_path, env="letters")
    with pytest.raises(audit.AuditError, match="2 runs have a candidate '4'"):
        audit.lineage(tmp_path, blame="4")
    assert list(audit.lineage(tmp_path, blame="4", env="letters"))


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_every_sentence_of_a_real_gepa_run_is_blamed_on_its_iteration(tmp_path, seed):
    folder, records, truth_file = tmp_path / "run", tmp_path / "records", tmp_path / "truth.json"
    run_tool("gepa", "run_gepa_lineage.py", folder, records, truth_file, "--seed", str(seed))
    truth = json.loads(truth_file.read_text())
    merges = 0
    for data in (folder, records):
        candidates = [row for row in audit.lineage(data) if row["candidate"] is not None]
        merges += sum(row["role"] == "merge" for row in candidates)
        assert len(candidates) > 8
        checked = reworded = 0
        for candidate in candidates:
            for row in audit.lineage(data, blame=candidate["candidate"]):
                known = truth.get(row["sentence"])
                if known is None:
                    assert row["how"] == "seed", row
                    continue
                assert row["iteration"] in known["iterations"], (row, known)
                checked += 1
                if known.get("was"):
                    reworded += 1
                    assert (row["how"], row["was"]) == ("reworded", known["was"])
                    assert row["ratio"] == pytest.approx(
                        1 - distance(known["was"], row["sentence"]) / len(row["sentence"])
                    )
                if data is records and known.get("month"):
                    assert known["month"] in row["reason"]
        assert checked > 30
        assert reworded
    assert merges or seed


def distance(before, after):
    """Levenshtein's, by his recursion."""
    row = list(range(len(after) + 1))
    for i, left in enumerate(before, 1):
        row, last = [i], row
        for j, right in enumerate(after, 1):
            row.append(min(last[j] + 1, row[-1] + 1, last[j - 1] + (left != right)))
    return row[-1]
