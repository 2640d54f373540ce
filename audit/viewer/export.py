"""Writes the pages of a data set to a folder that any static host serves and that a browser opens as a file.

A page at `file://` may not fetch, so data are in classic script files, `data/NAME.js`, each of which hands over one
value as a text in JSON. `static/export.js` loads them when they are asked for, and answers the pages from them; what
asks for a part of the revisions needs the server.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, Final, Unpack

from audit.options import Data, Options, RevisionSelection, options_of
from audit.output.errors import UsageError, count
from audit.output.formats import as_json
from audit.output.progress import SILENT, Progress
from audit.output.unfinished_results import folder_for, put_in_place
from audit.records.locating import local_path
from audit.viewer import charts, pages
from audit.viewer.details import details
from audit.viewer.local_paths import without_local_paths
from audit.viewer.query import Query
from audit.viewer.run import run
from audit.viewer.server import POLICY
from audit.viewer.session import Session
from audit.vocabulary.keys import RunKey

MOST: Final = 20_000
"""Revisions of an exported folder, unless another limit is given."""
ITEMS: Final = 100
"""Revisions or runs in one script file, which is loaded when one of them is opened."""
SIZE: Final = 2_000_000
"""Characters of one script file, unless a single item has more."""
MARKER: Final = "audit-view.json"
"""The file by which an earlier export is recognised; it lists the names beside it."""

WHOLE: Final[Mapping[str, Callable[[Session], dict[str, Any]]]] = {
    "about": pages.about,
    "overview": pages.overview,
    "curves": charts.curves,
    "runs": pages.runs,
}
"""Answers that are the same whatever is asked."""

_POLICY: Final = {
    **{name: value for name, value in POLICY.items() if name != "frame-ancestors"},  # not for an element to state
    "connect-src": "'none'",
}
_SERVED: Final = {
    "live.css": '<link rel="stylesheet" href="live.css">\n',
    "live.js": '<script src="live.js" defer></script>\n',
}
"""Files for what only a server does, and the lines that load them."""
_AFTER_CHARSET: Final = '<meta charset="utf-8">\n'
_BEFORE_PAGES: Final = '<script src="data.js" defer></script>\n'


@dataclass(frozen=True, slots=True)
class ExportedView:
    """A folder with the pages of a data set.

    Attributes:
        path: the folder; its page is `index.html`.
        revisions: how many.
        files: how many files.
        size: bytes.
    """

    path: Path
    revisions: int
    files: int
    size: int


def export_view(
    data: Data,
    out: str | Path,
    *,
    limit: int = MOST,
    with_prompts: bool = False,
    progress: Progress = SILENT,
    **keywords: Unpack[RevisionSelection],
) -> ExportedView:
    """Write the pages of a data set to a folder, which needs neither a server nor Python.

    Filters, replays, labels and tests of one group against another need the program and are not in it.

    Args:
        data: records.
        out: the folder; it must be empty, new or an earlier export, which is replaced.
        limit: revisions that it may have at most.
        with_prompts: whether exact prompts are in it, which may be several times as large as all the rest.
        progress: follows the revisions.
        keywords: which groups, and how records are opened and classified.

    Raises:
        UsageError: too many revisions, or `out` has files of other kinds or is among the records.
    """
    target = Path(out)
    options = options_of(data, RevisionSelection, keywords)
    _refuse(target, options)
    with Session(options) as session:
        number = session.table.count(Query())
        if number > limit:
            raise UsageError(
                f"{count(number, 'revision')}, and an exported folder has at most {limit} (--limit): choose some with "
                "--env, --variant, --condition or --run, or raise the limit"
            )
        with folder_for(target) as folder:
            new = folder / "new"
            _write_static(new)
            progress.begin(number, "revisions to export")
            try:
                _write_data(session, new / "data", progress, with_prompts=with_prompts)
            finally:
                progress.end()
            names = sorted(path.name for path in new.iterdir())
            (new / MARKER).write_text(json.dumps({"names": [*names, MARKER]}) + "\n", encoding="utf-8")
            _refuse(target, options)
            put_in_place(new, target)
    sizes = [path.stat().st_size for path in target.rglob("*") if path.is_file()]
    return ExportedView(target, number, len(sizes), sum(sizes))


def _refuse(target: Path, options: Options) -> None:
    """Refuse a place where the export would replace something else, or be among the records.

    Raises:
        UsageError: this is such a place.
    """
    place = target.resolve()
    for path in (local_path(path).resolve() for path in options.paths):
        if place.is_relative_to(path) or path.is_relative_to(place):
            raise UsageError(f"--export {target}: the records are there; name another folder")
    if target.parent.exists() and not target.parent.is_dir():
        raise UsageError(f"--export {target}: {target.parent} is not a folder")
    if not target.exists():
        return
    if not target.is_dir():
        raise UsageError(f"--export {target}: already exists, and is not a folder")
    if others := sorted({path.name for path in target.iterdir()} - _names_of_export(target)):
        raise UsageError(
            f"--export {target}: has files that are not of an earlier export, such as {others[0]}; name another folder"
        )


def _names_of_export(folder: Path) -> set[str]:
    try:
        return set(json.loads((folder / MARKER).read_text(encoding="utf-8"))["names"])
    except (OSError, ValueError, KeyError, TypeError):
        return set()


def _write_static(folder: Path) -> None:
    """Copy what runs in the browser; the page states its policy itself and answers itself."""
    with resources.as_file(resources.files("audit.viewer").joinpath("static")) as static:
        shutil.copytree(static, folder, ignore=shutil.ignore_patterns(*_SERVED))
    index = folder / "index.html"
    policy = "; ".join(f"{name} {value}" for name, value in _POLICY.items())
    page = index.read_text(encoding="utf-8")
    page = page.replace(
        _AFTER_CHARSET, f'{_AFTER_CHARSET}<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
    )
    page = page.replace(_BEFORE_PAGES, f'{_BEFORE_PAGES}<script src="export.js" defer></script>\n')
    for line in _SERVED.values():
        page = page.replace(line, "")
    index.write_text(page, encoding="utf-8")


def _write_data(session: Session, folder: Path, progress: Progress, *, with_prompts: bool) -> None:
    folder.mkdir()
    hidden = without_local_paths(session.options.paths)
    for name, answer in WHOLE.items():
        _write(folder, name, hidden(answer(session)))
    names = list(session.table.kinds)
    columns = list(zip(*session.table.all_rows(Query(), names), strict=True)) or [()] * len(names)
    for name, values in zip(names, columns, strict=True):
        _write(folder, f"column-{name}", values)
    with (folder.parent / "revisions.csv").open("wb") as stream:
        stream.writelines(pages.csv(session, Query()))
    opened = _Chunks(folder, "details", ITEMS)
    for page in details(session, with_prompts=with_prompts):
        page.update(hidden({name: page[name] for name in ("row", "thresholds", "prompt_problem")}))
        opened.add(page)
        progress.advance()
    runs = _Chunks(folder, "run", ITEMS)
    keys = []
    for key in (RunKey(*(row[name] for name in RunKey._fields)) for row in pages.runs(session)["rows"]):
        keys.append(key)
        runs.add(hidden(run(session, key)))
    _write(
        folder,
        "index",
        {
            "kinds": session.table.kinds,
            "details": opened.close(),
            "runs": runs.close(),
            "run_keys": keys,
            "whole": list(WHOLE),
        },
    )


class _Chunks:
    """Values in numbered script files.

    Args:
        folder: of the files.
        name: before their numbers.
        items: values in one of them at most.
    """

    def __init__(self, folder: Path, name: str, items: int) -> None:
        self._folder, self._name, self._items = folder, name, items
        self._starts: list[int] = []
        self._pending: list[str] = []
        self._size = self._number = 0

    def add(self, value: Any) -> None:
        """Add a value; its number is that of values before it."""
        text = as_json(value)
        if self._pending and (len(self._pending) == self._items or self._size + len(text) > SIZE):
            self._flush()
        if not self._pending:
            self._starts.append(self._number)
        self._pending.append(text)
        self._size += len(text)
        self._number += 1

    def close(self) -> list[int]:
        """Write the last file.

        Returns:
            The number of the first value in each file.
        """
        if self._pending:
            self._flush()
        return self._starts

    def _flush(self) -> None:
        _write_text(self._folder, f"{self._name}-{len(self._starts) - 1}", f"[{','.join(self._pending)}]")
        self._pending, self._size = [], 0


def _write(folder: Path, name: str, value: Any) -> None:
    _write_text(folder, name, as_json(value))


def _write_text(folder: Path, name: str, text: str) -> None:
    """A script that hands over a value: as a text, since a key such as `__proto__` acts in a script and not in JSON."""
    quoted = text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n")
    (folder / f"{name}.js").write_text(f"Exported.put('{name}', '{quoted}');\n", encoding="utf-8")
