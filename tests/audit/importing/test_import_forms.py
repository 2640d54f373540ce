"""Forms that logs come in: decimal commas, runs that are named by text; and mappings with many mistakes."""

from __future__ import annotations

import json

from audit.store import open_store
from tests.audit.importing.foreign import MAPPING, TABLE, lines, messages, records, row

SEMICOLONS = TABLE + "[source]\ndelimiter = ';'\n"
LISTS = SEMICOLONS.replace('initial.mean_return = "r0"', 'initial.returns = "r0"') + "list_separator = ' '\n"
HEADER = "model;task;r0;r1;why\n"


def means(out):
    return [(each["initial"]["mean_return"], each["revised"]["mean_return"]) for each in records(out)]


def table(*cells, delimiter=";"):
    header = HEADER.replace(";", delimiter)
    return (header + "".join(f"m{delimiter}chess{delimiter}{each}{delimiter}x\n" for each in cells)).encode()


CLEAR = {
    "decimals": (SEMICOLONS, ("12,5;0,25", "3;-1,5e-3"), [(12.5, 0.25), (3, -0.0015)]),
    "three digits behind a nought": (SEMICOLONS, ("0,125;1,250",), [(0.125, 1.25)]),
    "shown by a later row": (SEMICOLONS, ("1,250;2,500", "1,5;2,5"), [(1.25, 2.5), (1.5, 2.5)]),
    "points": (SEMICOLONS, ("12.5;0.25",), [(12.5, 0.25)]),
    "three digits behind a point": (SEMICOLONS, ("1.250;2.500",), [(1.25, 2.5)]),
    "none": (SEMICOLONS, ("1;2",), [(1, 2)]),
    "lists": (LISTS, ("1,5 2 -0,5;1,25", "[1,5 2,0];1"), [(1, 1.25), (1.75, 1)]),
}


def test_decimal_commas_are_found_where_they_are_clear(importing):
    for case, (mapping, cells, wanted) in CLEAR.items():
        result, out = importing(table(*cells), mapping, "--strict", "--force", name="log.csv")
        assert (result.exit_code, means(out)) == (0, wanted), case
        assert ("its numbers have decimal commas" in result.stderr) == any("," in cell for cell in cells), case


def test_what_may_be_decimals_or_thousands_is_refused(importing):
    result, out = importing(table("1;2", "1,250;12,500"), SEMICOLONS, name="log.csv")
    assert (result.exit_code, result.stdout, out.exists()) == (2, "", False)
    assert "log.csv: line 3: '1,250' may have decimals or thousands behind its comma; [source] decimal" in result.stderr
    assert len(result.stderr.splitlines()) == 1
    result, out = importing(table("1;2", "1,250;12,500"), SEMICOLONS + "decimal = ','\n", "--strict", name="log.csv")
    assert (result.exit_code, means(out)) == (0, [(1, 2), (1.25, 12.5)])
    assert "decimal commas" not in result.stderr


def test_marks_of_thousands_make_no_number(importing):
    cells = ["1.250", "1.250,5", "1,250.5", "1,250,500", "1 250,5", "1'250,5"]
    _, out = importing(table("1,5;2", *(f"{cell};2" for cell in cells)), SEMICOLONS, name="log.csv")
    assert means(out) == [(1.5, 2)]
    for cell, problem in zip(cells, messages(out), strict=True):
        assert problem["message"].startswith("initial.mean_return should be a finite number, but is ")
        assert cell in problem["message"] or "'" in cell


def test_between_commas_the_mapping_says_so(importing):
    cells = table('"1,5","2,25"', delimiter=",")
    result, _ = importing(cells, TABLE, name="log.csv")
    assert (result.exit_code, "should be a finite number, but is '1,5'" in result.stderr) == (1, True)
    result, out = importing(cells, TABLE + "[source]\ndecimal = ','\n", "--strict", name="log.csv")
    assert (result.exit_code, means(out)) == (0, [(1.5, 2.25)])


def test_json_in_a_cell_has_points_whatever_the_mapping_says(importing):
    mapping = LISTS.replace("list_separator = ' '", "decimal = ','")
    _, out = importing(table("[1.5, 2];1,25"), mapping, "--strict", name="log.csv")
    assert records(out)[0]["initial"]["returns"] == [1.5, 2.0]


def of_run(seed, step, **changes):
    return row(step, seed=seed, **changes)


def test_runs_named_by_text_are_numbered_whatever_the_order_of_files(importing, tmp_path):
    named = [("seed-10", 1), ("seed-b", 1), ("seed-2", 1), ("seed-10", 2)]
    result, out = importing(lines(*[of_run(*each) for each in named]))
    assert result.exit_code == 0, result.stderr
    assert "in the order of the names: 1 is seed-2, 2 is seed-10, 3 is seed-b" in result.stderr
    first = {path.relative_to(out): path.read_bytes() for path in out.rglob("episodes.jsonl")}
    assert [(each["run"], each["iteration"]) for each in records(out)] == [(1, 0), (2, 0), (2, 1), (3, 0)]
    runs = [json.loads(path.read_text()) for path in sorted(out.rglob("run.json"))]
    assert [(run["run"], run["options"]["imported_run"]) for run in runs] == [
        (1, "seed-2"),
        (2, "seed-10"),
        (3, "seed-b"),
    ]
    assert json.loads((out / "import.json").read_text())["runs"] == {"seed-2": 1, "seed-10": 2, "seed-b": 3}
    with open_store([out], strict=True) as store:
        assert [each["run"] for each in store.rows("runs")] == [1, 2, 3]
    _, out = importing(lines(*[of_run(*each) for each in sorted(named)]), MAPPING, "--force")
    assert {path.relative_to(out): path.read_bytes() for path in out.rglob("episodes.jsonl")} == first


def test_a_name_has_the_same_number_in_every_task(importing):
    mapping = TABLE.replace('run = "@file"', 'run = "seed"')
    cells = b"model,task,r0,r1,why,seed\nm,chess,1,2,x, b \nm,pong,1,2,x,a\nm,pong,3,4,x,b\n"
    result, out = importing(cells, mapping, "--strict", name="log.csv")
    assert result.exit_code == 0, result.stderr
    assert sorted((each["env"], each["run"]) for each in records(out)) == [("chess", 2), ("pong", 1), ("pong", 2)]
    assert sorted(path.name for path in out.rglob("run-*")) == ["run-01", "run-02", "run-02"]


def test_runs_are_named_by_numbers_or_by_text_and_not_by_both(importing):
    for first, second, message in (
        (1, "seed-a", "run should be a whole number, but is 'seed-a'"),
        ("seed-a", 1, "run should be text, as it is in the first row, but is 1"),
        ("seed-a", "\x1b[31m", "run should be a name of at most 100 printable characters"),
        ("seed-a", "x" * 101, "run should be a name of at most 100 printable characters"),
        ("seed-a", None, "run is missing"),
    ):
        result, out = importing(lines(of_run(first, 1), of_run(second, 2)), MAPPING, "--force")
        assert (result.exit_code, len(records(out))) == (0, 1), result.stderr
        assert message in messages(out)[0]["message"]


def test_a_table_of_run_names_goes_before_their_order(importing):
    mapping = MAPPING + "[values.run]\nseed-a = 7\nseed-b = 3\n"
    result, out = importing(lines(of_run("seed-a", 1), of_run("seed-b", 1)), mapping, "--strict")
    assert (result.exit_code, result.stderr) == (0, "")
    assert sorted(each["run"] for each in records(out)) == [3, 7]


def test_an_iteration_of_a_named_run_that_is_there_twice_is_told_by_the_name(importing):
    _, out = importing(lines(of_run("seed-a", 1), of_run("seed-a", 1)))
    assert "iteration 0 of run seed-a (lab, cartpole, threetraj) is in an earlier row" in messages(out)[0]["message"]


def test_all_mistakes_of_a_mapping_are_told_at_once(importing):
    mapping = """
field = 1
[fields]
run = 3
initial.params = ""
initial.return = "before.rewards"
[constants]
condition = 3
env = "cartpole"
[values]
selected = "a"
[count_from]
run = "one"
[run]
modle = "x"
tau_c = "high"
optimum = inf
options = 3
[thresholds.x]
hihg = 1
lwo = 2
[thresholds.y]
high = 1
[source]
delimiter = ";;"
decimal = ";"
format = "xls"
list_separator = 3
"""
    result, out = importing(lines(row()), mapping)
    assert (result.exit_code, result.stdout, out.exists()) == (2, "", False)
    first, *mistakes = result.stderr.splitlines()
    assert first.endswith(f"map.toml: {len(mistakes)} mistakes")
    told = "\n".join(mistakes)
    for part in (
        *(
            "no table 'field'; did you mean 'fields'?",
            "[fields] run should be the name",
            "[fields] initial.params should",
        ),
        *("no field 'initial.return'; did you mean 'initial.returns'?", "[constants] condition should be a name"),
        *("[values] selected should be a table", "[count_from] run should be", "[run] there is no key 'modle'"),
        *("[run] tau_c should be a number", "[run] optimum should be finite", "[run] options should be a table"),
        *("no threshold 'hihg'; did you mean 'high'?", "no threshold 'lwo'", "[thresholds.y] Object missing required"),
        *("[source] delimiter should be one", "[source] decimal should be '.' or ','", "[source] format should be"),
        "[source] list_separator should be text",
    ):
        assert part in told, part
    assert "initial.returns is missing" not in told
    assert len(mistakes) == 18


def test_all_that_is_missing_is_told_at_once_and_no_more(importing):
    result, _ = importing(lines(row()), "[fields]\nrun = 3\nenv = 'task'\nrevised.answer = 'x'\n")
    _, *mistakes = result.stderr.splitlines()
    assert [mistake.split()[0] for mistake in mistakes] == [
        *("[fields]", "condition", "variant", "iteration", "selected", "initial.returns", "revised.returns", "no"),
    ]
    assert mistakes[-1].startswith("  no column 'task'; no column 'x' (it has seed, ")


def test_all_columns_that_a_log_lacks_are_told_at_once(importing):
    result, _ = importing(b"modle;tsk;r0;r1;why;why\n", SEMICOLONS, name="log.csv")
    assert (result.exit_code, len(result.stderr.splitlines())) == (2, 1)
    for part in (
        "no column 'model'; did you mean 'modle'?",
        "no column 'task'; did you mean 'tsk'?",
        "2 columns 'why'",
    ):
        assert part in result.stderr
    mapping = MAPPING.replace('"seed"', '"sed"').replace('"critique"', '"critic"')
    result, _ = importing(lines(row()), mapping)
    assert (result.exit_code, len(result.stderr.splitlines())) == (2, 1)
    assert "no column 'sed'; did you mean 'seed'?; no column 'critic'" in result.stderr
    assert "; the mapping has them for run, revised.answer" in result.stderr
