"""The run file: history and state of one run, and how to read them."""
