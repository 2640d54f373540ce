"""Evaluation of policies: plain and compiled loops, and worker processes."""
