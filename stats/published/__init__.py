"""Published numbers: how they are printed, and whether they agree with recomputed ones, to within their rounding."""
