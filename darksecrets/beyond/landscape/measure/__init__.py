"""Passes over models whose weights are reset, mixed or moved."""
