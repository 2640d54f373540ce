"""Finds revisions that make good worked examples of a case, or that meet a condition."""

from __future__ import annotations

import difflib
import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Unpack

from audit.models.users_sql import refusing
from audit.options import Data, RevisionSelection, options_of
from audit.output.errors import UsageError, count
from audit.output.escaping import in_line, visible
from audit.output.names import meant
from audit.output.rows import Table
from audit.records.locating import label_of
from audit.store import rows_of
from audit.vocabulary.cases import CASES
from audit.vocabulary.detectors import DEFAULT
from audit.vocabulary.keys import RevisionKey

if TYPE_CHECKING:
    import duckdb

    from audit.options import Options
    from audit.store import Store

COLUMNS: Final = (
    *RevisionKey._fields,
    *("case", "rank", "score", "r0", "r1", "delta", "edit_distance", "severity", "references_worst", "pattern", "show"),
)


def listed() -> str:
    """The cases with what they are, a line each."""
    width = max(map(len, CASES))
    return "\n".join(f"{name:<{width}}  {case.words}" for name, case in CASES.items())


def find(
    data: Data,
    case: str | None = None,
    where: str | None = None,
    *,
    limit: int = 10,
    **keywords: Unpack[RevisionSelection],
) -> Table:
    """Revisions that make good worked examples of a case, best first, each with the command that shows it in full.

    Args:
        data: records.
        case: a kind of worked example, one of `audit.cases()`; None for any revision, ranked by the size of its delta.
        where: a condition in SQL over the columns of the relation `revisions`; None for none.
        limit: how many to find.
        keywords: which groups, and how records are opened and classified.

    Raises:
        UsageError: neither a case nor a condition, an unknown case, or an invalid condition.
    """
    case = _checked(case, where)
    options = options_of(data, RevisionSelection, keywords)
    with options.open() as store:
        if options.store is None:
            _build(store, options, case, where)
            store.confine()
        found = _found(store, options, case, where)
        caption = options.caption(store)
        examples = list(_examples(iter(rows_of(found.limit(limit))), options, case, store))
        notes = []
        if not examples:
            notes.append(f"nothing found: no revision is {_wanted(case, where)}")
        elif len(examples) == limit:
            [(every,)] = found.aggregate("count(*)").fetchall()
            if every > limit:
                notes.append(f"{limit} of {count(every, 'revision')} found; --limit shows more")
    return Table(
        columns=COLUMNS,
        rows=examples,
        caption=caption,
        notes=[*notes, *([caption] if caption else [])],
        plain=True,
        print_for_people=lambda _: _print_for_people(examples, case, caption),
    )


def _checked(case: str | None, where: str | None) -> str | None:
    """The case that is meant; refuse one that finds nothing whatever the records.

    Raises:
        UsageError: neither a case nor a condition, or an unknown case.
    """
    if case is None and where is None:
        raise UsageError(f"choose what to find, with --case NAME or --where SQL; cases are\n{listed()}")
    if case is None:
        return None
    chosen = meant(case, CASES)
    if chosen not in CASES:
        near = difflib.get_close_matches(case, CASES, n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise UsageError(f"no case {case!r}{hint} Cases are\n{listed()}")
    return chosen


def _build(store: Store, options: Options, case: str | None, where: str | None) -> None:
    """Build all relations that are read."""
    for name in ("run_records", "revisions", *(["episodes"] if len(options.paths) > 1 else [])):
        store.relation(name)
    if case is not None:
        store.build(CASES[case].query)
    if where is not None:
        store.condition(where)


def _found(store: Store, options: Options, case: str | None, where: str | None) -> duckdb.DuckDBPyRelation:
    """The revisions that fit, best first, with `score`."""
    details = options.select(store.relation("revisions"))
    if where is not None:
        condition = store.condition(where)
        with refusing():
            details = details.filter(condition)
    if case is None:
        scored = details.select("*, abs(delta) as score")
    else:
        fitting = store.sql(CASES[case].query).set_alias("case")
        scored = details.set_alias("details").join(fitting, ",".join(RevisionKey._fields))
    return scored.order("score desc nulls last, condition, env, variant, run, iteration")


def _examples(
    found: Iterator[dict[str, Any]], options: Options, case: str | None, store: Store
) -> Iterator[dict[str, Any]]:
    for rank, row in enumerate(found, start=1):
        shown = {**row, "case": case, "rank": rank, "show": _command(row, options, store)}
        yield {column: shown[column] for column in COLUMNS}


def _command(row: dict[str, Any], options: Options, store: Store) -> str:
    """The command that shows a revision in full, judged as here, to be pasted into a shell."""
    path = _path_of(row, list(map(label_of, options.paths)), store)
    place = [str(row[column]) for column in ("env", "variant", "run", "iteration")]
    flags = [f"--condition={row['condition']}"]
    if options.detector not in {None, DEFAULT}:
        flags.append(f"--detector={options.detector}")
    if options.about is not None:
        flags.append(f"--about={options.about}")
    for task, values in options.overrides.items():
        flags += [f"--set={task}.{key}={str(value).removesuffix('.0')}" for key, value in values.items()]
    return shlex.join(["audit", "show", f"./{path}" if path.startswith("-") else path, *place, *flags])


def _path_of(row: dict[str, Any], paths: Sequence[str], store: Store) -> str:
    """The folder or archive, of those given, that has the revision."""
    if len(paths) == 1:
        return paths[0]
    from duckdb import ColumnExpression, ConstantExpression

    episode = store.relation("episodes")
    for column in RevisionKey._fields:
        episode = episode.filter(ColumnExpression(column) == ConstantExpression(row[column]))
    [(file,)] = episode.select("file").fetchall()
    return next((path for path in paths if _holds(path, file)), paths[0])


def _holds(path: str, file: str) -> bool:
    """Whether a file, as people know it, is in a folder or, behind an exclamation mark, in an archive."""
    return Path(file).is_relative_to(path) or file.startswith(f"{path}!")


def _wanted(case: str | None, where: str | None) -> str:
    return " where ".join(part for part in (f"a case of {case}" if case else "one", where and visible(where)) if part)


def _print_for_people(examples: Sequence[dict[str, Any]], case: str | None, caption: str | None) -> None:
    conditions = {example["condition"] for example in examples}
    hidden = {"case", "rank", "show"} if len(conditions) > 1 else {"case", "rank", "show", "condition"}
    title = f"Case {case}: {CASES[case].words}" if case else "Revisions found"
    columns = ["rank", *(column for column in COLUMNS if column not in hidden)]
    Table(columns=columns, rows=examples, title=title, plain=True, is_part=True).print()
    commands = "".join(f"{example['rank']:>4}  {in_line(example['show'])}\n" for example in examples)
    score = f"score: {CASES[case].score}" if case else "score: the size of delta"
    sys.stdout.write("\n".join(part for part in (commands, score, caption) if part) + "\n")
