"""Prompts: what a model is told and asked for each task, and how its answer is read."""
