"""A reflector's prompt taken apart into the examples that it shows and what is around them, by its template."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Final

from audit.sources.program_headings import PROGRAMS, SHOWN_AFTER, SHOWN_BEFORE

HIDDEN: Final = "…"
"""What is printed in place of a score that is hidden."""
ABSENT: Final = "(none)"
"""What is printed in place of all examples."""
_NUMBER: Final = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:[eE]-?\d+)?(?![\w]|\.\d)")
_FEEDBACK: Final = re.compile(r"feedback|critique|reward_info", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Shown:
    """An example, a trajectory or a program as a prompt shows it.

    Attributes:
        name: what its heading calls it, `Example 2` or `worse`.
        text: all of it but the feedback, the score within it.
        feedback: what is said about it, plain; None where the template keeps nothing of the kind apart.
        printed: spans of `text` that are its score, as it is printed.
        printed_feedback: the same of `feedback`.
    """

    name: str
    text: str
    feedback: str | None
    printed: tuple[tuple[int, int], ...] = ()
    printed_feedback: tuple[tuple[int, int], ...] = ()

    @property
    def has_score(self) -> bool:
        """Whether its score is printed."""
        return bool(self.printed or self.printed_feedback)

    def scored(self, score: float) -> Shown:
        """The same, knowing its score: where that is printed."""
        return replace(self, printed=_printed(self.text, score), printed_feedback=_printed(self.feedback or "", score))

    def with_score(self, score: str) -> Shown:
        """The same with another score printed, or with `HIDDEN`; spans are lost."""
        feedback = None if self.feedback is None else _put(self.feedback, self.printed_feedback, score)
        return Shown(self.name, _put(self.text, self.printed, score), feedback)

    def score_text(self) -> str:
        """The score as it is printed."""
        for text, spans in ((self.text, self.printed), (self.feedback or "", self.printed_feedback)):
            for start, end in spans:
                return text[start:end]
        return HIDDEN


@dataclass(frozen=True, slots=True)
class ReflectionPrompt:
    """A prompt in parts; `str` puts them together again, byte for byte.

    Attributes:
        before: all up to the first example.
        shown: the examples.
        gaps: what is between them, which stays where it is when they change places.
        after: everything after the last one.
        dialect: whose template it was made with.
    """

    before: str
    shown: tuple[Shown, ...]
    gaps: tuple[str, ...]
    after: str
    dialect: Dialect

    @property
    def names(self) -> list[str]:
        """The headings in the order of display."""
        return [each.name for each in self.shown]

    def __str__(self) -> str:
        return self.showing(self.shown)

    def showing(self, shown: Sequence[Shown]) -> str:
        """The prompt with other examples, or with none."""
        if not shown:
            return f"{self.before}{self.dialect.absent}{self.after}"
        parts = [self.dialect.write(shown[0])]
        for place, each in enumerate(shown[1:]):
            parts += [(self.gaps or ("\n\n",))[min(place, len(self.gaps) - 1)], self.dialect.write(each)]
        return f"{self.before}{''.join(parts)}{self.after}"


@dataclass(frozen=True, slots=True)
class Dialect:
    """A template of prompts.

    Attributes:
        name: of the tool.
        noun: what it shows.
        read: takes a prompt apart; None where it is of another template.
        write: prints an example.
        proposal: the new text that an answer proposes; None where it proposes none.
        absent: what stands for no example.
        letters: headings that state neither number nor role.
        named: headings state a role, so that they are drawn apart from places.
        adds: whether what an answer proposes comes to the text that is revised, and not in its place.
    """

    name: str
    noun: str
    read: Callable[[str], ReflectionPrompt | None]
    write: Callable[[Shown], str]
    proposal: Callable[[str], str | None]
    absent: str
    letters: str
    named: bool = False
    adds: Callable[[str], bool] = lambda _: False

    def lettered(self, place: int) -> str:
        """The heading of a place that states neither number nor role."""
        return self.letters.format(chr(ord("A") + place), chr(ord("a") + place))


def read_prompt(text: str) -> ReflectionPrompt | None:
    """Take a prompt apart; None where no template fits, or its parts do not make it up again."""
    for dialect in DIALECTS:
        parsed = dialect.read(text)
        if parsed is not None and len(parsed.shown) > 1 and str(parsed) == text:
            return parsed
    return None


def _printed(text: str, score: float) -> tuple[tuple[int, int], ...]:
    """Where a score is printed: numbers with a decimal point that are it rounded, or a number behind the word."""
    found = []
    for match in _NUMBER.finditer(text):
        digits = match[0].partition(".")[2]
        behind = re.search(
            r"(?:score|reward|reward_value ## \]\])\W{0,4}(?:of|is|was|:|=)?\W{0,3}\Z", text[: match.start()], re.I
        )
        if (digits or behind) and abs(float(match[0]) - score) <= 0.51 * 10.0 ** -len(digits) * bool(digits) + 1e-9:
            found.append(match.span())
    return tuple(found)


_STATED: Final = re.compile(
    r"(?:score|reward|reward_value ## \]\])\W{0,4}(?:of|is|was)?\W{0,3}(-?\d+(?:\.\d+)?)", re.IGNORECASE
)


def stated_score(shown: Shown) -> float | None:
    """The score that a prompt states of an example, behind that word; None where it states none, or several."""
    found = {float(number) for number in _STATED.findall(f"{shown.text}\n{shown.feedback or ''}")}
    return found.pop() if len(found) == 1 else None


def _put(text: str, spans: Sequence[tuple[int, int]], other: str) -> str:
    for start, end in reversed(spans):
        text = f"{text[:start]}{other}{text[end:]}"
    return text


_EXAMPLE: Final = re.compile(r"^# (Example \d{1,6})\n", re.MULTILINE)
_SECTION: Final = re.compile(r"^## (.+)\n", re.MULTILINE)
_END: Final = re.compile(r"\n{3,}|\n*\Z")


def _read_markdown(text: str) -> ReflectionPrompt | None:
    """GEPA's examples as Markdown, in its own template or a user's: `# Example 1` and sections below it."""
    heads: list[re.Match[str]] = []
    run: list[re.Match[str]] = []
    for head in _EXAMPLE.finditer(text):
        # An instruction may hold such headings itself: the longest series counts, of equal ones the last.
        run = [*run, head] if head[1] == f"Example {len(run) + 1}" else [head]
        heads = run if len(run) >= len(heads) and run[0][1] == "Example 1" else heads
    if not heads:
        return None
    starts = [head.start() for head in heads]
    sections = list(_SECTION.finditer(text, starts[-1]))
    first = [match[1] for match in _SECTION.finditer(text, starts[0], starts[1] if len(starts) > 1 else len(text))]
    # The template may have sections of its own behind the examples.
    last = sections[len(first) - 1] if 0 < len(first) <= len(sections) else heads[-1]
    end = _END.search(text, last.end())
    assert end is not None  # the pattern matches at the end of any text
    ends = [*(start - (len(text[:start]) - len(text[:start].rstrip("\n"))) for start in starts[1:]), end.start()]
    shown = tuple(_example(head, text[head.end() : stop]) for head, stop in zip(heads, ends, strict=True))
    gaps = tuple(text[stop:start] for stop, start in zip(ends, starts[1:], strict=False))
    return ReflectionPrompt(text[: starts[0]], shown, gaps, text[ends[-1] :], GEPA)


def _example(head: re.Match[str], body: str) -> Shown:
    """An example whose feedback is its last section, if that is called so."""
    sections = list(_SECTION.finditer(body))
    if sections and _FEEDBACK.search(sections[-1][1]):
        return Shown(head[1], body[: sections[-1].end()], body[sections[-1].end() :])
    return Shown(head[1], body, None)


def _write_markdown(shown: Shown) -> str:
    return f"# {shown.name}\n{shown.text}{shown.feedback or ''}"


def _fenced(answer: str) -> str | None:
    """What is between the first and the last fence, without a language; else the whole answer, as GEPA has it."""
    start, end = answer.find("```"), answer.rfind("```")
    if start == end:
        return answer.replace("```", "").strip() or None
    return re.sub(r"\A\S*\n", "", answer[start + 3 : end]).strip() or None


_MARK: Final = "[[ ## examples_with_feedback ## ]]\n"


def _read_json(text: str) -> ReflectionPrompt | None:
    """The list of objects that DSPy's GEPA prints."""
    begin = text.rfind(_MARK) + len(_MARK)
    if begin < len(_MARK) or text[begin : begin + 1] != "[":
        return None
    decoder, place, spans, values = json.JSONDecoder(), begin + 1, [], []
    try:
        while text[place] == "{":
            value, end = decoder.raw_decode(text, place)
            spans.append((place, end))
            values.append(value)
            place = end + (2 if text.startswith(", ", end) else 0)
            if place == end:
                break
    except (ValueError, IndexError, RecursionError):
        return None
    if not spans or not text.startswith("]", spans[-1][1]):
        return None
    shown = tuple(_entry(value, number) for number, value in enumerate(values, 1))
    gaps = tuple(text[end:start] for (_, end), (start, _) in pairwise(spans))
    return ReflectionPrompt(text[: spans[0][0]], shown, gaps, text[spans[-1][1] :], DSPY)


def _entry(value: dict[str, Any], number: int) -> Shown:
    feedback = value.get("Feedback")
    if not isinstance(feedback, str) or list(value)[-1] != "Feedback":
        return Shown(f"Example {number}", json.dumps(value, ensure_ascii=False), None)
    rest = {key: item for key, item in value.items() if key != "Feedback"}
    return Shown(f"Example {number}", json.dumps(rest, ensure_ascii=False), feedback)


def _write_json(shown: Shown) -> str:
    if shown.feedback is None:
        return shown.text
    before = shown.text[:-1] + (", " if len(shown.text) > 2 else "")
    return f'{before}"Feedback": {json.dumps(shown.feedback, ensure_ascii=False)}}}'


def _field(answer: str, name: str) -> str | None:
    """A field of an answer in one of DSPy's forms: JSON, or behind its mark."""
    try:
        found = json.loads(answer[answer.index("{") : answer.rindex("}") + 1])
        if isinstance(found, dict) and isinstance(found.get(name), str):
            return str(found[name]).strip() or None
    except (ValueError, RecursionError):
        pass
    match = re.search(rf"\[\[ ## {name} ## \]\]\n(.*?)(?=\n*\[\[ ## |\Z)", answer, re.DOTALL)
    return match[1].strip() or None if match else None


def _new_instruction(answer: str) -> str | None:
    return _field(answer, "new_instruction") or _field(answer, "improved_instruction")


_ROLES: Final = ("worse", "better")
_PARTS: Final = ("program_trajectory", "program_outputs", "reward_value", "reward_info")


def _read_pair(text: str) -> ReflectionPrompt | None:
    """The two trajectories of SIMBA, each in four fields."""
    roles = sorted(_ROLES, key=lambda role: text.rfind(f"[[ ## {role}_{_PARTS[0]} ## ]]\n"))
    starts = [text.rfind(f"[[ ## {role}_{_PARTS[0]} ## ]]\n") for role in roles]
    end = text.find("\n\n[[ ## module_names ## ]]\n", starts[-1])
    if not 0 <= starts[0] < starts[1] < end:
        return None
    stops = [starts[1] - 2, end]
    shown = []
    for role, start, stop in zip(roles, starts, stops, strict=True):
        body = text[start:stop]
        mark = body.rfind(f"[[ ## {role}_{_PARTS[-1]} ## ]]\n")
        if mark < 0:
            return None
        begin = mark + len(f"[[ ## {role}_{_PARTS[-1]} ## ]]\n")
        shown.append(Shown(role, body[:begin].replace(f"[[ ## {role}_", "[[ ## \0_"), body[begin:]))
    return ReflectionPrompt(text[: starts[0]], tuple(shown), (text[stops[0] : starts[1]],), text[end:], SIMBA)


def _write_pair(shown: Shown) -> str:
    return shown.text.replace("[[ ## \0_", f"[[ ## {shown.name}_") + (shown.feedback or "")


def _advice(answer: str) -> str | None:
    return _field(answer, "module_advice")


def _read_programs(text: str) -> ReflectionPrompt | None:
    """The programs that OpenEvolve shows with a score each."""
    begin, stop = text.find(SHOWN_AFTER), text.rfind(SHOWN_BEFORE)
    if not 0 <= begin < stop:
        return None
    heads = list(PROGRAMS.finditer(text, begin, stop))
    found: list[tuple[int, int, Shown]] = []
    for place, head in enumerate(heads):
        if head["name"] is None or head["score"] is None:
            continue
        limit = heads[place + 1].start() if place + 1 < len(heads) else stop
        end = head.start() + len(text[head.start() : limit].rstrip())
        found.append((head.start(), end, Shown(head["name"], text[head.end("name") : end], None)))
    if not found:
        return None
    gaps = tuple(text[end:start] for (_, end, _), (start, _, _) in pairwise(found))
    return ReflectionPrompt(
        text[: found[0][0]], tuple(each for *_, each in found), gaps, text[found[-1][1] :], OPENEVOLVE
    )


def _write_program(shown: Shown) -> str:
    return f"### {shown.name}{shown.text}"


_REPLACE: Final = re.compile(r"<{5,} SEARCH\n(.*?)={5,}\n(.*?)>{5,} REPLACE", re.DOTALL)


def _program(answer: str) -> str | None:
    """The lines that blocks of SEARCH and REPLACE bring; without any, the program between fences."""
    if blocks := _REPLACE.findall(answer):
        return (
            "\n".join(line for old, new in blocks for line in new.splitlines() if line not in old.splitlines()) or None
        )
    return _fenced(answer) if answer.count("```") > 1 else None


def applied(program: str, answer: str) -> str | None:
    """A program after the blocks of SEARCH and REPLACE in an answer; None where one does not fit.

    Args:
        program: all of it.
        answer: of the model.
    """
    for old, new in _REPLACE.findall(answer):
        if old not in program:
            return None
        program = program.replace(old, new, 1)
    return program


GEPA: Final = Dialect("gepa", "example", _read_markdown, _write_markdown, _fenced, ABSENT, "Example {0}")
DSPY: Final = Dialect("dspy-gepa", "example", _read_json, _write_json, _new_instruction, "", "Example {0}")
SIMBA: Final = Dialect("simba", "trajectory", _read_pair, _write_pair, _advice, ABSENT, "{1}", True, lambda _: True)
OPENEVOLVE: Final = Dialect(
    "openevolve",
    "program",
    _read_programs,
    _write_program,
    _program,
    ABSENT,
    "Program {0}",
    adds=lambda answer: bool(_REPLACE.search(answer)),
)
DIALECTS: Final = (SIMBA, DSPY, OPENEVOLVE, GEPA)
