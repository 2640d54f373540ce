"""Detectors compared with a known truth: what the simulated critic records about itself.

This package alone reads `truth.jsonl`.
"""
