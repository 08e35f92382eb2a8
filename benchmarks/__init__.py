"""Benchmarks side by side with peers; each module has a `main` that prints a table."""
