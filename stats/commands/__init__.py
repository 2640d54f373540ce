"""The commands of `stats` that are not about records."""
