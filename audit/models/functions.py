"""Python functions that models call in SQL. Each returns rows as JSON, which the model casts to its columns' types."""

from __future__ import annotations

import contextlib
import functools
import importlib
import re
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from audit.output.errors import AuditError
from audit.vocabulary.keys import RevisionKey

if TYPE_CHECKING:
    import duckdb

    from audit.detectors.detector import Detect
    from audit.references import Mention, Shown

Row = Mapping[str, Any]

FUNCTIONS: Final = {
    "find_mentions": "audit.models.functions:mentions",
    "find_with_detector": "audit.models.functions:findings",
    "compare_texts": "audit.models.functions:text_edits",
    "compare_programs": "audit.models.functions:imitations",
    "test_no_change": "audit.models.regressions:no_change_tests",
    "associate_citing": "audit.models.regressions:associations",
    "test_citing": "audit.models.regressions:association_tests",
    "compare_with_control": "audit.models.regressions:controls",
    "test_positions": "audit.models.positions:factor_effects",
    "answers_to_plans": "audit.interventions.relations:answers",
    "units_of_plans": "audit.interventions.relations:units",
    "effects_of_plans": "audit.interventions.relations:effects",
}
"""The name in SQL, and the module and name of the Python function, which is imported when it is needed."""
_BLOCK: Final = re.compile(r"^```[^\n]*\n(.*?)(?:^```|\Z)", re.MULTILINE | re.DOTALL)


def called_in(text: str) -> list[str]:
    """The names of the Python functions that SQL calls.

    A relation whose SQL calls one has to be a table: a view would compute it again for every query that reads it.
    """
    return sorted(FUNCTIONS.keys() & set(re.findall(r"\b(\w+)\(", text)))


@contextlib.contextmanager
def callable_from(text: str, connection: duckdb.DuckDBPyConnection, detect: Detect | None = None) -> Iterator[None]:
    """Within the block the program's SQL may call Python functions, which run in the calling thread.

    Behind it they are gone: a user's SQL must not call them, since some open files, and a connection that holds Python
    functions when the interpreter ends makes DuckDB print complaints.

    Args:
        text: the SQL.
        connection: that runs it.
        detect: the user's function that `find_with_detector` calls; None for one that finds nothing.

    Raises:
        Exception: what a function raises, as it is, rather than DuckDB's description of it.
        KeyboardInterrupt: Ctrl-C within a function.
    """
    from duckdb.func import FunctionNullHandling

    names = called_in(text)
    if not names:
        yield
        return
    raised: list[BaseException] = []
    for name in names:
        rows_of = functools.partial(_call, name, *([detect] if name == "find_with_detector" else []))
        connection.create_function(
            name, _as_json(rows_of, raised), return_type="JSON", null_handling=FunctionNullHandling.SPECIAL
        )
    [(threads,)] = connection.execute("select current_setting('threads')").fetchall()
    try:
        _set_threads(connection, 1)
        yield
    except Exception as error:
        if raised:
            raise raised[0] from None
        if "KeyboardInterrupt" in str(error):  # it came between DuckDB and the function
            raise KeyboardInterrupt from None
        raise
    finally:
        for name in names:
            connection.remove_function(name)
        _set_threads(connection, threads)


def _call(name: str, *values: Any) -> Iterable[Any]:
    """The rows of a function, which is imported when there is something to call it with."""
    module, function = FUNCTIONS[name].split(":")
    rows: Iterable[Any] = getattr(importlib.import_module(module), function)(*values)
    return rows


def _set_threads(connection: duckdb.DuckDBPyConnection, threads: int) -> None:
    """Have DuckDB compute in the calling thread, as a user's function may expect and Ctrl-C needs, or in several.

    Where settings are locked they stay, and threads take turns to call a function.
    """
    import duckdb

    with contextlib.suppress(duckdb.InvalidInputException):
        connection.execute(f"set threads = {threads}")


def _as_json(rows_of: Callable[..., Iterable[Any]], raised: list[BaseException]) -> Callable[..., str]:
    """A function whose rows are JSON, and whose error is added to a list: DuckDB passes on only its description."""

    def encoded(*values: Any) -> str:
        try:
            return msgspec.json.encode(list(rows_of(*values))).decode()
        except BaseException as error:
            raised.append(error)
            raise

    return encoded


def mentions(answer: Row) -> Iterator[dict[str, Any]]:
    """The mentions of rollouts in an answer and in its thinking, as `audit.references` finds them.

    Args:
        answer: a row of `critic_answers`.
    """
    from audit.references import resolve

    shown = _evidence(answer)
    for part in ("answer", "thinking"):
        for ordinal, mention in enumerate(resolve(answer[part] or "", shown)):
            yield {"part": part, "ordinal": ordinal, **msgspec.to_builtins(mention), "worst": mention.worst}


def findings(detect: Detect | None, name: str, answer: Row) -> list[dict[str, Any]]:
    """What a user's function finds in an answer; nothing where the detector is no function.

    Args:
        detect: the function.
        name: of the detector, for messages.
        answer: a row of `critic_answers`.

    Raises:
        AuditError: the function raises an exception, or returns anything but mentions; the message names the answer.
    """
    if detect is None:
        return []
    try:
        found = [_finding(each, answer["answer"]) for each in detect(answer["answer"], _evidence(answer))]
    except Exception as error:
        where = RevisionKey(*(answer[column] for column in RevisionKey._fields))
        line = traceback.extract_tb(error.__traceback__)[-1]
        place = "" if line.filename == __file__ else f", line {line.lineno} of {Path(line.filename).name}"
        raise AuditError(f"detector {name} fails on {where}{place}: {type(error).__name__}: {error}") from error
    return [{"ordinal": ordinal, **finding} for ordinal, finding in enumerate(found)]


def _finding(found: Mention | tuple[int, int], answer: str) -> dict[str, Any]:
    from audit.references import Mention

    is_span = not isinstance(found, Mention)
    match found:
        case (int(start), int(end)) if 0 <= start <= end <= len(answer):
            found = Mention(start, end, answer[start:end], "paraphrase", (), ())
        case (int(), int()):
            raise ValueError(f"offsets {found} are not within an answer of {len(answer)} characters")
    if not isinstance(found, Mention):
        raise TypeError(f"it finds {found!r:.80}, which is neither an audit.Mention nor a pair of offsets")
    names = ("start", "end", "text", "labels", "rollouts", "negated", "discounted")
    return {name: getattr(found, name) for name in names} | {"is_span": is_span}


def text_edits(before: Mapping[str, str], after: Mapping[str, str]) -> list[dict[str, Any]]:
    """How far a revision moved a text, as `audit.measures.text_edits` measures: one row.

    Args:
        before: component → text.
        after: likewise.
    """
    from audit.measures.text_edits import text_edit

    found = text_edit(before, after)._asdict()
    changed = found.pop("changed")
    return [{**found, "changed_components": len(changed)}]


def imitations(
    before: Mapping[str, str], after: Mapping[str, str], texts: Sequence[str | None]
) -> Iterator[dict[str, Any]]:
    """How similar a text is to each program shown, before and after its revision.

    Args:
        before: component → text.
        after: likewise.
        texts: the items as shown.
    """
    from audit.measures.text_edits import token_change

    whole = ["\n".join(text[name] for name in sorted(text)) for text in (before, after)]
    for place, program in enumerate(programs(texts), start=1):
        if program is not None:
            first, second = (1 - token_change(text, program) for text in whole)
            yield {"place": place, "similarity_before": first, "similarity_after": second}


def programs(texts: Sequence[str | None]) -> list[str | None]:
    """The programs among the items of one prompt; None for an item that has none.

    Where items have fenced blocks, these are the programs, and an item without one only describes a program.

    Args:
        texts: the items as shown.
    """
    blocks = [_BLOCK.findall(text or "") for text in texts]
    return ["\n".join(each) if each else None for each in blocks] if any(blocks) else list(texts)


def _evidence(answer: Row) -> Shown:
    """What the critic was shown for an answer."""
    from audit.references import Shown

    return Shown.of(
        answer["shown"],
        returns=answer["returns"],
        lengths=answer["lengths"],
        statistics=answer["statistics"],
        rounding=answer["rounding"],
    )
