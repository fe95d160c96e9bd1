"""A run that is made while it is watched, and talks about it: each in a thread of its own, for terminal and server."""
