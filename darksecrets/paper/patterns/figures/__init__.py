"""Figures of section 4.1."""
