"""The small form of questions: what a model is asked that is too small for the full one."""
