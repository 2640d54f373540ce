"""Commands of `stats`, one module for each kind: options in, one table out."""
