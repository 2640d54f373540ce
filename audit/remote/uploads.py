"""Uploads of packs: an object appears whole or not at all, and is what was sent."""

from __future__ import annotations

import contextlib
import hashlib
import inspect
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from audit.output.errors import AuditError, UsageError
from audit.output.progress import PrintedProgress, Progress
from audit.remote.pool import together
from audit.remote.systems import patiently, system_of
from audit.remote.urls import Address, RemotePath, address_of, path_of
from audit.vocabulary.endings import PACK

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

PART: Final = 16 * 2**20
"""Bytes of a part, unless there would be more than `MOST_PARTS`; an object that is smaller is sent as one."""
MOST_PARTS: Final = 9_000
AT_ONCE: Final = 4
"""Parts that are sent at once."""

_READ_ONLY: Final = ("http", "https", "github", "zip", "tar", "data", "reference")
_ABORTS: Final = 3


class Target(NamedTuple):
    """Where a pack is uploaded to."""

    path: RemotePath
    address: Address
    system: AbstractFileSystem
    name: str


def target_of(url: str, name: str) -> Target:
    """Where an upload goes.

    Args:
        url: of the object, or with a slash at its end of the folder for it.
        name: of the object in such a folder.

    Raises:
        UsageError: it is no URL, or nothing can be uploaded there.
    """
    path = path_of(f"{url}{name}" if url.endswith("/") else url)
    if not isinstance(path, RemotePath):
        raise UsageError(f"--to {url}: not a URL, such as s3://BUCKET/NAME{PACK}; --out writes files here")
    if not path.name.endswith(PACK):
        raise UsageError(f"--to {url}: neither a name that ends in {PACK}, nor a folder, with / at its end")
    address = address_of(path)
    if address.scheme in _READ_ONLY:
        raise UsageError(f"--to {url}: nothing can be uploaded to {address.scheme}://; give s3://, gs:// or hf://")
    return Target(path, address, *system_of(address))


def refuse_overwriting(target: Target, *, force: bool) -> None:
    """Refuse to replace an object.

    Raises:
        UsageError: there is one, and no `force`.
        AuditError: whether there is one cannot be found out.
    """
    if not force and patiently(lambda: target.system.exists(target.name), target.address):
        raise _exists(target)


def upload(file: Path, target: Target, *, force: bool) -> None:
    """Upload a file; where it cannot be sent to its end, nothing of it stays.

    Args:
        file: what to upload; it does not change meanwhile.
        target: from `target_of`.
        force: replace an object of that name.

    Raises:
        UsageError: there is an object of that name, and no `force`.
        AuditError: the upload fails, or the object is not what was sent.
    """
    size = file.stat().st_size
    with PrintedProgress() as progress:
        progress.begin(size, f"uploading to {target.path}", counted=False)
        if target.address.scheme in {"s3", "s3a"}:
            _to_s3(file, size, target, progress, force=force)
        else:
            _to_others(file, target, force=force)
    arrived = patiently(lambda: target.system.info(target.name), target.address).get("size")
    if arrived != size:
        raise AuditError(f"{target.path}: {arrived} bytes have arrived of {size}; upload it again with --force")


def _to_others(file: Path, target: Target, *, force: bool) -> None:
    """By fsspec, whose uploads to Google Cloud Storage and Hugging Face are each one step."""
    modes = inspect.signature(target.system.put_file).parameters
    options = {} if force or "mode" not in modes else {"mode": "create"}

    def send() -> None:
        try:
            target.system.put_file(str(file), target.name, **options)
        except FileExistsError:
            raise _exists(target) from None

    patiently(send, target.address)


def _to_s3(file: Path, size: int, target: Target, progress: Progress, *, force: bool) -> None:
    bucket, key, _ = target.system.split_path(target.name)
    there: dict[str, Any] = {"Bucket": bucket, "Key": key}
    only_new: dict[str, Any] = {} if force else {"IfNoneMatch": "*"}
    if size <= PART:
        data = file.read_bytes()
        answer = _ask(target, "put_object", **there, **only_new, Body=data)
        _verify(answer, _md5(data).hexdigest(), target)
        return
    begun = _ask(target, "create_multipart_upload", **there)
    place = {**there, "UploadId": begun["UploadId"]}
    try:
        parts = _send_parts(file, size, place, target, progress)
        answer = _ask(target, "complete_multipart_upload", **place, **only_new, MultipartUpload={"Parts": parts})
    except BaseException:
        _abort(place, target)
        raise
    whole = _md5(b"".join(bytes.fromhex(part["ETag"].strip('"')) for part in parts) if _are_md5(parts) else b"")
    _verify(answer, f"{whole.hexdigest()}-{len(parts)}", target)


def _send_parts(
    file: Path, size: int, place: Mapping[str, Any], target: Target, progress: Progress
) -> list[dict[str, Any]]:
    length = max(PART, -(-size // MOST_PARTS))

    def send(number: int) -> tuple[dict[str, Any], int]:
        with file.open("rb") as stream:
            stream.seek((number - 1) * length)
            data = stream.read(length)
        answer = _ask(target, "upload_part", **place, PartNumber=number, Body=data)
        _verify(answer, _md5(data).hexdigest(), target)
        return {"PartNumber": number, "ETag": answer["ETag"]}, len(data)

    sent: list[dict[str, Any]] = []
    for part, amount in together(send, range(1, -(-size // length) + 1), AT_ONCE):
        sent.append(part)
        progress.advance(amount)
    return sorted(sent, key=lambda part: int(part["PartNumber"]))


def _abort(place: Mapping[str, Any], target: Target) -> None:
    """Remove the parts that have arrived; one that is under way may arrive later, hence several times."""
    with contextlib.suppress(Exception):
        for _ in range(_ABORTS):
            target.system.call_s3("abort_multipart_upload", **place)


def _ask(target: Target, method: str, **arguments: Any) -> Mapping[str, Any]:
    def ask() -> Mapping[str, Any]:
        try:
            answer: Mapping[str, Any] = target.system.call_s3(method, **arguments)
        except OSError as error:
            if "IfNoneMatch" in arguments and "pre-condition" in str(error).lower():
                raise _exists(target) from None
            raise
        return answer

    return patiently(ask, target.address)


def _verify(answer: Mapping[str, Any], expected: str, target: Target) -> None:
    """Compare what has arrived with what was sent, where the server's tag is a digest of it."""
    tag = str(answer.get("ETag", "")).strip('"')
    is_digest = re.fullmatch(r"[0-9a-f]{32}(-\d+)?", tag) and "kms" not in str(answer.get("ServerSideEncryption"))
    if is_digest and "SSECustomerAlgorithm" not in answer and tag != expected:
        raise AuditError(f"{target.path}: what has arrived is not what was sent; upload it again with --force")


def _are_md5(parts: Iterable[Mapping[str, Any]]) -> bool:
    return all(re.fullmatch(r'"?[0-9a-f]{32}"?', part["ETag"]) for part in parts)


def _md5(data: bytes) -> Any:
    return hashlib.md5(data, usedforsecurity=False)


def _exists(target: Target) -> UsageError:
    return UsageError(f"{target.path} already exists; overwrite it with --force")
