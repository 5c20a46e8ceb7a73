"""Disabling heads and layers, and what it does to a model's score (section 4.6)."""
