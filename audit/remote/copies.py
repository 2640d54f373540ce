"""Copies of what URLs name, on this machine: each file again only when its state elsewhere is another."""

from __future__ import annotations

import contextlib
import os
import shutil
import time
import uuid
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from audit.cache_folder import DAY, UNUSED
from audit.output.errors import AuditError
from audit.output.progress import PrintedProgress
from audit.remote.downloads import SPARED, Downloads, full_disk
from audit.remote.listings import linked
from audit.remote.objects import RemoteObject, object_of
from audit.remote.pool import together
from audit.remote.ranges import serve
from audit.remote.states import STATES
from audit.remote.systems import patiently, system_of
from audit.remote.urls import Address, RemotePath, address_of
from audit.vocabulary.endings import ARCHIVES, PACK
from collector.system.secrets import WEB

BY_RANGES: Final = 8 * 2**20
"""Bytes of a pack from which on it is read by ranges; a smaller one is copied."""


class _Held(msgspec.Struct):
    """What is kept about a copy: the state of each file in it, by its name below the URL."""

    states: dict[str, str]


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
    base = _folder_of(address)
    try:
        base.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with FileLock(f"{base}.lock"):
            found = _listed(address)
            held = _Held({}) if not cache else _held(base)
            _remove_others(root, {each.relative for each in found})
            parts = base.with_suffix(".parts")
            parts.mkdir(exist_ok=True)
            try:
                _copy(found, held, root, parts)
            finally:
                base.with_suffix(".json").write_bytes(msgspec.json.encode(held))
                shutil.rmtree(parts, ignore_errors=True)
            _tidy(base)
    except OSError as error:
        raise AuditError(f"{address.shown}: cannot be copied to {base.parent} ({error.strerror or error})") from None


def _folder_of(address: Address) -> Path:
    """The folder of all that is kept of a URL: that which its digest names."""
    depth = len([part for part in address.shown.partition("://")[2].split("/") if part])
    return Path(address.local).parents[depth - 1]


def _listed(address: Address) -> list[RemoteObject]:
    """What a URL names: one object, or all below a folder."""
    system, name = system_of(address)
    is_file_name = address.local.endswith((PACK, *ARCHIVES))
    if is_file_name or address.scheme not in WEB:
        info = patiently(lambda: system.info(name), address)
        if info.get("type") == "file" and (is_file_name or int(info.get("size") or 0) > 0):
            if not is_file_name:
                raise AuditError(
                    f"{address.shown}: neither a folder nor an archive ({', '.join(ARCHIVES)}) nor a pack ({PACK})"
                )
            return [object_of(address, system, "", {**info, "name": info.get("name", name)})]
    if address.scheme in WEB and "?" in name:
        raise AuditError(
            f"{address.shown}: a URL with a query names an archive ({', '.join(ARCHIVES)}) or a pack ({PACK}), "
            "and no folder"
        )
    if address.scheme in WEB:
        names = linked(address, system, name)
        files = dict(together(lambda each: (each, patiently(lambda: system.info(each), address)), names))
    else:
        below = patiently(lambda: system.find(name, detail=True), address)
        files = {each: info for each, info in below.items() if info.get("type") == "file" and not each.endswith("/")}
    stem = name.rstrip("/") + "/"
    found = [
        object_of(address, system, each.removeprefix(stem), {**info, "name": each})
        for each, info in sorted(files.items())
        if each.startswith(stem) and each != stem
    ]
    if not found:
        raise AuditError(f"{address.shown}: no such object, folder or bucket, or there is nothing in it")
    for each in found:
        if {"", ".", ".."} & set(each.relative.split("/")) or "\0" in each.relative or "\\" in each.relative:
            raise AuditError(f"{address.shown}: the name of the object {each.relative!r} cannot be that of a file here")
    return found


def _held(base: Path) -> _Held:
    try:
        return msgspec.json.decode(base.with_suffix(".json").read_bytes(), type=_Held)
    except (OSError, msgspec.MsgspecError):
        return _Held({})


def _copy(found: Sequence[RemoteObject], held: _Held, root: Path, parts: Path) -> None:
    """Bring copies up to date, and record the state of each."""
    targets = {each.relative: Path(root, each.relative) if each.relative else root for each in found}
    wanted: list[RemoteObject] = []
    for each in found:
        target = targets[each.relative]
        is_served = targets[each.relative].name.endswith(PACK) and (each.size or 0) > BY_RANGES and each.has_ranges()
        if is_served:
            serve(str(target), each)
        if not _is_there(each, target, held.states, is_served=is_served):
            if is_served:
                _stand_in(each, target, held)
            else:
                wanted.append(each)
    _refuse_full_disk(wanted, parts)

    def download(remote: RemoteObject) -> RemoteObject:
        part = parts / uuid.uuid4().hex
        downloads.download(remote, part)
        target = targets[remote.relative]
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        part.replace(target)
        return remote

    downloads = Downloads(found[0].address, parts)
    with contextlib.closing(downloads), PrintedProgress() as progress:
        if wanted:
            progress.begin(sum(each.size or 0 for each in wanted), "copying records from elsewhere", counted=False)
        for each in together(download, wanted):
            progress.advance(each.size or 0)
            if each.state is not None:
                held.states[each.relative] = each.state
    for each in found:
        STATES.pop(str(targets[each.relative]), None)
        if each.state is not None:
            STATES[str(targets[each.relative])] = each.state
    held.states = {name: state for name, state in held.states.items() if name in targets}


def _is_there(remote: RemoteObject, target: Path, states: Mapping[str, str], *, is_served: bool) -> bool:
    """Whether the copy is of this state."""
    state = _kept_state(remote, is_served=is_served)
    try:
        return state is not None and states.get(remote.relative) == state and target.stat().st_size == remote.size
    except OSError:
        return False


def _kept_state(remote: RemoteObject, *, is_served: bool) -> str | None:
    return f"by ranges {remote.state}" if is_served else remote.state


def _stand_in(remote: RemoteObject, target: Path, held: _Held) -> None:
    """Make a file of the object's size, which takes no room and is never read."""
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    with target.open("wb") as stream:
        stream.truncate(remote.size)
    held.states[remote.relative] = _kept_state(remote, is_served=True) or ""


def _refuse_full_disk(wanted: Iterable[RemoteObject], folder: Path) -> None:
    needed = 0
    for each in wanted:
        needed += each.size or 0
        free = shutil.disk_usage(folder).free
        if needed > free - SPARED:
            total = sum(one.size or 0 for one in wanted)
            raise full_disk(each.address, folder, free=free, needed=total)


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
