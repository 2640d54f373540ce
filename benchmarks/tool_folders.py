"""Commands over a long run folder of GEPA: the first one, and later ones against those that keep nothing.

python -m benchmarks.tool_folders [--iterations 5000]
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from pathlib import Path
from typing import Any, Final

from benchmarks.processes import cache_in, program, spent

ITERATIONS: Final = 5_000
LATER: Final = ("revisions --limit 5", "lineage --runs", "lineage --blame best", "patterns", "show gepa gepa 1 7")
"""Commands after a first `salience`."""


def write_gepa(folder: Path, iterations: int, seed: int = 1) -> None:
    """A run folder as GEPA writes it: texts of 3 kB, of which each proposal replaces a sentence; a half is kept."""
    rng = random.Random(seed)

    def sentence() -> str:
        return f"Rule {' '.join(f'w{rng.randrange(2000)}' for _ in range(12))}."

    folder.mkdir(parents=True)
    candidates = [" ".join(sentence() for _ in range(40))]
    entries = []
    with (folder / "run_log.txt").open("w") as log:
        log.write("Iteration 0: Base program full valset score: 0.5 over 50 / 50 examples\n")
        for number in range(iterations):
            parent = rng.randrange(max(0, len(candidates) - 50), len(candidates))
            parts = candidates[parent].split(". ")
            parts[rng.randrange(len(parts))] = sentence()[:-1]
            ids = rng.sample(range(100), 3)
            before, after = ([round(rng.random(), 3) for _ in ids] for _ in range(2))
            scores = {"subsample_ids": ids, "subsample_scores": before, "new_subsample_scores": after}
            entry: dict[str, Any] = {"i": number, "tasks": [{"parent_idx": parent, **scores}], **scores}
            begin = f"Iteration {number + 1}: "
            log.write(f"{begin}Proposed new text for p: {'. '.join(parts)}\n")
            if sum(after) > sum(before):
                entry["new_program_indices"] = [len(candidates)]
                valid = {place: round(rng.random(), 3) for place in range(50)}
                log.write(
                    f"{begin}Accepted candidate (subsample score {sum(before)} -> {sum(after)}); running full eval.\n"
                    f"{begin}Valset score for new program: {sum(valid.values()) / 50} (coverage 50 / 50)\n"
                    f"{begin}Individual valset scores for new program: {valid}\n"
                    f"{begin}New program candidate index: {len(candidates)}\n"
                )
                candidates.append(". ".join(parts))
            else:
                log.write(
                    f"{begin}New subsample score {sum(after)} is not better than old score {sum(before)}, skipping\n"
                )
            entries.append(entry)
    (folder / "run_log.json").write_text(json.dumps(entries))
    (folder / "candidates.json").write_text(json.dumps([{"p": text} for text in candidates]))


def results(iterations: int = ITERATIONS) -> list[dict[str, object]]:
    """Seconds and memory of each command, beside those of the same with `--no-cache`."""
    rows: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory() as name, cache_in(Path(name) / "cache"):
        folder = Path(name) / "gepa"
        write_gepa(folder, iterations)
        for command in ("salience", *LATER):
            verb, *options = command.split()
            words = (verb, folder, *options)
            kept = spent(program("audit", *words))
            anew = spent(program("audit", *words, "--no-cache"))
            rows.append(
                {
                    "command": command,
                    "seconds": kept.seconds,
                    "megabytes": kept.megabytes,
                    "without a cache": anew.seconds,
                    "times as fast": anew.seconds / kept.seconds,
                }
            )
            print(
                f"{command:22} {kept.seconds:6.2f} s {kept.megabytes:5.0f} MB, with --no-cache {anew.seconds:6.2f} s: "
                f"{anew.seconds / kept.seconds:.1f} times as fast",
                flush=True,
            )
    return rows


def main() -> None:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--iterations", type=int, default=ITERATIONS)
    results(parser.parse_args().iterations)


if __name__ == "__main__":
    main()
