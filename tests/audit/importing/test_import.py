"""Other people's logs become records field by field; what is wrong is named, and nothing is made up."""

from __future__ import annotations

import json
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from audit.importing.run import import_logs
from audit.output.progress import Progress
from audit.store import open_store
from tests.audit.importing.foreign import MAPPING, TABLE, audit, lines, messages, records, row

pytestmark = pytest.mark.usefixtures("opened_once")
ROOT = Path(__file__).resolve().parents[3]


def test_a_row_becomes_a_native_record_and_nothing_is_made_up(importing):
    result, out = importing(lines(row()))
    assert result.exit_code == 0, result.stderr
    [record] = records(out)
    unknown = {"thinking": None, "seeds": None, "ended": None, "out_of_range": None}
    before = {"params": [1.0, 2.5], "returns": [10.0, 20.0, 60.0], "mean_return": 30.0, "lengths": [10, 20, 60]}
    after = {"params": [1.0, 3.0], "returns": [10.0, 10.0, 10.0], "mean_return": 10.0, "lengths": None}
    assert record == {
        "condition": "lab",
        "env": "cartpole",
        "variant": "threetraj",
        "run": 1,
        "iteration": 0,
        "initial": {**before, "answer": None, "source": "search", **unknown},
        "revised": {**after, "answer": "The worst rollout fell at once.", "source": "critic", **unknown},
        "revision_status": "ok",
        "selected": "initial",
        "evidence": {"kind": "three", "shown": [], "statistics": None},
        "seconds": None,
    }
    run = json.loads((out / "lab/cartpole/threetraj/run-01/run.json").read_text())
    assert run["options"]["imported_from"] == [str(out.parent / "log.jsonl")]
    assert (run["seed"], run["rollouts"], run["model"], run["backend"]) == (None, 3, None, "other")


def test_imported_records_are_audited_like_any_other(importing):
    _, out = importing(lines(row(), row(2, after__rewards=[70, 70, 70], kept="b")))
    with open_store([out]) as store:
        assert store.problems == []
        [summary] = store.rows("summary")
        assert (summary["revisions"], summary["regressions"], summary["mean_delta"]) == (2, 1, 10.0)
        [salience] = store.rows("salience")
        assert (salience["strict"], salience["regressions"]) == (1, 1)
        [details, _] = store.rows("revisions")
        assert (details["worst"], details["median"], details["best"], details["changed"]) == (10, 20, 60, [1])
    for command in ("runs", "patterns", "agreement", "verify"):
        result = audit(command, out, "--strict")
        assert (result.exit_code, "problem" in result.stderr) == (0, False), result.stderr
    assert "[worst rollout]{worst 0}" in audit("show", out, "cartpole", "threetraj", 1, 0).stdout


def test_a_pack_of_imported_records_says_the_same(importing, tmp_path):
    _, out = importing(lines(row(), row(2)))
    assert audit("pack", out).exit_code == 0
    pack = tmp_path / "out.pack.parquet"
    assert (
        audit("revisions", pack, "--format", "json").stdout == audit("revisions", out, "--format", "json").stdout != ""
    )


NAN = lines(row(before__rewards="HERE")).replace(b'"HERE"', b"[10, NaN, 60]")
INFINITE = lines(row(before__theta="HERE")).replace(b'"HERE"', b"[1e999, 2]")
FLOATS = "should be a list of finite numbers, but"
BAD_ROWS = {
    "wrong type": (lines(row(critique=7)), "revised.answer should be text, but is 7"),
    "number in quotation marks": (lines(row(seed="1")), "run should be a whole number, but is '1'"),
    "half a run": (lines(row(seed=1.5)), "run should be a whole number, but is 1.5"),
    "no number": (lines(row(after__rewards=[1, "x", 3])), f"revised.returns {FLOATS} item 1 is 'x'"),
    "null among numbers": (lines(row(before__theta=[1, None])), f"initial.params {FLOATS} item 1 is null"),
    "NaN": (NAN, "initial.returns should be a list of finite numbers, but item 1 is nan"),
    "infinity": (INFINITE, "initial.params should be a list of finite numbers, but item 0 is inf"),
    "a number for a list": (lines(row(before__rewards=3)), f"initial.returns {FLOATS} is 3"),
    "negative length": (lines(row(before__steps=[1, -1, 1])), "a list of whole numbers from 0, but item 1 is -1"),
    "params of different lengths": (lines(row(after__theta=[1, 2, 3])), "revised.params has 3 entries where initial"),
    "lengths of different number": (lines(row(before__steps=[1, 2])), "initial.lengths has 2 entries where initial"),
    "returns missing": (lines(row(before__rewards=...)), "initial.returns is missing"),
    "returns null": (lines(row(after__rewards=None)), "revised.returns is missing"),
    "returns empty": (lines(row(before__rewards=[], before__steps=[])), "initial.returns is empty"),
    "params missing": (lines(row(before__theta=...)), "initial.params is missing"),
    "iteration missing": (lines(row(step=None)), "iteration is missing"),
    "iteration too small": (lines(row(step=0)), "iteration is 0, and counts from 1; [count_from] can change that"),
    "run too small": (lines(row(seed=0)), "run is 0, and counts from 1"),
    "unknown word": (lines(row(kept="c")), "selected should be 'initial', 'revised' or a rule: 'better', 'strict'"),
    "selected missing": (lines(row(kept=None)), "selected is missing"),
    "revised selected, not there": (lines(row(kept="b", after={}, critique=None)), "there is no revised candidate"),
    "not UTF-8": (lines(row(critique="HERE")).replace(b"HERE", b"\xff\xfe"), "not UTF-8"),
    "half a surrogate pair": (lines(row(critique="\ud83d")), "half of a surrogate pair"),
    "not JSON": (b"{'seed': 1}\n", "not JSON ("),
    "a list": (b"[1, 2]\n", "not a row"),
    "nested too deeply": (b"[" * 200_000 + b"\n", "not JSON"),
    "too long": (b'{"seed": "' + b"x" * 2**24 + b'"}\n', "longer than 16 MiB"),
    "twice": (lines(row(9)), "iteration 8 of run 1 (lab, cartpole, threetraj) is in an earlier row"),
    "torn": (lines(row())[:50], "torn: the line breaks off"),
}  # fmt: skip


def test_a_bad_row_is_named_by_file_line_and_field_and_left_out(importing, tmp_path):
    rows = lines(row(9)) + b"\r\n" + b"".join(bad for bad, _ in BAD_ROWS.values())
    result, _ = importing(rows, MAPPING, "--strict")
    assert (result.exit_code, result.stdout, "--strict" in result.stderr) == (1, "", True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["log.jsonl", "map.toml"]
    result, out = importing(rows)
    assert (result.exit_code, len(records(out))) == (0, 1), result.stderr
    assert f"{len(BAD_ROWS)} rows of {len(BAD_ROWS) + 1} left out" in result.stderr
    assert f"log.jsonl:3: {BAD_ROWS['wrong type'][1]}" in result.stderr
    assert f"... and {len(BAD_ROWS) - 11} more\n" in result.stderr  # a repeated iteration has a line of its own
    found = {problem["line"]: problem["message"] for problem in messages(out)}
    wanted = {line: message for line, (_, message) in enumerate(BAD_ROWS.values(), start=3)}
    assert {line: found.get(line) for line, message in wanted.items() if message not in found.get(line, "")} == {}


def test_half_of_a_surrogate_pair_is_named_wherever_it_is(importing):
    """A number, a list or a key of such is converted by a library that raises an error of its own."""
    whole = json.loads(lines(row(9)))
    texts = ("\ud800", ["\ud800"], {"\ud800": 1}, {"theta": ["\ud800"]}, {"theta": "\ud800", "rewards": ["\ud800"]})
    bad = [whole | {name: text} for name in whole for text in texts]
    result, out = importing(lines(row(9)) + "".join(json.dumps(each) + "\n" for each in bad).encode())
    assert (result.exit_code, len(records(out))) == (0, 1), result.stderr
    problems = {problem["line"]: problem["message"] for problem in messages(out)}
    assert [number for number, _ in enumerate(bad, start=2) if number not in problems] == []
    assert sum("half of a surrogate pair" in message for message in problems.values()) >= len(whole)


def test_every_wrong_field_of_a_row_is_named(importing):
    _, out = importing(lines(row(9), row(critique=7, kept="c", after__theta=[1])))
    [problem] = messages(out)
    assert [fault.partition(" ")[0] for fault in problem["message"].split("; ")] == [
        "revised.answer",
        "selected",
        "revised.params",
    ]


def test_line_ends_of_windows_and_a_byte_order_mark_are_no_mistakes(importing):
    result, out = importing(b"\xef\xbb\xbf" + lines(row(), row(2)).replace(b"\n", b"\r\n"))
    assert (result.exit_code, result.stderr, len(records(out))) == (0, "", 2)


def test_rows_without_a_second_candidate_are_no_revisions(importing):
    bare = {"seed": 1, "step": 1, "before": row()["before"]}
    _, out = importing(lines(bare, {**bare, "step": 2, "critique": "I cannot say."}, row(3)))
    assert [(each["revised"], each["revision_status"], each["selected"]) for each in records(out)] == [
        (None, "none", "initial"),
        (None, "unreadable", "initial"),
        (records(out)[2]["revised"], "ok", "initial"),
    ]


def test_a_log_of_means_gives_what_means_can_give_and_no_more(importing):
    table = b'model,task,r0,r1,why\nm,chess,0.5,0.2,"the worst,\nreally"\nm,chess,0.5,0.9,\n'
    result, out = importing(table, TABLE, name="log.csv")
    assert result.exit_code == 0, result.stderr
    assert "method 'our-method' is not known here, and keeps its own name" in result.stderr
    with open_store([out], strict=True) as store:
        [first, second] = store.rows("revisions")
        assert (first["delta"], first["direction"], first["references_worst"]) == (0.2 - 0.5, "regression", True)
        unknown = ("edit_distance", "changed", "worst", "structure", "severity", "strict", "pattern")
        assert {first[name] for name in unknown} == {None}
        assert (second["accepted"], second["references_worst"]) == (True, None)
        for empty in ("salience", "agreement_summary", "patterns_summary", "evidence", "rollouts"):
            assert store.rows(empty) == []
        [run] = store.rows("runs")
        assert (run["final_return"], run["iterations"]) == (0.9, 2)
        from audit.models.catalog import invariants

        assert [name for name in invariants() if store.violations(name)] == []
    text = audit("show", out, "chess", "our-method", 1, 0).stdout
    assert "initial 0.5, as the log states" in text
    assert "no returns of single rollouts are recorded" in text
    assert "the parameters are" not in text
    assert audit("verify", out, "--all").exit_code == 0


def test_lists_in_cells_are_json_or_split(importing):
    mapping = TABLE.replace('initial.mean_return = "r0"', 'initial.returns = "r0"')
    for cell, separator in (('"[1, 2.5]"', None), ("1;2.5", ";"), ("[1 2.5]", " "), ("1 | 2.5", "|")):
        source = "" if separator is None else f"[source]\nlist_separator = '{separator}'\n"
        content = f"model,task,r0,r1,why\nm,chess,{cell},0.2,x\n".encode()
        result, out = importing(content, mapping + source, "--force", name="log.csv")
        assert result.exit_code == 0, result.stderr
        assert records(out)[0]["initial"]["returns"] == [1, 2.5]


BAD_CELLS = {
    "not a number": (b"m,chess,much,0.2,x\n", "initial.mean_return should be a finite number, but is 'much'"),
    "nan": (b"m,chess,nan,0.2,x\n", "initial.mean_return should be a finite number, but is nan"),
    "empty": (b"m,chess,,0.2,x\n", "initial.mean_return is missing"),
    "too few cells": (b"m,chess,1\n", "has 3 cells where the header has 5"),
    "not UTF-8": (b"m,chess,1,2,\xff\n", "revised.answer should be text, but holds bytes that are not UTF-8"),
    "open quotation mark": (b'm,chess,1,2,"x\n', "not CSV (unexpected end of data)"),
    "unknown task": (b"m,go,1,2,x\n", "env 'go' is not a task known here; give its edit patterns in [thresholds.go]"),
    "name too long for a folder": ("ü".encode() * 90 + b",chess,1,2,x\n", "condition should be a name"),
    "name that acts on a terminal": (b"\x1b[31mm,chess,1,2,x\n", "condition should be a name"),
}


def test_a_bad_cell_is_named(importing):
    for case, (bad, message) in BAD_CELLS.items():
        content = b'model,task,r0,r1,why\nm,chess,1,2,"two\nlines"\n' + bad
        result, out = importing(content, TABLE, "--force", name="log.csv")
        assert f"log.csv:4: {message}" in result.stderr, case
        assert [each["revised"]["answer"] for each in records(out)] == ["two\nlines"], case


def test_what_was_shown_comes_by_index_or_as_objects(importing):
    indices = MAPPING.replace("[constants]", 'evidence.worst = "shown.0"\nevidence.best = "shown.1"\n[constants]')
    _, out = importing(lines(row(shown=[1, 3])), indices + "rollout = 1\n")
    shown = [
        {"label": "worst", "rollout": 0, "return": 10.0, "length": 10},
        {"label": "best", "rollout": 2, "return": 60.0, "length": 60},
    ]
    assert records(out)[0]["evidence"]["shown"] == shown
    objects = MAPPING.replace("[constants]", 'evidence.shown = "shown"\n[constants]')
    _, out = importing(lines(row(shown=[*shown, {"label": "median", "name": "Rollout B"}])), objects, "--force")
    bare = {"label": "median", "rollout": None, "return": None, "length": None, "name": "Rollout B"}
    assert records(out)[0]["evidence"]["shown"] == [*shown, bare]
    assert audit("verify", out, "--strict").exit_code == 0
    assert audit("revisions", out, "--strict").exit_code == 0
    result, _ = importing(lines(row(), row(2, shown=[0, 4])), indices + "rollout = 1\n", "--force")
    assert "evidence.worst is rollout 0, and initial.returns has no such" in result.stderr
    assert "evidence.best is rollout 4, and initial.returns has no such" in result.stderr


def test_a_stated_mean_is_held_against_its_returns(importing):
    mapping = MAPPING.replace("[constants]", 'initial.mean_return = "mean"\n[constants]')
    third = row(before__rewards=[1, 1, 0], before__steps=[1, 1, 1])
    _, out = importing(lines({**third, "mean": 0.6667}, {**third, "step": 2, "mean": 0.667}), mapping)
    assert [each["initial"]["mean_return"] for each in records(out)] == [2 / 3]
    assert messages(out)[0]["message"].startswith("initial.mean_return is 0.667 where the mean of initial.returns is")


def test_numbers_of_run_json_may_differ_by_task(importing):
    mapping = (
        TABLE + "[run]\ntau_c = { chess = 0.9 }\nstep_size = 0.1\nmodel = 'm-1'\noptions = { temperature = 0.5 }\n"
    )
    _, out = importing(b"model,task,r0,r1,why\nm,chess,1,2,x\nm,pong,1,2,x\n", mapping, name="log.csv")
    runs = {path.parts[-4]: json.loads(path.read_text()) for path in out.rglob("run.json")}
    assert {env: (run["tau_c"], run["step_size"]) for env, run in runs.items()} == {
        "chess": (0.9, 0.1),
        "pong": (None, 0.1),
    }
    assert runs["chess"]["thresholds"]["origin"] == "user"
    assert runs["pong"]["thresholds"] is None
    assert runs["pong"]["options"]["temperature"] == 0.5


def test_names_that_no_folder_can_have_are_spelt_otherwise_outside_alone(importing):
    result, out = importing(b"model,task,r0,r1,why\n../a/b: c,chess,1,2,x\n.,chess,1,2,x\n", TABLE, name="log.csv")
    assert result.exit_code == 0
    assert {path.name for path in out.iterdir() if path.is_dir()} == {"%2E.%2Fa%2Fb%3A c", "%2E"}
    with open_store([out], strict=True) as store:
        assert [each["condition"] for each in store.rows("summary")] == [".", "../a/b: c"]


BAD_MAPPINGS = {
    "not TOML": ("[fields\n", "not TOML"),
    "column and constant": (MAPPING.replace('env =', 'run = 1\nenv ='), "run is in [fields] and in [constants]"),
    "index without returns": (TABLE.replace("[constants]", '[constants]\nevidence.worst = 0'), "which are missing"),
}  # fmt: skip


def test_a_bad_mapping_is_refused_in_one_line(importing):
    for mapping, message in BAD_MAPPINGS.values():
        result, out = importing(b"", mapping)
        assert (result.exit_code, result.stdout, out.exists()) == (2, "", False)
        assert message in result.stderr
        assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize("many", [1, 150])
def test_a_column_that_no_row_has_is_refused_with_those_there_are(importing, many, tmp_path):
    mapping = MAPPING.replace('"before.rewards"', '"before.reward"')
    result, _ = importing(lines(*[row(number + 1) for number in range(many)]), mapping)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "no column 'before.reward'; did you mean 'before.rewards'? (it has seed, step, before," in result.stderr
    assert len(list(tmp_path.iterdir())) == 2
    result, _ = importing(b"model,tsk,r0,r1,why\n", TABLE, name="log.csv")
    assert "log.csv: no column 'task'; did you mean 'tsk'? (it has model, tsk, r0, r1, why)" in result.stderr


def test_an_empty_file_gives_nothing(importing):
    for name, content in (("log.jsonl", b""), ("log.csv", b""), ("log.jsonl", b"\n\n")):
        result, out = importing(content, TABLE, name=name)
        assert (result.exit_code in (1, 2), result.stdout, out.exists()) == (True, "", False)
        assert len(result.stderr.splitlines()) == 1


def test_what_cannot_be_read_or_written_is_told_in_one_line(importing, tmp_path):
    _, out = importing(lines(row()))
    log, mapping = tmp_path / "log.jsonl", tmp_path / "map.toml"
    for arguments, status, message in (
        ((log, "--map", tmp_path / "none.toml", "--out", tmp_path / "x"), 2, "No such file"),
        ((tmp_path / "none.jsonl", "--map", mapping, "--out", tmp_path / "x"), 1, "no such file"),
        ((tmp_path, "--map", mapping, "--out", tmp_path / "x"), 1, "a folder, not a file"),
        ((log, "--map", mapping, "--out", log), 2, "is not a folder"),
        ((log, "--map", mapping, "--out", log / "x"), 2, "is not a folder"),
        ((log, "--map", mapping, "--out", out), 2, "--force"),
    ):
        result = audit("import", *arguments)
        assert (result.exit_code, result.stdout) == (status, ""), message
        assert message in result.stderr
        assert len(result.stderr.splitlines()) == 1


def test_force_replaces_an_import_and_nothing_else(importing, tmp_path):
    importing(lines(row()))
    result, out = importing(lines(row(5)), MAPPING, "--force")
    assert (result.exit_code, [each["iteration"] for each in records(out)]) == (0, [4])
    (out / "notes.txt").write_text("mine")
    result, _ = importing(lines(row(6)), MAPPING, "--force")
    assert (result.exit_code, "holds notes.txt, which no import made" in result.stderr) == (2, True)
    assert (out / "notes.txt").read_text() == "mine"
    assert [each["iteration"] for each in records(out)] == [4]
    assert {path.name for path in tmp_path.iterdir()} == {"log.jsonl", "map.toml", "out"}


def test_collected_records_are_never_replaced(importing, tmp_path):
    from tests.audit.samples import revision, write_run

    write_run(tmp_path / "out" / "run-01", [revision([1, 2, 3], [1, 1, 1])])
    result, out = importing(lines(row()), MAPPING, "--force")
    assert (result.exit_code, len(list(out.rglob("run.json")))) == (2, 1)


def test_a_file_given_twice_counts_once(importing, tmp_path):
    _, out = importing(lines(row()))
    log = tmp_path / "log.jsonl"
    result = audit("import", "--map", tmp_path / "map.toml", log, log, "--out", out, "--force", "--strict")
    assert result.exit_code == 0, result.stderr


def test_an_import_that_is_interrupted_leaves_nothing(tmp_path):
    """The rows of the log never end, so that the import is certainly under way when the signal comes."""
    (tmp_path / "map.toml").write_text(MAPPING)
    (tmp_path / "log.jsonl").write_bytes(lines(row(1)))
    script = """if True:
        import time
        from audit.importing import run

        def endless(*arguments, rows=run.read_rows):
            yield from rows(*arguments)
            time.sleep(600)

        run.read_rows = endless
        from audit.cli import main
        main()
    """
    arguments = ["import", "--map", "map.toml", "log.jsonl", "--out", "new/out"]
    process = subprocess.Popen([sys.executable, "-c", script, *arguments], cwd=tmp_path, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 60
    while not list(tmp_path.rglob("episodes.part")) and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (130, b"audit: interrupted\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["log.jsonl", "map.toml"]


def test_a_disk_that_is_full_leaves_nothing_either(tmp_path):
    """A limit on the size of files stands for the disk."""
    (tmp_path / "map.toml").write_text(MAPPING)
    (tmp_path / "log.jsonl").write_bytes(lines(*[row(number + 1) for number in range(1000)]))
    script = (
        "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000)); "
        "from audit.cli import main; main()"
    )
    arguments = ["import", "--map", "map.toml", "log.jsonl", "--out", "new/out"]
    result = subprocess.run([sys.executable, "-c", script, *arguments], cwd=tmp_path, capture_output=True, check=False)
    assert (result.returncode, result.stdout, len(result.stderr.splitlines())) == (1, b"", 1)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["log.jsonl", "map.toml"]


def test_more_runs_than_files_can_be_open(importing):
    _, out = importing(lines(*[row(step, seed=seed) for step in (1, 2) for seed in range(1, 101)]))
    assert len(records(out)) == 200
    assert len(list(out.rglob("run.json"))) == 100


def commands_of(page):
    """Each command of a page's console blocks, with what it prints."""
    for block in re.findall(r"```console\n(.*?)```", page, re.DOTALL):
        for printed in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = printed.partition("\n")
            yield shlex.split(command), output


def test_the_examples_of_the_documentation_print_what_it_says(tmp_path, monkeypatch):
    page = (ROOT / "docs/import.md").read_text()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    (tmp_path / "data").mkdir()
    commands = list(commands_of(page))
    assert {arguments[1] for arguments, _ in commands} >= {"import", "patterns"}
    for arguments, output in commands:
        result = audit(*arguments[1:])
        assert result.exit_code == 0, result.stderr
        printed = (result.stderr + result.stdout).strip("\n").splitlines()
        assert [line.rstrip() for line in printed] == output.strip("\n").splitlines()


def test_the_documentation_has_the_examples_as_they_are():
    page = (ROOT / "docs/import.md").read_text()
    for name in ("cartpole.toml", "docking.toml", "docking.csv"):
        assert f"```{{literalinclude}} examples/import/{name}\n" in page
        assert (ROOT / "docs/examples/import" / name).is_file()


def test_a_column_is_told_without_what_acts_on_a_terminal(importing):
    result, _ = importing(b"\x1b[31mred,\xff\n1,2\n", TABLE, name="log.csv")
    assert (result.exit_code, "\x1b" in result.stderr, "\\x1b[31mred" in result.stderr) == (2, False, True)


def test_where_a_column_is_missing_a_line_that_cannot_be_read_is_named_too(importing):
    result, _ = importing(b'[\n {"seed": 1},\n {"seed": 2}\n]\n')
    assert result.exit_code == 2
    assert "no column 'step'" in result.stderr
    assert "log.jsonl:1: not JSON Lines: a value spreads over several lines; write one object a line" in result.stderr


def test_records_taken_for_a_foreign_log_give_the_same_results(importing, tmp_path):
    from tests.audit.samples import revision, write_run

    rows = [
        revision([1, 5, 9], [2, 2, 2], after=(1, 2.5, 3), answer="The worst rollout fell."),
        revision([4, 4, 7], [5, 6, 7], before=(0, 0, 0), after=(1, 1, 1), iteration=1),
    ]
    write_run(tmp_path / "own", rows, thresholds=None)
    parts = ("params", "returns", "lengths", "seeds", "ended", "answer", "out_of_range", "mean_return", "source")
    names = [
        "condition",
        "env",
        "variant",
        "run",
        "iteration",
        "selected",
        "evidence.kind",
        "revision_status",
        "seconds",
    ]
    names += [f"{role}.{part}" for role in ("initial", "revised") for part in parts]
    _, out = importing(lines(*rows), "[fields]\n" + "".join(f'{name} = "{name}"\n' for name in names), "--strict")
    for command in ("summary", "salience", "agreement", "patterns", "revisions", "runs"):
        own, theirs = (audit(command, path, "--format", "json").stdout for path in (tmp_path / "own", out))
        assert json.loads(own) == json.loads(theirs) != []
    assert records(out) == rows


def test_the_progress_of_an_import_counts_every_byte_of_its_files(tmp_path, monkeypatch):
    class Counted(Progress):
        total = done = 0

        def begin(self, total, what, *, counted=True):
            self.total = total

        def advance(self, amount=1):
            self.done += amount

    counted = Counted()
    monkeypatch.setattr("audit.importing.run.PrintedProgress", lambda: counted)
    (tmp_path / "map.toml").write_text(MAPPING)
    for number in (1, 2):
        (tmp_path / f"{number}.jsonl").write_bytes(b"\n" + lines(row(number)) + b"torn")
    files = [tmp_path / f"{number}.jsonl" for number in (1, 2)]
    import_logs(files, tmp_path / "map.toml", tmp_path / "out")
    assert counted.total == counted.done == sum(file.stat().st_size for file in files)
