"""What the scripts of DSPy's optimizers share: a program that names seasons, and a stub in the place of a model."""

from __future__ import annotations

import json
import random
import re
from types import SimpleNamespace
from typing import Any

import dspy

MONTHS = "January February March April May June July August September October November December".split()  # noqa: SIM905
SEASONS = [*["winter"] * 2, *["spring"] * 3, *["summer"] * 3, *["autumn"] * 3, "winter"]
EXAMPLES = [
    dspy.Example(month=month, season=season).with_inputs("month") for month, season in zip(MONTHS, SEASONS, strict=True)
]


class Stub(dspy.BaseLM):
    """Right about months that its instructions name, and by luck; as a reflector it adds a month that went wrong."""

    def __init__(self, luck: float = 0.5, seed: int = 0, **options: Any) -> None:
        super().__init__(model="stub", cache=False, **options)
        self.luck, self.random = luck, random.Random(seed)

    def copy(self, **options: Any) -> Stub:
        """The same stub: its draws go on where they are."""
        return self

    def forward(self, prompt: str | None = None, messages: list[dict[str, Any]] | None = None, **options: Any) -> Any:
        """Answer one call, in the form of OpenAI's servers."""
        messages = messages or [{"role": "user", "content": prompt}]
        text = self.answer("\n".join(str(message["content"]) for message in messages))
        choice = SimpleNamespace(message=SimpleNamespace(content=text), finish_reason="stop")
        return SimpleNamespace(choices=[choice], usage={}, model="stub")

    def answer(self, prompt: str) -> str:
        """The text of an answer, by what the prompt asks for."""
        if "module_advice" in prompt:
            month = re.findall(r'"month": "(\w+)"', prompt)[-1]
            advice = f"{month} is in {SEASONS[MONTHS.index(month)]}."
            return (
                f"[[ ## discussion ## ]]\nThe worse trajectory got {month} wrong.\n\n"
                f'[[ ## module_advice ## ]]\n{{"predict": "{advice}"}}\n\n[[ ## completed ## ]]'
            )
        if "[[ ## season ## ]]" in prompt:
            month = re.findall(r"\[\[ ## month ## \]\]\n(\w+)", prompt)[-1]
            right = f"{month} is in" in prompt or self.random.random() < self.luck
            return (
                f"[[ ## season ## ]]\n{SEASONS[MONTHS.index(month)] if right else 'monsoon'}\n\n[[ ## completed ## ]]"
            )
        current = re.findall(r"\[\[ ## current_instruction ## \]\]\n(.*?)\n\n", prompt)[-1]
        wrong = re.findall(r'"(\w+)"\}, "Generated Outputs": \{"season": "monsoon"', prompt)
        month = self.random.choice(wrong or MONTHS)
        return json.dumps({"new_instruction": f"{current} {month} is in {SEASONS[MONTHS.index(month)]}."})


class Seasons(dspy.Module):
    """A program of one predictor."""

    def __init__(self) -> None:
        super().__init__()
        self.predict = dspy.Predict(dspy.Signature("month -> season", "Name the season of the month."))

    def forward(self, month: str) -> Any:
        """The season of a month."""
        return self.predict(month=month)


def right(example: dspy.Example, prediction: Any, *rest: Any) -> float:
    """1 for the right season, 0 for another."""
    return float(prediction is not None and prediction.season == example.season)
