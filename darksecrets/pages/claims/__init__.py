"""What papers claim, and whether it holds in a run: a registry, and decisions from tables."""
