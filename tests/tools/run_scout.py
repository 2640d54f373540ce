"""Log revisions of a prompt as transcripts of a database of Inspect Scout: `python run_scout.py FOLDER`."""

from __future__ import annotations

import asyncio
import sys

from inspect_ai.model import ChatMessageAssistant, ChatMessageUser, ContentReasoning, ContentText
from inspect_scout import Transcript, transcripts_db

PROMPT = "# Example 1\n## Feedback\nWrong. Score: 0.1\n\n\n# Example 2\n## Feedback\nRight. Score: 0.9\n"
CANDIDATES = (("Be brief.", 0.25, None), ("Be brief. Cite.", 0.75, 0), ("Be.", 0.5, 0))


async def main() -> None:
    """Write three transcripts: the second and the third revise the first."""
    async with transcripts_db(sys.argv[1]) as database:
        await database.insert(
            [
                Transcript(
                    transcript_id=f"candidate-{number}",
                    source_type="traces",
                    source_id="loop-a",
                    source_uri="traces",
                    date=f"2026-01-01T00:00:0{number}+00:00",
                    task_set="tickets",
                    task_id="prompt",
                    score=score,
                    metadata={"prompt": prompt, **({} if parent is None else {"parent": f"candidate-{parent}"})},
                    messages=[
                        ChatMessageUser(content=PROMPT),
                        ChatMessageAssistant(
                            content=[
                                ContentReasoning(reasoning="Let me think."),
                                ContentText(text=f"The first example failed.\n```\n{prompt}\n```"),
                            ]
                        ),
                    ],
                )
                for number, (prompt, score, parent) in enumerate(CANDIDATES)
            ]
        )


asyncio.run(main())
