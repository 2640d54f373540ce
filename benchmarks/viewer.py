"""The viewer over a million revisions: its first page in a browser, its answers, and pandas beside it.

python -m benchmarks.viewer --data data/runs
"""

from __future__ import annotations

import argparse
import io
import json
import os
import random
import shutil
import signal
import statistics
import subprocess
import tempfile
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.synthetic import WORDS, write_records
from benchmarks.timing import cache_in, program

REVISIONS = 1_000_000
REQUESTS = 100
SEARCHES = (
    "worst rollout",
    "oscillates",
    "no such words anywhere",
    '"worst rollout" -oscillates',
    "worst -rollout -cart",
)
MARKS = 1_000
"""Revisions that are marked for requests that filter by a tag."""
FACETS = "condition,env,variant,direction,pattern,cites,strict,permissive,structure,start,r0,delta,p_no_change"
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")


@contextmanager
def viewing(records: Path) -> Iterator[tuple[str, subprocess.Popen[str], float]]:
    """A viewer in a process of its own: its address, the process, and the seconds until the address was printed."""
    started = time.perf_counter()
    command = program("audit", "view", records, "--no-browser")
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        try:
            yield address, process, time.perf_counter() - started
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(timeout=60)


def asked(address: str, path: str, query: list[tuple[str, str]]) -> float:
    """Seconds until an answer is there, whole."""
    started = time.perf_counter()
    with urllib.request.urlopen(f"{address}api/{path}?{urllib.parse.urlencode(query)}", timeout=120) as answer:
        answer.read()
    return time.perf_counter() - started


def queries(address: str, seed: int = 0) -> list[list[tuple[str, str]]]:
    """Filters, orders and pages as people choose them."""
    with urllib.request.urlopen(f"{address}api/facets?facets=env,variant,pattern,structure,start", timeout=120) as body:
        facets = json.load(body)
    draw = random.Random(seed)
    found = []
    for _ in range(REQUESTS):
        query = [
            (name, draw.choice(facet["values"])[0] or "")
            for name, facet in facets.items()
            if facet["values"] and draw.random() < 0.3
        ]
        if draw.random() < 0.3:
            query.append(("delta", draw.choice(["..-1", "0..", "-5..5"])))
        if draw.random() < 0.6:
            query.append(("sort", draw.choice(["delta", "-delta", "r0", "-p_no_change", "pattern", "iteration"])))
        query.append(("page", str(draw.choice([1, 1, 1, 2, 10, 1000]))))
        found.append(query)
    return found


def in_pandas(frame: pd.DataFrame, query: list[tuple[str, str]]) -> float:
    """Seconds for the same page of a frame in memory."""
    started = time.perf_counter()
    chosen = frame
    given = dict(query)
    for name, value in query:
        if name in {"sort", "page"}:
            continue
        column = chosen[name]
        if name == "delta":
            low, _, high = value.partition("..")
            chosen = chosen[(column >= float(low or "-inf")) & (column <= float(high or "inf"))]
        else:
            chosen = chosen[column.isna() if value == "" else column == value]
    if sort := given.get("sort"):
        chosen = chosen.sort_values(sort.removeprefix("-"), ascending=sort[0] != "-", kind="stable")
    first = (int(given["page"]) - 1) * 100
    chosen.iloc[first : first + 100].to_dict("records")
    return time.perf_counter() - started


def first_page(address: str) -> float:
    """Seconds from the start of a navigation until the overview's links can be followed; the better of three."""
    from playwright.sync_api import sync_playwright

    times = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        for _ in range(3):
            with browser.new_context() as context:
                page = context.new_page()
                started = time.perf_counter()
                page.goto(address)
                page.wait_for_selector("#main:not([aria-busy]) table a")
                times.append(time.perf_counter() - started)
        browser.close()
    return min(times)


def pieces(seed: int = 0) -> list[str]:
    """What people search for: a word or several, the end of one, a letter."""
    draw = random.Random(seed)
    found = [" ".join(draw.choices(WORDS, k=draw.choice([1, 1, 2, 3]))) for _ in range(REQUESTS // 2)]
    return [*found[::2], *(piece[draw.randrange(len(piece)) :] for piece in found[1::2])]


def memory(process: subprocess.Popen[str]) -> float:
    """Most resident memory of a process so far, in megabytes."""
    lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


def measure(records: Path) -> Iterator[dict[str, Any]]:
    """Start, first page, pages of the table, facets, a revision, search, memory; seconds and megabytes."""
    with tempfile.TemporaryDirectory() as name, cache_in(Path(name)):
        with viewing(records) as (_, process, seconds):
            yield {"what": "start, nothing kept", "median": seconds}
            yield {"what": "memory of that process", "megabytes": memory(process)}
        with viewing(records) as (address, process, seconds):
            yield {"what": "start, analysis kept", "median": seconds}
            if CHROMIUM:
                yield {"what": "first page, interactive", "median": first_page(address)}
            asked_for = queries(address)
            columns = "r0,r1,delta,p_no_change,pattern,cites,strict,permissive"
            pages = [asked(address, "revisions", [*query, ("columns", columns)]) for query in asked_for]
            facets = [asked(address, "facets", [*query, ("facets", FACETS)]) for query in asked_for]
            searches = [asked(address, "revisions", [("q", words)]) for words in (*pieces(), *SEARCHES)]
            again = [asked(address, "revisions", [("q", words), ("sort", "delta")]) for words in SEARCHES]
            lines = [asked(address, "snippets", [("q", words)]) for words in (*pieces(1), *SEARCHES)]
            yield {"what": "memory", "megabytes": memory(process)}
            frame = _frame(address)
            beside = [in_pandas(frame, query) for query in asked_for]
            yield row("a page of the table", pages) | {"pandas": statistics.median(beside)}
            yield row("all facets", facets)
            yield row("a search in all answers", searches)
            yield row("a page of a search", again)
            yield row("snippets of a page of a search", lines)
            mark(address)
            tagged = [[*query, ("tag", "marked")] for query in asked_for]
            yield row("a page of a tag", [asked(address, "revisions", query) for query in tagged])
            yield row("facets of a tag", [asked(address, "facets", [*query, ("facets", FACETS)]) for query in tagged])
            yield row("counts of tags", [asked(address, "tags", query) for query in asked_for])


def mark(address: str) -> None:
    """Give revisions of pages across the table a tag, as the page does."""
    with urllib.request.urlopen(f"{address}api/revisions", timeout=120) as answer:
        last = -(-json.load(answer)["total"] // 100)
    for page in range(1, last + 1, max(last // (MARKS // 100), 1))[: MARKS // 100]:
        query = urllib.parse.urlencode({"page": page})
        with urllib.request.urlopen(f"{address}api/revisions?{query}", timeout=120) as answer:
            first, *others = (row[:5] for row in json.load(answer)["rows"])
        body = json.dumps({"revision": first, "others": others, "tag": "marked"}).encode()
        headers = {"content-type": "application/json"}
        urllib.request.urlopen(urllib.request.Request(f"{address}api/marks", body, headers, method="PUT")).close()


def _frame(address: str) -> pd.DataFrame:
    columns = "r0,r1,delta,p_no_change,pattern,cites,strict,permissive,structure,start"
    with urllib.request.urlopen(f"{address}api/download?columns={columns}", timeout=600) as answer:
        return pd.read_csv(io.BytesIO(answer.read()), low_memory=False)


def row(what: str, times: list[float]) -> dict[str, Any]:
    """The median and the 95th percentile of some times."""
    return {"what": what, "median": statistics.median(times), "p95": statistics.quantiles(times, n=20)[-1]}


def results(records: Path | None = None) -> list[dict[str, Any]]:
    """The rows, printed one by one, of some records or of a million synthetic revisions."""
    print("| what | median (s) | 95th percentile (s) | pandas, in memory (s) | MB |\n|---|---|---|---|---|")
    rows = []
    with tempfile.TemporaryDirectory() as name:
        for each in measure(records or write_records(Path(name), revisions=REVISIONS)):
            cells = [f"{each[key]:.3f}" if key in each else "" for key in ("median", "p95", "pandas")]
            print(f"| {each['what']} | {' | '.join(cells)} | {_megabytes(each)} |", flush=True)
            rows.append(each)
    return rows


def _megabytes(each: dict[str, Any]) -> str:
    return f"{each['megabytes']:.0f}" if "megabytes" in each else ""


def main() -> None:
    """Print the rows."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, help="records; without it a million synthetic revisions")
    results(parser.parse_args().data)


if __name__ == "__main__":
    main()
