"""`python -m collector.grid`: the whole grid of the paper, collected or only counted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Unpack

import typer

from collector.budget import ROLLOUTS, RUNS
from collector.cli import options
from collector.cli.command import run_command
from collector.cli.grouped import Grouped
from collector.model_options import ModelOptions, with_model_options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from collector.grid.parts import Part
    from collector.plan import Request
    from collector.spec import RunSpec


app = typer.Typer(
    context_settings=options.HELP, add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None
)


@app.command(cls=Grouped)
@with_model_options
def paper(
    backend: options.BackendOption = "simulated",
    personality: options.PersonalityOption = None,
    part: Annotated[
        list[str] | None, typer.Option(help="Collect this part only; repeatable.", show_default="all")
    ] = None,
    runs: options.RunsOption = RUNS,
    iterations: Annotated[
        int | None,
        typer.Option(min=1, max=1_000_000, help="Iterations of a run.", show_default="the paper's: 200 calls"),
    ] = None,
    rollouts: options.RolloutsOption = ROLLOUTS,
    seed: options.SeedOption = 0,
    out: Annotated[Path, typer.Option(help="Folder for the records.", callback=options.local_folder)] = Path(
        "data/paper-grid"
    ),
    concurrency: options.ConcurrencyOption = None,
    shard: options.ShardOption = None,
    workers: options.WorkersOption = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print what is missing and its cost, and exit.")] = False,
    rate: Annotated[
        float | None,
        typer.Option(
            min=1e-6, max=1e9, help="Calls per second, for the cost estimate.", show_default="measured from records"
        ),
    ] = None,
    answer_tokens: Annotated[
        float | None,
        typer.Option(
            min=1,
            max=1e9,
            help="Tokens per answer, for the cost estimate.",
            show_default="measured from records, or 1000",
        ),
    ] = None,
    output: Annotated[
        Literal["table", "json"], typer.Option("--format", help="Format of the cost estimate.")
    ] = "table",
    quiet: options.QuietOption = False,
    **model_options: Unpack[ModelOptions],
) -> None:
    """Collect whatever is missing of the paper's grid: every task, method and setting of its tables.

    Each part is a sweep of its own: what stops one stops no other, and the same command goes on where it stopped.

    Example: python -m collector.grid --backend ollama --model gpt-oss:20b --dry-run
    """
    # Imported here, so that --help and a wrong option are answered at once.
    from rich.console import Console
    from rich.text import Text

    from collector.grid.parts import PARTS, chosen
    from collector.grid.running import collect_parts
    from collector.plan import Request, plan
    from collector.sharding import Division, write_grid

    if not dry_run and (rate or answer_tokens or output != "table"):
        raise typer.BadParameter("--rate, --answer-tokens and --format are for --dry-run")
    concurrency = options.runs_in_flight(backend, concurrency)
    console = Console(stderr=True)
    make = options.model_maker(console, backend, personality, concurrency, model_options)
    client = make()
    wanted = Request(
        envs=[],
        variants=[],
        runs=runs,
        iterations=iterations,
        rollouts=rollouts,
        seed=seed,
        backend=backend,
        model=client.name,
        options=client.options,
    )
    planned = [(each, plan(each.request(wanted))) for each in chosen(part or [])]
    if shard:
        # Numbered over all parts, so that a run is in the same shard whichever of them are chosen.
        division = Division((spec for each in PARTS for spec in plan(each.request(wanted))), *shard)
        specs = [spec for _, every in planned for spec in every]
        if not quiet:
            console.print(Text(division.line(specs)))
        if not dry_run:
            write_grid(division.grid(specs), out)
        planned = [(each, mine) for each, every in planned if (mine := division.mine(every))]
    if dry_run and (planned or output == "json"):
        _print_cost(planned, wanted, out, concurrency, rate, answer_tokens, output, quiet=quiet)
    elif not dry_run:
        collect_parts(planned, out, make, console, concurrency=concurrency, workers=workers, quiet=quiet)


def _print_cost(
    planned: Sequence[tuple[Part, Sequence[RunSpec]]],
    wanted: Request,
    out: Path,
    concurrency: int | None,
    rate: float | None,
    answer_tokens: float | None,
    output: str,
    *,
    quiet: bool,
) -> None:
    from collector.grid.cost import costs, pace
    from collector.grid.measured import measure
    from collector.grid.prompt_sizes import PromptSizes
    from collector.grid.report import print_json, print_table
    from collector.sweep import states
    from collector.system.progress import SILENT, PrintedProgress

    with SILENT if quiet else PrintedProgress("paper") as progress:
        progress.begin(0, "reading records", counted=False)
        asked, trained = measure(out, wanted.backend, wanted.model)
        found = [(part, states(specs, out)) for part, specs in planned]
        tasks = {state.spec.task.id for part, runs in found if part.asks_a_model for state in runs}
        progress.begin(len(tasks), "writing prompts", counted=False)
        at = pace(asked, trained, concurrency=concurrency, rate=rate, answer_tokens=answer_tokens)
        sizes = PromptSizes(progress.advance)
        rows = [row for part, runs in found for row in costs(part, runs, at, sizes)]
    if output == "json":
        print_json(rows)
    else:
        print_table(rows, at, asked, rate=rate, answers=answer_tokens)


def main() -> None:
    """Run the command."""
    run_command(app, "paper", "python -m collector.grid")
