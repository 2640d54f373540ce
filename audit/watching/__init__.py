"""Follows records while they are written, with alarms that hold at any time."""
