"""Notebooks, run on a data set and written as pages that need no network and run no script."""

from __future__ import annotations

import asyncio
import atexit
import os
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVarTuple, Unpack

from audit.output.escaping import visible
from audit.output.progress import SILENT, Progress
from collector.errors import cannot_write
from collector.system.regular_files import read_regular
from collector.system.stopping import temporary_folder
from figures.errors import FiguresError
from figures.page.page import Notebook, render_notebook

if TYPE_CHECKING:
    from nbclient import NotebookClient

LARGEST: Final = 64 * 2**20
"""Bytes of the largest notebook."""
FOLDER: Final = "notebooks"
"""Where the pages go, below the folder of the figures."""
PACKAGES: Final = ("ipykernel", "nbclient", "nbconvert", "nbformat")
AT_ONCE: Final = 2
"""Notebooks that run at a time."""
TIMEOUT: Final = 600
"""Seconds that one cell may take."""

_Ts = TypeVarTuple("_Ts")


def missing() -> list[str]:
    """The packages of the extra `notebooks` that are not installed."""
    return [package for package in PACKAGES if find_spec(package) is None]


def run_notebooks(folder: Path, data: Sequence[Path], out: Path, progress: Progress = SILENT) -> list[Notebook]:
    """Run every notebook of a folder on some records, and write each as a page of its own.

    A notebook that stops is no reason for the others to: it has a `problem` and no page, and an earlier page of it is
    removed, being of other records.

    Args:
        folder: the notebooks, with names that end in `.ipynb`; their files are not changed.
        data: folders or archives of records.
        out: the folder of the figures; pages go into `FOLDER` below it.
        progress: of notebooks.

    Raises:
        FiguresError: there are no notebooks, one cannot be read, a package is missing, or a page cannot be written.
    """
    if packages := missing():
        raise FiguresError(f"notebooks need {', '.join(packages)}: in a clone, pip install '.[notebooks]'")
    paths = sorted(folder.glob("*.ipynb"))
    if not paths:
        raise FiguresError(f"{folder} holds no notebook")
    named = os.pathsep.join(str(path.resolve()) for path in data)
    pages = out / FOLDER
    try:
        pages.mkdir(parents=True, exist_ok=True)
        # A kernel that is stopped halfway leaves its temporary files: they go with this folder.
        with (
            temporary_folder("figures-") as scratch,
            asyncio.Runner(loop_factory=_Loop) as runner,
        ):
            environment = {**os.environ, "SALIENCE_DATA": named, "TMPDIR": str(scratch)}
            return runner.run(_run_all(paths, environment, pages, progress))
    except OSError as error:
        raise FiguresError(cannot_write(pages, error)) from None


class _Loop(asyncio.SelectorEventLoop):
    """A loop whose signals are Python's own: nbclient's handlers would end the kernel at Ctrl-C, and nothing else."""

    def add_signal_handler(self, sig: int, callback: Callable[[Unpack[_Ts]], object], *args: *_Ts) -> None:
        """Refuse, as a loop outside the main thread does."""
        del sig, callback, args
        raise RuntimeError("signals are left to Python")


async def _run_all(
    paths: Sequence[Path], environment: dict[str, str], pages: Path, progress: Progress
) -> list[Notebook]:
    places = asyncio.Semaphore(AT_ONCE)

    async def one(path: Path) -> Notebook:
        async with places:
            ran = await _run(path, environment, pages)
            progress.advance()
            return ran

    progress.begin(len(paths), "notebooks to run")
    ran = list(await asyncio.gather(*map(one, paths)))
    progress.end()
    return ran


async def _run(path: Path, environment: dict[str, str], pages: Path) -> Notebook:
    from nbclient import NotebookClient
    from nbclient.exceptions import CellControlSignal, DeadKernelError

    notebook = _read(path)
    title, page = _title(notebook, path.stem), pages / f"{path.stem}.html"
    # Times of execution would make two runs on the same records differ, and so would the pieces that prints come in.
    client = NotebookClient(
        notebook,
        timeout=TIMEOUT,
        kernel_name="python3",
        record_timing=False,
        coalesce_streams=True,
        shutdown_kernel="immediate",
        # Kernels log the transport that they use, which is this machine's own and signed.
        extra_arguments=["--IPKernelApp.log_level=ERROR"],
        resources={"metadata": {"path": str(path.parent.resolve())}},
    )
    try:
        await client.async_execute(env=environment)
    except (CellControlSignal, DeadKernelError, TimeoutError) as error:
        page.unlink(missing_ok=True)
        return Notebook(title, problem=f"{path.name} stopped: {_reason(error)}")
    finally:
        await _end(client)
    page.write_text(render_notebook(title, _body(notebook)), encoding="utf-8")
    return Notebook(title, href=f"{FOLDER}/{page.name}")


async def _end(client: NotebookClient) -> None:
    """End a kernel that nbclient leaves to the end of the program, as it does where Ctrl-C meets one that starts."""
    atexit.unregister(client._cleanup_kernel)
    if client.km is not None:
        await client._async_cleanup_kernel()


def _read(path: Path) -> Any:
    import nbformat

    try:
        notebook = nbformat.reads(read_regular(path, LARGEST).decode(), as_version=4)
        nbformat.validate(notebook)
    except Exception as error:  # what a file of another kind raises is not documented
        raise FiguresError(f"{path} is not a notebook: {' '.join(str(error).split())[:200]}") from None
    return notebook


def _title(notebook: Any, otherwise: str) -> str:
    """The first heading."""
    lines = [line for cell in notebook.cells if cell.cell_type == "markdown" for line in cell.source.splitlines()]
    return next((line.lstrip("# ") for line in lines if line.startswith("#")), otherwise)


def _reason(error: Exception) -> str:
    """What a cell raised, in one line: that of the traceback's last."""
    name, value = getattr(error, "ename", ""), getattr(error, "evalue", "")
    if name == "AssertionError" and value:  # a notebook's own words
        return " ".join(value.split())
    return " ".join(f"{name}: {value}".split()) if name else " ".join(str(error).split())[:200] or type(error).__name__


def _body(notebook: Any) -> str:
    """The cells as HTML, without a head of their own."""
    from nbconvert import HTMLExporter

    for output in (output for cell in notebook.cells for output in cell.get("outputs", ())):
        texts = output.get("data", output)  # by kind; what is printed has its text beside its name
        texts.update({kind: visible(text) for kind, text in texts.items() if kind.startswith("text")})
    exporter = HTMLExporter(template_name="basic", exclude_input_prompt=True, exclude_output_prompt=True)
    body, _ = exporter.from_notebook_node(notebook)
    return str(body)
