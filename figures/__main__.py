"""The `figures` command, which answers signals while it is still being imported."""

from __future__ import annotations

from collections.abc import Callable

from collector.system.stopping import run_program


def main() -> None:
    """Run the command line."""
    run_program("figures: interrupted", _load)


def _load() -> Callable[[], None]:
    from figures.cli import main

    return main


if __name__ == "__main__":
    main()
