"""Disabling heads and layers, and its effect on a model's score (section 4.6)."""
