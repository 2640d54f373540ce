"""A guess takes the columns that a log's names and values show, and asks in its draft about the others."""

from __future__ import annotations

import tomllib
from pathlib import Path

from audit import guess_mapping, import_logs
from audit.importing.fields import FIELDS
from tests.audit.importing.foreign import audit, lines, records
from tests.audit.importing.logs_to_guess import OPEN, SURE, changed, plain, steps, written

DATA = Path(__file__).resolve().parents[2] / "data" / "tools"


def columns(guess):
    """The columns of a draft by field."""

    def flat(table, prefix=""):
        for key, value in table.items():
            yield from flat(value, f"{prefix}{key}.") if isinstance(value, dict) else [(f"{prefix}{key}", value)]

    return dict(flat(tomllib.loads(guess.text)["fields"]))


def test_a_log_that_leaves_no_doubt_is_mapped_and_imported_without_a_question(tmp_path):
    for number, (name, (mark, row, wanted)) in enumerate(SURE.items()):
        log = tmp_path / f"log-{number}.{'csv' if mark in (',', ';') else 'tsv' if mark else 'jsonl'}"
        log.write_bytes(written(row, mark))
        guess = guess_mapping(log, map_out=tmp_path / "mapping.toml", force=True)
        assert (guess.is_sure, columns(guess)) == (True, wanted), f"{name}: {guess.text}"
        import_logs(log, tmp_path / "mapping.toml", tmp_path / "out", force=True, strict=True)
        found, search = records(tmp_path / "out"), steps()
        assert [each["selected"] == "revised" for each in found] == [step.kept for step in search], name
        assert len({each["run"] for each in found}) == 2, name


def test_what_a_log_does_not_show_is_asked_in_the_draft_and_an_answer_settles_it(tmp_path):
    for number, (name, (row, question, answers)) in enumerate(OPEN.items()):
        log = tmp_path / f"log-{number}.jsonl"
        log.write_bytes(written(row))
        guess = guess_mapping(log)
        assert not guess.is_sure, f"{name}: {guess.text}"
        assert question in guess.text, f"{name}: {guess.text}"
        mapped = tomllib.loads(guess.text)
        assert {*mapped["fields"], *mapped["constants"]} <= {each.partition(".")[0] for each in FIELDS}
        if answers:
            stated = dict(each.split("=") for each in answers)
            assert guess_mapping(log, field=stated).is_sure, f"{name}: {guess_mapping(log, field=stated).text}"


def test_a_comment_of_the_draft_that_is_made_a_line_is_an_answer(tmp_path):
    log = tmp_path / "log.jsonl"
    log.write_bytes(written(OPEN["two answers"][0]))
    result = audit("import", "--guess", log)
    assert (result.exit_code, "audit: unsure: revised.answer: Which is" in result.stderr) == (2, True), result.stderr
    assert result.stderr.splitlines()[-1].endswith(
        "is a draft: answer there, or with --field, what revised.answer should be"
    )
    draft = tmp_path / "log.jsonl.toml"
    draft.write_text(draft.read_text().replace('# revised.answer = "critique"', 'revised.answer = "critique"'))
    made = audit("import", "--map", draft, log, "--out", tmp_path / "out", "--strict")
    assert made.exit_code == 0, made.stderr
    assert records(tmp_path / "out")[0]["revised"]["answer"] == steps()[0].why


def test_logs_of_tools_are_mapped_as_their_mappings_say_or_asked_about():
    guess = guess_mapping(DATA / "gepa-proposals.csv")
    assert guess.is_sure
    assert columns(guess)["revised.answer"] == "raw_lm_output"
    assert guess.mapping.selection_rule == "strict"
    guess = guess_mapping(DATA / "openevolve" / "evolution_trace.jsonl")
    assert {each.field for each in guess.questions if each.needed} == {"initial.mean_return", "selected", "run"}
    assert {"initial.text": "parent_code", "revised.text": "child_code"}.items() <= columns(guess).items()


def test_what_the_critic_saw_is_asked_where_no_name_states_it(tmp_path):
    log = tmp_path / "log.jsonl"
    scores = {"score": lambda s: s.old, "new_score": lambda s: s.new}
    for more, option in (
        ({}, 'evidence.items = "all"'),
        ({"shown": lambda _: [2, 0, 1]}, 'evidence.items = "shown"'),
        ({"worse_score": lambda _: 0.1, "better_score": lambda _: 0.2}, 'evidence.worst_return = "worse_score"'),
    ):
        log.write_bytes(written(changed(**scores, **more)))
        guess = guess_mapping(log, field={"initial.returns": "score", "revised.returns": "new_score"})
        assert guess.is_sure
        assert f"# {option}" in guess.text


def test_iterations_of_two_files_are_of_a_run_each_or_asked_about(tmp_path):
    logs = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    for row, question in ((changed(run=None, step=lambda s: 10 * s.run + s.number), "run"), (plain, "iteration")):
        for log in logs:
            log.write_bytes(written(row))
        guess = guess_mapping(logs)
        assert [each.field for each in guess.questions] == [question]
    for log in logs:
        log.write_bytes(written(changed(run=None)).splitlines(keepends=True)[0])
    assert columns(guess_mapping(logs))["run"] == "@file"


def test_thousands_or_decimals_are_stated_by_the_user(tmp_path):
    log = tmp_path / "log.csv"
    log.write_bytes(written(changed(score=lambda _: "1,250", new_score=lambda _: "1,500"), ";"))
    result = audit("import", "--guess", log)
    assert (result.exit_code, len(result.stderr.splitlines())) == (2, 1), result.stderr
    assert "may have decimals or thousands behind its comma" in result.stderr
    stated = audit("import", "--guess", log, "--format", "json", "--field", "source.decimal=,", "--force")
    assert stated.exit_code == 0, stated.stderr
    made = audit("import", "--map", tmp_path / "log.csv.toml", log, "--out", tmp_path / "out", "--strict")
    assert made.exit_code == 0, made.stderr
    assert records(tmp_path / "out")[0]["initial"]["mean_return"] == 1.25


def test_what_is_believed_is_printed_with_reasons_and_what_becomes_possible(tmp_path):
    log, mapping = tmp_path / "log.jsonl", tmp_path / "mine.toml"
    log.write_bytes(written(SURE["gepa"][1]))
    result = audit("import", "--guess", log, "--map-out", mapping)
    assert result.exit_code == 0, result.stderr
    believed, possible = (result.stdout.partition(title)[2] for title in ("Believed", "What bec"))
    assert "of 'parent_prompt' and 'new_prompt' the names are those of before and after" in believed
    assert any(line.split()[:2] == ["salience", "yes"] for line in possible.splitlines())
    assert 'revised.text = "new_prompt"  # of' in mapping.read_text()
    again = audit("import", "--guess", log, "--map-out", mapping)
    assert (again.exit_code, "already exists; give another name, or --force" in again.stderr) == (2, True)


def test_wrong_options_and_logs_without_rows_are_one_line(tmp_path):
    log = tmp_path / "log.jsonl"
    log.write_bytes(written(plain))
    for options, message in (
        (("--guess", "--out", "x"), "--guess makes no records"),
        (("--field", "run=1"), "--field and --map-out belong to --guess"),
        ((), "give --map FILE and --out DIR; --guess writes a mapping"),
        (("--guess", "--field", "run"), "write FIELD=COLUMN"),
        (("--guess", "--field", "rum=1"), "--field rum: there is no such field"),
        (("--guess", "--field", "run=sed"), "--field run=sed: there is no such column, and as a value it should be"),
        (("--guess", "--field", "source.decimal=;"), "[source] decimal should be '.' or ','"),
        (("--guess", "--field", "count_from.run=one"), "[count_from] run should be a whole number"),
        (("--guess", "--field", "thresholds.log.high=much"), "[thresholds.log] "),
    ):
        (tmp_path / "log.jsonl.toml").unlink(missing_ok=True)
        result = audit("import", log, *options)
        assert (result.exit_code, len(result.stderr.splitlines())) == (2, 1), result.stderr
        assert message in result.stderr
    for content in (b"", b"\n\n", b"{broken\n", b"[1, 2]\n"):
        log.write_bytes(content)
        result = audit("import", "--guess", log)
        assert (result.exit_code, len(result.stderr.splitlines())) == (1, 1), result.stderr


def test_what_the_user_states_goes_before_everything(tmp_path):
    log = tmp_path / "log.jsonl"
    more = {"trial": lambda s: f"t{s.run}", "critique": lambda _: "Why not.", "pair": lambda s: [s.run, 1]}
    log.write_bytes(written(changed(**more)))
    fields = ["run=trial", "variant=gepa", "revised.answer=", "seconds=pair.0", "count_from.iteration=-1"]
    fields += ["run.score_range=[0, 1]", "run.model=tiny"]
    result = audit(
        "import", "--guess", log, "--format", "json", *[part for each in fields for part in ("--field", each)]
    )
    assert result.exit_code == 0, result.stderr
    made = audit("import", "--map", tmp_path / "log.jsonl.toml", log, "--out", tmp_path / "out", "--strict")
    assert made.exit_code == 0, made.stderr
    first, *_, last = records(tmp_path / "out")
    assert (first["variant"], first["iteration"], first["revised"]["answer"]) == ("gepa", 1, None)
    assert (first["seconds"], last["seconds"]) == (0, 1)
    assert "runs are named by text" in made.stderr


def test_parameters_of_an_unknown_task_need_thresholds(tmp_path):
    log = tmp_path / "log.jsonl"
    params = {"prompt": None, "new_prompt": None, "params": lambda s: s.theta[0], "new_params": lambda s: s.theta[1]}
    log.write_bytes(written(changed(**params)))
    result = audit("import", "--guess", log)
    assert (result.exit_code, "thresholds.log" in result.stderr) == (2, True), result.stderr
    stated = {"partial": 0.3, "high": 0.8, "near_zero": 0.05, "meaningful": 0.02}
    stated |= {"surgical_max": 1, "redesign_min": 4, "multi_state_min": 2}
    options = [part for name, value in stated.items() for part in ("--field", f"thresholds.log.{name}={value}")]
    result = audit("import", "--guess", log, "--force", "--format", "json", *options)
    assert result.exit_code == 0, result.stderr


def test_a_name_of_a_file_with_the_marks_of_a_pattern_is_a_name(tmp_path):
    log = tmp_path / "log[1]*.csv"
    log.write_bytes(written(SURE["german"][1], ";"))
    (tmp_path / "log1.csv").write_bytes(lines({"a": 1}))
    assert columns(guess_mapping(log)) == SURE["german"][2]


def test_an_empty_list_among_numbers_and_a_number_beyond_all_are_no_numbers(tmp_path):
    log = tmp_path / "log.jsonl"
    more = {"seconds": lambda s: s.number or [], "seed": lambda s: s.run or {}, "new_loss": lambda _: 10**400}
    log.write_bytes(written(changed(**more)))
    guess = guess_mapping(log)
    assert (guess.is_sure, columns(guess)) == (True, SURE["plain"][2])
