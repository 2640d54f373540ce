"""Logs of Inspect made by hand, in the form that it writes."""

from __future__ import annotations

import json
import struct
import zipfile
import zlib
from pathlib import Path

from audit.cards.asking import asking_of, names_of

MODEL = "mockllm/model"


def header_of(suite, size="quick", **changes):
    """The header of a whole log; `changes` are to what was run."""
    spec = {
        "task": "audit/critic",
        "created": "2026-11-26T02:13:26+00:00",
        "model": MODEL,
        "dataset": {"name": f"suite-1-{size}"},
        "config": {"epochs": 1},
        "packages": {"inspect_ai": "0.3.285"},
        "metadata": {"suite": suite.sha256, "size": size, "seed": suite.seed, "units": len(suite.of_size(size))},
        "model_generate_config": {"max_tokens": 4096},
    }
    scores = [{"name": "readable", "metrics": {"stderr": {"value": float("nan")}}}]
    return {
        "version": 2,
        "status": "success",
        "eval": spec | changes,
        "plan": {"config": {"temperature": 0.7}},
        "results": {"scores": scores},
    }


def samples_of(suite, answers, size="quick", units=None):
    """Samples, a line of an examination's answers each, by prompt and seed."""
    asking = asking_of(suite, size, units=units)
    by_seed = {each.seed: each for each in answers}
    for name, call in names_of(asking.plan).items():
        answer = by_seed[asking.plan.call_seed(call)]
        prompt = asking.prompt(call).prompt
        content = answer.completion
        if answer.thinking is not None:
            content = [{"type": "reasoning", "reasoning": answer.thinking}, {"type": "text", "text": answer.completion}]
        said = {"role": "assistant", "content": content}
        usage = {}
        if answer.prompt_tokens is not None:
            tokens = {"input_tokens": answer.prompt_tokens - 2, "input_tokens_cache_read": 2}
            usage = {"usage": {**tokens, "output_tokens": answer.completion_tokens}}
        yield {
            "id": name,
            "epoch": 1,
            "input": prompt,
            "target": "",
            "messages": [{"role": "user", "content": prompt}, said],
            "output": {
                "choices": [{"message": said, "stop_reason": "stop"}],
                **usage,
                "time": 1.25,
            },
            "started_at": "2026-11-26T03:13:27.123456+01:00",
            "working_time": 2.5,
        }


def write_log(path: Path, header, samples, *, compression="zstd", begun=False) -> Path:
    """Write a log, `.eval` or `.json` by its name.

    Args:
        path: the file.
        header: all but the samples.
        samples: some.
        compression: of an archive, `zstd` or `deflate`.
        begun: the log was not finished.
    """
    if path.suffix == ".json":
        path.write_text(json.dumps({**header, "samples": list(samples)}))
        return path
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:

        def add(name, content):
            data = json.dumps(content).encode()
            if compression == "deflate":
                archive.writestr(name, data)
                return
            archive.writestr(name, zstandard(data), zipfile.ZIP_STORED)
            # The archive's directory, which is written last, is what counts.
            info = archive.getinfo(name)
            info.compress_type, info.file_size, info.CRC = 93, len(data), zlib.crc32(data)

        add("_journal/start.json", {name: header[name] for name in ("version", "eval", "plan")})
        for sample in samples:
            add(f"samples/{sample['id']}_epoch_{sample['epoch']}.json", sample)
        if not begun:
            add("header.json", header)
    return path


def zstandard(data: bytes) -> bytes:
    """A frame of Zstandard (RFC 8878) in blocks that are not compressed, and an empty frame behind it."""
    size = 1 << 17
    blocks = [data[start : start + size] for start in range(0, len(data), size)]
    return frame(blocks, len(data)) + frame([b""], 0)


def frame(blocks, length):
    heads = [
        (len(block) << 3 | (number == len(blocks) - 1)).to_bytes(3, "little") for number, block in enumerate(blocks)
    ]
    body = b"".join(head + block for head, block in zip(heads, blocks, strict=True))
    return b"\x28\xb5\x2f\xfd" + b"\xa0" + struct.pack("<I", length) + body
