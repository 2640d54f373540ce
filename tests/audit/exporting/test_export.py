"""Exports: every call once, with the verdicts on its answer, in formats that other programs read."""

from __future__ import annotations

import json
import os
import shutil
import subprocess

import duckdb
import pytest
from typer.testing import CliRunner

import audit
from audit.cli import app
from audit.exporting import writing
from audit.exporting.formats import FORMATS
from audit.output.errors import AuditError
from tests.audit.samples import candidate, episode, revision, write_run
from tests.audit.sources.released import critic_episode, log
from tests.audit.texts import text_revision, text_run

pytestmark = pytest.mark.usefixtures("opened_once")

ODD = "worst \x00 of ünï\u2028code 🙂 \"quoted\", 'so'\r\n= 1"
PROMPT = "Rollout 1 returned 1.\n\nRevise."
SCOUT = os.environ.get("SCOUT_PYTHON")
RESERVED = {
    *("transcript_id", "source_type", "source_id", "source_uri", "date", "task_set", "task_id", "task_repeat", "agent"),
    *("agent_args", "model", "model_options", "score", "score_explanation", "success", "message_count", "total_time"),
    *("total_tokens", "error", "limit", "trust_content", "messages", "events", "timelines", "events_data", "filename"),
}
"""Names that Inspect Scout 0.6.1 has a meaning for."""


def call(iteration, completion, role="critic", **changes):
    line = {"condition": "hand", "env": "cartpole", "variant": "threetraj", "run": 1, "iteration": iteration}
    line |= {"role": role, "attempt": 1, "prompt": PROMPT, "completion": completion, "thinking": None, "model": "m"}
    line |= {"prompt_tokens": 9, "completion_tokens": 4, "seconds": 1.5, "error": None}
    return line | changes


def write(folder, rows, calls, tail=b"", **run):
    write_run(folder, rows, **run)
    (folder / "calls.jsonl").write_bytes("".join(f"{json.dumps(line)}\n" for line in calls).encode() + tail)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A regression that cites the worst rollout, asked twice; an improvement with thinking; one without a revision."""
    better = revision([1, 2, 3], [4, 4, 4], answer="Better.", iteration=1)
    rows = [
        revision([1, 5, 9], [0, 0, 0], after=(1.0, 2.0, 4.0), answer=ODD),
        better,
        episode(candidate([7, 7, 7]), None, iteration=2),
    ]
    calls = [
        call(0, "an answer", role="search"),
        call(0, "", error="no parameters"),
        call(0, ODD, attempt=2),
        call(1, "an answer", role="search"),
        call(1, "Better.", thinking="Let me see.", completion_tokens=None),
        call(2, "", error="no parameters", cut="out of tokens"),
    ]
    root = tmp_path_factory.mktemp("recorded")
    write(root / "run-01", rows, calls, tail=b'{"torn')
    return root


@pytest.fixture
def data(recorded, tmp_path):
    """A copy to be changed."""
    return shutil.copytree(recorded, tmp_path / "data")


def rows_of(path):
    with duckdb.connect() as connection:
        relation = connection.sql(f"from read_parquet('{path}{'/*.parquet' if path.is_dir() else ''}')")
        return [dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall()]


def lines_of(path):
    return [json.loads(line) for line in path.read_text("utf-8").split("\n")[:-1]]


def exported(data, tmp_path, file_format="scout", **options):
    return audit.export(data, tmp_path / f"out-{file_format}", file_format, force=True, **options)


def test_each_call_is_a_transcript_with_the_verdicts_on_its_answer(recorded, tmp_path):
    made = exported(recorded, tmp_path, detector="word")
    assert (made.transcripts, made.files) == (4, 1)
    discarded, regression, improvement, cut = rows_of(made.path)
    assert [row["attempt"] for row in (discarded, regression, improvement, cut)] == [1, 2, 1, 1]
    assert (discarded["error"], discarded["candidate"], discarded["delta"], discarded["score"]) == (
        *("no parameters", None, None, None),
    )
    assert regression["candidate"] == "revised"
    assert (regression["direction"], regression["strict"], regression["severity"]) == ("regression", True, 0.5)
    assert (regression["worst"], regression["references_worst"], regression["success"]) == (1.0, True, False)
    assert json.loads(regression["score"]) == {"r0": 5.0, "r1": 0.0, "delta": -5.0}
    assert (regression["total_tokens"], regression["total_time"], regression["message_count"]) == (13, 1.5, 2)
    assert regression["source_id"] == "hand/cartpole/threetraj/run-01"
    assert regression["task_id"] == "threetraj/run-01/0"
    assert regression["source_uri"].endswith("run-01/calls.jsonl")
    assert (improvement["success"], improvement["total_tokens"]) == (True, None)
    assert (cut["cut"], cut["iteration"], cut["success"]) == ("out of tokens", 2, None)
    asked, answered = json.loads(improvement["messages"])
    assert (asked["role"], asked["content"], asked["source"]) == ("user", PROMPT, "input")
    assert answered["content"] == [
        {"type": "reasoning", "reasoning": "Let me see."},
        {"type": "text", "text": "Better."},
    ]
    assert len({message["id"] for row in rows_of(made.path) for message in json.loads(row["messages"])}) == 8
    assert made.notes == ["1 line of calls.jsonl left out: no calls of their run, or torn"]


def test_columns_of_verdicts_have_no_name_that_scout_has_a_meaning_for(recorded, tmp_path):
    columns = list(rows_of(exported(recorded, tmp_path).path)[0])
    assert set(columns[columns.index("events_data") + 1 :]).isdisjoint(RESERVED)
    assert {"pattern", "permissive", "edit_distance", "structure", "tau_c"} < set(columns)


@pytest.mark.parametrize("file_format", FORMATS)
def test_every_text_arrives_as_it_is(recorded, tmp_path, file_format):
    path = exported(recorded, tmp_path, file_format).path
    if file_format == "parquet":
        answers = [row["answer"] for row in rows_of(path)]
    else:
        lines = rows_of(path) if path.is_dir() else lines_of(path)
        found = [line["messages"] for line in lines]
        messages = [json.loads(each) if isinstance(each, str) else each for each in found]
        assert [each[0]["content"] for each in messages] == [PROMPT] * 4
        answers = [each[1]["content"] for each in messages]
    assert answers[:2] == ["", ODD]


def test_other_formats_have_thinking_and_verdicts(recorded, tmp_path):
    chat = lines_of(exported(recorded, tmp_path, "chat-jsonl").path)
    assert chat[2]["messages"][1] == {"role": "assistant", "content": "Better.", "reasoning_content": "Let me see."}
    assert (chat[1]["metadata"]["strict"], chat[1]["metadata"]["model"]) == (True, "m")
    flat = rows_of(exported(recorded, tmp_path, "parquet").path)
    assert (flat[2]["thinking"], flat[2]["prompt"], flat[2]["direction"]) == ("Let me see.", PROMPT, "improvement")
    # A call of a search is another one.
    critics, searches = (rows_of(exported(recorded, tmp_path, role=role).path) for role in ("critic", "search"))
    assert {row["candidate"] for row in searches} == {"initial"}
    assert {row["transcript_id"] for row in searches}.isdisjoint(row["transcript_id"] for row in critics)


def test_the_same_call_has_the_same_identifier_wherever_the_records_are(data, tmp_path):
    first = rows_of(exported(data, tmp_path).path)
    shutil.move(data, tmp_path / "moved")
    again = rows_of(exported(tmp_path / "moved", tmp_path).path)
    assert [row["transcript_id"] for row in first] == [row["transcript_id"] for row in again]
    assert len({row["transcript_id"] for row in first}) == 4


def test_calls_that_have_all_in_common_are_told_apart(tmp_path):
    """A control asks the same prompt twice, and a run that is resumed asks again what it had asked."""
    second = candidate([1, 2, 3], answer="B")
    rows = [episode(candidate([1, 2, 3], answer="A"), second, variant="puresearch", evidence=None)]
    asked = [call(0, answer, role="search", variant="puresearch") for answer in ("lost", "A", "B")]
    write(tmp_path / "data" / "run-01", rows, asked)
    found = rows_of(exported(tmp_path / "data", tmp_path, role="search").path)
    assert [row["candidate"] for row in found] == [None, "initial", "revised"]
    assert len({row["transcript_id"] for row in found}) == 3


def test_an_answer_without_a_call_of_its_run_has_no_prompt(data, tmp_path):
    with_calls = rows_of(exported(data, tmp_path).path)
    packed = audit.pack(data, tmp_path).path
    for path in (packed, data):
        made = exported(path, tmp_path)
        found = rows_of(made.path)
        assert [row["iteration"] for row in found] == [0, 1]
        assert [len(json.loads(row["messages"])) for row in found] == [1, 1]
        assert {row["attempt"] for row in found} == {None}
        assert [row["strict"] for row in found] == [row["strict"] for row in with_calls[1:3]]
        assert "the prompt of 2 of 2 answers is not recorded" in made.notes[0]
        (data / "run-01" / "calls.jsonl").unlink(missing_ok=True)
    calls = data / "run-01" / "calls.jsonl"
    calls.write_text(json.dumps(call(0, ODD, run=2)) + "\n")
    made = exported(data, tmp_path)
    assert made.notes[0].startswith("1 line of calls.jsonl left out")
    assert [row["attempt"] for row in rows_of(made.path)] == [None, None]
    calls.unlink()
    calls.mkdir()
    with pytest.raises(AuditError, match=r"calls\.jsonl: cannot be read"):
        exported(data, tmp_path)


def test_a_database_is_in_files_of_limited_size_and_a_text_may_be_longer_than_a_record(data, tmp_path, monkeypatch):
    one = rows_of(exported(data, tmp_path).path)
    monkeypatch.setattr(writing, "PART", 1)
    made = exported(data, tmp_path)
    assert made.files == len(list(made.path.iterdir())) == 4
    assert rows_of(made.path) == one
    assert len(rows_of(exported(data, tmp_path, "parquet").path)) == 4
    monkeypatch.setattr(writing, "LONGEST_LINE", 100)
    prompt = "\x00long " * 2_000
    with (data / "run-01" / "calls.jsonl").open("a") as stream:
        stream.write("\n" + json.dumps(call(2, "Cut.", prompt=prompt, attempt=2)) + "\n")
    assert json.loads(rows_of(exported(data, tmp_path).path)[-1]["messages"])[0]["content"] == prompt


def test_nothing_is_overwritten_unless_an_export_made_it(data, tmp_path):
    out = tmp_path / "db"
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").touch()
    audit.export(data, out)
    with pytest.raises(audit.UsageError, match="already exists; replace an earlier export with --force"):
        audit.export(data, out)
    (out / "_index").mkdir()
    audit.export(data, out, force=True)
    assert [path.name for path in out.iterdir()] == ["transcripts_00001.parquet"]
    for place, message in (
        (tmp_path / "mine", "holds thesis.tex"),
        (data / "db", "in the records"),
        (data, "in the records"),
        (tmp_path / "mine" / "thesis.tex", "not a folder"),
        (tmp_path / "mine" / "thesis.tex" / "db", "not a folder"),
    ):
        with pytest.raises(audit.UsageError, match=message):
            audit.export(data, place, force=True)
    with pytest.raises(audit.UsageError, match="is a folder"):
        audit.export(data, tmp_path / "mine", "parquet", force=True)
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["data", "db", "mine"]


def test_where_nothing_is_recorded_nothing_is_made(tmp_path):
    write_run(tmp_path / "data", [episode(candidate([7, 7, 7]), None)])
    with pytest.raises(audit.AuditError, match="nothing to export: no answer of a critic is in the records"):
        audit.export(tmp_path / "data", tmp_path / "db")
    assert [path.name for path in tmp_path.iterdir()] == ["data"]
    for arguments in ({"file_format": "xml"}, {"role": "judge"}):
        with pytest.raises(audit.UsageError, match=r"no (format|role) '(xml|judge)'; there are "):
            audit.export(tmp_path / "data", tmp_path / "db", **arguments)


def test_the_format_is_the_first_word_or_an_option(recorded, tmp_path):
    out, chat = tmp_path / "out", ("--format", "chat-jsonl")
    for words in (("chat-jsonl", recorded), (recorded, *chat), ("chat-jsonl", recorded, *chat)):
        result = CliRunner().invoke(app, ["export", *map(str, words), "--out", str(out), "--force"])
        assert result.exit_code == 0, result.stderr
        assert result.stdout.startswith(f"{out}: 4 transcripts in 1 file, 0.0 MB")
        assert len(lines_of(out)) == 4
    result = CliRunner().invoke(app, ["export", "chat-jsonl", str(recorded), "--format", "parquet", "--out", str(out)])
    assert (result.exit_code, result.stderr) == (2, "audit: two formats, chat-jsonl and parquet: choose one\n")
    result = CliRunner().invoke(app, ["export", "csv", str(recorded), "--out", str(out)])
    assert (result.exit_code, "csv: neither a format (scout," in result.stderr) == (2, True)


def test_released_logs_are_exported_with_their_prompts_if_they_are_unpacked(tmp_path):
    run = tmp_path / "logs" / "cartpole_three_traj" / "run_3"
    critic_episode(run, 1, [1.0, 5.0, 9.0], [1.0, 1.0, 1.0])
    log(run, [5.0])
    for role, asked in (("critic", "Worst rollout (rollout 0, reward=1.0000):\n"), ("search", "say 'params[0]: 9'\n")):
        made = exported(tmp_path / "logs", tmp_path, role=role)
        [row] = rows_of(made.path)
        prompt, answer = json.loads(row["messages"])
        assert (prompt["content"], row["model"], row["date"]) == (asked, None, None)
        assert "params[1]" in answer["content"]
        assert (row["direction"], row["strict"], row["source_uri"]) == ("regression", True, str(run / "episode_1"))
        assert made.notes == []


@pytest.mark.skipif(SCOUT is None, reason="SCOUT_PYTHON names no Python that has inspect-scout")
def test_inspect_scout_reads_what_it_validates(recorded, tmp_path):
    assert SCOUT is not None
    path = exported(recorded, tmp_path).path
    validate = "from inspect_scout._cli.main import main; main()"
    read = """\
import asyncio, json, sys
from inspect_scout import columns, transcripts_from
from inspect_scout import TranscriptContent

async def main():
    found = []
    async with transcripts_from(sys.argv[1]).where(columns["strict"] == True).reader() as reader:
        async for info in reader.index():
            transcript = await reader.read(info, TranscriptContent(messages="all"))
            found.append([info.score, info.metadata["direction"], [message.text for message in transcript.messages]])
    print(json.dumps(found))

asyncio.run(main())
"""
    for words, last in (
        ([validate, "db", "validate"], "validation passed"),
        ([read], json.dumps([[{"r0": 5.0, "r1": 0.0, "delta": -5.0}, "regression", [PROMPT, ODD]]])),
    ):
        done = subprocess.run([SCOUT, "-c", *words, path], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert last in done.stdout


def test_revisions_of_texts_are_exported_without_parameters(tmp_path):
    write(
        tmp_path / "data" / "run-01",
        [text_revision([0.0, 1.0], [1.0, 1.0])],
        [call(0, "Example 1 went wrong.", env="sums", variant="gepa")],
        **text_run(),
    )
    [row] = rows_of(exported(tmp_path / "data", tmp_path).path)
    assert (row["direction"], row["delta"], row["candidate"]) == ("improvement", 0.5, "revised")
    assert (row["evidence_kind"], row["edit_distance"], row["max_change"]) == ("batch", None, None)
    assert json.loads(row["messages"])[0]["content"] == PROMPT
