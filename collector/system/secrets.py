"""What must not be shown of the URLs in a text: passwords, signatures, keys."""

from __future__ import annotations

import re
from typing import Final

WEB: Final = ("http", "https")

_SCHEME: Final = r"[A-Za-z][A-Za-z0-9+.-]+:/"
_URL: Final = re.compile(rf"""([A-Za-z][A-Za-z0-9+.-]+)(:/+)((?:(?!::{_SCHEME})[^\s"<>])+)""")
"""A URL, also one that `pathlib` has taken a slash from, up to the one that it is chained to, as in `zip://a::s3://b`."""
_PORT: Final = re.compile(r"[^:]*:[0-9]{1,5}|\[[^]]*\](:[0-9]{1,5})?")
_PARAMETER: Final = re.compile(
    r"((?:[?&#;]|%3F|%26|%23)[\w.-]*"
    r"(?:token|secret|sig|pass|pwd|key|credential|auth|code|session)[\w.-]*(?:=|%3D))"
    r"""[^&;#\s"'<>]+?(?=[:,.)\]]*(?:[&;#\s"'<>]|$))""",
    re.IGNORECASE,
)
_QUERY: Final = re.compile(r"""(?:\?|#(?=[^\s'"<>]*=))[^\s'"<>]*?(?=[:,;.)\]]*(?:[\s'"<>]|$))""")
"""Not the punctuation behind it, which is the text's."""


def without_secrets(text: str) -> str:
    """A text whose URLs have neither passwords nor what servers take in place of one.

    On the web that is all before the `@` and the whole query, such as the signature of a signed URL. Elsewhere users
    and queries are parts of names, as in `abfs://container@account`: only passwords go, and the values of parameters
    that are called a key, a token or the like.
    """
    return _URL.sub(_shown, text) if ":/" in text else text


def _shown(found: re.Match[str]) -> str:
    scheme, slashes, rest = found.groups()
    rest = without_user(rest, is_web=scheme.lower() in WEB)
    if scheme.lower() in WEB:
        rest = _QUERY.sub("", rest)
    rest = _PARAMETER.sub(r"\1", rest)
    return f"{scheme}{slashes}{rest}"


def without_user(rest: str, *, is_web: bool) -> str:
    """What follows the slashes of a URL, without a password and its user; on the web, without any user."""
    authority = re.split("[/?#]", rest, maxsplit=1)[0]
    if "@" in authority:
        user, _, _ = authority.rpartition("@")
    elif ":" in authority and "@" in rest and not _PORT.fullmatch(authority):
        user, _, _ = rest.rpartition("@")  # a password with a slash or the like in it
    else:
        return rest
    return rest[len(user) + 1 :] if is_web or re.search(":|%3A", user, re.IGNORECASE) else rest
