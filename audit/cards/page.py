"""A card as pages: the card, and for each arm the answers, to which its numbers lead."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import jinja2

from audit.cards.card import Card, Number
from audit.cards.filling import Examined
from audit.cards.numbers import METRICS, RECORDED, Judged, Metric
from audit.interventions.answers import AnswerOf
from audit.interventions.arms import ARMS, CONJOINT
from audit.interventions.plan import Call

SECTIONS: Final = (
    ("form", "Form: can its answers be used?"),
    ("help", "Help: do its revisions gain?"),
    ("harm", "Harm: do they break what worked?"),
    ("says", "What it names"),
)


def write_page(folder: Path, examined: Examined) -> None:
    """Write `index.html`, and `answers-ARM.html` for each arm.

    Args:
        folder: of the examination.
        examined: its card and answers.

    Raises:
        OSError: they cannot be written.
    """
    card = examined.card
    arms = list(dict.fromkeys(call.arm for call in examined.answers))
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["items_of"] = dict
    index = environment.get_template("card.html.j2").render(
        title=f"{card.name} as a critic",
        card=card,
        sections=SECTIONS,
        percent=_percent,
        link=_link,
        link_to_shares=_page_of(CONJOINT),
        tasks=sorted({unit.env for unit in card.units}),
        answers=[_page_of(arm) for arm in arms],
    )
    (folder / "index.html").write_text(index, encoding="utf-8")
    template = environment.get_template("answers.html.j2")
    judged = {(each.answer.unit, each.answer.arm, each.answer.replicate): each for each in examined.judged}
    for arm in arms:
        metrics = [each for each in METRICS if each.arm == arm]
        answers = [
            _answer(call, answer, judged.get((call.unit, call.arm, call.replicate)), metrics, card)
            for call, answer in sorted(examined.answers.items(), key=lambda each: (each[1].run, each[0].replicate))
            if call.arm == arm
        ]
        page = template.render(
            title=f"Answers under {arm}",
            card=card,
            arm=arm,
            meaning=ARMS[arm].meaning,
            answers=answers,
            metrics=[(_mark(each), _label(each)) for each in metrics],
        )
        (folder / _page_of(arm)).write_text(page, encoding="utf-8")


def _answer(
    call: Call, answer: AnswerOf, judged: Judged | None, metrics: Sequence[Metric], card: Card
) -> dict[str, Any]:
    unit = next(each for each in card.units if each.number == answer.run)
    parts = [f"prompt {unit.number}, {unit.env}, {unit.quality}, answer {call.replicate + 1}"]
    if judged is not None:
        parts += [f"gain {_percent(judged.gain)}"]
        parts += ["made worse"] * judged.worse + ["breaks a near-optimal policy"] * judged.broken
        if judged.random is not None:
            parts.append(f"random edit {_percent(judged.random.gain)}")
    elif answer.shown:
        parts.append("shown: " + ", ".join(f"{each.name} ({each.content})" for each in answer.shown))
    return {
        "title": "; ".join(parts),
        "error": answer.error,
        "text": answer.completion,
        "thinking": answer.thinking,
        "marks": list(_marks(judged, metrics)) if judged is not None else [],
    }


def _marks(judged: Judged, metrics: Sequence[Metric]) -> Iterator[str]:
    """Which numbers count an answer: of shares those that it is in, of means those that it is part of."""
    for metric in metrics:
        if metric.quality not in {None, judged.unit.quality}:
            continue
        value = metric.value(judged)
        if value is not None and (metric.kind == "mean" or value > 0):
            yield _mark(metric)


def _label(metric: Metric) -> str:
    return metric.name if metric.who == "model" else f"{metric.name} by a {metric.who}"


def _mark(metric: Metric) -> str:
    return re.sub(r"\W+", "-", _label(metric))


def _link(number: Number) -> str:
    found = [each for each in METRICS if (each.name, each.who) == (number.name, number.who)]
    return f"{_page_of(number.arm)}#{_mark(found[0])}" if found else _page_of(RECORDED)


def _page_of(arm: str) -> str:
    return f"answers-{arm}.html"


def _percent(value: float) -> str:
    return f"{100 * value:.0f}%" if abs(value) >= 0.1 or not value else f"{100 * value:.1f}%"
