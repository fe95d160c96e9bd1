"""Stores that need a package of their own: Chroma and PostgreSQL."""
