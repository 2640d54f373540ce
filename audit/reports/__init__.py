"""One module for each thing that a command prints."""
