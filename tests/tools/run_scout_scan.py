"""Scan transcripts as `scout scan` does, by the entry point: `python run_scout_scan.py ANSWERS`; prints JSON."""

from __future__ import annotations

import contextlib
import json
import sys
import tempfile
from pathlib import Path

from inspect_scout import scan_results_df
from inspect_scout._cli.main import main


def rows(folder: str) -> list[dict[str, object]]:
    """The only scan's results."""
    [location] = Path(folder).iterdir()
    [frame] = scan_results_df(str(location)).scanners.values()
    columns = ["transcript_id", "value", "answer", "explanation", "metadata", "message_references", "scan_error"]
    return frame[columns].to_dict("records")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        options = ["-T", sys.argv[1], "--scans", folder, "--display", "none"]
        sys.argv = ["scout", "scan", "salience-audit/salience", *options]
        with contextlib.suppress(SystemExit):
            main()
        print(json.dumps(rows(folder), default=str))
