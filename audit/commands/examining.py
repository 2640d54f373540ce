"""The commands that examine critics: `audit critic` and `audit critics`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, Unpack

import typer

from audit.commands.intervening import ConcurrencyOption
from audit.commands.reading import NoCacheOption, WorkersOption, printing
from audit.options import Options
from audit.output.errors import UsageError
from audit.output.rows import Table
from collector.model_options import ModelOptions, with_model_options

commands = typer.Typer()


@commands.command()
@printing()
@with_model_options
def critic(
    _: Options,
    backend: Annotated[str | None, typer.Option("--backend", help="simulated, local, ollama or openai.")] = None,
    personality: Annotated[
        str | None, typer.Option("--personality", help="Personality of the simulated critic.", show_default="salient")
    ] = None,
    size: Annotated[
        Literal["quick", "full"],
        typer.Option("--size", help="quick: form, help and harm, 360 calls; full: what moves it as well, 7,308 calls."),
    ] = "quick",
    units: Annotated[
        int | None,
        typer.Option("--units", min=2, max=126, help="Ask only the first prompts.", show_default="all of the size"),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Folder of the examination.", show_default="critics/MODEL-SIZE"),
    ] = None,
    log: Annotated[
        Path | None,
        typer.Option("--from", metavar="FILE.eval", help="Make the card of a log of Inspect, and ask nothing."),
    ] = None,
    suite_seed: Annotated[
        int | None,
        typer.Option(
            "--suite-seed",
            min=0,
            max=2**31 - 1,
            help="Make a suite of your own from this seed.",
            show_default="suite-1",
        ),
    ] = None,
    concurrency: ConcurrencyOption = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the price, and ask nothing.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask whether to go on.")] = False,
    workers: WorkersOption = None,
    no_cache: NoCacheOption = False,
    **options: Unpack[ModelOptions],
) -> Table | None:
    """Examine a model as a critic, without records of your own: is it readable, does it help, does it harm?

    It is asked a fixed suite of prompts; the price is printed first. Interrupted, the same command goes on.

    Example: audit critic --backend ollama --model qwen3:8b
    """
    if log is not None:
        if backend or personality or units or suite_seed is not None or dry_run:
            raise UsageError(
                "--from makes a card of answers that are there: leave options of the model and of size out"
            )
        from audit.cards.evals import critic_from

        return critic_from(log, out=out, workers=workers, cache=not no_cache)
    if backend is None:
        raise UsageError("--backend is missing: simulated, local, ollama or openai; or --from a log of Inspect")
    from audit.cards.examining import critic as examined

    return examined(
        backend=backend,
        personality=personality,
        size=size,
        units=units,
        out=out,
        suite_seed=suite_seed,
        concurrency=concurrency,
        dry_run=dry_run,
        yes=yes,
        workers=workers,
        cache=not no_cache,
        **options,
    )


@commands.command()
@printing(calls="audit.cards.comparing:critics")
def critics(
    cards: Annotated[
        list[Path],
        typer.Argument(metavar="CARD", help="Folders of examinations, or their cards; two or more of one suite."),
    ],
) -> None:
    """Compare critics by their cards: numbers side by side, and differences from the first, unit by unit.

    Example: audit critics critics/qwen3-8b-quick critics/gpt-oss-20b-quick
    """
