"""Smaller models of a task: how they are made, what they save, and what they cost."""
