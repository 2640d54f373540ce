"""URLs: what people see of them, and the copies that fsspec makes of what they name."""

from __future__ import annotations

import contextlib
import hashlib
import re
import shutil
import string
import tempfile
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

import msgspec

from audit.output.errors import AuditError, UsageError
from audit.output.escaping import in_line
from audit.output.progress import PrintedProgress
from audit.records.cache import DAY, UNUSED, VARIABLE, cache_folder
from audit.vocabulary.endings import ARCHIVES, PACK
from collector.system.secrets import WEB, without_secrets, without_user

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

EXTRA: Final = 'in a clone: pip install ".[remote]"'
DEPTH: Final = 32
"""Maximum number of folders within one another on the web; a deeper page leads into itself."""
SILENCE: Final = 20.0
"""Seconds until a web server that sends nothing is given up."""

_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_WITHOUT_PASSWORDS: Final = ("s3", "s3a", "gs", "gcs", "hf")
_STATED: Final = (
    *("ETag", "etag", "generation", "md5Hash", "Content-MD5", "Digest", "blob_id", "xet_hash"),
    *("LastModified", "Last-Modified", "last_modified", "updated", "mtime", "created"),
)
"""What file systems state of a file that changes when it is written anew."""
_MANIFEST: Final = "manifest.json"

Files = dict[str, Mapping[str, Any]]
"""What is stated of each file that a URL names, by its name below the URL; "" is the URL itself."""


def is_url(given: str | Path) -> bool:
    """Whether an argument is a URL rather than a path of this machine."""
    return isinstance(given, str) and _URL.match(given) is not None


def shown(url: str) -> str:
    """A URL as people see it, without what is secret; on the web, without the user and the query."""
    scheme, _, rest = url.partition("://")
    if scheme.lower() in WEB:
        rest = re.split("[?#]", without_user(rest, is_web=True))[0]
    return without_secrets(f"{scheme.lower()}://{rest}").rstrip("/")


def copy_of(url: str) -> Path:
    """Where the copy of what a URL names is, or will be: a file where the URL ends like an archive or a pack.

    Raises:
        UsageError: the URL names nothing, or has a password where none is used.
        AuditError: this machine has no folder for copies.
    """
    scheme, _, rest = url.partition("://")
    without_password = without_user(rest, is_web=scheme.lower() in WEB)
    if without_password != rest and scheme.lower() in _WITHOUT_PASSWORDS:
        raise UsageError(f"{shown(url)}: credentials in a URL are not used; set them where {scheme} has them")
    if not re.search(r"://.*[^/]", shown(url)):
        raise UsageError(f"{shown(url)}: the URL names nothing; write for example s3://BUCKET/NAME")
    cache = cache_folder()
    if cache is None:
        raise AuditError(f"{shown(url)}: there is no folder for its copy; name one in {VARIABLE}")
    digest = hashlib.blake2b(f"{scheme.lower()}://{without_password}".encode("utf-8", "replace"), digest_size=16)
    return cache / "remote" / digest.hexdigest() / f"copy{_ending(url)}"


def fetch(url: str, *, cache: bool = True) -> Path:
    """Copy what a URL names, and give the copy; files whose state elsewhere is the same are not copied again.

    Args:
        url: of a folder, an archive or a pack.
        cache: whether files that were copied before are used.

    Raises:
        UsageError: fsspec is not installed, or the URL is of an unknown kind.
        AuditError: there is nothing there, or it cannot be copied.
    """
    from filelock import FileLock

    target = copy_of(url)
    try:
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with FileLock(f"{target.parent}.lock"), PrintedProgress() as progress:
            progress.begin(0, "copying records from elsewhere", counted=False)
            system, name = _system(url)
            _renew(url, system, _files(url, system, name), name.rstrip("/"), target, cache=cache)
    except AuditError:
        raise
    except Exception as error:  # each file system has errors of its own
        raise AuditError(f"{shown(url)}: {_reason(error, url)}") from None
    return target


def _ending(url: str) -> str:
    return next((ending for ending in (PACK, *ARCHIVES) if shown(url).endswith(ending)), "")


def _system(url: str) -> tuple[AbstractFileSystem, str]:
    """The file system that a URL names, and the name in it."""
    scheme = url.partition("://")[0].lower()
    try:
        from fsspec import get_filesystem_class

        kind = get_filesystem_class(scheme)
    except ImportError:
        raise UsageError(f"{shown(url)}: records at {scheme}:// need more packages: {EXTRA}") from None
    except ValueError:
        raise UsageError(f"{shown(url)}: no URLs begin with {scheme}://; there are s3, gs, https and hf") from None
    options: dict[str, Any] = {}
    url = scheme + url[len(scheme) :]
    if scheme in WEB:
        from aiohttp import ClientTimeout

        timeout = ClientTimeout(total=None, sock_connect=SILENCE, sock_read=SILENCE)
        client = {"timeout": timeout, "trust_env": True, "headers": {"Accept-Encoding": "identity"}}
        options = {"encoded": True, "client_kwargs": client}
        url = quote(url, safe=string.punctuation)  # what is percent-encoded already stays so
    return kind(**kind._get_kwargs_from_urls(url), **options, skip_instance_cache=True), kind._strip_protocol(url)


def _files(url: str, system: AbstractFileSystem, name: str) -> Files:
    """The files that a URL names: one, or all below a folder."""
    is_web = url.partition("://")[0].lower() in WEB
    if _ending(url) and (info := system.info(name))["type"] == "file":
        return {"": info}
    if is_web and "?" in name:
        raise AuditError(f"{shown(url)}: a URL with a query names an archive or a pack, and no folder")
    stem = name.rstrip("/") + "/"
    if is_web:
        names = _linked(url, system, stem)
        with ThreadPoolExecutor() as pool:
            found = dict(zip(names, pool.map(system.info, names), strict=True))
    else:
        found = system.find(name, detail=True)
    if found.keys() == {name.rstrip("/")}:
        raise AuditError(f"{shown(url)}: neither a folder nor an archive ({', '.join(ARCHIVES)}) nor a pack ({PACK})")
    # Some tools mark a folder by an empty object whose name ends with a slash.
    files = {each.removeprefix(stem): info for each, info in found.items() if not each.endswith("/")}
    if not files:
        raise FileNotFoundError(url)
    for each in files:
        if {"", ".", ".."} & set(each.split("/")) or re.search(r"[\0\\]", each):
            raise AuditError(f"{shown(url)}: the name of the object {each!r} cannot be that of a file here")
    return files


def _linked(url: str, system: AbstractFileSystem, stem: str) -> list[str]:
    """The files below a folder on the web that its pages and those of its folders link to.

    The `find` of file systems leaves out folders whose pages cannot be had.
    """
    known, folders = {stem}, [stem]
    while folders:
        folder = folders.pop()
        if folder.removeprefix(stem).count("/") > DEPTH:
            raise AuditError(f"{shown(url)}: the listing has more than {DEPTH} folders within one another")
        links = {link for link in system.ls(folder, detail=False) if not re.search("[?#]", link)} - known
        folders += [link for link in links if link.endswith("/")]
        known |= links
    return sorted(link for link in known if not link.endswith("/"))


def _renew(url: str, system: AbstractFileSystem, files: Files, name: str, target: Path, *, cache: bool) -> None:
    """Make a copy that has these files in their present state; the earlier copy stays until all files are here."""
    manifest = target.with_name(_MANIFEST)
    states = {file: _state(info) for file, info in files.items()}
    known: dict[str, str] = {}
    with contextlib.suppress(OSError, msgspec.MsgspecError):
        known = msgspec.json.decode(manifest.read_bytes(), type=dict[str, str]) if cache else {}
    same = {file for file, state in states.items() if state and state == known.get(file) and (target / file).is_file()}
    wanted = [file for file in files if file not in same]
    needed = sum(files[file].get("size") or 0 for file in wanted)
    if needed > shutil.disk_usage(target.parent).free:
        raise AuditError(f"{shown(url)}: its {needed / 1e9:,.1f} GB need a larger disk; name a folder in {VARIABLE}")
    with tempfile.TemporaryDirectory(dir=target.parent) as parts:
        copies = {file: Path(parts, str(number)) for number, file in enumerate(wanted)}
        system.get([f"{name}/{file}" if file else name for file in wanted], list(map(str, copies.values())))
        for file, copy in copies.items():
            if files[file].get("size") not in {None, copy.stat().st_size}:
                raise AuditError(f"{shown(url)}: {file or 'the object'} changed while it was copied")
        manifest.unlink(missing_ok=True)
        for file, copy in copies.items():
            (target / file).parent.mkdir(parents=True, exist_ok=True)
            copy.replace(target / file)
    for path in target.rglob("*"):
        if path.is_file() and path.relative_to(target).as_posix() not in files:
            path.unlink()
    manifest.write_bytes(msgspec.json.encode(states))
    _tidy(target.parents[1])


def _state(info: Mapping[str, Any]) -> str:
    """What changes when a file is written anew; "" where nothing is stated."""
    stated = [f"{key}={info[key]}" for key in _STATED if info.get(key) is not None]
    return f"size={info.get('size')} {' '.join(stated)}" if stated else ""


def _tidy(folder: Path) -> None:
    """Remove copies that have not been used for long."""
    for manifest in folder.glob(f"*/{_MANIFEST}"):
        with contextlib.suppress(OSError):
            if time.time() - manifest.stat().st_mtime > UNUSED * DAY:
                shutil.rmtree(manifest.parent, ignore_errors=True)


def _reason(error: Exception, url: str) -> str:
    """Why something cannot be copied, in one line without secrets."""
    cause = error.__cause__ or error
    status = getattr(cause, "status", None)
    if isinstance(error, PermissionError) or status in {401, 403}:
        return "access is refused; are there credentials where this kind of URL has them, or has the URL expired?"
    if status not in {None, 404, 410}:
        return f"the server answers with status {status}"
    if isinstance(error, FileNotFoundError) and (
        isinstance(cause, FileNotFoundError) or not isinstance(cause, OSError)
    ):
        return "no such object, folder or bucket, or there is nothing in it"
    known = getattr(error, "strerror", None) or str(cause) or type(cause).__name__
    return f"cannot be copied ({in_line(known.replace(url, shown(url)).strip().splitlines()[0])})"
