"""DuckDB: the database, the catalog of relations, users' queries, memory, interruption."""
