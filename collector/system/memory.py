"""Whether the address space that `ulimit -v` leaves is enough for the libraries."""

from __future__ import annotations

import math

from collector.system.cores import cores

try:
    import resource
except ImportError:  # not a POSIX system
    resource = None  # type: ignore[assignment]


def address_space() -> float:
    """Bytes of address space that this process may use; infinite without a limit."""
    soft = -1 if resource is None else resource.getrlimit(resource.RLIMIT_AS)[0]
    return math.inf if soft < 0 or soft == resource.RLIM_INFINITY else soft


def shortage(least: float) -> str | None:
    """The message where there is too little address space; None where there is enough.

    OpenBLAS, LLVM and DuckDB do not survive without it: they crash, or retry for ever.

    Args:
        least: bytes that are needed on a machine with one core; every other one takes 250 MB more, for the stacks and
            buffers of threads.
    """
    needed = least + 250e6 * (cores() - 1)
    if address_space() >= needed:
        return None
    return (
        f"the limit of {address_space() / 1e6:.0f} MB on address space is too low for the libraries, "
        f"which crash without {needed / 1e6:.0f} MB; raise it with ulimit -v {math.ceil(needed / 1024)}"
    )
