"""Finished runs side by side: what holds for several encoders, and what for one only."""
