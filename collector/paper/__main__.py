"""`python -m collector.paper`."""

from collector.paper.cli import main

main()
