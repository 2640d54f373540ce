"""What a judge is asked: one prompt per critic's answer, made of the answer and of what is needed to understand it."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Any

from audit.detectors.detector import Rubric
from audit.output.escaping import visible
from audit.output.paragraphs import KINDS, diff_lines, item_lines

if TYPE_CHECKING:
    import jinja2


@dataclass(frozen=True, slots=True)
class Question:
    """A revision to be judged.

    Attributes:
        identity: condition, task, method, run and iteration.
        answer: what the critic wrote.
        answer_sha256: of the answer's UTF-8 bytes.
        shown: the rollouts that the critic was shown: label, index, return, length; or items with a heading and text.
        statistics: that the critic was shown, or None.
        changes: index, value before and value after of each changed parameter.
        rubric: what is asked; None for what the main change is justified by.
        are_items: whether what was shown are items with scores, and no rollouts.
        diffs: of a text's components that changed; None for parameters.
    """

    identity: tuple[str, str, str, int, int]
    answer: str
    answer_sha256: str
    shown: Sequence[Mapping[str, Any]]
    statistics: Mapping[str, Any] | None
    changes: Sequence[Mapping[str, Any]]
    rubric: Rubric | None = None
    are_items: bool = False
    diffs: Sequence[str] | None = None

    @classmethod
    def of(cls, row: Mapping[str, Any], rubric: Rubric | None = None) -> Question:
        """From a row of the relation `questions`."""
        return cls(
            (row["condition"], row["env"], row["variant"], row["run"], row["iteration"]),
            row["answer"],
            row["answer_sha256"],
            row["shown"],
            row["statistics"],
            row["changes"],
            rubric,
            row["evidence_kind"] in KINDS,
            None if row["after_text"] is None else list(diff_lines(row["before_text"], row["after_text"])),
        )

    def prompt(self) -> str:
        """The prompt; nothing in it reveals how the revision turned out.

        The answer is enclosed in lines with a word derived from its hash, so that no text can contain its delimiter.
        Control and formatting characters are spelled out: no model reads what people cannot see.
        """
        return _template("prompt.j2" if self.rubric is None else "rubric.j2").render(
            rubric=self.rubric,
            fence=f"TEXT-{self.answer_sha256[:16]}",
            answer=visible(self.answer),
            shown=list(item_lines(self.shown)) if self.are_items else [_rollout(rollout) for rollout in self.shown],
            item="example" if self.are_items else "rollout",
            are_texts=self.diffs is not None,
            statistics=_statistics(self.statistics),
            changes=self.diffs or [_change(change) for change in self.changes],
        )


def sha256(text: str) -> str:
    """SHA-256 of a text's UTF-8 bytes, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


def draw(questions: Iterable[Question], sample: int, seed: int) -> list[Question]:
    """A simple random sample that depends on the seed and on the revisions, not on their order.

    A larger sample of the same seed holds the smaller one, so that only the difference is asked.

    Args:
        questions: to draw from.
        sample: how many; all, if there are fewer.
        seed: of the draw.
    """

    def place(question: Question) -> str:
        return sha256("\0".join(map(str, (seed, *question.identity))))

    drawn = sorted(questions, key=place)[:sample]
    return sorted(drawn, key=lambda question: question.identity)


@functools.cache
def _template(name: str) -> jinja2.Template:
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda file: resources.files("audit.judging").joinpath(file).read_text("utf-8")),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # noqa: S701 - prompts are plain text
    )
    return environment.get_template(name)


def _change(change: Mapping[str, Any]) -> str:
    return f"params[{change['index']}]: {_number(change['before'])} -> {_number(change['after'])}"


def _rollout(rollout: Mapping[str, Any]) -> str:
    facts = [
        f"rollout {rollout['rollout']}" if rollout["rollout"] is not None else "",
        f"return {_number(rollout['return'])}" if rollout["return"] is not None else "",
        f"{rollout['length']} steps" if rollout["length"] is not None else "",
    ]
    heading = f" (called {rollout['name']})" if rollout.get("name") else ""
    return f"{rollout['label']}{heading}: {', '.join(filter(None, facts)) or 'no more is recorded'}"


def _statistics(statistics: Mapping[str, Any] | None) -> str:
    names = {"returns": "return", "lengths": "steps"}
    parts = [
        f"{names[key]} {', '.join(f'{name} {_number(value)}' for name, value in extent.items() if value is not None)}"
        for key in names
        if (extent := (statistics or {}).get(key))
    ]
    return "; ".join(parts)


def _number(value: float) -> str:
    return f"{value:.6g}"
