"""From transcripts to files: parts of limited size, each joined with the verdicts and written by DuckDB."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import duckdb
import msgspec

from audit.exporting.formats import ExportFormat
from audit.exporting.transcripts import Transcript
from audit.models.settings import memory_limit, without_progress_bar
from audit.models.sql_text import exactly, plainly
from audit.vocabulary.keys import RevisionKey
from collector.records import LONGEST_LINE

PART: Final = 100 * 10**6
"""Bytes of text in a part: as many as viewers want in a file at most, before compression."""

_COLUMNS: Final = {
    **dict.fromkeys(("transcript_id", "condition", "env", "variant", "role", "candidate"), "varchar"),
    **dict.fromkeys(("source_uri", "started_at", "options", "model", "error", "cut"), "varchar"),
    **dict.fromkeys(("prompt", "thinking", "answer", "messages"), "varchar"),
    **dict.fromkeys(("place", "run", "iteration", "attempt"), "bigint"),
    **dict.fromkeys(("message_count", "prompt_tokens", "completion_tokens"), "bigint"),
    "seconds": "double",
}
"""What a line of a part may hold."""


class PartWriter:
    """Writes transcripts in some format, part by part, so that memory does not grow with their number.

    Args:
        form: the format.
        folder: of temporary files.
        verdicts: a file of `write_verdicts`.
        columns: those of its columns that are exported.
    """

    def __init__(self, form: ExportFormat, folder: Path, verdicts: Path, columns: Sequence[str]) -> None:
        self._form = form
        self._folder = folder
        self._lines = folder / "part.jsonl"
        self._verdicts = verdicts
        self._select = form.columns(columns)

    def write(self, transcripts: Iterable[Transcript], out: Path) -> int:
        """Write transcripts.

        Args:
            transcripts: in the order in which they are written.
            out: a new folder of files, or a new file, as the format has it.

        Returns:
            How many files were written; without transcripts none.
        """
        parts = out if self._form.in_parts else self._folder / "parts"
        parts.mkdir()
        config: dict[str, Any] = {
            "memory_limit": memory_limit(),
            "temp_directory": str(self._folder / "spill"),
            "threads": 1,  # more would take memory for more texts at once
        }
        with closing(duckdb.connect(config=config)) as connection:
            without_progress_bar(connection)
            files: list[Path] = []
            for longest in self._fill(transcripts):
                files.append(parts / f"transcripts_{len(files) + 1:05d}.parquet")
                self._convert(connection, longest, files[-1])
            if self._form.in_parts or not files:
                return len(files)
            connection.execute(
                f"copy (from read_parquet(?)) to ? ({self._form.copy})",
                [[exactly(plainly(file)) for file in files], str(plainly(out))],
            )
            return 1

    def _fill(self, transcripts: Iterable[Transcript]) -> Iterator[int]:
        """Write the lines of one part after the other to the same file; yields the length of the longest."""
        encoder = msgspec.json.Encoder()
        waiting = enumerate(transcripts)
        following = next(waiting, None)
        while following is not None:
            written = longest = 0
            with self._lines.open("wb") as stream:
                while following is not None and written < PART:
                    place, transcript = following
                    line = encoder.encode({"place": place, **self._row(transcript)})
                    stream.write(line + b"\n")
                    written += len(line)
                    longest = max(longest, len(line))
                    following = next(waiting, None)
            yield longest

    def _row(self, transcript: Transcript) -> dict[str, Any]:
        row = transcript.key._asdict() | msgspec.structs.asdict(transcript)
        row |= {"transcript_id": transcript.transcript_id}
        if self._form.messages is None:
            return row
        messages = self._form.messages(transcript)
        del row["prompt"], row["thinking"], row["answer"]
        # JSON within JSON: a NUL in a text stays escaped.
        return row | {"messages": msgspec.json.encode(messages).decode(), "message_count": len(messages)}

    def _convert(self, connection: duckdb.DuckDBPyConnection, longest: int, part: Path) -> None:
        """Make a Parquet file of the lines of a part."""
        key = ", ".join(RevisionKey._fields)
        size = max(LONGEST_LINE, longest + 2)
        same = " and ".join(f"calls.{column} = verdicts.{column}" for column in RevisionKey._fields)
        connection.execute(
            f"""
            copy (
                with calls as (
                    from read_json(
                        ?, format = 'newline_delimited', columns = {_COLUMNS}, maximum_object_size = {size}
                    )
                ),
                judged as (
                    select
                        calls.* replace (coalesce(calls.model, run_model) as model),
                        verdicts.* exclude ({key}, run_model)
                    from calls
                    -- A discarded answer proposed nothing that could be judged.
                    left join read_parquet(?) verdicts on {same} and calls.candidate is not null
                )
                select {self._select} from judged order by place
            ) to ? (format parquet, compression zstd, row_group_size 8192)
            """,  # noqa: S608 - made of the program's own names
            [exactly(plainly(self._lines)), exactly(plainly(self._verdicts)), str(plainly(part))],
        )
