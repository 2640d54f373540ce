"""Statistics that the audit needs, as pure functions of arrays and frames; `stats` lists them."""
