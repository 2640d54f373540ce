"""Asking a model many things at once, through the collector's backends: each answer is on the disk before the next."""
