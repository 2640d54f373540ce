"""Packs data sets: everything that the audit reads of one, in Parquet files (`audit/sources/pack.py`)."""

from audit.packing.pack import pack
from audit.packing.packed import Packed

__all__ = ["Packed", "pack"]
