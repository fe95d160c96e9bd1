"""Answers to a person: from a question and what a character may answer from to a few sentences and their memories."""
