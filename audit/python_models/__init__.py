"""Relations that SQL alone cannot make."""
