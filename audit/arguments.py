"""What the functions of the library take: records, and keyword arguments named like the options of the commands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypedDict

from audit.output.errors import UsageError
from audit.remote.urls import path_of
from audit.request import Request

if TYPE_CHECKING:
    from audit.store import Store
    from audit.vocabulary.thresholds import Overrides

Data: TypeAlias = "Store | Request | str | Path | Iterable[str | Path]"
"""Records: an open store, one path or several, or a request, which bundles all arguments."""

Names: TypeAlias = str | Sequence[str] | None

_ROWS: Final = ("env", "variant", "condition", "run")
"""The arguments that choose rows; the others control how records are opened."""
_EMPTY: Final[Mapping[str, Any]] = {"overrides": {}, "judgements": ()}
"""What None stands for."""


class _Reading(TypedDict, total=False):
    """Keyword arguments of every function that control how records are opened.

    Attributes:
        strict: reject records with problems instead of leaving them out.
        cache: whether what was read in an earlier audit may be used, and kept for a later one.
    """

    strict: bool
    cache: bool


class _Detector(_Reading, total=False):
    """Keyword arguments that choose a detector of references to an item of the evidence.

    Attributes:
        detector: word, phrase, resolved, judge, or a file of your own: `FILE.toml`, `FILE.py[:FUNCTION]`;
            without it, word, or resolved where all candidates are texts.
        about: the item that references are sought to: worst, median, best, first, last, `label:X` or an id; None for
            what the detector is about, the worst one unless its file states another.
        judgements: files that `audit.judge` has written; for the detector `judge` and rubrics else those beside the
            records.
        judge: the model whose judgements count, where there are several.
    """

    detector: str | None
    about: str | None
    judgements: Sequence[str | Path] | None
    judge: str | None


class _Overrides(_Reading, total=False):
    """Keyword arguments that classify edits.

    Attributes:
        overrides: thresholds of the edit patterns, by task and name, that override all others.
    """

    overrides: Overrides | None


class Analysis(_Detector, _Overrides, total=False):
    """Keyword arguments of `audit.open`, `audit.show` and `audit.sql`, which select rows in other ways."""


class Selection(_Reading, total=False):
    """Keyword arguments of functions.

    Attributes:
        env, variant, condition: only these tasks, methods or conditions; a name or several.
    """

    env: Names
    variant: Names
    condition: Names


class RunSelection(Selection, total=False):
    """Keyword arguments of functions whose rows belong to single runs.

    Attributes:
        run: only runs of this number, or of these.
    """

    run: int | Sequence[int] | None


class Detection(Selection, _Detector, total=False):
    """Keyword arguments of functions that use a detector."""


class Thresholds(Selection, _Overrides, total=False):
    """Keyword arguments of functions that classify edits."""


class Classification(Detection, Thresholds, total=False):
    """Keyword arguments of functions that use a detector and classify edits."""


class RevisionSelection(RunSelection, Classification, total=False):
    """Keyword arguments of functions whose rows are revisions, with every classification."""


def request_of(data: Data, kind: Any, options: Mapping[str, Any]) -> Request:
    """Build the request that a function's arguments describe.

    Args:
        data: the records.
        kind: the class of keyword arguments that the function takes, `Selection` or one of its subclasses.
        options: the keyword arguments given.

    Raises:
        TypeError: the function takes no such argument.
        UsageError: an argument that an open store no longer takes.
    """
    if unknown := sorted(options.keys() - kind.__optional_keys__):
        raise TypeError(
            f"unexpected argument {', '.join(unknown)}; there are {', '.join(sorted(kind.__optional_keys__))}"
        )
    given = {name: _several(value) if name in (*_ROWS, "judgements") else value for name, value in options.items()}
    given |= {name: empty for name, empty in _EMPTY.items() if name in given and given[name] is None}
    if isinstance(data, Request):
        return replace(data, **given)
    if "detector" in kind.__optional_keys__:
        given.setdefault("detector", None)
    if isinstance(data, str | Path):
        return Request(paths=[path_of(data)], **given)
    from audit.store import Store  # and with it all that reads records

    if isinstance(data, Store):
        if late := sorted(options.keys() - set(_ROWS)):
            raise UsageError(f"the store is open already; give {', '.join(late)} to audit.open")
        opened = {name: getattr(data, name) for name in ("paths", "detector", "about", "overrides", "plans")}
        return Request(store=data, **given | opened)
    return Request(paths=[path_of(path) for path in data], **given)


def _several(value: Any) -> Any:
    return [value] if isinstance(value, str | int | Path) else value
