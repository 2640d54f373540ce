"""The ten tasks, one module each."""
