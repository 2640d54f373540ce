"""Parts of requests and answers that both kinds of server share."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, Final

from collector.llm.faults import Server
from collector.llm.protocol import Completion
from collector.records import read_message, split_thinking

NO_ANSWER: Final = "no answer after the thinking"
"""Why an answer that is all thinking is cut."""
_OUT_OF_TOKENS: Final = frozenset({"length", "max_tokens", "max_output_tokens", "max_length", "model_length", "limit"})
_WHOLE: Final = frozenset(
    {"", "stop", "eos", "eos_token", "end", "end_turn", "stop_sequence", "stop_token", "complete", "completed"}
    | {"finished", "tool_calls", "tool_call", "tool_use", "function_call", "load", "unload"}
)
"""Servers' words for why a whole answer ends, in lower case. Any other word means that it was broken off."""
SEEDS = 2**31
"""Servers read a seed as a signed or unsigned integer of 32 or 64 bits; these fit all of them."""


def chosen(**switches: bool) -> dict[str, bool]:
    """The switches that are on, as options are recorded: one that is off leaves no trace, as in older records."""
    return {name: True for name, on in switches.items() if on}


def server_seed(seed: int) -> int:
    """The seed as it is sent: the same number where it is below 2^31, else its remainder."""
    return seed % SEEDS


def make_completion(
    server: Server,
    message: Mapping[str, Any],
    *,
    prompt_tokens: int | None,
    completion_tokens: int | None,
    ended: str | None,
    logprobs: list[tuple[str, float]] | None = None,
    structured: bool = False,
    write: Callable[[str], str] | None = None,
) -> Completion:
    """A server's reply as the search needs it.

    Args:
        server: who answered.
        message: of the model, as `collector.records.read_message` takes it apart.
        prompt_tokens: counted by the server.
        completion_tokens: counted by the server.
        ended: the server's word for why the model stopped.
        logprobs: tokens and their log-probabilities.
        structured: the form of the answer was to be enforced.
        write: makes the usual text of an answer under a JSON schema, and of any other nothing else.

    Raises:
        CallError: the answer was refused, broken off, is a call of a tool alone, has no text, or cannot be read.
    """
    try:
        said = read_message(message)
    except ValueError:
        raise server.unreadable(str(message)) from None
    completion = read_completion(
        text=said.text,
        thinking=said.thinking,
        prompt_tokens=prompt_tokens,
        completion_tokens=completion_tokens,
        ended=ended,
        logprobs=logprobs,
        write=write,
    )
    if said.refusal and not completion.text.strip():
        raise server.unusable(f"the model refused: {said.refusal}", completion)
    if said.calls and not completion.text.strip():
        raise server.unusable(f"the reply holds only a call of a tool: {', '.join(said.calls)}", completion)
    if _is_broken_off(ended):
        raise server.broken(completion)
    if not completion.text.strip():
        raise server.empty(completion, ran_out=_is(ended, _OUT_OF_TOKENS), structured=structured)
    return completion


def read_completion(
    *,
    text: str | None,
    thinking: str | None,
    prompt_tokens: int | None,
    completion_tokens: int | None,
    ended: str | None,
    logprobs: list[tuple[str, float]] | None = None,
    write: Callable[[str], str] | None = None,
) -> Completion:
    """An answer as the search needs it, also without text.

    Args:
        text: the answer; thinking inside it is taken out.
        thinking: the thinking that the server gave apart.
        prompt_tokens: counted by the server.
        completion_tokens: counted by the server.
        ended: the server's word for why the model stopped.
        logprobs: tokens and their log-probabilities.
        write: as for `make_completion`.
    """
    raw, thinking = split_thinking(text or "", thinking)
    # JSON can hold halves of surrogate pairs as escapes, which are no text: they are spelled out again.
    answer = write(raw).encode(errors="backslashreplace").decode() if write else raw
    return Completion(
        answer,
        thinking,
        _count(prompt_tokens),
        _count(completion_tokens),
        cut=_cut(completion_tokens, ended) or (NO_ANSWER if thinking and not answer.strip() else None),
        raw=None if answer == raw else raw,
        logprobs=logprobs,
    )


def _cut(tokens: int | None, ended: str | None) -> str | None:
    """Why an answer ends early, where it does."""
    if _is(ended, _OUT_OF_TOKENS):
        return "cut off at the limit of tokens" if _count(tokens) is None else f"cut off after {tokens:,} tokens"
    return f"broken off by the server ({ended})" if _is_broken_off(ended) else None


def _is_broken_off(ended: str | None) -> bool:
    return ended is not None and not _is(ended, _WHOLE | _OUT_OF_TOKENS)


def _is(ended: str | None, words: Collection[str]) -> bool:
    return ended is not None and ended.lower() in words


def _count(tokens: int | None) -> int | None:
    """A number of tokens that records can hold."""
    return tokens if tokens is not None and 0 <= tokens < 2**63 else None
