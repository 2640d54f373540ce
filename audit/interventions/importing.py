"""Answers under changed evidence that were obtained elsewhere, as a plan and its answers."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

import msgspec

from audit.asking.answer_file import AnswerFile
from audit.interventions.answers import ANSWERS, AnswerOf, ShownLine
from audit.interventions.arms import ARMS, BASE
from audit.interventions.plan import Cost, LeftOut, Plan, answers_file, write_plan
from audit.interventions.presets import Hypothesis
from audit.interventions.showing import ROLES
from audit.interventions.units import SAME, TIES, Unit, number_readable, sha256
from audit.output.errors import AuditError, UsageError, count
from audit.output.rows import Table
from collector.prompt_parts import Block, read_blocks
from collector.records import LONGEST_LINE, split_thinking
from collector.system.regular_files import open_regular

FIELDS: Final = ("unit", "env", "run", "iteration", "arm", "order", "prompt", "answer", "params", "before")
FACTORS: Final[Mapping[str, Literal["label", "position", "number", "presence"]]] = {
    "XL": "label",
    "XA": "label",
    "XP": "position",
    "XN": "number",
    "DW": "presence",
}
"""What arms that are compared with the unchanged evidence test."""
INELIGIBLE: Final = ".ineligible.json"
"""What the plan's `.json` becomes for units whose rollouts are not three different ones."""
COLUMNS: Final = ("plan", "units", "answers", "unreadable")


class _Line(NamedTuple):
    """A line of the file; `contents` are its rollouts by true role, in the order of display."""

    unit: str
    env: str
    run: int
    iteration: int
    arm: str
    contents: tuple[str, ...]
    blocks: tuple[Block, ...]
    prompt: str
    answer: str
    params: list[float] | None
    before: list[float]


def import_interventions(
    file: str | Path,
    *,
    out: str | Path,
    model: str,
    arms: Mapping[str, str] | Sequence[str] = (),
    fields: Mapping[str, str] | Sequence[str] = (),
    condition: str = "imported",
    variant: str = "threetraj",
    rollouts: int = 200,
    remarks: Sequence[str] = (),
) -> Table:
    """Make a plan with answers out of JSON Lines, for `intervene_report` and `intervene_show`.

    A line has a unit, its arm, the true roles of the rollouts in the order of display, the prompt, the answer, the
    parameters that were read from it (null where none could be), and those of the policy under review. Units that do
    not show three different returns go into a plan of their own, since "the worst" is nothing definite there.

    Args:
        file: the lines.
        out: the plan; its answers go beside it.
        model: who answered.
        arms: what the file calls the arms, `as_is=N0`.
        fields: where a line has what is needed, `params=revised.params`; else under the names of `FIELDS`.
        condition: of all units.
        variant: the method that asked.
        rollouts: fresh rollouts of each revised policy; 0 for none.
        remarks: what readers of the report should know.

    Returns:
        The plans that were written.

    Raises:
        UsageError: an arm that is not known.
        AuditError: the file cannot be read or holds something else, or the plan cannot be written.
    """
    names = _pairs(arms, "arm")
    if unknown := sorted(set(names.values()) - ARMS.keys()):
        raise UsageError(f"unknown arm '{unknown[0]}'; choose from {', '.join(ARMS)}")
    lines = list(_read(Path(file), names, dict(zip(FIELDS, FIELDS, strict=True)) | _pairs(fields, "field")))
    if not lines:
        raise AuditError(f"{file} holds no answers")
    by_unit: dict[str, list[_Line]] = defaultdict(list)
    for line in lines:
        by_unit[line.unit].append(line)
    reasons = {unit: _unfit(each) for unit, each in by_unit.items()}
    path = Path(out)
    rows = []
    for target, units in (
        (path, [unit for unit in by_unit if reasons[unit] is None]),
        (path.with_name(path.name.removesuffix(".json") + INELIGIBLE), [unit for unit in by_unit if reasons[unit]]),
    ):
        if not units:
            continue
        left_out: Counter[tuple[str, str]] = Counter()
        if target is path:
            left_out.update((by_unit[unit][0].env, reason) for unit, reason in reasons.items() if reason)
        chosen = [by_unit[unit] for unit in units]
        notices = list(remarks)
        if target is not path:
            notices.append("These prompts do not show three different rollouts, so the worst one is not well defined.")
        plan = _plan(chosen, model, condition, variant, rollouts, notices, left_out)
        write_plan(plan, target)
        with AnswerFile(answers_file(target), ANSWERS) as written:
            _, error = written.append(list(_answers(plan, chosen)))
            if error is not None:
                raise error
            unreadable = sum(answer.params is None for answer in written.answers)
            rows.append(dict(zip(COLUMNS, (str(target), len(units), len(written.answers), unreadable), strict=True)))
    notes = [f"go on with: audit intervene report {rows[0]['plan']}"]
    return Table(
        columns=COLUMNS,
        rows=rows,
        notes=notes,
        title="Imported",
        plain=True,
    )


def _pairs(given: Mapping[str, str] | Sequence[str], what: str) -> dict[str, str]:
    if isinstance(given, Mapping):
        return dict(given)
    pairs = {}
    for each in given:
        name, equals, value = each.partition("=")
        if not (name and equals and value):
            raise UsageError(f"--{what} {each}: give it as NAME=VALUE")
        pairs[name] = value
    if what == "field" and (unknown := sorted(pairs.keys() - set(FIELDS))):
        raise UsageError(f"unknown field '{unknown[0]}'; choose from {', '.join(FIELDS)}")
    return pairs


def _read(path: Path, names: Mapping[str, str], fields: Mapping[str, str]) -> Iterator[_Line]:
    try:
        with open_regular(path) as stream:
            for number, text in enumerate(iter(lambda: stream.readline(LONGEST_LINE + 1), b""), start=1):
                if not text.strip():
                    continue
                try:
                    yield _line(json.loads(text), names, fields)
                except (ValueError, KeyError, TypeError, RecursionError) as error:
                    reason = f"no field {error}" if isinstance(error, KeyError) else str(error)
                    raise AuditError(f"{path}:{number}: not an answer under changed evidence ({reason})") from None
    except OSError as error:
        raise AuditError(f"cannot read {path}: {error.strerror or error}") from None


def _line(record: Any, names: Mapping[str, str], fields: Mapping[str, str]) -> _Line:
    def field(name: str) -> Any:
        value = record
        for part in fields[name].split("."):
            value = value[part]
        return value

    arm = names.get(str(field("arm")), str(field("arm")))
    if arm not in ARMS:
        raise ValueError(f"arm {arm!r} is not one of {', '.join(ARMS)}; state which one it is with --arm {arm}=…")
    blocks, contents = tuple(read_blocks(str(field("prompt")))), tuple(field("order"))
    if len(blocks) != len(contents) or not set(contents) <= set(ROLES):
        raise ValueError(f"the prompt shows {count(len(blocks), 'rollout')}, the order names {', '.join(contents)}")
    convert = msgspec.convert
    return _Line(
        unit=str(field("unit")),
        env=convert(field("env"), str),
        run=convert(field("run"), int),
        iteration=convert(field("iteration"), int),
        arm=arm,
        contents=contents,
        blocks=blocks,
        prompt=convert(field("prompt"), str),
        answer=convert(field("answer"), str),
        params=convert(field("params"), list[float] | None),
        before=convert(field("before"), list[float]),
    )


def _shown(lines: Sequence[_Line]) -> dict[str, Block]:
    """The rollouts of a unit by true role, from all its prompts."""
    return {role: block for line in lines for role, block in zip(line.contents, line.blocks, strict=True)}


def _unfit(lines: Sequence[_Line]) -> str | None:
    shown = _shown(lines)
    if len({block.rollout for block in shown.values()}) < len(ROLES):
        return SAME
    values = [shown[role].value for role in ROLES if role in shown]
    return TIES if None in values or len(set(values)) < len(ROLES) else None


def _plan(
    units: Sequence[Sequence[_Line]],
    model: str,
    condition: str,
    variant: str,
    rollouts: int,
    remarks: Sequence[str],
    left_out: Mapping[tuple[str, str], int],
) -> Plan:
    arms: dict[str, int] = {}
    for lines in units:
        for arm, number in Counter(line.arm for line in lines).items():
            arms[arm] = max(arms.get(arm, 0), number)
    arms = {name: arms[name] for name in ARMS if name in arms}
    calls = sum(len(lines) for lines in units)
    tested = [Hypothesis(factor, "edits", arm, BASE) for arm, factor in FACTORS.items() if {arm, BASE} <= arms.keys()]
    return Plan(
        version=version("salience-audit"),
        preset="imported",
        data=[],
        task_modules=[],
        templates=None,
        spliced=True,
        backend="imported",
        model=model,
        options={},
        given={},
        seed=0,
        arms=arms,
        units=[_unit(lines, condition, variant) for lines in units],
        eligible=dict(Counter(lines[0].env for lines in units)),
        left_out=[LeftOut(env, reason, number) for (env, reason), number in sorted(left_out.items())],
        outcomes=["edits", "text", *(["return"] if rollouts else [])],
        family=tested,
        alpha=0.05,
        permutations=4999,
        rollouts=rollouts,
        cost=Cost(calls, 0, 0, None, "obtained elsewhere"),
        power=[],
        imported=True,
        remarks=list(remarks),
    ).signed()


def _unit(lines: Sequence[_Line], condition: str, variant: str) -> Unit:
    first, shown = lines[0], _shown(lines)
    blocks = [shown[role] for role in ROLES if role in shown]
    values = [block.value for block in blocks if block.value is not None]
    return Unit(
        condition=condition,
        env=first.env,
        variant=variant,
        run=first.run,
        iteration=first.iteration,
        prompt_sha256=sha256(first.prompt),
        params=first.before,
        rollouts=[block.rollout for block in blocks],
        returns=values,
        number_readable=number_readable(values, [block.steps or 0 for block in blocks]),
    )


def _answers(plan: Plan, units: Sequence[Sequence[_Line]]) -> Iterator[AnswerOf]:
    order = 0
    for unit, lines in zip(plan.units, units, strict=True):
        seen: Counter[str] = Counter()
        for line in lines:
            answer, thinking = split_thinking(line.answer)
            yield AnswerOf(
                plan_sha256=plan.sha256,
                **unit.key._asdict(),
                arm=line.arm,
                replicate=seen[line.arm],
                order=order,
                shown=[
                    ShownLine.of(content, block, None if block.value is None else content)
                    for content, block in zip(line.contents, line.blocks, strict=True)
                ],
                prompt_sha256=sha256(line.prompt),
                base_prompt_sha256=unit.prompt_sha256,
                prompt_characters=len(line.prompt),
                backend="imported",
                model=plan.model,
                options={},
                seed=0,
                params=line.params,
                error=None if line.params is not None else "no parameters were read from it",
                completion=answer,
                thinking=thinking,
                prompt_tokens=None,
                completion_tokens=None,
                seconds=0.0,
                started_at="",
            )
            seen[line.arm] += 1
            order += 1
