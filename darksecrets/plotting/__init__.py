"""Shared by all figures: style, head grids, panels."""
