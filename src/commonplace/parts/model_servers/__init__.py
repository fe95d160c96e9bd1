"""Minds on model servers that speak the OpenAI protocol."""
