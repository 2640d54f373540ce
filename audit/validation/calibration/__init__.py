"""Detectors and anchoring measures held against a known truth: what the simulated critic says that it did.

This package alone reads `truth.jsonl`.
"""
