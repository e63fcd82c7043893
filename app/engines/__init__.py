"""One outside thing each: embedder, Qdrant, DuckDB. Foreign errors become ours here."""
