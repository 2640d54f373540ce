"""Statistics as pure functions of arrays and frames."""
