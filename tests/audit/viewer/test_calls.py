"""What calls took, added up by hand."""

from __future__ import annotations

import json

from audit.viewer.calls import calls_of

LINES = (
    {"prompt_tokens": 100, "completion_tokens": 20, "seconds": 0.5, "error": None},
    {"prompt_tokens": 110, "completion_tokens": 30, "seconds": 1.5, "error": "no parameters"},
    {"prompt_tokens": 120, "completion_tokens": 40, "seconds": 2.0, "error": None},
)


def test_sums(tmp_path) -> None:
    file = tmp_path / "episodes.jsonl"
    assert calls_of(file) is None
    (tmp_path / "calls.jsonl").write_text("".join(json.dumps(line) + "\n" for line in LINES) + '{"torn')
    assert calls_of(file) == {
        "calls": 3,
        "discarded": 1,
        "seconds": 4.0,
        "prompt_tokens": 330,
        "completion_tokens": 90,
    }
    (tmp_path / "calls.jsonl").write_text(json.dumps({"seconds": 1.0, "prompt_tokens": None}) + "\n")
    assert calls_of(file)["prompt_tokens"] is None
