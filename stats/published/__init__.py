"""What was published, held against itself: numbers recomputed from other numbers, to within their rounding."""
