"""Make a suite of `audit critic`: `python -m benchmarks.suite --out FILE`; `--check` compares it with the package's.

Each unit is made by itself, so that the text does not depend on how many processes make it.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from audit.cards.making import make_suite
from audit.cards.suite import SEED, compressed, packaged, read_suite


def main() -> None:
    """Make a suite, and write it or compare it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.suite", description=__doc__)
    parser.add_argument("--suite-seed", type=int, default=SEED)
    parser.add_argument("--processes", type=int)
    parser.add_argument("--out", type=Path, help="where the suite is written, compressed")
    parser.add_argument("--check", action="store_true", help="compare with the suite of the package")
    options = parser.parse_args()
    text = make_suite(options.suite_seed, workers=options.processes)
    if options.out:
        options.out.write_bytes(compressed(text))
    if options.check:
        same = read_suite(text).sha256 == packaged().sha256
        sys.stdout.write("the same byte for byte\n" if same else "not the same\n")
        sys.exit(0 if same else 1)


if __name__ == "__main__":
    main()
