"""Log formats that can be read, one module each."""
