"""The command line of the campaign."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from random import Random

from benchmarks.torture.campaign import Campaign
from benchmarks.torture.parts import PARTS
from benchmarks.torture.report import Tally, print_report
from benchmarks.torture.trial import PATIENCE


def main(arguments: Sequence[str] | None = None) -> int:
    """The command `python -m benchmarks torture`; returns its exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks torture", description=main.__doc__)
    parser.add_argument("--minutes", type=float, default=2.0, help="in all; default 2")
    parser.add_argument("--part", action="append", choices=PARTS, help="only this part; repeatable")
    parser.add_argument(
        "--seed", type=int, default=None, help="of all that is drawn; default a new one, which is printed"
    )
    parser.add_argument("--tries", type=int, help="so many attempts of each part, whatever time they take")
    parser.add_argument("--try", type=int, dest="one", help="only the attempt of that number, to see a failure again")
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, help="attempts at a time; default one per core"
    )
    parser.add_argument("--keep", type=Path, default=Path("torture-failures"), help="folder for what failures need")
    parser.add_argument("--patience", type=float, default=PATIENCE, help="seconds after which something hangs")
    given = parser.parse_args(arguments)
    seed = Random().randrange(2**32) if given.seed is None else given.seed
    chosen = given.part or list(PARTS)
    print(f"seed {seed}, {given.jobs} at a time", flush=True)
    campaign = Campaign(seed, given.jobs, given.keep.absolute(), given.patience)
    tallies: dict[str, Tally] = {}
    whole = sum(PARTS[name].share for name in chosen)
    try:
        for name in chosen:
            numbers = [given.one] if given.one is not None else range(given.tries) if given.tries else None
            seconds = None if numbers is not None else given.minutes * 60 * PARTS[name].share / whole
            tallies[name] = campaign.run(name, tries=numbers, seconds=seconds)
            print(tallies[name].line(name), flush=True)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    finally:
        campaign.close()
    print_report(tallies)
    return 1 if any(tally.failures for tally in tallies.values()) else 0
