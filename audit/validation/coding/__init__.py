"""Validation of text detectors against people: answers drawn for coding, codes read back, and detectors scored on them.

What is coded, and how, is in `docs/coding-guide.md`; how it is drawn and scored in `docs/validation.md`.
"""
