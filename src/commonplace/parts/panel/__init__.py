"""Several voices that answer one question in turn."""
