"""Options shared by the commands that call a model."""

from __future__ import annotations

from typing import Annotated, Final

import typer

HELP: Final = {"help_option_names": ["-h", "--help"]}
"""Settings of a program: `-h` is `--help`."""


def _print_version(context: typer.Context, *, wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"{context.info_name} {version('salience-audit')}")
        raise typer.Exit


VersionOption = Annotated[
    bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version, and do nothing.")
]
BackendOption = Annotated[str, typer.Option(help="simulated, ollama or openai.")]
ModelOption = Annotated[
    str | None, typer.Option(help="Model of a real backend.", show_default="gpt-oss:20b with ollama")
]
PersonalityOption = Annotated[
    str | None, typer.Option(help="Simulated critic: salient, balanced, silent or talker.", show_default="salient")
]
TemperatureOption = Annotated[
    float | None, typer.Option(min=0.0, max=100.0, help="Sampling temperature.", show_default="the server's")
]
BaseUrlOption = Annotated[
    str | None, typer.Option(help="Address of the model's server.", show_default="from the environment")
]
TimeoutOption = Annotated[
    float | None, typer.Option(min=0.001, max=1e6, help="Seconds to wait for one answer.", show_default="600")
]
MaxTokensOption = Annotated[
    int | None,
    typer.Option(min=1, max=2**31 - 1, help="Longest answer, thinking included.", show_default="the server's"),
]
NumCtxOption = Annotated[
    int | None, typer.Option(min=1, max=2**31 - 1, help="Context size asked of Ollama.", show_default="the server's")
]
ConcurrencyOption = Annotated[
    int | None, typer.Option(min=1, max=10_000, help="Runs in flight at once.", show_default="4, or twice the cores")
]
RunsOption = Annotated[int, typer.Option(min=1, max=9999, help="Runs of each method on each task.")]
RolloutsOption = Annotated[int, typer.Option(min=1, max=1_000_000, help="Rollouts per evaluation.")]
SeedOption = Annotated[int, typer.Option(min=0, max=2**63 - 1, help="Seed of everything drawn here.")]
QuietOption = Annotated[bool, typer.Option("--quiet", help="Print failures only.")]
