"""The benchmark of many calls in flight runs with the commands of today, and counts what they were answered."""

from __future__ import annotations

from benchmarks.concurrency import line, throughput


def test_each_command_is_measured():
    cases = {("collect", None): 4, ("collect", "ollama"): 4, ("judge", "openai"): 4, ("intervene", "openai"): 2}
    for (command, server), least in cases.items():
        found = throughput(command=command, server=server, in_flight=2, seconds=0.01, answers=4)
        assert found.answers >= least, command
        assert f"{found.answers} answers" in line(found)
