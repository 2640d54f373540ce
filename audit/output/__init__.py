"""Output for people and programs: errors, escaping, formats, tables, progress."""
