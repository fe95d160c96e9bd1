"""Who the characters are and what they carry from tick to tick."""
