"""What an answer justifies its change by, as plain rules read it: an outcome of experiments."""
