"""Stars, tags and notes that people put on revisions."""
