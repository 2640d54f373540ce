"""What tests share, so that it is made once: folders on the disk, and stores that are open already."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path

import filelock
import pytest

from audit import store as store_module
from audit.models.database import Database

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / ".pytest_cache" / "made"
SOURCES = {".py", ".toml", ".sql", ".j2", ".lock"}

Make = Callable[[Path], object]


def made(name: str, make: Make, *, of: tuple[str, ...] = ("collector",)) -> Path:
    """A folder that is made once, by whichever worker needs it first, and kept until a source that made it changes.

    Nobody may write into it: copy it where a test does.

    Args:
        name: of the folder; two makers have two names.
        make: fills the empty folder that it is given.
        of: files and folders of the project that decide what is in it, beside the file of `make` and the lock file.
    """
    folder = KEPT / f"{name}-{_digest([*of, make.__code__.co_filename, 'requirements.lock'])}"
    KEPT.mkdir(parents=True, exist_ok=True)
    with filelock.FileLock(KEPT / f"{name}.lock"):
        if not folder.exists():
            for older in KEPT.glob(f"{name}-*"):
                if older.name.rpartition("-")[0] == name:
                    shutil.rmtree(older)
            part = KEPT / f"{name}.part"
            shutil.rmtree(part, ignore_errors=True)
            part.mkdir()
            make(part)
            part.rename(folder)
    return folder


def _digest(names: list[str]) -> str:
    digest = hashlib.blake2b(digest_size=12)
    for name in names:
        place = ROOT / name
        files = [place] if place.is_file() else sorted(path for path in place.rglob("*") if path.suffix in SOURCES)
        for file in files:
            digest.update(f"{file.relative_to(ROOT)} {file.stat().st_size} ".encode() + file.read_bytes())
    return digest.hexdigest()


@pytest.fixture(scope="module")
def opened_once():
    """Open a data set once for all commands of a module that read it with the same options, while it is unchanged.

    For modules whose subject is what commands make of records, not how records are read.
    """
    opened: dict[str, store_module.Store] = {}
    really_open, really_confine = store_module.open_store, Database.confine

    def open_store(paths, **given):
        key = opened_as(paths, given)
        if key not in opened:
            opened[key] = really_open(paths, **given)
        return opened[key].shared()

    def confine(database):
        """Nothing else can be done in a database that is confined, so that it is not shared any longer."""
        really_confine(database)
        keys = [key for key, store in opened.items() if store._database is database]
        confined.extend(opened.pop(key) for key in keys)

    confined: list[store_module.Store] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store_module, "open_store", open_store)
        patch.setattr(Database, "confine", confine)
        yield
    for store in (*opened.values(), *confined):
        store.close()


def opened_as(paths, given: dict[str, object]) -> str:
    """All that a store depends on: the files of records, and how they are read."""
    return repr((paths, sorted(given.items()), [looks(Path(path)) for path in paths]))


def looks(path: Path) -> list[tuple[str, int, int]]:
    """The files below a folder, or a file, each with its size and the time of its last change."""
    files = [path] if path.is_file() else sorted(each for each in path.rglob("*") if each.is_file())
    return [(str(file), file.stat().st_size, file.stat().st_mtime_ns) for file in files]
