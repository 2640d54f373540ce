"""Tests, intervals and per-run metrics over returns."""
