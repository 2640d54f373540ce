"""`audit critic`: ask a model the suite, and make its card; or make a card again from its answers."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Unpack, get_args

from audit.cards.card import Card, written
from audit.cards.filling import Examined, make_card
from audit.cards.suite import Size, Suite, compressed, packaged, read_file, write_records
from audit.interventions.answers import read_answers, report_of
from audit.interventions.intervene import decides_of
from audit.interventions.making import make_plan, tasks_of
from audit.interventions.plan import Plan, answers_file, read_plan, write_plan
from audit.interventions.presets import Preset, asks_shares
from audit.interventions.report import read_report, unfinished
from audit.output.errors import AuditError, UsageError, count
from audit.output.notes import agree, note, simulated
from audit.output.rows import Table
from collector.errors import cannot_write
from collector.model_options import ModelOptions
from collector.spec import slug

if TYPE_CHECKING:
    pass

PLAN: Final = "plan.json"
CARD: Final = "card.json"
RECORDS: Final = "records"
SUITE: Final = "suite.jsonl.xz"
"""The suite of a folder, where it is not the package's."""

SIZES: Final[Mapping[str, Preset]] = {
    "quick": Preset(72, {"A0": 3, "E0": 2}, spliced=True),
    "full": Preset(126, {"A0": 4, "C": 20, "S_w": 10, "S_m": 10, "S_b": 10, "E0": 4}, spliced=True),
}
ROLLOUTS: Final = {"quick": 20, "full": 100}
"""Of each revised policy."""
COLUMNS: Final = (
    *("section", "name", "who", "value", "low", "high", "without_low", "without_high", "units", "answers", "kind"),
    *("arm", "meaning"),
)


class CriticOptions(ModelOptions, total=False):
    """Keyword arguments of `critic`: the model's."""


def critic(
    *,
    backend: str,
    out: str | Path | None = None,
    size: Size = "quick",
    personality: str | None = None,
    units: int | None = None,
    suite_seed: int | None = None,
    concurrency: int | None = None,
    dry_run: bool = False,
    yes: bool = True,
    workers: int | None = None,
    cache: bool = True,
    **options: Unpack[CriticOptions],
) -> Table:
    """Examine a model as a critic: ask it the suite, and make its card.

    The price is printed first. Whatever ends the calls, the same call goes on and pays for no answer twice.

    Args:
        backend: simulated, local, ollama or openai.
        out: the folder of the examination; None for one named by model and size below `critics`.
        size: quick decides form, help and harm; full also what moves the critic.
        personality: of the simulated critic.
        units: ask only the first so many prompts, 18 or a multiple to have all kinds; None for all of the size.
        suite_seed: make a suite of one's own from this seed; None for that of the package.
        concurrency: calls in flight at once; None for 1 with local, else 4.
        dry_run: print the price, ask nothing and write nothing.
        yes: do not ask on a terminal whether to go on.
        workers: threads or processes that run policies; None for one per core.
        cache: whether returns of policies that were run before may be used, and new ones kept.
        options: of the model, as `collect` has them.

    Returns:
        The numbers of the card; for a dry run the calls by arm.

    Raises:
        UsageError: an option that makes no sense.
        AuditError: the folder holds something else, the model fails, or something cannot be written.
    """
    from audit.interventions.running import model_of, run_plan

    if size not in SIZES:
        raise UsageError(f"unknown size '{size}'; choose from {', '.join(get_args(Size))}")
    given: dict[str, Any] = {**options, "personality": personality}
    model = model_of(backend, given, 1)
    folder = Path(out) if out is not None else Path("critics") / f"{slug(model.name)}-{size}"
    who = {"backend": backend, "model": model.name, "options": model.options, "given": given}
    plan = planned(folder, size, suite_seed, who, units=units, dry_run=dry_run)
    done = 0
    if not dry_run and answers_file(folder / PLAN).exists():
        done = len(read_answers(plan, folder / PLAN)[0])
    for line in _price(plan, done):
        note(line)
    if dry_run:
        rows = [{"arm": arm, "answers": each, "calls": each * len(plan.units)} for arm, each in plan.arms.items()]
        return Table(columns=("arm", "answers", "calls"), rows=rows, title=f"Calls of {model.name}", plain=True)
    if done < plan.cost.calls:
        if not yes:
            agree()
        run_plan(plan, folder / PLAN, concurrency=concurrency or (1 if backend == "local" else 4))
    examined = examined_in(folder, cache=cache, workers=workers)
    write_card(folder, examined)
    return card_table(examined.card, [f"the card: {folder / CARD}; as a page: {folder / 'index.html'}"])


def examined_in(folder: Path, *, cache: bool = True, workers: int | None = None) -> Examined:
    """Make the card of the examination in a folder.

    Raises:
        AuditError: it is of another suite, was changed, or calls have no answer yet.
    """
    path = folder / PLAN
    plan = read_plan(path)
    suite = suite_of(folder, plan)
    answers, problems = read_answers(plan, path)
    for line in report_of(problems):
        note(line)
    if missing := unfinished(plan, path, len(answers)):
        raise AuditError(missing.partition("; effects")[0] + "; go on with the same audit critic")
    report = read_report(path, cache=cache, workers=workers)
    return make_card(report, suite, plan.preset, answers, tasks_of(plan, path), path, cache=cache, workers=workers)


def card_table(card: Card, notes: Sequence[str] = ()) -> Table:
    """The numbers of a card as a table, with its findings above it for people."""
    import msgspec

    rows = [{name: getattr(each, name) for name in COLUMNS} for each in card.numbers]
    caption = simulated([(card.model, card.backend)])
    shown = ("section", "name", "who", "value", "interval", "without a task", "units")
    findings = [*card.findings, *(f"PROBLEM: {each}" for each in card.problems[1:])]

    def print_for_people(_: Table) -> None:
        sys.stdout.write(f"{card.name}, {card.suite}, {card.size}\n")
        sys.stdout.write("".join(f"- {each}\n" for each in findings) + "\n")
        numbers = [_in_words(msgspec.structs.asdict(each)) for each in card.numbers]
        Table(columns=shown, rows=numbers, title="Numbers", plain=True, is_part=True).print()

    return Table(
        columns=COLUMNS,
        rows=rows,
        title=card.name,
        caption=caption,
        notes=[*notes, *([caption] if caption else [])],
        plain=True,
        print_for_people=print_for_people,
    )


def _in_words(number: Mapping[str, Any]) -> dict[str, Any]:
    def percent(value: float | None) -> str | None:
        return None if value is None else f"{100 * value:.0f}%"

    def both(low: float | None, high: float | None) -> str | None:
        return None if low is None else f"{percent(low)} to {percent(high)}"

    return {
        **{name: number[name] for name in ("section", "name", "who", "units")},
        "value": percent(number["value"]),
        "interval": both(number["low"], number["high"]),
        "without a task": both(number["without_low"], number["without_high"]),
    }


def suite_in(folder: Path, suite_seed: int | None, *, keep: bool = True) -> Suite:
    """The suite that an examination in a folder asks: the package's, or one of a seed, made where it is not there.

    Args:
        folder: of the examination.
        suite_seed: of a suite of one's own; None for the package's, or what the folder has.
        keep: write a suite that was made.

    Raises:
        AuditError: the folder has a suite of another seed.
    """
    from audit.cards.making import make_suite

    file = folder / SUITE
    if file.exists():
        found = read_file(file)
        if suite_seed is not None and found.seed != suite_seed:
            raise AuditError(f"{folder} has a suite of seed {found.seed}, not {suite_seed}; name another --out")
        return found
    if suite_seed is None or suite_seed == packaged().seed:
        return packaged()
    note(f"making a suite from seed {suite_seed}, which takes some minutes")
    text = make_suite(suite_seed)
    if keep:
        folder.mkdir(parents=True, exist_ok=True)
        file.write_bytes(compressed(text))
    from audit.cards.suite import read_suite

    return read_suite(text)


def plan_of(suite: Suite, size: str, records: Path, path: Path, who: Mapping[str, Any]) -> Plan:
    """The plan of an examination: of all units whose records are there.

    Args:
        suite: whose units are asked.
        size: of the examination.
        records: the folder of its records.
        path: of the plan.
        who: `backend`, `model`, `options` and `given`, as `make_plan` has them.
    """
    return make_plan(
        [records],
        lambda found: found.runs,
        out=path,
        **who,
        preset=size,
        size=SIZES[size],
        rollouts=ROLLOUTS[size],
        seed=suite.seed,
        suite=suite.sha256,
    )


def planned(
    folder: Path,
    size: Size,
    suite_seed: int | None,
    who: Mapping[str, Any],
    *,
    units: int | None = None,
    dry_run: bool = False,
) -> Plan:
    """The plan in a folder, made where there is none.

    Args:
        folder: of the examination.
        size: of the examination.
        suite_seed: of a suite of one's own; None for the package's.
        who: `backend`, `model`, `options` and `given`, as `make_plan` has them.
        units: only the first so many; None for all of the size, or those that are there.
        dry_run: write nothing.

    Raises:
        AuditError: the folder holds something else.
    """
    path = folder / PLAN
    if path.exists():
        plan = read_plan(path)
        suite = suite_in(folder, suite_seed)
        if plan.suite != suite.sha256 or plan.preset not in SIZES:
            raise AuditError(
                f"{folder} holds an experiment on other prompts than those of {suite.name}; name another --out"
            )
        if (plan.model, plan.backend, plan.preset) != (who["model"], who["backend"], size):
            raise AuditError(
                f"{folder} holds answers of {plan.model} to {plan.preset}, not of {who['model']} to {size}; name "
                "another --out"
            )
        if settings(plan.options) != settings(who["options"]):
            raise AuditError(f"{folder} holds answers of {plan.model} with other options; name another --out")
        if units not in {None, len(plan.units)}:
            raise AuditError(f"{folder} holds answers to {count(len(plan.units), 'prompt')}; name another --out")
        return plan
    suite = suite_in(folder, suite_seed, keep=not dry_run)
    if units is not None and units > len(suite.of_size(size)):
        raise UsageError(f"--units {units}: {size} has {len(suite.of_size(size))} prompts")
    if dry_run:
        with tempfile.TemporaryDirectory() as name:
            write_records(suite.of_size(size)[:units], Path(name) / RECORDS)
            return plan_of(suite, size, Path(name) / RECORDS, Path(name) / PLAN, who)
    if folder.exists() and not folder.is_dir():
        raise AuditError(f"{folder} is a file; name another --out")
    if strangers := _strangers(folder):
        raise AuditError(f"{folder} holds {strangers}, which is of no examination; name an empty folder with --out")
    write_records(suite.of_size(size)[:units], folder / RECORDS)
    plan = plan_of(suite, size, folder / RECORDS, path, who)
    write_plan(plan, path)
    return plan


def settings(options: Mapping[str, Any]) -> dict[str, Any]:
    """What decides a model's answers; whether it gives the same ones again depends on how many calls are in flight."""
    return {name: value for name, value in options.items() if name != "reproducible"}


def _strangers(folder: Path) -> str:
    """Something in a folder without a plan that no interrupted examination left there; empty where there is nothing."""
    known = {RECORDS, SUITE}
    return (
        next((each.name for each in sorted(folder.iterdir()) if each.name not in known), "") if folder.exists() else ""
    )


def suite_of(folder: Path, plan: Plan) -> Suite:
    """The suite that a plan asks.

    Raises:
        AuditError: it is not here, or the plan asks none.
    """
    if plan.suite is None or plan.preset not in SIZES:
        raise AuditError(f"{folder} holds an experiment, and no examination; for its report: audit intervene report")
    suite = suite_in(folder, None)
    if suite.sha256 != plan.suite:
        raise AuditError(
            f"{folder} was asked another suite ({plan.suite[:12]}…) than this version's {suite.name} "
            f"({suite.sha256[:12]}…); read it with the version that wrote it"
        )
    return suite


def _price(plan: Plan, done: int) -> Iterator[str]:
    cost = plan.cost
    left = f", of which {done:,} are answered" if done else ""
    part = (cost.calls - done) / cost.calls
    hours = f", about {cost.hours * part:.1f} h" if cost.hours and cost.hours * part >= 0.05 else ""
    prompts, replies = (round(tokens * part) for tokens in (cost.prompt_tokens, cost.completion_tokens))
    yield (
        f"{plan.preset}: {count(len(plan.units), 'prompt')}, {cost.calls:,} calls{left}; about {prompts:,} tokens of "
        f"prompts and {replies:,} of answers{hours} ({cost.basis})"
    )
    if asks_shares(plan.arms):
        yield decides_of(plan).sentence
    else:
        yield "quick decides form, help and harm, not what moves the critic: that needs --size full"


def write_card(folder: Path, examined: Examined) -> None:
    """Write a card and its pages.

    Raises:
        AuditError: they cannot be written.
    """
    from audit.cards.page import write_page

    try:
        (folder / CARD).write_bytes(written(examined.card))
        write_page(folder, examined)
    except OSError as error:
        raise AuditError(cannot_write(folder, error)) from None
