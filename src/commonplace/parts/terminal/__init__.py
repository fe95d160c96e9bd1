"""The terminal view: recorded frames drawn with Textual."""
