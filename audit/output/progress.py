"""How far a long computation is, on standard error: the collector's, under a name of the audit's."""

from __future__ import annotations

from collector.system.progress import SILENT, PrintedProgress, Progress, tracked

__all__ = ["SILENT", "PrintedProgress", "Progress", "tracked"]
