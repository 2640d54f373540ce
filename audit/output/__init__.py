"""What people and programs get to see: errors, escaping, formats, tables, progress."""
