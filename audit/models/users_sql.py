"""Checks a user's SQL: one statement that reads relations of the analysis, and nothing else.

DuckDB's own parser determines what a statement consists of, so no spelling evades it; `Database.confine` is
the second lock.
"""

from __future__ import annotations

import contextlib
import difflib
import json
from collections.abc import Iterator
from string import ascii_lowercase, ascii_uppercase
from typing import Any, Final

import duckdb

from audit.models.catalog import public
from audit.output.errors import UsageError
from audit.output.escaping import visible

READING: Final = frozenset({"SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"})
"""Kinds of query that only read. A CTE may also be one that inserts, deletes or copies to a file."""

TABLE_FUNCTIONS: Final = frozenset(
    {"range", "generate_series", "unnest", "repeat", "repeat_row", "json_each", "json_tree"}
)
"""Functions after FROM that read nothing but their arguments; others read files, settings, or SQL out of a text."""

TELLING: Final = frozenset({"json_serialize_plan", "current_setting", "getvariable"})
"""Functions within expressions that look for the tables of SQL in a text, or tell which files there are."""

CATALOGS: Final = frozenset({"", "memory"})
SCHEMAS: Final = frozenset({"", "main"})

ONE_SELECT: Final = "give one SELECT, WITH, FROM, DESCRIBE or SUMMARIZE statement; records are only read"
LONGEST_MESSAGE: Final = 6
"""Lines of DuckDB's error message that are reported."""

_SMALL: Final = str.maketrans(ascii_uppercase, ascii_lowercase)


def relations_in(text: str, connection: duckdb.DuckDBPyConnection) -> frozenset[str]:
    """The relations that a query reads, wherever it names them.

    Args:
        text: SQL.
        connection: parses it; nothing is run.

    Raises:
        UsageError: it is not a single statement that reads, names an unknown relation, or reads anything else.
    """
    _check_statement(text, connection)
    tables = {_folded(name) for name in _tables(_tree(text, connection))}
    for name in sorted(tables - {*public()}):
        raise UsageError(_no_relation(name))
    return frozenset(tables)


def expression(text: str) -> duckdb.Expression:
    """A condition, such as `r0 > 400 and delta < 0`.

    Raises:
        UsageError: it is not a single expression.
    """
    with refusing():
        return duckdb.SQLExpression(_writable(text))


@contextlib.contextmanager
def refusing() -> Iterator[None]:
    """Report what DuckDB cannot parse or bind as a wrong argument, in a few lines."""
    try:
        yield
    except (
        duckdb.ParserException,
        duckdb.BinderException,
        duckdb.CatalogException,
        duckdb.ConversionException,
        duckdb.InvalidInputException,
        duckdb.NotImplementedException,
        duckdb.PermissionException,
    ) as error:
        lines = [visible(line) for line in str(error).splitlines() if line.strip()]
        raise UsageError("\n  ".join(lines[:LONGEST_MESSAGE])) from None


def _check_statement(text: str, connection: duckdb.DuckDBPyConnection) -> None:
    with refusing():
        statements = connection.extract_statements(_writable(text))
    if len(statements) != 1:
        raise UsageError(f"{len(statements)} statements in the query; {ONE_SELECT}")
    if statements[0].type == duckdb.StatementType.MULTI:
        raise UsageError("PIVOT has to name its values here: pivot … on … in ('this', 'that') using count(*)")
    if statements[0].type != duckdb.StatementType.SELECT:
        raise UsageError(f"the query is not a SELECT but {statements[0].type.name}; {ONE_SELECT}")


def _writable(text: str) -> str:
    """The text, checked to be valid Unicode, which command-line arguments need not be."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise UsageError("the query holds bytes that are not UTF-8") from None
    return text


def _tree(text: str, connection: duckdb.DuckDBPyConnection) -> Any:
    [(tree,)] = connection.execute("select json_serialize_sql(?)", [text]).fetchall()
    try:
        parsed = json.loads(tree)
    except RecursionError:
        raise UsageError("the query is nested too deeply") from None
    if parsed["error"]:
        raise UsageError(f"{visible(parsed['error_message'])}; {ONE_SELECT}")
    return parsed


def _tables(tree: Any) -> Iterator[str]:
    """The tables that a query names, but for its own CTEs; without recursion, since queries can be deeply nested.

    A CTE is known to the CTEs after it and to the body of its query, and to its own query only in the recursive part:
    the same name elsewhere is a table's, and may be a file's.
    """
    waiting: list[tuple[Any, frozenset[str]]] = [(tree, frozenset())]
    while waiting:
        item, known = waiting.pop()
        if isinstance(item, list):
            waiting.extend((each, known) for each in item)
        if not isinstance(item, dict):
            continue
        _check_node(item)
        if item.get("type") == "BASE_TABLE":
            is_qualified = item["schema_name"] or item["catalog_name"]
            if is_qualified or _folded(item["table_name"]) not in known:
                yield item["table_name"]
        rest = dict(item)
        for entry in rest.pop("cte_map", {}).get("map", ()):
            waiting.append((entry["value"], known))
            known |= {_folded(entry["key"])}
        if rest.get("type") == "RECURSIVE_CTE_NODE":
            waiting.append((rest.pop("right"), known | {_folded(rest["cte_name"])}))
        waiting.extend((each, known) for each in rest.values())


def _check_node(node: dict[str, Any]) -> None:
    """Refuse what does not read, and what reads anything but tables of this database."""
    kind = node.get("type")
    if not isinstance(kind, str):
        return
    if kind.endswith("_NODE") and kind not in READING:
        raise UsageError(f"the query holds {kind.split('_')[0]}; {ONE_SELECT}")
    if kind == "TABLE_FUNCTION":
        _check_function(node["function"]["function_name"])
    if kind == "FUNCTION" and _folded(node["function_name"]) in TELLING:
        raise UsageError(f"{visible(node['function_name'])}(…) may read more than the relations")
    if kind == "SHOW_REF" and node["query"] is None:
        raise UsageError('write "describe RELATION"; audit sql DIR without a query lists the relations')
    if kind == "BASE_TABLE" and (
        _folded(node["schema_name"]) not in SCHEMAS or _folded(node["catalog_name"]) not in CATALOGS
    ):
        raise UsageError(_no_relation(f"{node['catalog_name']}.{node['schema_name']}.{node['table_name']}".strip(".")))


def _folded(name: str) -> str:
    """A name in small letters, of ASCII's alone: what DuckDB folds beyond them is not for certain what Python does."""
    return name.translate(_SMALL)


def _check_function(name: str) -> None:
    if _folded(name) not in TABLE_FUNCTIONS:
        allowed = ", ".join(sorted(TABLE_FUNCTIONS))
        raise UsageError(
            f"{visible(name)}(…) after FROM may read more than the relations; functions there are {allowed}"
        )


def _no_relation(name: str) -> str:
    near = difflib.get_close_matches(name.lower(), public(), n=3)
    hint = f"; did you mean {' or '.join(near)}?" if near else ""
    return f"no relation {visible(name)!r}{hint}\n  relations are {', '.join(public())}"
