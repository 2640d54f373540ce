"""Run DSPy's SIMBA for real with a stub model, without a network: `python run_simba.py OUT [--iterations N]`.

Needs the packages `dspy`, `numpy` and `msgspec`, and PYTHONPATH at the repository: SIMBA keeps nothing on the disk,
so OUT is what `audit.recorders` writes while it runs.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import dspy
from dspy_stub import EXAMPLES, Seasons, Stub, right


def main() -> None:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--iterations", type=int, default=4, help="SIMBA's steps")
    parser.add_argument(
        "--demos", type=int, default=0, help="demonstrations: with some, a step may add one in place of advice"
    )
    args = parser.parse_args()
    from audit.recorders import simba

    dspy.configure(lm=Stub())
    with simba.record(args.out, env="seasons", condition="simba-stub", run=1):
        optimizer = dspy.SIMBA(
            metric=right, bsize=4, num_candidates=3, max_steps=args.iterations, max_demos=args.demos, num_threads=1
        )
        optimizer.compile(Seasons(), trainset=EXAMPLES, seed=0)


if __name__ == "__main__":
    main()
