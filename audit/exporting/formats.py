"""The formats of an export: how a conversation is written, and which columns a file has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from audit.exporting.transcripts import Transcript

KEY: Final = ("condition", "env", "variant", "run", "iteration", "role", "attempt", "candidate")
"""Columns that identify a transcript, before the verdicts in every format."""

_TASK: Final = "concat(variant, '/run-', printf('%02d', run), '/', iteration)"
_SCORE: Final = "if(r0 is null, null, json_object('r0', r0, 'r1', r1, 'delta', delta)::varchar)"


class ExportFormat(NamedTuple):
    """A format.

    Attributes:
        messages: the messages of a transcript as objects of JSON; None for a format with a column per text.
        columns: makes the SELECT list of a file from the columns of verdicts.
        copy: options of DuckDB's COPY.
        in_parts: whether the result is a folder of files.
    """

    messages: Callable[[Transcript], list[dict[str, Any]]] | None
    columns: Callable[[Sequence[str]], str]
    copy: str
    in_parts: bool = False


def _user(transcript: Transcript) -> list[dict[str, Any]]:
    return [] if transcript.prompt is None else [{"role": "user", "content": transcript.prompt}]


def scout_messages(transcript: Transcript) -> list[dict[str, Any]]:
    """Messages as `inspect_ai.model.ChatMessage` reads them; with an `id` each, else every reader would make one up."""
    messages = [message | {"source": "input"} for message in _user(transcript)]
    content: str | list[dict[str, str]] | None = transcript.answer
    if transcript.thinking is not None:
        reasoning = {"type": "reasoning", "reasoning": transcript.thinking}
        content = [reasoning, {"type": "text", "text": transcript.answer or ""}]
    if content is not None:
        model = {} if transcript.model is None else {"model": transcript.model}
        messages.append({"role": "assistant", "content": content, "source": "generate", **model})
    return [{"id": f"{transcript.transcript_id}-{place}", **each} for place, each in enumerate(messages, start=1)]


def chat_messages(transcript: Transcript) -> list[dict[str, Any]]:
    """Messages as OpenAI's chat API has them; thinking is `reasoning_content`, as several servers name it."""
    if transcript.answer is None:
        return _user(transcript)
    thinking = {} if transcript.thinking is None else {"reasoning_content": transcript.thinking}
    return [*_user(transcript), {"role": "assistant", "content": transcript.answer, **thinking}]


def _metadata(verdicts: Sequence[str]) -> list[str]:
    return [*KEY, "cut", *verdicts]


def _scout(verdicts: Sequence[str]) -> str:
    return f"""
        transcript_id,
        'salience-audit' as source_type,
        concat_ws('/', condition, env, variant, printf('run-%02d', run)) as source_id,
        source_uri,
        started_at as date,
        env as task_set,
        {_TASK} as task_id,
        attempt as task_repeat,
        concat(variant, '-', role) as agent,
        json_object('tau_c', tau_c, 'evidence', evidence_kind)::varchar as agent_args,
        model,
        options as model_options,
        {_SCORE} as score,
        direction <> 'regression' as success,
        message_count,
        seconds as total_time,
        prompt_tokens + completion_tokens as total_tokens,
        error,
        null::varchar as "limit",
        -- As Markdown, a viewer drops some of a text's characters, such as the colon of "params[0]: 1".
        false as trust_content,
        messages,
        null::varchar as events,
        null::varchar as timelines,
        null::varchar as events_data,
        {", ".join(_metadata(verdicts))}
    """


def _chat(verdicts: Sequence[str]) -> str:
    pairs = [f"'{name}', {name}" for name in ("transcript_id", "model", "error", *_metadata(verdicts))]
    return f"messages::json as messages, json_object({', '.join(pairs)}) as metadata"


def _flat(verdicts: Sequence[str]) -> str:
    return (
        f"transcript_id, {', '.join(KEY)}, source_uri, model, prompt, thinking, answer, error, cut, seconds, "
        f"prompt_tokens, completion_tokens, {', '.join(verdicts)}"
    )


_PARQUET: Final = "format parquet, compression zstd, row_group_size 8192"

FORMATS: Final = {
    "scout": ExportFormat(scout_messages, _scout, _PARQUET, in_parts=True),
    "chat-jsonl": ExportFormat(chat_messages, _chat, "format json"),
    "parquet": ExportFormat(None, _flat, _PARQUET),
}
