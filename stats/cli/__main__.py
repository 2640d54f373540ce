"""`python -m stats.cli`."""

from stats.cli import main

main()
