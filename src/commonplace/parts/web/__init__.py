"""The village in the browser: an HTTP server over runs, and the page it serves."""
