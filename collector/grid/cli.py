"""`python -m collector.grid`: the whole grid of the paper, collected or only counted."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Unpack

import typer

from collector.budget import ROLLOUTS, RUNS
from collector.cli import options
from collector.cli.command import run_command
from collector.cli.grouped import Grouped
from collector.model_options import ModelOptions, with_model_options

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
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the plan and its hours, and exit.")] = False,
    rate: Annotated[float, typer.Option(min=1e-6, max=1e9, help="Calls per second, for the hours of the plan.")] = 1.0,
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

    from collector.cli.dry_run import print_plan
    from collector.grid.parts import PARTS, chosen
    from collector.grid.running import collect_parts
    from collector.plan import Request, plan
    from collector.sweep import states

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
        folders = shard.folders(spec for each in PARTS for spec in plan(each.request(wanted)))
        every = sum(len(specs) for _, specs in planned)
        planned = [(each, mine) for each, specs in planned if (mine := [s for s in specs if s.folder in folders])]
        if not quiet:
            console.print(Text(shard.line(sum(len(specs) for _, specs in planned), every)))
    if not dry_run:
        collect_parts(planned, out, make, console, concurrency=concurrency, workers=workers, quiet=quiet)
    elif planned:
        print_plan([state for _, specs in planned for state in states(specs, out)], out, rate)


def main() -> None:
    """Run the command."""
    run_command(app, "paper", "python -m collector.grid")
