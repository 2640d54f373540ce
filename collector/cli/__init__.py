"""The `collect` command: options in, one sweep, records out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal, Unpack

import typer

from collector.budget import EXCERPTS, LOCAL_ITERATIONS, LOCAL_RUNS, ROLLOUTS, RUNS
from collector.cli import options
from collector.cli.command import run_command
from collector.cli.grouped import Grouped
from collector.errors import CollectorError, WorkerError
from collector.model_options import ModelOptions, with_model_options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from collector.cli.display import Quiet
    from collector.llm.protocol import Model
    from collector.spec import RunSpec

app = typer.Typer(context_settings=options.HELP, pretty_exceptions_enable=False, rich_markup_mode=None)

_EXAMPLES: Final = r"""
Examples:
  collect --env cartpole --variant threetraj
  collect --env all --variant all --runs 3 --iterations 30
  collect --env frozenlake --variant threetraj --backend local
  collect --env all --variant all --shard 3/16
  collect --env pong --variant r2po --tau-c half \
    --backend ollama --model gpt-oss:20b
  collect --env cartpole --variant r2po --backend openai \
    --base-url http://localhost:8000/v1 --model NAME
"""


# The backspace keeps the formatter from filling lines.
@app.command(cls=Grouped, epilog=f"\b{_EXAMPLES}")
@with_model_options
def collect(
    env: Annotated[list[str], typer.Option(help="Task, or all; repeatable. An unknown name lists the tasks.")],
    variant: Annotated[
        list[str], typer.Option(help="Method; repeatable. all: the LLM methods; sb3-all: the deep-RL baselines.")
    ],
    task_module: Annotated[
        list[Path] | None, typer.Option(help="Python file with a task of your own; repeatable.", show_default=False)
    ] = None,
    runs: Annotated[
        int | None,
        typer.Option(min=1, max=9999, help="Runs of each method on each task.", show_default="1 with local; else 10"),
    ] = None,
    iterations: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=1_000_000,
            help="Iterations of a run.",
            show_default="5 with local; else 200 calls: 100 with two calls each",
        ),
    ] = None,
    rollouts: options.RolloutsOption = ROLLOUTS,
    backend: options.BackendOption = "simulated",
    personality: options.PersonalityOption = None,
    tau_c: Annotated[
        str,
        typer.Option(
            help="Revision threshold of r2po: default, half, off, a number, or auto: half way to the optimum."
        ),
    ] = "default",
    seed: options.SeedOption = 0,
    warmup: Annotated[
        int | None, typer.Option(min=0, max=1_000_000, help="Random trials that open the history.", show_default="20")
    ] = None,
    prompts: Annotated[
        Path | None, typer.Option(help="Folder of your own prompt templates.", show_default="the project's")
    ] = None,
    excerpts: Annotated[
        int,
        typer.Option(min=0, max=1_000_000, help="Trajectories excerpted in the history of alwayscritic and reptraj."),
    ] = EXCERPTS,
    paired_seeds: Annotated[
        bool, typer.Option("--paired-seeds", help="Roll both candidates of an iteration out on the same seeds.")
    ] = False,
    action_clipping: Annotated[
        Literal["all", "released"],
        typer.Option(help="Methods whose continuous actions are clipped: all, or as in the released code."),
    ] = "all",
    step_cap: Annotated[
        int | None,
        typer.Option(min=1, max=10**9, help="Steps after which a rollout is cut off.", show_default="the task's"),
    ] = None,
    optimum: Annotated[
        float | None,
        typer.Option(min=-1e9, max=1e9, help="Best possible return, as prompts state it.", show_default="the task's"),
    ] = None,
    step_size: Annotated[
        float | None, typer.Option(min=0.0, max=1e9, help="Search step that prompts suggest.", show_default="1.0")
    ] = None,
    named_iterations: Annotated[
        int | None,
        typer.Option(min=1, max=10**9, help="Number of iterations that prompts state.", show_default="the run's"),
    ] = None,
    warmup_range: Annotated[
        Literal["clipped", "unbounded"], typer.Option(help="Whether warm-up draws are kept within the range.")
    ] = "clipped",
    on_unreadable: Annotated[
        Literal["stop", "skip"],
        typer.Option(help="If no search answer can be read, stop the run or skip the iteration."),
    ] = "stop",
    remedy: Annotated[
        list[str] | None,
        typer.Option(
            help="Change how evidence is shown, or how answers are used or accepted; repeatable. An unknown name lists "
            "them.",
            show_default=False,
        ),
    ] = None,
    condition: Annotated[
        str | None, typer.Option(help="Label of these settings.", show_default="made from the settings")
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for the records.", callback=options.local_folder)] = Path(
        "data/runs"
    ),
    resume: Annotated[
        bool, typer.Option("--resume/--no-resume", help="Continue with records found there, or refuse to.")
    ] = True,
    concurrency: options.ConcurrencyOption = None,
    shard: options.ShardOption = None,
    workers: options.WorkersOption = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the plan, and exit.")] = False,
    quiet: options.QuietOption = False,
    _version: options.VersionOption = False,
    **model_options: Unpack[ModelOptions],
) -> None:
    """Run policy search with a language model, and keep raw records.

    Runs that are complete are left alone, unfinished ones go on where they stopped. The same command and seed give the
    same records, wall-clock fields aside.
    """
    # Imported here, so that --help and a wrong option are answered at once.
    from rich.console import Console
    from rich.text import Text

    from collector.cli.display import choose_display
    from collector.cli.dry_run import print_plan
    from collector.plan import Request, left_out, plan
    from collector.remedies import remedies_of
    from collector.sweep import states
    from collector.switches import Switches
    from collector.tasks.plugins import load_tasks

    if backend == "local":
        runs, iterations = runs or LOCAL_RUNS, iterations or LOCAL_ITERATIONS
    concurrency = options.runs_in_flight(backend, concurrency)
    console = Console(stderr=True)
    task_modules = task_module or []
    load_tasks(task_modules)
    language_model = options.model_maker(console, backend, personality, concurrency, model_options)()
    request = Request(
        envs=env,
        variants=variant,
        runs=runs or RUNS,
        iterations=iterations,
        rollouts=rollouts,
        seed=seed,
        warmup=warmup,
        tau_c=tau_c,
        switches=Switches(
            action_clipping=action_clipping,
            step_cap=step_cap,
            optimum=optimum,
            step_size=step_size,
            warmup_range=warmup_range,
            named_iterations=named_iterations,
            paired_seeds=paired_seeds,
            excerpts=excerpts,
            on_unreadable=on_unreadable,
            remedies=remedies_of(remedy or []),
        ),
        prompt_folder=prompts,
        condition=condition,
        backend=backend,
        model=language_model.name,
        options=language_model.options,
    )
    specs = plan(request)
    if shard:
        folders, every = shard.folders(specs), len(specs)
        specs = [spec for spec in specs if spec.folder in folders]
        if not quiet:
            console.print(Text(shard.line(len(specs), every)))
        if not specs:
            return
    found = states(specs, out)
    if not quiet and (passed_over := left_out(request)):
        console.print(Text(passed_over), soft_wrap=True)
    if dry_run:
        print_plan(found, out)
        return
    if not resume and (existing := [state for state in found if state.exists]):
        first = out / existing[0].spec.folder
        raise CollectorError(f"{first} exists already; leave out --no-resume to go on with it, or choose another --out")

    todo = [state for state in found if not state.complete]
    if not quiet and len(todo) < len(found):
        console.print(Text(f"{len(found) - len(todo)} of {len(found)} runs are complete already"))
    if todo:
        _complete(
            [state.spec for state in todo],
            out,
            language_model,
            choose_display(console, todo, quiet=quiet),
            concurrency=concurrency,
            task_modules=task_modules,
            workers=workers,
        )


def _complete(
    specs: Sequence[RunSpec],
    out: Path,
    model: Model,
    display: Quiet,
    *,
    concurrency: int | None,
    task_modules: Sequence[Path],
    workers: int | None,
) -> None:
    """Collect runs, and print what was done however it ends."""
    from collector.sweep import collect_runs

    try:
        outcome = collect_runs(
            specs, out, model, display=display, concurrency=concurrency, task_modules=task_modules, workers=workers
        )
    except WorkerError as error:
        raise CollectorError(f"{error}; nothing is lost, the same command goes on from here") from None
    except KeyboardInterrupt:
        display.summarize(out, stopped=True)
        raise
    display.summarize(out, stopped=bool(outcome.failures))
    if outcome.failures:
        raise CollectorError(f"{outcome.message(len(specs))}. The same command goes on where they stopped.")


def main() -> None:
    """Entry point of the `collect` command."""
    run_command(app, "collect", "collect")
