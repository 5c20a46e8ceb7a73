"""Smaller models of a task: what compression saves, and what it costs (Rogers et al. 2020, 6.2)."""
