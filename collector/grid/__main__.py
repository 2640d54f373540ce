"""`python -m collector.grid`."""

from collector.grid.cli import main

main()
