"""What papers claim, and whether it holds in a run: a registry, and rules that decide from tables."""
