"""From files to rows: records are found, checked line by line, and written as one Parquet file, which is cached."""
