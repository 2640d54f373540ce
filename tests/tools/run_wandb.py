"""Log revisions of a prompt as steps of a run of Weights & Biases, and save them: `python run_wandb.py FOLDER OUT.csv`.

A run that is offline is a file of records in LevelDB's form of a log; its steps have the columns that
`wandb.Api().run(…).history()` has.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import wandb
from wandb.proto.wandb_internal_pb2 import Record

BLOCK, HEADER, START = 32768, 7, 7


def records(data: bytes) -> Iterator[bytes]:
    """The records of a log: parts with their length and kind (1 whole, 2 first, 3 middle, 4 last) in blocks."""
    place, parts = START, b""
    while place + HEADER <= len(data):
        if BLOCK - place % BLOCK < HEADER:
            place += BLOCK - place % BLOCK
            continue
        length, kind = int.from_bytes(data[place + 4 : place + 6], "little"), data[place + 6]
        parts = (parts if kind in {3, 4} else b"") + data[place + HEADER : place + HEADER + length]
        place += HEADER + length
        if kind in {1, 4}:
            yield parts


if __name__ == "__main__":
    settings = wandb.Settings(console="off", silent=True)
    run = wandb.init(mode="offline", dir=sys.argv[1], project="tickets", settings=settings)
    for prompt, score in (("Be brief.", 0.25), ("Be brief. Cite.", 0.75), ("Be.", 0.5)):
        run.log({"prompt": prompt, "score": score, "answer": "The first example failed."})
    wandb.teardown()  # finishes the run, and waits until its file is written
    [path] = Path(sys.argv[1]).glob("wandb/offline-run-*/*.wandb")
    rows = []
    for part in records(path.read_bytes()):
        record = Record.FromString(part)
        if record.WhichOneof("record_type") == "history":
            rows.append(
                {each.key or ".".join(each.nested_key): json.loads(each.value_json) for each in record.history.item}
            )
    with Path(sys.argv[2]).open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
