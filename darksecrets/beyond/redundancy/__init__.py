"""Heads that attend alike: their types, and distances between them (Clark et al. 2019)."""
