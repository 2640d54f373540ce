"""`audit salience` against the same counts in pandas, from the same raw files.

python -m benchmarks.audit
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import pandas as pd

from audit.store import open_store
from benchmarks.synthetic import write_records
from benchmarks.timing import Comparison, compare

SIZES = (1_000, 10_000, 100_000)


def comparisons() -> Iterator[Comparison]:
    """One comparison a size; both ways must count alike."""
    for size in SIZES:
        with tempfile.TemporaryDirectory() as name:
            folder = write_records(Path(name), revisions=size)
            if ours(folder) != in_pandas(folder):
                raise AssertionError(f"the two ways count differently: {ours(folder)}, {in_pandas(folder)}")
            yield compare(f"salience, {size:,}", lambda: ours(folder), lambda: in_pandas(folder))  # noqa: B023


def ours(folder: Path) -> tuple[int, int, int]:
    """Regressions, strict and permissive salience problems, by the audit."""
    with open_store([folder], cache=False) as store:
        rows = store.rows("salience")
    regressions, strict, permissive = (sum(row[key] for row in rows) for key in ("regressions", "strict", "permissive"))
    return regressions, strict, permissive


def in_pandas(folder: Path) -> tuple[int, int, int]:
    """The same by a script of the kind that one writes for an afternoon."""
    lines = [json.loads(line) for path in folder.rglob("episodes.jsonl") for line in path.read_bytes().splitlines()]
    frame = pd.json_normalize([line for line in lines if line["variant"] == "threetraj" and line["revised"]])
    returns = pd.DataFrame(frame["initial.returns"].tolist())
    middle = returns.median(axis=1)
    median = returns.apply(lambda row: row.iloc[(row - middle[row.name]).abs().argmin()], axis=1)
    worst, best = returns.min(axis=1), returns.max(axis=1)
    regression = frame["revised.mean_return"] < frame["initial.mean_return"]
    cited = regression & frame["revised.answer"].str.contains("worst", case=False)
    strict, permissive = cited & (worst < median), cited & (worst <= median) & (worst < best)
    return int(regression.sum()), int(strict.sum()), int(permissive.sum())


def results() -> list[dict[str, object]]:
    """The rows, printed one by one."""
    print("| what | ours (s) | pandas (s) | ratio |\n|---|---|---|---|")
    rows: list[dict[str, object]] = []
    for row in comparisons():
        print(f"| {row.name} | {row.ours:.3f} | {row.alternative:.3f} | {row.ratio:.1f} |", flush=True)
        rows.append(asdict(row) | {"ratio": row.ratio})
    return rows


def main() -> None:
    """Print the rows."""
    results()


if __name__ == "__main__":
    main()
