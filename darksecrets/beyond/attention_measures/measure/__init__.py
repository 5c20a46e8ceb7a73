"""Heads measured by other definitions of attention, in one pass over a model."""
