"""Runs in PostgreSQL: many in a database, each with one writer and any number of readers."""
