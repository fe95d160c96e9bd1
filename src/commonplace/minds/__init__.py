"""Minds: the typed questions, and those who answer them."""
