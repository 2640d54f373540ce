"""Transcript databases of Inspect Scout become records, by hand and as Scout itself writes them."""

from __future__ import annotations

import json

import duckdb
import pytest

import audit
from audit.importing.parquet_rows import parquet_rows
from audit.output.errors import AuditError, UsageError
from tests.audit.samples import revision, write_run
from tests.tools.running import REPOSITORY, run_tool

PROMPT = "# Example 1\n## Feedback\nScore: 0.1\n\n\n# Example 2\n## Feedback\nScore: 0.9\n"
ROWS = (
    ("a", "Be.", "0.5", None, "None."),
    ("b", "Be brief.", "0.75", "a", "Example 1 failed."),
    ("c", "Cite.", "0.25", "b", "The first example failed."),
    ("d", "Cite it.", "0.125", "b", "Example 2 is fine."),
)
"""Candidate, text, score, parent, reasons: of three revisions two are worse, one of which cites the worse example."""


def chat(answer, prompt=PROMPT):
    """The messages of a transcript; thinking is no part of the answer."""
    parts = [{"type": "reasoning", "reasoning": "Example 1."}, {"type": "text", "text": answer}]
    asked = [{"role": "system", "content": "Improve."}, {"role": "user", "content": prompt}]
    return json.dumps([*asked, {"role": "assistant", "content": parts}])


def database(folder, *, nested=False, without=(), rows=ROWS):
    """A folder with two Parquet files, the second in a folder of its own; metadata may be under `metadata`."""
    found = []
    for place, (name, text, score, parent, answer) in enumerate(rows):
        row = {"transcript_id": name, "source_id": "loop", "task_set": "tickets", "date": f"2026-01-0{place + 1}"}
        metadata = {"prompt": text, "parent": parent}
        row |= {"score": score, "messages": chat(answer)} | ({"metadata": json.dumps(metadata)} if nested else metadata)
        found.append({key: value for key, value in row.items() if key not in without})
    for path, part in ((folder / "one.parquet", found[:2]), (folder / "more" / "two.parquet", found[2:])):
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = folder / "rows.jsonl"
        lines.write_text("".join(f"{json.dumps(row)}\n" for row in part))
        with duckdb.connect() as connection:
            # Scout has scores as JSON and all other columns as text.
            columns = dict.fromkeys(found[0], "varchar")
            connection.execute(
                f"copy (from read_json(?, columns = {columns}, format = 'nd')) to '{path}' (format parquet)",
                [str(lines)],
            )
        lines.unlink()
    return folder


def counts(path, **options):
    names = ("revisions", "regressions", "strict", "permissive", "worst_below_median", "worst_below_best")
    return {
        (row["condition"], row["env"], row["variant"]): tuple(row[name] for name in names)
        for row in audit.salience(path, **options)
    }


@pytest.mark.parametrize("nested", [False, True])
def test_a_database_is_counted(tmp_path, nested):
    audit.import_logs(database(tmp_path / "answers", nested=nested), "scout", tmp_path / "out")
    rows = audit.revisions(tmp_path / "out")
    assert [(row["r0"], row["r1"], row["references_worst"], row["strict"]) for row in rows] == [
        (0.5, 0.75, True, False),
        (0.75, 0.25, True, True),
        (0.75, 0.125, False, False),
    ]
    assert counts(tmp_path / "out") == {("scout", "tickets", "scout"): (3, 2, 1, 1, 2, 2)}
    [path] = (tmp_path / "out").rglob("episodes.jsonl")
    answers = {json.loads(line)["revised"]["answer"] for line in path.read_text().splitlines()}
    assert answers == {row[-1] for row in ROWS[1:]}


def test_prompts_of_no_known_template_leave_the_evidence_open(tmp_path):
    folder = database(tmp_path / "answers")
    with duckdb.connect() as connection:
        for path in folder.rglob("*.parquet"):
            table = f"(select * replace (replace(messages, '# Example', '# Case') as messages) from '{path}')"
            connection.execute(f"create or replace table t as from {table}")
            connection.execute(f"copy t to '{path}' (format parquet)")
    audit.import_logs(folder, "scout", tmp_path / "out")
    assert [row["delta"] for row in audit.revisions(tmp_path / "out")] == [0.25, -0.5, -0.625]
    assert counts(tmp_path / "out") == {}


def test_what_is_no_database_is_one_line(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(AuditError, match="a folder, not a file, and no Parquet files in it"):
        audit.import_logs(tmp_path / "empty", "scout", tmp_path / "out")
    with pytest.raises(UsageError, match=r"no column 'parent'; no column 'prompt' \(it has .*\); the mapping has them"):
        audit.import_logs(database(tmp_path / "bare", without=("prompt", "parent")), "scout", tmp_path / "out")
    whole = (database(tmp_path / "whole") / "one.parquet").read_bytes()
    for content in (b"", b"no Parquet", b"PAR1" + bytes(300), whole[:400]):
        (tmp_path / "log.parquet").write_bytes(content)
        with pytest.raises(UsageError, match="not a Parquet file, or a damaged one") as raised:
            audit.import_logs(tmp_path / "log.parquet", "scout", tmp_path / "out")
        assert "\n" not in str(raised.value)
    assert not (tmp_path / "out").exists()


def test_events_are_read_only_where_a_mapping_names_them(tmp_path):
    """Scout keeps in them all that happened; other columns may have any name."""
    file = tmp_path / "log.parquet"
    with duckdb.connect() as connection:
        connection.execute(
            f"""copy (select 'e' as events, 't' as timelines, 1 as "a.b", 2 as "limit", 3 as "o ""dd" ) to '{file}'"""
        )
    assert [dict(row) for row in parquet_rows(file, ["events"])] == [
        {"events": "e", "a.b": "1", "limit": "2", 'o "dd': "3"}
    ]


def test_transcripts_of_something_else_are_left_out(tmp_path):
    rows = (*ROWS, ("e", None, None, None, "4"))
    made = audit.import_logs(database(tmp_path / "answers", rows=rows), "scout", tmp_path / "out")
    assert made.left_out == 1
    assert len(list(audit.revisions(tmp_path / "out"))) == 3


def test_what_was_exported_is_counted_as_before(tmp_path):
    """Policies, by words; and prompts, whose examples are read from the recorded prompts."""
    shown = "\n\n".join(
        f"{name} rollout (rollout {place}, return {value}, length 9):\n0->1->2"
        for place, (name, value) in enumerate((("Worst", 1.0), ("Median", 5.0), ("Best", 9.0)))
    )
    answers = ("The worst rollout fell.", "The best rollout went far.", "The worst rollout fell.")
    after = ([0, 0, 0], [2, 2, 2], [6, 6, 6])
    write_run(
        tmp_path / "runs",
        [
            revision([1, 5, 9], scores, after=(1.0, 2.0, place), answer=answer, iteration=place)
            for place, (scores, answer) in enumerate(zip(after, answers, strict=True))
        ],
    )
    key = {"condition": "hand", "env": "cartpole", "variant": "threetraj", "run": 1, "role": "critic", "attempt": 1}
    calls = [
        {**key, "iteration": place, "prompt": f"## Evidence\n{shown}\n\nRevise.", "completion": answer, "error": None}
        for place, answer in enumerate(answers)
    ]
    (tmp_path / "runs" / "calls.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in calls))
    audit.export(tmp_path / "runs", tmp_path / "answers")
    audit.import_logs(tmp_path / "answers", "scout-export", tmp_path / "out")
    for detector in ("word", "resolved"):
        found = counts(tmp_path / "out", detector=detector)
        assert found == {("hand", "cartpole", "threetraj"): (3, 2, 1, 1, 2, 2)}
        assert found == counts(tmp_path / "runs", detector=detector)


def test_an_export_of_prompts_is_counted_as_before(tmp_path):
    planted = REPOSITORY / "data" / "gepa-planted"
    audit.export(planted, tmp_path / "answers")
    audit.import_logs(tmp_path / "answers", "scout-export", tmp_path / "out")
    assert counts(tmp_path / "out") == counts(planted)
    assert list(map(dict, audit.positions(tmp_path / "out"))) == list(map(dict, audit.positions(planted)))


@pytest.mark.slow
def test_transcripts_that_scout_wrote(tmp_path):
    run_tool("scout", "run_scout.py", tmp_path / "answers", package="inspect_scout")
    made = audit.import_logs(tmp_path / "answers", "scout", tmp_path / "out")
    assert made.left_out == 1
    rows = audit.revisions(tmp_path / "out")
    assert [(row["r0"], row["r1"], row["strict"]) for row in rows] == [
        (0.5, 0.75, False),
        (0.5, 0.25, True),
        (0.75, 0.25, False),
    ]
    assert counts(tmp_path / "out") == {("scout", "tickets", "scout"): (3, 2, 1, 1, 2, 2)}
