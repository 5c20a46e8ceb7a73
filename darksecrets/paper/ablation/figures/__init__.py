"""Figures of section 4.6."""
