"""Copies of what URLs name, on this machine: each file again only when its state elsewhere is another."""

from __future__ import annotations

import contextlib
import os
import shutil
import time
import uuid
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

import msgspec

from audit.cache_folder import DAY, UNUSED
from audit.output.errors import AuditError
from audit.output.progress import PrintedProgress
from audit.remote.systems import patiently, system_of
from audit.remote.urls import Address, RemotePath, address_of
from audit.vocabulary.endings import ARCHIVES, PACK
from collector.system.secrets import WEB

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

Item = TypeVar("Item")

AT_ONCE: Final = 64
"""Files that are asked for together, and once more if a request for one of them fails."""
DEPTH: Final = 32
"""Folders within one another on the web; more are of a page that leads into itself."""
_STATE: Final = (
    *("ETag", "etag", "generation", "md5Hash", "Content-MD5", "Digest", "blob_id", "xet_hash"),
    *("LastModified", "Last-Modified", "last_modified", "updated", "mtime", "created"),
)
"""What file systems state of a file that changes when it is written anew."""


class _Remote(NamedTuple):
    """A file elsewhere: its name there, and below the URL ("" for the URL itself); None is what is not stated."""

    name: str
    relative: str
    size: int | None
    state: str | None


def fetch(paths: Sequence[Path], *, cache: bool = True) -> None:
    """Make or renew the local copies of those paths that URLs name.

    Args:
        paths: as `path_of` makes them.
        cache: whether files that were copied before and have not changed since are kept.

    Raises:
        UsageError: fsspec is not installed, or the URL is of an unknown kind.
        AuditError: there is nothing there, or it cannot be had.
    """
    for path in paths:
        if isinstance(path, RemotePath):
            _fetch(address_of(path), cache=cache)


def _fetch(address: Address, *, cache: bool) -> None:
    from filelock import FileLock

    root = Path(address.local)
    base = Path(address.folder)
    try:
        base.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with FileLock(f"{base}.lock"):
            system, name = system_of(address)
            found = _listed(address, system, name)
            states = _states(base) if cache else {}
            states = {each.relative: states[each.relative] for each in found if _is_there(each, root, states)}
            _remove_others(root, {each.relative for each in found})
            parts = base.with_suffix(".parts")
            parts.mkdir(exist_ok=True)
            try:
                _copy(address, system, [each for each in found if each.relative not in states], states, root, parts)
            finally:
                base.with_suffix(".json").write_bytes(msgspec.json.encode(states))
                shutil.rmtree(parts, ignore_errors=True)
            _tidy(base)
    except OSError as error:
        raise AuditError(f"{address.shown}: cannot be copied to {base.parent} ({error.strerror or error})") from None


def _listed(address: Address, system: AbstractFileSystem, name: str) -> list[_Remote]:
    """What a URL names: one file, or all below a folder."""
    is_file_name = address.local.endswith((PACK, *ARCHIVES))
    if is_file_name or address.scheme not in WEB:
        info = patiently(lambda: system.info(name), address)
        if info.get("type") == "file" and (is_file_name or int(info.get("size") or 0) > 0):
            if not is_file_name:
                raise AuditError(
                    f"{address.shown}: neither a folder nor an archive ({', '.join(ARCHIVES)}) nor a pack ({PACK})"
                )
            return [_remote(info.get("name", name), "", info)]
    if address.scheme in WEB and "?" in name:
        raise AuditError(
            f"{address.shown}: a URL with a query names an archive ({', '.join(ARCHIVES)}) or a pack ({PACK}), "
            "and no folder"
        )
    if address.scheme in WEB:
        files = _on_the_web(address, system, name)
    else:
        below = patiently(lambda: system.find(name, detail=True), address)
        files = {each: info for each, info in below.items() if info.get("type") == "file" and not each.endswith("/")}
    stem = name.rstrip("/") + "/"
    found = [
        _remote(each, each.removeprefix(stem), info)
        for each, info in sorted(files.items())
        if each.startswith(stem) and each != stem
    ]
    if not found:
        raise AuditError(f"{address.shown}: no such object, folder or bucket, or there is nothing in it")
    for each in found:
        if {"", ".", ".."} & set(each.relative.split("/")) or "\0" in each.relative or "\\" in each.relative:
            raise AuditError(f"{address.shown}: the name of the object {each.relative!r} cannot be that of a file here")
    return found


def _on_the_web(address: Address, system: AbstractFileSystem, url: str) -> dict[str, Mapping[str, Any]]:
    """The files below a folder on the web by URL, as its pages and those of its folders link to them."""
    import asyncio

    from fsspec.asyn import sync

    stem = url.rstrip("/") + "/"
    files: set[str] = set()
    folders, known = [stem], {stem}
    while folders:
        folder = folders.pop()
        if folder.removeprefix(stem).count("/") > DEPTH:
            raise AuditError(f"{address.shown}: the listing has more than {DEPTH} folders within one another")
        for each in patiently(partial(system.ls, folder, detail=False), address):
            if "?" in each or "#" in each:  # it sorts the page
                continue
            if not each.endswith("/"):
                files.add(each)
            elif each not in known:
                known.add(each)
                folders.append(each)

    async def infos(names: Sequence[str]) -> list[Mapping[str, Any]]:
        return list(await asyncio.gather(*(system._info(each) for each in names)))

    found: dict[str, Mapping[str, Any]] = {}
    for some in _batches(sorted(files)):
        found |= zip(some, patiently(partial(sync, system.loop, infos, some), address), strict=True)
    return found


def _remote(name: str, relative: str, info: Mapping[str, Any]) -> _Remote:
    size = info.get("size")
    known = [f"{key}={info[key]}" for key in _STATE if info.get(key) is not None]
    return _Remote(name, relative, size, f"size={size} {' '.join(known)}" if known else None)


def _states(base: Path) -> dict[str, str]:
    """The state of each file that was copied, by its name below the URL."""
    try:
        return msgspec.json.decode(base.with_suffix(".json").read_bytes(), type=dict[str, str])
    except (OSError, msgspec.MsgspecError):
        return {}


def _copy(
    address: Address,
    system: AbstractFileSystem,
    wanted: Sequence[_Remote],
    states: dict[str, str],
    root: Path,
    parts: Path,
) -> None:
    """Copy files, each of which takes its place when it is whole, and record the state of each."""
    needed = sum(each.size or 0 for each in wanted)
    free = shutil.disk_usage(parts).free
    if needed > free:
        raise AuditError(
            f"{address.shown}: {needed / 1e9:,.1f} GB would be copied to {parts.parent}, where {free / 1e9:,.1f} GB "
            "are free; name a folder on a larger disk in SALIENCE_AUDIT_CACHE"
        )
    with PrintedProgress() as progress:
        if wanted:
            progress.begin(needed, "copying records from elsewhere", counted=False)
        for some in _batches(wanted):
            targets = [parts / uuid.uuid4().hex for _ in some]
            patiently(partial(system.get, [each.name for each in some], list(map(str, targets))), address)
            for each, part in zip(some, targets, strict=True):
                if each.size not in {None, part.stat().st_size}:
                    raise AuditError(f"{address.shown}: {each.relative or 'the object'} changed while it was copied")
                target = root / each.relative
                target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                part.replace(target)
                progress.advance(each.size or 0)
                if each.state is not None:
                    states[each.relative] = each.state


def _is_there(remote: _Remote, root: Path, states: Mapping[str, str]) -> bool:
    """Whether the copy is of this state."""
    try:
        is_same = remote.state is not None and states.get(remote.relative) == remote.state
        return is_same and (root / remote.relative).stat().st_size == remote.size
    except OSError:
        return False


def _remove_others(root: Path, names: Collection[str]) -> None:
    """Remove files that are no longer elsewhere."""
    if names == {""} and root.is_dir():
        shutil.rmtree(root)
    elif names != {""} and root.is_file():
        root.unlink()
    for folder, _, files in os.walk(root):
        for file in files:
            path = Path(folder, file)
            if path.relative_to(root).as_posix() not in names:
                path.unlink()


def _tidy(base: Path) -> None:
    """Remove copies that have not been used for long."""
    for kept in base.parent.glob("*.json"):
        with contextlib.suppress(OSError):
            if time.time() - kept.stat().st_mtime > UNUSED * DAY:
                shutil.rmtree(kept.with_suffix(""), ignore_errors=True)
                kept.unlink()


def _batches(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    for start in range(0, len(items), AT_ONCE):
        yield items[start : start + AT_ONCE]
