"""Figures of sections 4.4 and 4.5."""
