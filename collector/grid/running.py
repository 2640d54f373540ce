"""Collects the parts one after the other; what stops one of them stops no other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from collector.baselines.planning import require_extra
from collector.cli.display import choose_display
from collector.errors import CollectorError
from collector.grid.parts import Part
from collector.llm.protocol import Model
from collector.spec import RunSpec
from collector.sweep import collect_runs, states


def collect_parts(
    planned: Sequence[tuple[Part, Sequence[RunSpec]]],
    out: Path,
    make_model: Callable[[], Model],
    console: Console,
    *,
    concurrency: int | None,
    workers: int | None = None,
    quiet: bool,
) -> None:
    """Collect what is missing of each part.

    Args:
        planned: parts in the order in which they are collected, each with its runs.
        out: folder that holds the conditions.
        make_model: gives a fresh client, since a sweep closes its own.
        console: where progress is printed.
        concurrency: runs in flight at once; None for the default.
        workers: processes that run rollouts; None for one per core.
        quiet: print failures only.

    Raises:
        CollectorError: some part is not complete; the others were collected all the same.
    """

    def collect(part: Part, specs: Sequence[RunSpec]) -> None:
        found = states(specs, out)
        todo = [state for state in found if not state.complete]
        if not todo:
            report(part, f"{part.words}, all {len(found)} runs are complete")
            return
        if not part.asks_a_model:
            try:
                require_extra()
            except CollectorError as error:
                report(part, f"left out; {error}")
                return
        report(part, f"{part.words}, {len(todo)} of {len(found)} runs to do")
        display = choose_display(console, todo, quiet=quiet)
        outcome = collect_runs(
            [state.spec for state in todo],
            out,
            make_model(),
            display=display,
            concurrency=concurrency,
            workers=workers,
        )
        if outcome.failures:
            raise CollectorError(outcome.message(len(todo)))

    def report(part: Part, text: str, *, always: bool = False) -> None:
        if always or not quiet:
            console.print(Text(f"{part.name}: {text}"), soft_wrap=True)

    stopped = []
    for part, specs in planned:
        try:
            collect(part, specs)
        except CollectorError as error:
            stopped.append(part.name)
            report(part, str(error), always=True)
    if stopped:
        raise CollectorError(f"not complete: {', '.join(stopped)}. The same command goes on where they stopped.")
