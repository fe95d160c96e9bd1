"""Where memories are kept for longer than a process lives."""
