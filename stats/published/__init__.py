"""Consistency of published numbers: numbers recomputed from other numbers, to within their rounding."""
