"""What can go wrong at a server, in one line each, and which of it is worth another try."""

from __future__ import annotations

import re
import socket
import ssl
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import Enum
from math import isfinite
from typing import Final

from collector.errors import ModelError
from collector.llm.address import Address
from collector.llm.protocol import Completion
from collector.llm.reported import words_of

LONGEST_QUOTE = 200  # characters of a server's own words that fit into a one-line message
PASSING = {408, 409, 425}  # statuses of a request that came too slowly, too early or amid another: send it again
SEE_LOG = "see the server's log, or try later"
SEE_SETTINGS = "see the server's settings"
OPTION_REFUSED = frozenset({400, 404, 405, 415, 422, 500, 501})  # statuses with which servers refuse an option

_SWITCHES: Final = {
    "--structured": (
        r"\b(grammar|(response_)?format|(json_)?schema|structured\w*|guided\w*)\b",
        "cannot enforce the form of answers",
    ),
    "--logprobs": (r"\blog_?prob", "does not give log-probabilities"),
}
"""Options that not every server supports: the words of one that refuses such a request, and why it does."""


class UnusableAnswerError(ModelError):
    """The server works but what it sent is of no use: an answer that cannot be read rather than a server that is down.

    Args:
        message: what is wrong, where, and what to do.
        completion: the answer all the same, for a caller that records its text, its thinking and its tokens.
    """

    def __init__(self, message: str, completion: Completion) -> None:
        super().__init__(message)
        self.completion = completion


class EmptyAnswerError(UnusableAnswerError):
    """The answer has no text."""


class Kind(Enum):
    """How a try went wrong, in so far as it decides about the next one."""

    REFUSED = "would be refused again"
    FAILED = "down, overloaded, cut off or garbled"
    UNANSWERED = "no connection in time"
    LIMITED = "too many requests"
    TIMED_OUT = "no full answer in time"
    EMPTY = "an answer without text"
    BROKEN = "an answer that the server broke off"
    UNUSABLE = "an answer that can be recorded but not read"


class CallError(Exception):
    """One try that went wrong.

    Args:
        kind: decides how often it is tried again.
        what: what is wrong and where.
        todo: what the user can do about it.
        retry_after: the seconds that the server asked to wait, if it did.
        completion: an answer that has no text, or cannot be read.
    """

    def __init__(
        self,
        kind: Kind,
        what: str,
        todo: str,
        *,
        retry_after: float | None = None,
        completion: Completion | None = None,
    ) -> None:
        super().__init__(f"{what}: {todo}")
        self.kind = kind
        self.what = what
        self.todo = todo
        self.retry_after = retry_after
        self.completion = completion


@dataclass(frozen=True, slots=True)
class Server:
    """A server as messages describe it.

    Attributes:
        program: what it is called.
        address: where it is.
        model: the model asked for.
        allow_redirects: requests, with their prompts, may be sent on to other hosts and ports.
        key: the API key, kept here only to redact it wherever a server repeats it.
        if_down, if_denied, if_missing, if_elsewhere: what to do when nothing answers, when the key is refused,
            when the model is not there, and when something else answers at that address.
    """

    program: str
    address: Address
    model: str
    allow_redirects: bool
    key: str | None = field(repr=False)
    if_down: str
    if_denied: str
    if_missing: str
    if_elsewhere: str

    @property
    def label(self) -> str:
        """Name and place."""
        return f"{self.program} at {self.address.shown}"

    def unreachable(self, error: BaseException) -> CallError:
        """No connection, or one that broke."""
        causes = list(_causes(error))
        if any(isinstance(cause, ssl.SSLCertVerificationError) for cause in causes):
            todo = "install the certificate of its authority, or check the address"
            return CallError(Kind.REFUSED, f"the certificate of {self.label} is not trusted", todo)
        names = {type(cause).__name__ for cause in causes}
        if "TooManyRedirects" in names:
            return self.circling("more than three times")
        if not names & {"ConnectError", "ConnectTimeout", "ProxyError"}:
            return CallError(Kind.FAILED, f"the connection to {self.label} broke off", "see the server's log")
        kind = Kind.UNANSWERED if "ConnectTimeout" in names else Kind.FAILED
        return CallError(kind, f"cannot connect to {self.label} ({_reason(causes, names)})", self.if_down)

    def redirected(self, place: str) -> CallError:
        """A redirect to another host or port, which would be given the prompt.

        Args:
            place: its scheme, host and port.
        """
        todo = "give the address that is meant, or add --allow-redirects"
        return CallError(Kind.REFUSED, f"{self.label} sends requests on to {self._quote(place)}", todo)

    def circling(self, how: str = "in a circle") -> CallError:
        """A redirect that leads to no answer."""
        return CallError(Kind.REFUSED, f"{self.label} redirects requests {how}", SEE_SETTINGS)

    def without_answer(self) -> CallError:
        """A reply of the right form that holds no answer."""
        return CallError(Kind.FAILED, f"{self.label} sent a reply whose choices hold no answer", SEE_LOG)

    def timed_out(self, seconds: float | None) -> CallError:
        """No full answer within the time for one call."""
        what = f"{self.label} gave no full answer within {seconds or 0:g} s"
        todo = "allow more time with --timeout SECONDS, run fewer at once, or use a smaller model"
        return CallError(Kind.TIMED_OUT, what, todo)

    def unreadable(self, body: str = "") -> CallError:
        """A body that is not the JSON of an answer."""
        begins = f" (it begins: {self._quote(body)[:60]})" if body.strip() else ""
        if re.match(r"(?:data|event|id|retry)?:|\{.*\}\s*\n\s*\{", body.lstrip()):
            todo = "turn streaming off at the server or at the proxy before it"
            return CallError(Kind.REFUSED, f"{self.label} sent a stream of parts instead of one answer{begins}", todo)
        todo = self.if_elsewhere if body.lstrip().startswith("<") else SEE_LOG
        return CallError(Kind.FAILED, f"{self.label} sent an answer that cannot be read{begins}", todo)

    def reported(self, status: int | None, error: str, headers: Mapping[str, str]) -> CallError:
        """An error in a reply whose status is that of a success.

        Args:
            status: that the error names or means.
            error: its JSON.
            headers: of the reply.
        """
        words = self._quote(words_of(error))
        if status == 404 and "model" not in words.lower():  # the address is right, as it answered
            return CallError(Kind.REFUSED, f"{self.label} answered with an error (404: {words})", SEE_LOG)
        if status is not None:
            return self.rejection(status, error, headers)
        return CallError(Kind.FAILED, f"{self.label} answered with an error ({words})", SEE_LOG)

    def unusable(self, what: str, completion: Completion) -> CallError:
        """A reply that can be recorded but not read; `what` it is goes into the record."""
        what = self._quote(what)
        return CallError(Kind.UNUSABLE, f"{self.label}: {what}", SEE_LOG, completion=replace(completion, fault=what))

    def broken(self, completion: Completion) -> CallError:
        """An answer that ends where the server broke it off; its `cut` says why."""
        return CallError(Kind.BROKEN, f"{self.model} on {self.label}: {completion.cut}", SEE_LOG, completion=completion)

    def empty(self, completion: Completion, *, ran_out: bool = False, structured: bool = False) -> CallError:
        """An answer without text.

        Args:
            completion: the answer.
            ran_out: it ended at the limit of tokens.
            structured: its form was to be enforced, which some servers do while the model still thinks.
        """
        what = f"{self.model} on {self.label} gave an empty answer" + (" after thinking" if completion.thinking else "")
        if ran_out:
            todo = "allow more tokens, in the request or in the server's context length"
            return CallError(Kind.EMPTY, f"{what} and ran out of tokens", todo, completion=completion)
        todo = "try again with another seed or another model"
        if structured and completion.thinking:
            todo = "turn thinking off at the server, or leave out --structured"
        return CallError(Kind.EMPTY, what, todo, completion=completion)

    def no_model(self, *, served: list[str] | None = None) -> CallError:
        """The server is there and the model is not."""
        names = f"; it has {self._quote(', '.join(served))}" if served else ""
        return CallError(Kind.REFUSED, f"{self.label} has no model {self.model}{names}", self.if_missing)

    def rejection(
        self,
        status: int,
        body: str,
        headers: Mapping[str, str],
        *,
        switches: Collection[str] = (),
    ) -> CallError:
        """An HTTP status that is not a success.

        Args:
            status: of the reply.
            body: of the reply.
            headers: of the reply.
            switches: those of `--structured` and `--logprobs` that the request followed.
        """
        words = words_of(body)
        quote = self._quote(words)
        answer = f"{status}: {quote}" if quote else f"{status}"
        for switch in switches if status in OPTION_REFUSED else ():
            named, why = _SWITCHES[switch]
            if re.search(named, words.replace(self.model, ""), re.IGNORECASE):
                what = f"{self.label} refused the request ({answer})"
                return CallError(Kind.REFUSED, what, f"it {why}; leave out {switch}")
        wait = parse_retry_after(headers.get("retry-after"), now=datetime.now(UTC))
        if status == 429 and "insufficient_quota" not in body:
            what, todo = f"{self.label} limits how often it is asked ({answer})", "run fewer at once, or try later"
            return CallError(Kind.LIMITED, what, todo, retry_after=wait)
        if status >= 500 or status in PASSING:
            what, todo = f"{self.label} failed ({answer})", SEE_LOG
            return CallError(Kind.FAILED, what, todo, retry_after=wait)
        # A model that is missing is named as such; any other 404 means that the path is unknown.
        if status == 404 and "model" in quote.lower():
            return self.no_model()
        return self._refusal(status, answer, switches)

    def _refusal(self, status: int, answer: str, switches: Collection[str]) -> CallError:
        """A status that the same request would get again."""
        if status == 401:
            what, todo = f"{'refused the' if self.key else 'wants an'} API key ({answer})", self.if_denied
        elif status == 403:
            what, todo = f"denies access to {self.model} ({answer})", self.if_denied
        elif status == 404:
            what, todo = f"does not know this request ({answer})", self.if_elsewhere
        elif status in {402, 429}:
            what, todo = f"has no quota left for this key ({answer})", "add to the quota, then resume"
        elif status in {301, 302, 303, 307, 308}:
            what, todo = f"redirects requests to no address ({answer})", SEE_SETTINGS
        else:
            todo = "check the options and the length of the prompt against what the model takes"
            if switches:
                todo += f", or leave out {' and '.join(switches)}"
            what = f"refused the request ({answer})"
        return CallError(Kind.REFUSED, f"{self.label} {what}", todo)

    def _quote(self, text: str) -> str:
        """A server's own words on one line, short and without the key."""
        if self.key:
            # Some servers repeat the key's ends, with stars between them.
            ends = "|".join(map(re.escape, {self.key, self.key[:6], self.key[-4:]}))
            text = re.sub(rf"\S*(?:{ends})\S*", "***", text)
        line = " ".join(text.split())
        line = "".join(character for character in line if character.isprintable())
        return line if len(line) <= LONGEST_QUOTE else f"{line[: LONGEST_QUOTE - 1]}…"


def parse_retry_after(value: str | None, *, now: datetime) -> float | None:
    """Seconds to wait from a Retry-After header, which holds seconds or an HTTP date; None if it holds neither."""
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            date = parsedate_to_datetime(value)
        except ValueError:
            return None
        # A date without a zone is taken as GMT, the only zone of HTTP dates.
        seconds = (date.replace(tzinfo=date.tzinfo or UTC) - now).total_seconds()
    return max(0.0, seconds) if isfinite(seconds) else None


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """The error and all that led to it, through groups: clients wrap an error of the network several times."""
    while error is not None:
        yield error
        if isinstance(error, BaseExceptionGroup):
            for member in error.exceptions:
                yield from _causes(member)
        error = error.__cause__ or error.__context__


def _reason(causes: list[BaseException], names: set[str]) -> str:
    if any(isinstance(cause, socket.gaierror) for cause in causes):
        return "the host name is not known"
    if any(isinstance(cause, ConnectionRefusedError) for cause in causes):
        return "connection refused"
    if "ConnectTimeout" in names:
        return "no reply"
    if "ProxyError" in names:
        return "the proxy refused"
    return "no connection"
