"""Towns that are written by a program: `commonplace new`."""
