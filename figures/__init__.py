"""The figures, tables and page made from records."""
