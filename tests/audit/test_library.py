"""The public library: every command is a function, and returns what the command prints."""

from __future__ import annotations

import csv
import inspect
import io
import json
import re
import shutil
from pathlib import Path

import pytest
from typer.main import get_command

import audit
import collector.cli
from audit.cli import app
from tests.audit.calls import call
from tests.audit.samples import revision, write_run
from tests.collector.helpers import in_process
from tests.shared import made
from tests.test_programs import leaves

pytestmark = pytest.mark.usefixtures("opened_once")

ROOT = Path(__file__).resolve().parents[2]
TABLES = {
    **{name: {} for name in ("summary", "rates", "noise", "severity", "agreement", "positions")},
    "salience": {"detector": "phrase"},
    "controls": {"overrides": {"cartpole": {"high": 2.0}}},
    "patterns": {"overrides": {"cartpole": {"high": 2.0, "surgical_max": 1}}},
    "revisions": {"run": 1},
    "runs": {"variant": "threetraj"},
    "find": {"where": "delta < 0", "limit": 2},
    "sensitivity": {"vary": ["cartpole.high=2,3"]},
    "check": {"facts": True},
}


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("library")
    answers = ("The worst rollout fell.", "Rollout 2 was best.", "The worst trajectory was chance.", "Better balance.")
    shown = [
        {"label": label, "rollout": place, "return": 1.0 + 4 * place, "length": 10}
        for place, label in enumerate(("worst", "median", "best"))
    ]
    given = {"evidence": {"kind": "three", "shown": shown, "statistics": None}}
    for run in (1, 2):
        rows = [
            revision([1, 5, 9], [1 + i, 2, 2], after=(1, 2, 4 + i), answer=answer, iteration=i, run=run, **given)
            for i, answer in enumerate(answers)
        ]
        write_run(folder / f"run-{run:02d}", rows, run=run)
    return folder


def command(*arguments) -> str:
    result = call(*arguments)
    assert result.exit_code == 0, result.stderr
    return result.stdout


def as_options(arguments):
    for name, value in arguments.items():
        if name == "overrides":
            yield from (f"--set={env}.{key}={number}" for env, of in value.items() for key, number in of.items())
        elif value is True:
            yield f"--{name}"
        else:
            yield from (f"--{name}={each}" for each in (value if isinstance(value, list) else [value]))


def printed(table, capsys, output="csv") -> str:
    capsys.readouterr()
    table.print(output)
    return capsys.readouterr().out


@pytest.mark.parametrize("name", TABLES)
def test_a_function_returns_what_its_command_prints(name, data, capsys):
    table = getattr(audit, name)(data, **TABLES[name])
    for output in ("csv", "table"):
        assert printed(table, capsys, output) == command(name, data, *as_options(TABLES[name]), f"--format={output}")
    assert repr(table) == printed(table, capsys, "table").rstrip("\n")
    rows = list(csv.DictReader(io.StringIO(printed(table, capsys))))
    assert len(rows) == len(table) == len(list(table)) == len(table.df())
    assert list(table.df().columns) == list(table.columns)
    assert rows


def test_an_open_store_is_read_as_paths_are_and_stays_open(data, capsys):
    with audit.open([data]) as store:
        for name in TABLES.keys() - {"salience", "controls", "patterns"}:
            with getattr(audit, name)(store, **TABLES[name]) as table:
                assert printed(table, capsys) == command(name, data, *as_options(TABLES[name]), "--format=csv")
        assert "delta" in store.revisions.df()
        assert audit.sql(store, "select count(*) as number from revisions").df()["number"].item() == 8
        store.revisions.to_csv(str(data.parent / "kept.csv"))  # not confined, as a command's own is
        assert {"cartpole" in str(store.summary), "revisions" in repr(store), str(data) in repr(store)} == {True}
        assert "problem" not in repr(store)
    assert (data.parent / "kept.csv").exists()


def test_the_detector_and_thresholds_of_a_store_are_those_that_it_was_opened_with(data, capsys):
    with audit.open(data, detector="phrase", overrides={"cartpole": {"high": 2.0}}) as store:
        table = audit.salience(store)
        assert printed(table, capsys) == command("salience", data, "--detector=phrase", "--format=csv")
        assert "phrase" in table.title
        assert "--set=cartpole.high=2" in audit.find(store, where="true").rows[0]["show"]
        with pytest.raises(audit.UsageError, match=r"give detector to audit\.open"):
            audit.salience(store, detector="word")
        tried = printed(audit.sensitivity(store, steps=3), capsys)
        assert printed(audit.sensitivity(store), capsys) != tried
        assert printed(audit.sensitivity(store, steps=3), capsys) == tried


def test_what_no_function_takes_is_refused(data):
    with pytest.raises(TypeError, match="unexpected argument run"):
        audit.salience(data, run=1)
    with pytest.raises(audit.AuditError, match="no env nonesuch in the records; they hold cartpole"):
        audit.salience(data, env="nonesuch")
    with pytest.raises(audit.UsageError, match="give a folder"):
        audit.open()


def test_a_revision_is_shown(data):
    place = ("cartpole", "threetraj", 1, 2)
    found = audit.show(data, *place)
    assert f"{found}\n" == command("show", data, *place)
    assert json.loads(found.as_json()) == json.loads(command("show", data, *place, "--format", "json"))
    assert found["iteration"] == 2
    assert "<mark>" in found.marked


def test_relations_are_listed_and_queried(data, capsys):
    assert printed(audit.relations(), capsys, "json") == command("sql", data, "--format", "json")
    query = "select run, count(*) as n, list({'a': [iteration]}) as nested from revisions group by run order by run"
    table = audit.sql(data, query)
    for output in ("table", "json", "csv", "markdown", "latex"):
        assert printed(table, capsys, output) == command("sql", data, query, "--format", output)


def test_a_sheet_is_drawn_and_scored(data, capsys, tmp_path):
    sheet = audit.sample(data, 5, coders=["A"], seed=3)
    stream = io.StringIO()
    sheet.write(stream)
    assert stream.getvalue() == command("sample", data, "--n", 5, "--seed", 3)
    labels = tmp_path / "labels.csv"
    rows = [{**row, "mentions_worst": "1", "driver": "worst"} for row in sheet]
    with labels.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(sheet.columns))
        writer.writeheader()
        writer.writerows(rows)
    for options in ({"bootstrap": 200}, {"disagreements": True}):
        table = audit.validate(labels, data, **options)
        for output in ("csv", "table"):
            assert printed(table, capsys, output) == command(
                "validate", labels, data, *as_options(options), f"--format={output}"
            )


def test_logs_are_imported_and_packed(tmp_path, capsys):
    examples = ROOT / "docs" / "examples" / "import"
    made = audit.import_logs(examples / "docking.csv", examples / "docking.toml", tmp_path / "made")
    arguments = ("import", "--map", examples / "docking.toml", examples / "docking.csv", "--format", "csv")
    assert printed(made.table(), capsys) == command(*arguments, "--out", tmp_path / "again")
    assert made.left_out == len(made.problems) == 1
    packed = audit.pack(tmp_path / "made")
    assert packed.path == tmp_path / "made.pack.parquet"
    assert printed(audit.runs(packed.path), capsys) == command("runs", tmp_path / "made", "--format", "csv")


def collect(folder: Path) -> None:
    arguments = ["--env", "cartpole", "--variant", "threetraj", "--backend", "simulated", "--iterations", "3"]
    result = in_process(collector.cli.main, *arguments, "--runs", "1", "--quiet", "--out", folder)
    assert result.returncode == 0, result.stderr


@pytest.fixture(scope="module")
def collected() -> Path:
    """Three iterations of a simulated critic, with all that rerunning takes."""
    return made("run-for-the-library", collect)


def test_policies_are_run_again(collected, capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    calls = {"rescore": {"rollouts": 3, "seed": 1}, "calibrate": {"bootstrap": 200}}
    for name, options in calls.items():
        table = getattr(audit, name)(collected, **options)
        assert printed(table, capsys) == command(name, collected, *as_options(options), "--format=csv")
        assert len(table)
    assert audit.verify(collected, sample=None).agrees
    verification = audit.verify(collected, sample=9)
    assert verification.agrees
    assert (verification.checked, list(verification.differences())) == (9, [])
    assert printed(audit.verify(collected, sample=9), capsys, "table") == command("verify", collected, "--sample=9")
    replay = audit.replay(collected, "cartpole", "threetraj", 1, 1, 2)
    place = ("cartpole", "threetraj", 1, 1, 2)
    for output in ("table", "json", "csv"):
        assert replay.as_text(output) == command("replay", collected, *place, f"--format={output}")
    assert replay.difference() is None
    copy = shutil.copytree(collected, tmp_path / "copy")
    [episodes] = copy.rglob("episodes.jsonl")
    episodes.write_text(re.sub(r'"lengths":\[\d+', '"lengths":[9', episodes.read_text(), count=1))
    assert not audit.verify(copy, sample=None).agrees
    [difference] = [row for row in audit.verify(copy, sample=None).differences() if row["check"] == "rollout"]
    assert (difference["iteration"], difference["rollout"]) == (0, 0)
    assert len(replay.df()) == replay.outcome.length


def test_a_judge_that_was_not_there_is_an_error_and_a_plan_needs_none(data, capsys):
    table = audit.judge(data, backend="ollama", plan=True)
    assert printed(table, capsys) == command("judge", data, "--backend=ollama", "--plan", "--format=csv")
    with pytest.raises(audit.UsageError, match="unknown backend"):
        audit.judge(data, backend="nonesuch")


def test_every_command_has_a_function_with_its_options():
    for path, asked in leaves(get_command(app), []):
        name = "_".join(path).replace("-", "_")
        name = {"import": "import_logs"}.get(name, name)
        assert name in audit.__all__
        signature = inspect.signature(getattr(audit, name), eval_str=True)
        takes = {*signature.parameters}
        if name == "import_logs":
            takes |= {"guess", *inspect.signature(audit.guess_mapping).parameters}
        if name == "critic":
            takes |= {"log", *inspect.signature(audit.critic_from).parameters}
        if name == "view":
            takes |= {*inspect.signature(audit.export_view).parameters}
        for given in signature.parameters.values():
            if given.kind is given.VAR_KEYWORD:
                takes |= given.annotation.__args__[0].__optional_keys__
        renamed = {
            "paths": "data",
            "path": "data",
            "arguments": "query",
            "no_cache": "cache",
            "task_module": "task_modules",
            # `--all` is no sample, `--format` and where to write are the command's, columns and rows are chosen by
            # `Table.select`, and `--cases` is a function.
            **dict.fromkeys(("every", "output", "columns", "sort"), ""),
            **({"cases": ""} if name == "find" else {"limit": ""}),
            **({"out": "", "force": ""} if name == "replay" else {}),
            **({"path": "path"} if name == "pack" else {}),
            **({"export": "out", "no_browser": ""} if name == "view" else {}),
        }
        wanted = {renamed.get(parameter.name, parameter.name) for parameter in asked.params} - {"", "help"}
        assert wanted <= takes, name


def test_all_that_is_public_is_listed_documented_and_there():
    assert dir(audit) == sorted(audit.__all__) == audit.__all__
    for name in audit.__all__:
        assert inspect.getdoc(getattr(audit, name)), name
    with pytest.raises(AttributeError, match="no attribute 'nonesuch'"):
        audit.nonesuch  # noqa: B018
