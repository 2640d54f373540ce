"""The house as docs/architecture.md draws it: no circle between modules, few rooms, contracts that name every room."""

import ast
import re
import tomllib
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from audit.engine.catalog import models, named_in

ROOT = Path(__file__).parents[1]
PACKAGES = ("collector", "audit", "stats", "figures")
MOST_MODULES = 8
SLOW = {"pytest.mark.slow"}


FILES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for package in PACKAGES
    for path in (ROOT / package).rglob("*.py")
}


def import_statements(path: Path) -> Iterator[ast.Import | ast.ImportFrom]:
    """All of a module, in functions and under TYPE_CHECKING too; an `__init__` may resolve public names lazily."""
    tree = ast.parse(path.read_bytes())
    statements = tree.body if path.name == "__init__.py" else ast.walk(tree)
    return (each for each in statements if isinstance(each, ast.Import | ast.ImportFrom))


def imported(name: str, path: Path, known: dict[str, Path]) -> set[str]:
    found: set[str] = set()
    for statement in import_statements(path):
        if isinstance(statement, ast.Import):
            found |= {alias.name for alias in statement.names}
            continue
        parents = name.split(".") + ["__init__"] * (path.name == "__init__.py")
        base = [*parents[: -statement.level or 0], statement.module or ""] if statement.level else [statement.module]
        source = ".".join(filter(None, base))
        found |= {inner if (inner := f"{source}.{alias.name}") in known else source for alias in statement.names}
    return found & known.keys() - {name}


def circle(known: dict[str, Path]) -> list[str]:
    try:
        TopologicalSorter({name: imported(name, path, known) for name, path in known.items()}).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def test_no_modules_import_one_another_in_a_circle():
    assert circle(FILES) == []


@pytest.mark.parametrize(
    "hidden",
    [
        "from room.a import A",
        "def late():\n    from room import a",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import room.a",
        "from .a import A",
        "from . import a",
    ],
)
def test_a_circle_is_found_however_it_is_hidden(tmp_path, hidden):
    (tmp_path / "a.py").write_text("from room.b import B\n")
    (tmp_path / "b.py").write_text(hidden + "\n")
    known = {"room.a": tmp_path / "a.py", "room.b": tmp_path / "b.py"}
    assert sorted(set(circle(known))) == ["room.a", "room.b"]
    assert circle(known | {"room.b": tmp_path / "a.py"}) == []


def test_nobody_inside_a_package_imports_its_face():
    """Public names are a roof: what is inside imports the module that defines a function."""
    assert [name for name, path in FILES.items() if name.split(".")[0] in imported(name, path, FILES)] == []


def test_the_top_of_audit_is_small():
    assert len(list((ROOT / "audit").glob("*.py"))) <= MOST_MODULES


def test_a_contract_of_every_package_names_all_its_rooms_and_ignores_nothing():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    exhaustive = {
        package
        for contract in settings["contracts"]
        if contract["type"] == "layers" and contract.get("exhaustive") and not contract.get("exhaustive_ignores")
        for package in contract["containers"]
    }
    assert exhaustive == set(settings["root_packages"]) == set(PACKAGES)
    assert not any("ignore_imports" in contract for contract in settings["contracts"])
    assert not settings.get("exclude_type_checking_imports")


def test_every_test_that_contributing_names_for_a_defect_is_there():
    """Under its name in that file, and marked slow in the table if it is a slow one."""
    table = (ROOT / "docs/contributing.md").read_text(encoding="utf-8").split("## Defects that tests have found")[1]
    rows = [line for line in table.splitlines() if line.startswith("| ")][1:]
    assert [row for row in rows if "::test_" not in row] == []
    named = re.findall(r"`([\w/]+\.py)::(\w+)`( \(slow\))?", table)
    assert len(named) == table.count("::")
    marks = {file: marks_of_tests(ROOT / "tests" / file) for file, _, _ in named}
    assert [(file, name, slow) for file, name, slow in named if marks[file].get(name) != slow.strip()] == []


def marks_of_tests(path: Path) -> dict[str, str]:
    """What the table says of each test in a file."""
    tree = ast.parse(path.read_bytes())
    of_all = {ast.unparse(each.value) for each in tree.body if isinstance(each, ast.Assign)}
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    return {
        each.name: "(slow)" if SLOW & (of_all | set(map(ast.unparse, each.decorator_list))) else ""
        for each in functions
    }


def test_a_step_of_a_query_has_the_name_of_a_relation_only_where_it_reads_it():
    """Else that relation is built for nothing, or from files that are no longer there."""
    shadowing = [
        (name, step)
        for name, text in models().items()
        for step in named_in(text) - {name}
        if (body := body_of(step, text)) and not re.search(rf'\b(from|join) "?{step}\b', body)
    ]
    assert shadowing == []


def body_of(step: str, text: str) -> str:
    """The SELECT of a step, in one line or in several."""
    found = re.search(rf'^"?{step}"? as (?:materialized )?\((.*)\),?$', text, re.MULTILINE)
    found = found or re.search(rf'^"?{step}"? as (?:materialized )?\(\n(.*?)^\)', text, re.MULTILINE | re.DOTALL)
    return found[1] if found else ""
