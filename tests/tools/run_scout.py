"""Log revisions of a prompt as transcripts of a database of Inspect Scout: `python run_scout.py FOLDER`."""

from __future__ import annotations

import asyncio
import sys

from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageUser, ContentReasoning, ContentText
from inspect_scout import Transcript, transcripts_db

PROMPT = "# Example 1\n## Feedback\nWrong. Score: 0.1\n\n\n# Example 2\n## Feedback\nRight. Score: 0.9\n"
CANDIDATES = (
    ("Be brief.", 0.5, None, "This is where I begin."),
    ("Be brief. Cite.", 0.75, 0, "The first example failed."),
    ("Be.", 0.25, 0, "Say less. Example 1 failed!"),
    ("Cite.", 0.25, 1, "Example 2 shows that brevity is not needed."),
)


def candidate(number: int, prompt: str, score: float, parent: int | None, reasons: str) -> Transcript:
    """The transcript of a candidate; what Scout finds in Phoenix is one level deeper, under `metadata`."""
    names = {} if parent is None else {"parent": f"candidate-{parent}"}
    return Transcript(
        transcript_id=f"candidate-{number}",
        source_type="traces",
        source_id="loop-a",
        source_uri="traces",
        date=f"2026-01-01T00:00:0{number}+00:00",
        task_set="tickets",
        task_id="prompt",
        score=score,
        metadata={"metadata": {"prompt": prompt, **names}} if number % 2 else {"prompt": prompt, **names},
        messages=[
            ChatMessageSystem(content="You improve prompts."),
            ChatMessageUser(content=PROMPT),
            ChatMessageAssistant(
                content=[
                    ContentReasoning(reasoning="Example 2 is not the point."),
                    ContentText(text=f"{reasons}\n```\n{prompt}\n```"),
                ]
            ),
        ],
    )


async def main() -> None:
    """Write four transcripts, of which the first begins a run and the others revise it, and one of something else."""
    other = Transcript(
        transcript_id="other",
        source_type="traces",
        source_id="loop-a",
        source_uri="traces",
        date="2026-01-01T00:00:09+00:00",
        task_set="tickets",
        messages=[ChatMessageUser(content="What is 2 + 2?"), ChatMessageAssistant(content="4")],
    )
    async with transcripts_db(sys.argv[1]) as database:
        await database.insert([*(candidate(number, *each) for number, each in enumerate(CANDIDATES)), other])


asyncio.run(main())
