"""What could be read in two ways is asked, also where one of them would give records."""

from __future__ import annotations

from statistics import fmean

import pytest

import audit as library
from audit.commands import importing as command
from tests.audit.importing.foreign import audit, lines, records
from tests.audit.importing.guessing.layouts import (
    LAYOUTS,
    gepa,
    nobody_knows_what_was_kept,
    seen,
    steps,
    table,
    two_scores_with_confusing_names,
)


def rows(**columns):
    """Rows of the search with some columns changed, added, or left out where they are None."""
    made = []
    for step in steps():
        row = {
            "run": step.run,
            "step": step.number,
            "prompt": step.before,
            "new_prompt": step.after,
            "score": fmean(step.scores),
            "new_score": fmean(step.new_scores),
            "accepted": step.accepted,
        }
        row |= {name: make(step) for name, make in columns.items() if make is not None}
        made.append({name: value for name, value in row.items() if columns.get(name, 0) is not None})
    return made


DOUBTS = {
    "improved is no word for kept": (
        rows(accepted=None, prompt=lambda _: "seed", improved=lambda s: fmean(s.new_scores) > fmean(s.scores)),
        "selected: No column states which candidate was kept",
    ),
    "a baseline may be a fixed reference": (
        rows(score=None, new_score=None, baseline_score=lambda _: 0.5, val_score=lambda s: fmean(s.new_scores)),
        "initial.mean_return: Which columns have the scores",
    ),
    "a row per candidate": (
        rows(new_prompt=None, new_score=None),
        "initial.mean_return: Which columns have the scores",
    ),
    "a flag against the next rows": (
        rows(accepted=lambda s: s.accepted if s.number else not s.accepted),
        "By 'accepted' one candidate was kept, by the next row the other, in 2 rows",
    ),
    "the lower is kept": (
        rows(prompt=lambda _: "seed", score=lambda s: -fmean(s.scores), new_score=lambda s: -fmean(s.new_scores)),
        "always the candidate with the lower score was kept",
    ),
    "a seed per row": (
        rows(run=None, seed=lambda s: 17 * s.number + 1000 * s.run),
        "run: Is every row a run of its own",
    ),
    "numbers in quotation marks": (
        rows(score=lambda s: f"{fmean(s.scores)}"),
        "initial.mean_return: Which columns have",
    ),
    "scores of different things": (
        rows(score=None, accuracy=lambda _: 0.5),
        "initial.mean_return: Which columns have the scores",
    ),
    "a list with a gap": (
        rows(score=lambda s: [*s.scores, None], new_score=lambda s: [*s.new_scores, 0.5]),
        "initial.mean_return: Which columns have the scores",
    ),
    "names against the order of the rows": (
        [
            {**row, "prompt": row["new_prompt"], "new_prompt": row["prompt"], "accepted": None}
            for row in rows(accepted=None)
        ],
        "initial.text: Is 'prompt' before 'new_prompt', as their names are?",
    ),
    "two runs that nothing names": (
        rows(run=None, step=lambda s: 10 * s.run + s.number),
        "run: No column names runs, but 2 rows of a run begin with a text that no earlier row has",
    ),
    "rows in no order": (
        [{**row, "step": "x"} for row in rows(run=None, step=None)[5::-1]],
        "run: No column names runs, but",
    ),
    "two answers": (
        rows(critique=lambda _: "Why not.", explanation=lambda _: "Because of this."),
        "revised.answer: Which is the critic's answer?",
    ),
    "a task that needs thresholds": (
        rows(prompt=lambda _: None, new_prompt=lambda _: None, params=lambda _: [1.0], new_params=lambda _: [2.0]),
        "'log' is not a task known here. Its edit patterns need thresholds",
    ),
}


@pytest.mark.parametrize("case", DOUBTS)
def test_a_doubt_is_a_question(case, tmp_path):
    made, question = DOUBTS[case]
    log = tmp_path / "log.jsonl"
    log.write_bytes(lines(*made))
    result = audit("import", "--guess", log)
    assert (result.exit_code, [path.name for path in tmp_path.iterdir()]) == (2, ["log.jsonl"]), result.stdout
    assert question in result.stderr


def test_the_same_iterations_in_two_files_of_one_run_are_asked_about(tmp_path):
    logs = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    for log in logs:
        log.write_bytes(lines(*rows()))
    result = audit("import", "--guess", *logs)
    assert result.exit_code == 2
    assert "'step' seems to count iterations, but 12 rows repeat an earlier one" in result.stderr


def test_a_run_per_file(tmp_path):
    logs = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    for log in logs:
        log.write_bytes(lines(*rows(run=None)[:6]))
    result = audit("import", "--guess", *logs, "--format", "json")
    assert result.exit_code == 0, result.stderr
    assert 'run = "@file"' in (tmp_path / "a.jsonl.toml").read_text()


def test_thousands_or_decimals_are_asked_about(tmp_path):
    log = tmp_path / "log.csv"
    content = table([{**row, "score": "1,250", "new_score": "1,500"} for row in rows()], ";")
    log.write_bytes(content)
    result = audit("import", "--guess", log)
    assert (result.exit_code, len(result.stderr.splitlines())) == (2, 1)
    assert "may have decimals or thousands behind its comma" in result.stderr
    assert audit("import", "--guess", log, "--format", "json", "--field", "source.decimal=,").exit_code == 0
    made = audit("import", "--map", tmp_path / "log.csv.toml", log, "--out", tmp_path / "out", "--strict")
    assert made.exit_code == 0, made.stderr
    assert records(tmp_path / "out")[0]["initial"]["mean_return"] == 1.25


@pytest.fixture
def on_a_terminal(monkeypatch):
    monkeypatch.setattr(command, "_is_terminal", lambda: True)


def run(tmp_path, layout, answers):
    from typer.testing import CliRunner

    from audit.cli import app

    name, content, wanted = layout()
    (tmp_path / name).write_bytes(content)
    result = CliRunner().invoke(app, ["import", "--guess", str(tmp_path / name)], input=answers)
    return result, tmp_path / f"{name}.toml", tmp_path / name, wanted


@pytest.mark.parametrize(
    ("layout", "answers"),
    [(two_scores_with_confusing_names, "1\n"), (nobody_knows_what_was_kept, "9\nwhat\nselected=better\n1\n")],
)
def test_on_a_terminal_the_user_is_asked(on_a_terminal, tmp_path, layout, answers):
    result, mapping, log, wanted = run(tmp_path, layout, answers)
    assert result.exit_code == 0, result.stderr
    made = audit("import", "--map", mapping, log, "--out", tmp_path / "out", "--strict")
    assert made.exit_code == 0, made.stderr
    assert seen(records(tmp_path / "out")) == wanted
    assert ('evidence.items = "all"' in mapping.read_text()) == (layout is nobody_knows_what_was_kept)


@pytest.mark.parametrize(("answers", "status"), [("\n", 2), ("", 1)])
def test_without_an_answer_nothing_is_written(on_a_terminal, tmp_path, answers, status):
    result, mapping, _, _ = run(tmp_path, two_scores_with_confusing_names, answers)
    assert (result.exit_code, mapping.exists()) == (status, False)


def test_what_is_believed_is_printed_with_reasons_and_three_rows_and_what_becomes_possible(tmp_path):
    name, content, _ = gepa()
    log = tmp_path / name
    log.write_bytes(content)
    result = audit("import", "--guess", log, "--map-out", tmp_path / "mine.toml")
    assert result.exit_code == 0, result.stderr
    believed, imported, possible = (
        result.stdout.partition(title)[2] for title in ("Believed", "As imported", "What bec")
    )
    assert "the names 'parent_prompt' and 'new_prompt' differ only in before and after" in believed
    assert "row 3" in imported
    assert any(line.split()[:2] == ["salience", "yes"] for line in possible.splitlines())
    text = (tmp_path / "mine.toml").read_text()
    assert 'revised.text = "new_prompt"  # the names' in text
    again = audit("import", "--guess", log, "--map-out", tmp_path / "mine.toml")
    assert (again.exit_code, "already exists; give another name, or --force" in again.stderr) == (2, True)
    forced = audit("import", "--guess", log, "--map-out", tmp_path / "mine.toml", "--force", "--format", "json")
    assert forced.exit_code == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--guess", "--out", "x"), "--guess makes no records"),
        (("--field", "run=1"), "--field and --map-out belong to --guess"),
        ((), "give --map FILE and --out DIR; --guess writes a mapping"),
        (("--guess", "--field", "run"), "write FIELD=COLUMN"),
        (("--guess", "--field", "rum=1"), "--field rum: there is no such field"),
        (("--guess", "--field", "run=sed"), "--field run=sed: there is no such column, and as a value it should be"),
        (("--guess", "--field", "source.decimal=;"), "source.decimal=;: it is '.' or ','"),
        (("--guess", "--field", "count_from.run=one"), "count_from.run=one: it should be a whole number"),
        (("--guess", "--field", "thresholds.log.high=much"), "thresholds.log.high=much: it should be a number"),
    ],
)
def test_wrong_options_are_one_line(tmp_path, options, message):
    log = tmp_path / "log.jsonl"
    log.write_bytes(lines(*rows()))
    result = audit("import", log, *options)
    assert (result.exit_code, len(result.stderr.splitlines())) == (2, 1), result.stderr
    assert message in result.stderr


@pytest.mark.parametrize("content", [b"", b"\n\n", b"{broken\n", b"[1, 2]\n"])
def test_a_log_without_rows_is_one_line(tmp_path, content):
    log = tmp_path / "log.jsonl"
    log.write_bytes(content)
    result = audit("import", "--guess", log)
    assert (result.exit_code, len(result.stderr.splitlines())) == (1, 1), result.stderr


@pytest.mark.parametrize("layout", LAYOUTS[:3], ids=lambda layout: layout.__name__)
def test_the_library_guesses_as_the_command_does(layout, tmp_path):
    name, content, _ = layout()
    (tmp_path / name).write_bytes(content)
    guess = library.guess_mapping(tmp_path / name, map_out=tmp_path / "mapping.toml")
    assert guess.is_sure
    assert (tmp_path / "mapping.toml").read_text() == guess.text
    assert {row["field"] for row in guess.table()} >= {"initial.text", "revised.text", "selected", "iteration"}


def test_what_the_user_states_goes_before_everything(tmp_path):
    log = tmp_path / "log.jsonl"
    log.write_bytes(lines(*rows(trial=lambda s: f"t{s.run}", critique=lambda _: "Why not.", pair=lambda s: [s.run, 1])))
    fields = ["run=trial", "variant=gepa", "revised.answer=", "seconds=pair.0", "count_from.iteration=-1"]
    fields += ["run.score_range=[0, 1]", "run.model=tiny"]
    options = [part for field in fields for part in ("--field", field)]
    result = audit("import", "--guess", log, "--format", "json", *options)
    assert result.exit_code == 0, result.stderr
    made = audit("import", "--map", tmp_path / "log.jsonl.toml", log, "--out", tmp_path / "out", "--strict")
    assert made.exit_code == 0, made.stderr
    first, *_, last = records(tmp_path / "out")
    assert (first["variant"], first["iteration"], first["revised"]["answer"]) == ("gepa", 1, None)
    assert (first["seconds"], last["seconds"]) == (0, 1)
    assert "runs are named by text" in made.stderr


def test_parameters_of_an_unknown_task_need_thresholds(tmp_path):
    log = tmp_path / "log.jsonl"
    log.write_bytes(lines(*DOUBTS["a task that needs thresholds"][0]))
    stated = {"partial": 0.3, "high": 0.8, "near_zero": 0.05, "meaningful": 0.02}
    stated |= {"surgical_max": 1, "redesign_min": 4, "multi_state_min": 2}
    options = [part for name, value in stated.items() for part in ("--field", f"thresholds.log.{name}={value}")]
    result = audit("import", "--guess", log, "--format", "json", *options)
    assert result.exit_code == 0, result.stderr
    made = audit("import", "--map", tmp_path / "log.jsonl.toml", log, "--out", tmp_path / "out", "--strict")
    assert made.exit_code == 0, made.stderr
