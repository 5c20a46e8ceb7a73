"""The classifier of patterns: what it sees, how it is trained, how well it does."""
