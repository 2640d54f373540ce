"""Language models: one small protocol and its backends."""
