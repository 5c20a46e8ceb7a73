"""Figures of section 4.2."""
