"""The local model: llama.cpp in this process, asked from threads and stopped wherever it is."""

from __future__ import annotations

import asyncio
import hashlib
import secrets
import threading
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from collector.errors import ModelError, UsageError
from collector.llm.answer import chosen, server_seed
from collector.llm.form import Form
from collector.llm.local.generation import Generation
from collector.llm.local.packaged import PACKAGES, find_model
from collector.llm.protocol import Completion
from collector.system.cores import cores
from collector.system.stopping import restore_handlers

if TYPE_CHECKING:
    from xllamacpp import Server

DEFAULTS: Final = {"max_tokens": 1024, "num_ctx": 8192, "structured": True}
"""Options where none are given."""
BATCH: Final = 512
"""Tokens of a prompt that are read at once: between two batches a call can be stopped."""


class LocalModel:
    """A GGUF model in this process, run by llama.cpp.

    With one call in flight nothing of earlier calls is used again, so that the same prompt and seed give the same
    answer on the same machine and version. With several, answers are computed in batches and prompts share their
    beginnings, which changes the last digits of probabilities, and with them some answers. The same holds where prompts
    are reused: one that begins like the last one is read from where they differ.

    Args:
        name: a packaged model, or the path of a GGUF file.
        in_flight: calls that are made at once, at most.
        reuse_prompts: what the last prompts begin with is not read again.
        temperature: of sampling; None for llama.cpp's default.
        max_tokens: longest answer; None for that of `DEFAULTS`.
        num_ctx: tokens of prompt and answer together, for each call; None for that of `DEFAULTS`. llama.cpp allows no
            more than the model was trained with.
        threads: of computing; None for one per core.
        gpu_layers: layers on a GPU; None for as many as fit, where the build supports one.
        structured: the form of answers is enforced; None for yes.
        logprobs: log-probabilities of tokens are kept.
        timeout: seconds after which an answer is cut off; None for no bound.

    Raises:
        UsageError: there is no such model, or its file cannot be read.
    """

    backend = "local"

    def __init__(
        self,
        name: str,
        *,
        in_flight: int = 1,
        reuse_prompts: bool = False,
        temperature: float | None = None,
        max_tokens: int | None = None,
        num_ctx: int | None = None,
        threads: int | None = None,
        gpu_layers: int | None = None,
        structured: bool | None = None,
        logprobs: bool = False,
        timeout: float | None = None,
    ) -> None:
        self._path = find_model(name)
        self.name = name.lower() if name.lower() in PACKAGES else self._path.stem
        self._slots = in_flight
        self._reuses = reuse_prompts or in_flight > 1
        self._threads, self._gpu_layers, self._timeout = threads or cores(), gpu_layers, timeout
        given = {"temperature": temperature, "max_tokens": max_tokens, "num_ctx": num_ctx, "structured": structured}
        self.options: dict[str, Any] = {
            **{name: DEFAULTS.get(name) if value is None else value for name, value in given.items()},
            "reproducible": not self._reuses,
            "file": {"name": self._path.name, "sha256": _digest(self._path)},
        } | chosen(logprobs=logprobs)
        if gpu_layers is not None:
            self.options["gpu_layers"] = gpu_layers
        self._context: int = self.options["num_ctx"]
        self._server: Server | None = None
        self._loading = asyncio.Lock()
        self._pool = ThreadPoolExecutor(in_flight, thread_name_prefix="llama")
        self._stopped = threading.Event()

    async def check(self) -> None:
        """Load the model.

        Raises:
            UsageError: the extra is not installed.
            ModelError: the machine or llama.cpp cannot run it.
        """
        async with self._loading:
            if self._server is None:
                self._server = await asyncio.get_running_loop().run_in_executor(self._pool, self._load)
                restore_handlers()  # llama.cpp has installed its own

    async def complete(self, prompt: str, *, seed: int, form: Form | None = None) -> Completion:
        """Answer one prompt.

        Args:
            prompt: all that the model is given, as one message of the user.
            seed: used below 2^31 (its remainder).
            form: enforced where answers are structured.

        Raises:
            ModelError: llama.cpp fails.
            CollectorError: the prompt does not fit into the context.
        """
        await self.check()
        enforced = form if self.options["structured"] else None
        generation = Generation(self._stopped, self._timeout, enforced.write if enforced else None)
        request = self._request(prompt, seed, enforced)
        try:
            await asyncio.get_running_loop().run_in_executor(self._pool, self._generate, request, generation)
        except asyncio.CancelledError:
            generation.abandon()
            raise
        return generation.completion()

    async def aclose(self) -> None:
        """Stop what is being generated, and free the model."""
        self._stopped.set()
        await asyncio.to_thread(self._pool.shutdown)
        self._server = None

    def _load(self) -> Server:
        try:
            from xllamacpp import CommonParams, Server
        except ImportError:
            raise UsageError("the local backend needs the extra local: in a clone, pip install '.[local]'") from None
        params = CommonParams()
        params.model.path = str(self._path)
        params.n_parallel = self._slots
        params.n_ctx = self._context * self._slots
        params.n_batch = params.n_ubatch = BATCH
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = self._threads
        if self._gpu_layers is not None:
            params.n_gpu_layers = self._gpu_layers
        params.cache_ram_mib = 0  # prompts of earlier calls are not kept
        params.verbosity = -1
        # The library opens a port on the loopback, which nobody else on this machine is to use.
        params.api_keys = [secrets.token_hex()]
        params.endpoint_slots = params.ui = False
        try:
            return Server(params)
        except (RuntimeError, MemoryError) as error:
            raise ModelError(
                f"llama.cpp {version('xllamacpp')} cannot load {self._path}: it is no GGUF file or a damaged one, its "
                f"architecture is unknown, or memory short ({error})"
            ) from None

    def _request(self, prompt: str, seed: int, form: Form | None) -> dict[str, Any]:
        request: dict[str, Any] = {
            "messages": [{"role": "user", "content": prompt}],
            "seed": server_seed(seed),
            "max_tokens": self.options["max_tokens"],
            "stream": True,
            "stream_options": {"include_usage": True},
            "return_progress": True,
            "cache_prompt": self._reuses,
            "logprobs": True,
            "top_logprobs": 1,
        }
        if self.options["temperature"] is not None:
            request["temperature"] = self.options["temperature"]
        if form is not None:
            request["response_format"] = {"type": "json_schema", "json_schema": {"schema": form.schema}}
        return request

    def _generate(self, request: dict[str, Any], generation: Generation) -> None:
        assert self._server is not None
        self._server.handle_chat_completions(request, generation.take)


def _digest(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal digits."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise UsageError(f"cannot read the model {path}: {error.strerror}") from None
