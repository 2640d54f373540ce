"""Run the task `audit/critic` of Inspect for real: `python run_inspect.py LOGS ANSWERS [--format json] [--server URL]`.

Needs the package `inspect-ai`, and this project installed beside it. The model gives answers again,
by the seeds of its calls; or it is behind a server that speaks as OpenAI's do. Prints the path of the log, and how many
of the answers Inspect calls readable.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from inspect_ai import eval as evaluate
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessageAssistant,
    ContentReasoning,
    ContentText,
    Model,
    ModelOutput,
    ModelUsage,
    get_model,
)

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("logs", type=Path)
parser.add_argument("answers", type=Path, help="plan.answers.jsonl of an examination of the same suite and size")
parser.add_argument("--format", default="eval", choices=["eval", "json"])
parser.add_argument("--server", help="address of a server; else the answers are given again")
parser.add_argument("--model", default="model", help="its model")
parser.add_argument("--units", type=int, help="ask only the first prompts of the suite")
parser.add_argument("--limit", type=int, help="ask only the first ones")


def again(path: Path) -> Model:
    """The model that gives answers again."""
    answers = {each["seed"]: each for each in map(json.loads, path.read_text().splitlines())}

    def answer(_messages, _tools, _choice, config) -> ModelOutput:
        given = answers[config.seed]
        content = [ContentText(text=given["completion"])]
        if given["thinking"]:
            content.insert(0, ContentReasoning(reasoning=given["thinking"]))
        usage = ModelUsage(input_tokens=given["prompt_tokens"] or 0, output_tokens=given["completion_tokens"] or 0)
        choice = ChatCompletionChoice(message=ChatMessageAssistant(content=content))
        return ModelOutput(model="mockllm/model", choices=[choice], usage=usage)

    return get_model("mockllm/model", custom_outputs=answer)


if __name__ == "__main__":
    args = parser.parse_args()
    if args.server:
        model = get_model(f"openai-api/loopback/{args.model}", base_url=args.server, api_key="none")
    else:
        model = again(args.answers)
    task_args = {} if args.units is None else {"units": args.units}
    [log] = evaluate(
        "audit/critic",
        model=model,
        task_args=task_args,
        log_dir=str(args.logs),
        log_format=args.format,
        limit=args.limit,
        display="none",
    )
    assert log.status == "success", log.error
    print(log.location.removeprefix("file://"), log.results.scores[0].metrics["accuracy"].value)
