"""A grid of fine-tunings, and its tables."""
