"""Folders on the web: what the links of their pages name, as long as these come to an end."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urljoin

from audit.output.errors import AuditError
from audit.remote.objects import in_loop
from audit.remote.pool import together
from audit.remote.systems import patiently
from audit.remote.urls import Address

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

PAGE: Final = 2**24
"""Bytes of a page."""
FOLDERS: Final = 50_000
NAMES: Final = 500_000
"""Files in all folders together."""
DEPTH: Final = 32
"""Folders within one another."""
_REPEATED: Final = 3
"""Pages with the same links, each within the one before, of a folder that leads into itself."""

_LINK: Final = re.compile(r"""<a\s(?:[^>]*?\s)?href\s*=\s*["']([^"'<>]+)""", re.IGNORECASE)
_Above = tuple[frozenset[str], ...]


def linked(address: Address, system: AbstractFileSystem, url: str) -> list[str]:
    """The URLs of all files below a folder.

    Args:
        address: what was asked for.
        system: where it is.
        url: of the folder.

    Raises:
        AuditError: a page cannot be had, or there are more pages, links or levels than any data set has.
    """
    files: dict[str, None] = {}
    level: list[tuple[str, _Above]] = [(url.rstrip("/") + "/", ())]
    folders = 1

    def look(folder: tuple[str, _Above]) -> tuple[str, _Above, frozenset[str]]:
        return *folder, patiently(lambda: in_loop(system, _links(address, system, folder[0])), address)

    for _ in range(DEPTH):
        below: list[tuple[str, _Above]] = []
        for folder, above, names in together(look, level):
            if above.count(names) >= _REPEATED - 1:
                raise AuditError(f"{address.shown}: the listing leads into itself; name a folder below it")
            found = [folder + name for name in sorted(names) if name.endswith("/")]
            files.update(dict.fromkeys(folder + name for name in names if not name.endswith("/")))
            folders += len(found)
            if folders > FOLDERS or len(files) > NAMES:
                raise AuditError(
                    f"{address.shown}: the listing has more than {FOLDERS:,} folders or {NAMES:,} files; "
                    "name a folder below it, or an archive"
                )
            below += [(each, (*above, names)) for each in found]
        level = below
        if not level:
            return sorted(files)
    raise AuditError(f"{address.shown}: the listing has more than {DEPTH} folders within one another")


async def _links(address: Address, system: Any, folder: str) -> frozenset[str]:
    """The names that a folder's page links to, those of folders with a slash; none where it is no page."""
    session = await system.set_session()
    # A server knows a folder by its slash; some keep a page without one.
    for url in (folder, folder.rstrip("/")):
        async with session.get(system.encode_url(url), headers={"Accept-Encoding": "identity"}) as answer:
            if answer.status == 404:
                continue
            answer.raise_for_status()
            if answer.headers.get("Content-Type", "text/html").partition(";")[0].strip() != "text/html":
                continue
            page = bytearray()
            async for chunk in answer.content.iter_chunked(2**16):
                page += chunk
                if len(page) > PAGE:
                    raise AuditError(f"{address.shown}: a listing of more than {PAGE / 1e6:,.0f} MB")
            if names := frozenset(_names(page.decode(errors="replace"), folder)):
                return names
    return frozenset()


def _names(page: str, folder: str) -> Iterator[str]:
    plain = re.sub(r"^https?:", "", folder, flags=re.IGNORECASE)
    for link in _LINK.findall(page):
        text = html.unescape(link).strip()
        target = text if re.match("https?:", text, re.IGNORECASE) else urljoin(folder, re.sub(r"^(?![./])", "./", text))
        name = re.sub(r"^https?:", "", target, flags=re.IGNORECASE).removeprefix(plain)
        within, slash, _ = name.partition("/")
        # A link with a query sorts the page; one further down is found in the folder that has it.
        if target.partition(":")[2] != name and within and not re.search(r"[?#]", name):
            yield within + slash
