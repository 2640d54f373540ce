"""Collects one sweep on a Ray cluster, a task per shard: python ray_job.py SHARDS CORES [options of collect]."""

import subprocess
import sys

import ray


def collect(number: int, shards: int, options: list[str]) -> int:
    """Collect one shard; returns the exit status."""
    return subprocess.run(["collect", *options, "--shard", f"{number}/{shards}", "--quiet"], check=False).returncode


shards, cores, *options = sys.argv[1:]
ray.init()
# A shard whose node dies is begun again elsewhere, and goes on where it stopped.
task = ray.remote(num_cpus=int(cores), max_retries=10)(collect)
statuses = ray.get([task.remote(number, int(shards), options) for number in range(1, int(shards) + 1)])
failed = [str(number) for number, status in enumerate(statuses, start=1) if status]
sys.exit(f"shards that stopped: {', '.join(failed)}; submit the job again" if failed else 0)
