"""The operating system: files, memory, processes, signals."""
