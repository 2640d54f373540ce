"""Statistics of returns as pure functions of arrays and frames."""
